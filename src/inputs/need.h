// What the values of a program should be so that nothing goes wrong further on, and why.
#pragma once

#include <vector>

#include "inputs/flat_program.h"
#include "inputs/interval.h"

namespace sapper::inputs {

// Why a bound is there. Where two bounds exclude each other, the later one of this list stays.
enum class Because : uint8_t {
  Overflow,  // a result would leave its type
  Index,     // an index or a shift amount would be out of bounds
  Domain,    // the operation has no finite result there, or none that an implementation could be held to
};

struct Cause {
  Node node = no_node;  // the operation that needs it
  Because because = Because::Overflow;
};

// Properties of arrays that no interval says.
enum Role : uint8_t {
  RoleBits = 1,           // any bit pattern: keys of random generators, what is hashed
  RoleHeavyDiagonal = 2,  // matrices whose diagonal outweighs the rest: factored or solved with
  RoleSorted = 4,         // indices that are said to be sorted
  RoleDistinct = 8,       // indices that are said to be unique
};

// Bits of an integer that are a number of their own: `values & mask`, shifted down to bit 0, is at most `most`.
struct Field {
  uint64_t mask = 0;
  uint64_t most = 0;
  bool operator==(const Field&) const = default;
};

struct Need {
  Interval values;
  Cause low, high, away;
  Interval firm;  // the bounds among them that are not for overflow
  Cause firm_low, firm_high, firm_away;
  uint8_t roles = 0;
  std::vector<Field> fields;  // of words that several indices are packed into
  // Everything that the bounds are there for holds when they do. False where a worst case was given up for what is
  // typical, or an operation was not looked into.
  bool is_proof = true;
};

// Two bounds on one value that exclude each other, at least one of them firm.
struct Clash {
  Node node = no_node;
  Cause kept, dropped;
};

class Needs {
 public:
  // Every value should be finite.
  explicit Needs(const FlatProgram& program);

  [[nodiscard]] const Need& operator[](Node n) const { return needs_[n]; }
  [[nodiscard]] const std::vector<Clash>& clashes() const { return clashes_; }

  void at_least(Node n, double low, Cause cause);
  void at_most(Node n, double high, Cause cause);
  void away_from_zero(Node n, double distance, Cause cause);
  // The three of them, each for the cause that `need` has for it.
  void as(Node n, const Interval& values, const Need& need);
  void add_roles(Node n, uint8_t roles) { needs_[n].roles |= roles; }
  // Of two fields that share bits the first one stays.
  void add_field(Node n, const Field& field);
  void add_fields(Node n, const std::vector<Field>& fields);
  void doubt(Node n) { needs_[n].is_proof = false; }

 private:
  [[nodiscard]] bool is_bounded(Node n) const;
  void clash(Node n, Cause kept, Cause dropped);

  const FlatProgram& program_;
  std::vector<Need> needs_;
  std::vector<Clash> clashes_;
};

}  // namespace sapper::inputs
