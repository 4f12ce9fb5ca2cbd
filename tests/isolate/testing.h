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

// Those that the run computed; false: it did not compute all of them.
inline bool append_values(const Traced& traced, const hlo::Computation& computation,
                          const std::vector<ValueRef>& values, std::vector<hlo::Literal>& out) {
  for (const ValueRef& value : values) {
    const hlo::Literal* whole = traced.find(computation, computation.instructions[value.instruction]);
    if (whole == nullptr) return false;
    out.push_back(hlo::leaves(*whole)[value.leaf]);
  }
  return true;
}

struct Comparison {
  int compared = 0;        // occurrences; those in branches not taken cannot be
  std::string difference;  // the first
};

// Whether every piece, on what its parameters stand for, gives what its results stand for, bit for bit.
inline Comparison compare_values(const hlo::Module& module, const CutOptions& options) {
  const auto traced = trace(module, arbitrary_arguments(module));
  if (!traced) return {0, traced.error().describe()};
  Comparison all;
  for (const Piece& piece : cut(module, options).pieces) {
    const auto differs = [&](std::string_view how) {
      return Comparison{all.compared, fmt::format("{}\n{}", how, hlo::to_text(piece.module))};
    };
    if (piece.fingerprint != piece_fingerprint(piece.module)) return differs("not its fingerprint");
    if (const Status legal = hlo::verify(piece.module); !legal) return differs(legal.error().describe());
    for (const Occurrence& occurrence : piece.occurrences) {
      const hlo::Computation& computation = module.computations[occurrence.computation];
      std::vector<hlo::Literal> inputs;
      std::vector<hlo::Literal> outputs;
      if (!append_values(*traced, computation, occurrence.inputs, inputs) ||
          !append_values(*traced, computation, occurrence.outputs, outputs))
        continue;
      const auto result = eval::evaluate(piece.module, inputs);
      if (!result) return differs(result.error().describe());
      if (hlo::leaves(*result) != outputs) return differs(provenance(module, occurrence).instruction);
      ++all.compared;
    }
  }
  return all;
}

// The number of occurrences whose values were compared and are the same.
inline int expect_same_values(const hlo::Module& module, const CutOptions& options) {
  const Comparison comparison = compare_values(module, options);
  EXPECT_EQ(comparison.difference, "");
  return comparison.compared;
}

}  // namespace sapper::isolate
