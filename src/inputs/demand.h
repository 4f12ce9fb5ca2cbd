// The backward pass: what each value of a program should be, from what the operations on it need. The rules of
// elementwise operations are in demand_elementwise.cc, those of indices in demand_indices.cc, all others in demand.cc
// (docs/inputs.md has them in a table).
#pragma once

#include <vector>

#include "inputs/estimate.h"
#include "inputs/need.h"

namespace sapper::inputs {

class Demand {
 public:
  // All must outlive the demand. `estimates` are the expectations that bounds are shared by (shares.h).
  Demand(const hlo::Module& module, const FlatProgram& program, const std::vector<Estimate>& estimates)
      : module_(module), program_(program), estimates_(estimates), needs_(program), assured_(program.nodes.size()) {}

  // Walks the program from its end, once.
  void run();

  [[nodiscard]] const Needs& needs() const { return needs_; }
  // Whether a node's value is as needed whenever its operands' values are.
  [[nodiscard]] bool is_assured(Node n) const { return assured_[n]; }

 private:
  // Each rule says, from need_, what the operands should be for the node's result to be as needed; true when that is
  // enough.
  bool rule(Node n);
  bool elementwise(Node n);
  bool function_of_one(Node n);
  bool add(Node n, bool subtract);
  bool divide(Node n);
  bool power(Node n);
  bool maximum(Node n, bool minimum);
  bool clamp(Node n);
  bool select(Node n);
  bool move(std::span<const Node> operands);
  bool reduce(Node n);
  bool scatter(Node n);
  bool sum_of_terms(Node n, Node term, Node start);
  bool product(Node n, double terms);
  bool square(Node n);
  bool batch_norm(Node n);
  bool masked(Node n);
  bool shifted_down(Node n);
  // What operations need of operands for their own sake.
  void domain(Node n);
  void indices(Node n);
  void starts(Node n, Node vectors, int64_t dimension, const std::vector<int64_t>& last_starts);

  // The need of a result that was computed: rounding keeps it within its type, unsigned numbers wrap on purpose.
  [[nodiscard]] Need need_of_result(Node n) const;
  [[nodiscard]] static Need firm_part(const Need& need);
  // Makes a product of the two of one sign, as far as it may be of the other.
  bool give_sign(Node a, Node b, bool positive, Cause cause);
  void within(Node n, double largest, const Need& need);
  [[nodiscard]] const FlatNode& node(Node n) const { return program_.nodes[n]; }
  [[nodiscard]] std::span<const Node> operands(Node n) const { return program_.operands_of(program_.nodes[n]); }
  [[nodiscard]] hlo::ElementType type(Node n) const { return program_.nodes[n].shape->element_type(); }

  const hlo::Module& module_;
  const FlatProgram& program_;
  const std::vector<Estimate>& estimates_;
  Needs needs_;
  Need need_;                  // of the node that a rule is for: all of it, or the firm part
  bool passes_fields_ = true;  // the rule made the node's fields its operands'
  std::vector<bool> assured_;
};

}  // namespace sapper::inputs
