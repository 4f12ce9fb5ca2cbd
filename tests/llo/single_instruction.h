// One instruction of the table on a machine of its own: operands in, result out.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <vector>

#include "llo/machine.h"

namespace sapper::llo::testing {

struct Value {
  Vreg bits{};
  Vreg undefined{};
  bool operator==(const Value&) const = default;
};

inline Vreg splat(uint32_t word) {
  Vreg result;
  std::fill_n(result.word, kVregWords, word);
  return result;
}

// What runs before, or what it takes besides vectors.
struct Surroundings {
  std::vector<uint32_t> scalars;  // operands that are not vectors, in order
  std::array<uint16_t, kMaxChoices> choice{};
  MachineOptions options;
  bool result_in_first = false;  // the result goes where the first vector operand is
};

// Runs `info` on `vectors`; where it has no result but a place in a queue, what it queued. All results in order, a
// scalar in every lane.
inline std::vector<Value> run(const OpcodeInfo& info, const std::vector<Value>& vectors,
                              const Surroundings& with = {}) {
  Program program;
  Code code;
  code.program = &program;
  code.vector_slots = static_cast<uint32_t>(vectors.size()) + 1;
  code.scalar_slots = static_cast<uint32_t>(with.scalars.size()) + 1;
  code.token_slots = 2;
  const bool scalar_result = info.operands.starts_with("s");
  const auto result_slot =
      static_cast<Slot>(with.result_in_first ? 0 : (scalar_result ? with.scalars.size() : vectors.size()));

  Step step;
  step.info = &info;
  step.choice = with.choice;
  step.source = 0;
  program.instructions.emplace_back();
  step.result = info.operands.starts_with("t") ? 0 : result_slot;
  size_t vector = 0;
  size_t scalar = 0;
  const std::string_view letters = info.operands.substr(info.operands.find('=') + 1);
  for (const char letter : letters) {
    if (letter == 'v' || letter == 'm') {
      step.operand_bank[step.operand_count] = letter == 'v' ? Bank::Vector : Bank::Mask;
      step.operand[step.operand_count++] = static_cast<Slot>(vector++);
    } else if (letter == 's') {
      step.operand_bank[step.operand_count] = Bank::Scalar;
      step.operand[step.operand_count++] = static_cast<Slot>(scalar++);
    } else if (letter == 't') {
      step.operand_bank[step.operand_count] = Bank::Token;
      step.operand[step.operand_count++] = 1;
    }
  }
  Step halt;
  halt.kind = StepKind::Halt;
  code.steps = {step, halt};

  Machine machine(with.options);
  EXPECT_TRUE(machine.load(code));
  for (size_t k = 0; k < vectors.size(); ++k) {
    machine.write_vector(static_cast<Slot>(k)) = vectors[k].bits;
    machine.set_vector_undefined(static_cast<Slot>(k), vectors[k].undefined);
  }
  for (size_t k = 0; k < with.scalars.size(); ++k) machine.set_scalar(static_cast<Slot>(k), with.scalars[k]);
  const Status status = machine.run();
  EXPECT_TRUE(status) << info.name << ": " << status.error().describe();

  std::vector<Value> results;
  const auto value_of = [](const Vreg& bits, const Vreg* undefined) {
    return Value{bits, undefined == nullptr ? Vreg{} : *undefined};
  };
  if (info.operands.starts_with("v") || info.operands.starts_with("m"))
    results.push_back(value_of(machine.vector(result_slot), machine.vector_undefined(result_slot)));
  if (scalar_result)
    results.push_back({splat(machine.scalar(result_slot)), splat(machine.scalar_undefined(result_slot))});
  for (const QueueKind kind : {QueueKind::Permute, QueueKind::CrossLaneReduce, QueueKind::Transpose,
                               QueueKind::Transcendental, QueueKind::Scalar})
    for (const Queued& queued : machine.queue(kind, 0))
      results.push_back(value_of(queued.value, queued.undefined ? &*queued.undefined : nullptr));
  return results;
}

// The row of an opcode that the table must have, with its choices.
inline std::vector<Value> run(std::string_view opcode, const std::vector<Value>& vectors, Surroundings with = {}) {
  const OpcodeMatch match = find_opcode(opcode);
  EXPECT_NE(match.info, nullptr) << opcode;
  if (match.info == nullptr) return {};
  std::copy(match.choice.begin(), match.choice.end(), with.choice.begin());
  return run(*match.info, vectors, with);
}

// Of operands that are all defined; the result must be, too.
inline Vreg result_of(std::string_view opcode, const std::vector<Vreg>& vectors, Surroundings with = {}) {
  std::vector<Value> values;
  values.reserve(vectors.size());
  for (const Vreg& bits : vectors) values.push_back({bits, {}});
  const std::vector<Value> results = run(opcode, values, std::move(with));
  EXPECT_EQ(results.size(), 1U) << opcode;
  if (results.size() != 1) return {};
  EXPECT_EQ(results[0].undefined, Vreg{}) << opcode;
  return results[0].bits;
}

}  // namespace sapper::llo::testing
