// What tests of cuts share: modules from text, what is in a cut, and the values that pieces see in their source.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "eval/evaluator.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "isolate/cut.h"
#include "isolate/provenance.h"

namespace sapper::isolate {

constexpr std::array every_granularity = {Granularity::Op, Granularity::Fusion, Granularity::Region,
                                          Granularity::Computation};

inline hlo::Module parse(std::string_view text) {
  auto module = hlo::parse_text(text);
  if (!module) ADD_FAILURE() << module.error().describe();
  const Status legal = hlo::verify(*module);
  if (!legal) ADD_FAILURE() << legal.error().describe();
  return *module;
}

inline Cut cut_text(std::string_view text, Granularity granularity) {
  return cut(parse(text), {.granularity = granularity});
}

// The root's opcode of each piece, sorted.
inline std::vector<std::string> roots(const Cut& cut) {
  std::vector<std::string> names;
  for (const Piece& piece : cut.pieces)
    names.emplace_back(hlo::to_string(piece.module.entry_computation().root_instruction().opcode));
  std::ranges::sort(names);
  return names;
}

inline std::vector<std::string> fingerprints(const Cut& cut) {
  std::vector<std::string> all;
  for (const Piece& piece : cut.pieces) all.push_back(piece.fingerprint);
  std::ranges::sort(all);
  return all;
}

inline int64_t covered(const Coverage& coverage) {
  return coverage.in_pieces + coverage.called + coverage.nothing + coverage.unreached +
         static_cast<int64_t>(coverage.skipped.size());
}

// The value of each instruction of a run, of the last time that it ran.
struct Traced {
  std::map<std::pair<std::string, std::string>, hlo::Literal> values;  // by names of computation and instruction

  [[nodiscard]] const hlo::Literal* find(const hlo::Computation& computation,
                                         const hlo::Instruction& instruction) const {
    const auto at = values.find({computation.name, instruction.name});
    return at == values.end() ? nullptr : &at->second;
  }
};

inline Result<Traced> trace(const hlo::Module& module, const std::vector<hlo::Literal>& arguments) {
  Traced traced;
  eval::Options options;
  options.trace = [&](const hlo::Computation& computation, const hlo::Instruction& instruction,
                      const hlo::Literal& value) {
    traced.values[{computation.name, instruction.name}] = value;
  };
  SAPPER_TRY(const hlo::Literal result, eval::evaluate(module, arguments, options));
  static_cast<void>(result);
  return traced;
}

inline std::vector<hlo::Literal> arbitrary_arguments(const hlo::Module& module) {
  std::mt19937 random(1);
  std::vector<hlo::Literal> arguments;
  const hlo::Computation& entry = module.entry_computation();
  for (const hlo::InstructionIndex p : entry.parameters()) {
    hlo::Literal argument(entry.instructions[p].shape);
    const hlo::ElementType type = argument.shape().element_type();
    for (int64_t i = 0; i < argument.element_count(); ++i) {
      const auto value = static_cast<double>(random() % 7);
      hlo::is_float(type) ? argument.set_real(i, value / 4 - 0.5)
                          : argument.set_integer(i, static_cast<int64_t>(value));
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

inline hlo::Literal value_of(const Traced& traced, const hlo::Computation& computation, const ValueRef& value) {
  const hlo::Literal* whole = traced.find(computation, computation.instructions[value.instruction]);
  return whole == nullptr ? hlo::Literal() : hlo::leaves(*whole)[value.leaf];
}

// Every piece, on what its parameters stand for, gives what its results stand for, bit for bit. Returns how many
// occurrences were compared: those of branches not taken cannot be.
inline int expect_same_values(const hlo::Module& module, Granularity granularity) {
  const auto traced = trace(module, arbitrary_arguments(module));
  EXPECT_TRUE(traced) << traced.error().describe();
  if (!traced) return 0;
  int compared = 0;
  for (const Piece& piece : cut(module, {.granularity = granularity}).pieces) {
    EXPECT_EQ(piece.fingerprint, piece_fingerprint(piece.module));
    EXPECT_TRUE(hlo::verify(piece.module));
    for (const Occurrence& occurrence : piece.occurrences) {
      const hlo::Computation& computation = module.computations[occurrence.computation];
      std::vector<hlo::Literal> inputs;
      bool is_known = true;
      for (const ValueRef& input : occurrence.inputs) {
        inputs.push_back(value_of(*traced, computation, input));
        is_known &= inputs.back().shape().is_valid();
      }
      if (!is_known || traced->find(computation, computation.instructions[occurrence.instruction]) == nullptr) continue;
      const auto result = eval::evaluate(piece.module, inputs);
      EXPECT_TRUE(result) << result.error().describe() << "\n" << hlo::to_text(piece.module);
      if (!result) continue;
      const std::vector<hlo::Literal> leaves = hlo::leaves(*result);
      EXPECT_EQ(leaves.size(), occurrence.outputs.size());
      for (size_t k = 0; k < leaves.size(); ++k) {
        EXPECT_EQ(leaves[k], value_of(*traced, computation, occurrence.outputs[k]))
            << "result " << k << " of " << provenance(module, occurrence).instruction << "\n"
            << hlo::to_text(piece.module);
      }
      ++compared;
    }
  }
  return compared;
}

}  // namespace sapper::isolate
