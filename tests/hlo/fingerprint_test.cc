// The fingerprint ignores what does not belong to a program and sees everything that does.
#include "hlo/fingerprint.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <functional>
#include <numeric>

#include "base/file.h"
#include "hlo/proto.h"
#include "tests/hlo/proto_builder.h"

namespace sapper::hlo {
namespace {

const Shape f32_4 = Shape::array(ElementType::F32, {4});

Instruction make(Opcode opcode, const Shape& shape, std::vector<InstructionIndex> operands = {}) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.shape = shape;
  instruction.operands = std::move(operands);
  return instruction;
}

Instruction constant(float value) {
  Instruction instruction = make(Opcode::Constant, f32_4);
  Literal literal(f32_4);
  for (float& element : literal.mutable_data<float>()) element = value;
  instruction.literal = std::make_shared<const Literal>(std::move(literal));
  return instruction;
}

Instruction parameter(int64_t number) {
  Instruction instruction = make(Opcode::Parameter, f32_4);
  instruction.parameter_number = number;
  return instruction;
}

// Small computations that call each other and do all kinds of things, dead ones among them.
Computation arbitrary_computation(size_t callable) {
  Computation computation;
  computation.instructions.push_back(parameter(0));
  computation.instructions.push_back(parameter(1));
  const auto size = *rc::gen::inRange<size_t>(3, 16);
  while (computation.instructions.size() < size) {
    const auto operand =
        rc::gen::inRange<InstructionIndex>(0, static_cast<InstructionIndex>(computation.instructions.size()));
    switch (*rc::gen::inRange(0, callable > 0 ? 6 : 5)) {
      case 0: computation.instructions.push_back(make(Opcode::Add, f32_4, {*operand, *operand})); break;
      case 1: computation.instructions.push_back(make(Opcode::Subtract, f32_4, {*operand, *operand})); break;
      case 2: computation.instructions.push_back(constant(static_cast<float>(*rc::gen::inRange(0, 4)))); break;
      case 3: computation.instructions.push_back(make(Opcode::Negate, f32_4, {*operand})); break;
      case 4: {
        Instruction reverse = make(Opcode::Reverse, f32_4, {*operand});
        reverse.dimensions = {0};
        reverse.edit_attributes().set_epsilon(static_cast<float>(*rc::gen::inRange(0, 3)));
        computation.instructions.push_back(std::move(reverse));
        break;
      }
      default: {
        Instruction call = make(Opcode::Call, f32_4, {*operand, *operand});
        call.called = {*rc::gen::inRange<ComputationIndex>(0, static_cast<ComputationIndex>(callable))};
        computation.instructions.push_back(std::move(call));
      }
    }
  }
  computation.root = static_cast<InstructionIndex>(computation.instructions.size()) - 1;
  return computation;
}

Module arbitrary_module() {
  Module module;
  const auto size = *rc::gen::inRange<size_t>(1, 5);
  while (module.computations.size() < size)
    module.computations.push_back(arbitrary_computation(module.computations.size()));
  module.entry = static_cast<ComputationIndex>(size) - 1;
  return module;
}

// A random order of 0 .. count - 1 in which everything follows what it depends on.
std::vector<uint32_t> topological_order(uint32_t count,
                                        const std::function<const std::vector<uint32_t>&(uint32_t)>& dependencies) {
  std::vector<uint32_t> order;
  std::vector<bool> done(count);
  while (order.size() < count) {
    std::vector<uint32_t> ready;
    for (uint32_t i = 0; i < count; ++i) {
      const auto& needed = dependencies(i);
      if (!done[i] && std::all_of(needed.begin(), needed.end(), [&](uint32_t k) { return done[k]; }))
        ready.push_back(i);
    }
    order.push_back(ready[*rc::gen::inRange<size_t>(0, ready.size())]);
    done[order.back()] = true;
  }
  return order;
}

std::vector<uint32_t> inverse(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> position(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  return position;
}

void shuffle_instructions(Computation& computation) {
  const auto order = topological_order(
      static_cast<uint32_t>(computation.instructions.size()), [&](uint32_t i) -> const auto& {
        return computation.instructions[i].operands;
      });
  const auto position = inverse(order);
  std::vector<Instruction> shuffled;
  for (const uint32_t i : order) {
    shuffled.push_back(computation.instructions[i]);
    for (InstructionIndex& operand : shuffled.back().operands) operand = position[operand];
  }
  computation.instructions = std::move(shuffled);
  computation.root = position[computation.root];
}

void shuffle_computations(Module& module) {
  std::vector<std::vector<uint32_t>> called(module.computations.size());
  for (size_t i = 0; i < called.size(); ++i)
    for (const Instruction& instruction : module.computations[i].instructions)
      called[i].insert(called[i].end(), instruction.called.begin(), instruction.called.end());
  const auto order = topological_order(
      static_cast<uint32_t>(called.size()), [&](uint32_t i) -> const auto& { return called[i]; });
  const auto position = inverse(order);
  std::vector<Computation> shuffled;
  for (const uint32_t i : order) {
    shuffled.push_back(module.computations[i]);
    for (Instruction& instruction : shuffled.back().instructions)
      for (ComputationIndex& callee : instruction.called) callee = position[callee];
  }
  module.computations = std::move(shuffled);
  module.entry = position[module.entry];
}

void rename(Module& module) {
  module.name = *rc::gen::arbitrary<std::string>();
  module.id = *rc::gen::arbitrary<int64_t>();
  int64_t id = *rc::gen::inRange(0, 100);
  for (Computation& computation : module.computations) {
    computation.name = *rc::gen::arbitrary<std::string>();
    computation.id = ++id;
    for (Instruction& instruction : computation.instructions) {
      instruction.name = *rc::gen::arbitrary<std::string>();
      instruction.id = ++id;
      auto metadata = std::make_shared<proto::OpMetadata>();
      metadata->set_op_name(instruction.name);
      instruction.metadata = std::move(metadata);
      instruction.position.line = static_cast<int32_t>(id);
      instruction.edit_attributes().mutable_statistics_viz();
      instruction.edit_attributes().mutable_original_value()->add_elements();
    }
  }
  module.attributes.mutable_stack_frame_index()->add_file_names("elsewhere.py");
}

RC_GTEST_PROP(Fingerprint, NamesIdsMetadataAndOrderDoNotCount, ()) {
  const Module module = arbitrary_module();
  Module same = module;
  for (Computation& computation : same.computations) shuffle_instructions(computation);
  shuffle_computations(same);
  rename(same);
  RC_ASSERT(fingerprint(module) == fingerprint(same));
}

RC_GTEST_PROP(Fingerprint, SurvivesTheProtoForm, ()) {
  const Module module = arbitrary_module();
  const auto read = parse_proto(to_proto(module));
  RC_ASSERT(read);
  RC_ASSERT(fingerprint(module) == fingerprint(*read));
}

// Each changes one thing in an instruction, wherever it is.
struct Change {
  const char* what;
  std::function<void(Instruction&)> apply;
};

Literal other_literal(const Literal& literal) {
  Literal other = literal;
  other.set_real(3, other.real_at(3) + 0.5);
  return other;
}

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"opcode", [](Instruction& i) { i.opcode = Opcode::Multiply; }},
      {"element type", [](Instruction& i) { i.shape = i.shape.with_element_type(ElementType::BF16); }},
      {"dimensions",
       [](Instruction& i) {
         i.shape = Shape::array(ElementType::F32, {2, 2});
       }},
      {"dynamism", [](Instruction& i) { i.shape = Shape::array(ElementType::F32, {4}, {true}, nullptr); }},
      {"layout",
       [](Instruction& i) {
         Layout layout = Layout::descending(1);
         layout.memory_space = 1;
         i.shape = i.shape.with_layout(std::make_shared<const Layout>(layout));
       }},
      {"parameter number", [](Instruction& i) { i.parameter_number += 7; }},
      {"tuple index", [](Instruction& i) { i.tuple_index += 1; }},
      {"dimension list", [](Instruction& i) { i.dimensions.push_back(0); }},
      {"literal",
       [](Instruction& i) {
         i.literal = std::make_shared<const Literal>(i.literal ? other_literal(*i.literal) : Literal(f32_4));
       }},
      {"attribute", [](Instruction& i) { i.edit_attributes().set_feature_group_count(3); }},
      {"backend config", [](Instruction& i) { i.edit_attributes().set_backend_config("x"); }},
      {"frontend attribute",
       [](Instruction& i) { (*i.edit_attributes().mutable_frontend_attributes()->mutable_map())["a"] = "b"; }},
      {"unknown field",
       [](Instruction& i) {
         Attributes& attributes = i.edit_attributes();
         unknown_fields(&attributes).AddVarint(999, 1);
       }},
      {"unknown field of the shape",
       [](Instruction& i) {
         proto::ShapeProto& shape = *i.edit_attributes().mutable_shape();
         unknown_fields(&shape).AddVarint(999, 1);
       }},
      {"operand", [](Instruction& i) { i.operands.push_back(0); }},
  };
  return all;
}

RC_GTEST_PROP(Fingerprint, EveryChangeCounts, ()) {
  const Module module = arbitrary_module();
  for (const Change& change : changes()) {
    Module other = module;
    Computation& computation = other.computations[*rc::gen::inRange<size_t>(0, other.computations.size())];
    auto index = *rc::gen::inRange<InstructionIndex>(1, static_cast<InstructionIndex>(computation.instructions.size()));
    change.apply(computation.instructions[index]);
    RC_LOG() << change.what;
    RC_ASSERT(fingerprint(module) != fingerprint(other));
  }
}

Module two_uses(bool shared) {
  Module module;
  Computation& entry = module.computations.emplace_back();
  entry.instructions = {make(Opcode::Rng, f32_4), make(Opcode::Rng, f32_4)};
  entry.instructions.push_back(make(Opcode::Subtract, f32_4, {0, shared ? 0U : 1U}));
  entry.root = 2;
  return module;
}

TEST(Fingerprint, OneInstructionUsedTwiceIsNotTwo) {
  EXPECT_FALSE(fingerprint(two_uses(true)) == fingerprint(two_uses(false)));
}

TEST(Fingerprint, OrderCountsOnlyInASchedule) {
  Module module;
  Computation& entry = module.computations.emplace_back();
  entry.instructions = {parameter(0), make(Opcode::Negate, f32_4, {0}), make(Opcode::Abs, f32_4, {0}),
                        make(Opcode::Add, f32_4, {1, 2})};
  entry.root = 3;
  Module other = module;
  std::swap(other.computations[0].instructions[1], other.computations[0].instructions[2]);
  other.computations[0].instructions[3].operands = {2, 1};
  EXPECT_TRUE(fingerprint(module) == fingerprint(other));
  module.is_scheduled = true;
  other.is_scheduled = true;
  EXPECT_FALSE(fingerprint(module) == fingerprint(other));
}

TEST(Fingerprint, ModulePropertiesCount) {
  Module module = two_uses(true);
  const Fingerprint before = fingerprint(module);
  module.config.set_replica_count(1);
  EXPECT_TRUE(fingerprint(module) == before);
  module.config.set_replica_count(2);
  EXPECT_FALSE(fingerprint(module) == before);
  module = two_uses(true);
  module.attributes.mutable_input_output_alias()->add_entries();
  EXPECT_FALSE(fingerprint(module) == before);
  module = two_uses(true);
  module.has_entry_layout = true;
  module.entry_result_layout = f32_4;
  EXPECT_TRUE(fingerprint(module) == before);
  module.entry_result_layout = f32_4.with_layout(std::make_shared<const Layout>(Layout::descending(1)));
  EXPECT_FALSE(fingerprint(module) == before);
}

// Fingerprints are written down in results: they must never change without notice.
TEST(Fingerprint, IsStable) { EXPECT_EQ(fingerprint(two_uses(true)).to_hex(), "f4388a8f8c69a749a36498c189930021"); }

}  // namespace
}  // namespace sapper::hlo
