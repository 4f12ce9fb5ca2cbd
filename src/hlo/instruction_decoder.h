// Second look at a serialized module: single instructions, except their operands, which stay ids until all instructions
// of the computation are known. Inside of the proto reader.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hlo/id_table.h"
#include "hlo/module.h"
#include "hlo/module_outline.h"

namespace sapper::hlo {

// The parsed form of byte strings that were seen before: a module repeats few.
template <class T>
class Interner {
 public:
  // `key` must live as long as the interner; parse(key) makes the value of a new one.
  template <class Parse>
  Result<const T*> get(std::string_view key, Parse&& parse) {
    const auto found = known_.find(key);
    if (found != known_.end()) return &found->second;
    SAPPER_TRY(T value, parse(key));
    return &known_.emplace(key, std::move(value)).first->second;
  }
  // The same for a key that does not last.
  template <class Parse>
  Result<const T*> get_copied(std::string_view key, Parse&& parse) {
    const auto found = known_.find(key);
    if (found != known_.end()) return &found->second;
    return get(kept_.emplace_back(key), std::forward<Parse>(parse));
  }

 private:
  std::unordered_map<std::string_view, T> known_;
  std::deque<std::string> kept_;
};

struct KnownShape {
  Shape shape;
  bool is_complete = true;    // the bytes say no more than `shape`
  std::string literal_shape;  // what a constant of this shape states in its literal
};

struct KnownLiteral {
  std::shared_ptr<const Literal> literal;
  bool is_complete = true;
  std::string stated_shape;
};

// What equal bytes were parsed to; one a thread, so that nothing is locked.
struct Caches {
  Interner<KnownShape> shapes;
  Interner<KnownLiteral> literals;
  Interner<std::shared_ptr<const proto::OpMetadata>> metadata;
  Interner<std::shared_ptr<const Attributes>> attributes;
  std::string others;  // scratch: the fields of the current instruction that go to its attributes
};

[[nodiscard]] Result<const KnownShape*> read_shape(Caches& caches, std::string_view wire);

// References between the instructions of a computation, in the order of the instructions.
struct References {
  std::vector<int64_t> operand_ids;                       // Instruction::operands.size() of each
  std::vector<std::pair<size_t, int64_t>> control_edges;  // index in ModuleOutline::instructions, predecessor's id
};

// Decodes instruction `index` of the outline, which belongs to computation number `computation`, into an Instruction
// that is new. On failure `out.name` says which one it is.
[[nodiscard]] Status decode_instruction(const ModuleOutline& outline, const IdTable& computations, size_t index,
                                        size_t computation, Caches& caches, References& references, Instruction& out);

}  // namespace sapper::hlo
