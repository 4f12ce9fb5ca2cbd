// The verifier on modules that nobody would write: it must answer, never crash, and never pass a wrong number of
// operands. Modules are built by hand and by breaking good ones; the seeds are fixed.
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/file.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "hlo/verifier_rules.h"

namespace sapper::hlo {
namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

constexpr size_t opcode_count = static_cast<size_t>(Opcode::Xor) + 1;

size_t below(Random& random, size_t bound) { return random() % bound; }

template <class T>
const T& pick(Random& random, const std::vector<T>& from) {
  return from[below(random, from.size())];
}

const std::vector<Shape>& assorted_shapes() {
  static const std::vector<Shape> shapes = {
      Shape::scalar(ElementType::F32),
      Shape::scalar(ElementType::S32),
      Shape::scalar(ElementType::Pred),
      Shape::array(ElementType::F32, {4}),
      Shape::array(ElementType::F32, {2, 3}),
      Shape::array(ElementType::F32, {3, 3}),
      Shape::array(ElementType::BF16, {2, 3}),
      Shape::array(ElementType::S32, {2, 3}),
      Shape::array(ElementType::C64, {2, 3}),
      Shape::array(ElementType::Pred, {2, 3}),
      Shape::array(ElementType::U4, {0, 5}),
      Shape::array(ElementType::F32, {1, 2, 3, 4}),
      Shape::array(ElementType::F32, {2, 3}, {true, false}, nullptr),
      Shape::array(ElementType::F32, {Shape::unbounded, 3}),
      Shape::array(ElementType::F32, {1000000000}),
      Shape::array(ElementType::S8, std::vector<int64_t>(70, 1)),
      Shape::token(),
      Shape::opaque(),
      Shape::tuple({}),
      Shape::tuple({Shape::scalar(ElementType::F32), Shape::token()}),
      Shape::tuple({Shape::tuple({Shape::array(ElementType::F32, {4})}), Shape::array(ElementType::F32, {4}),
                    Shape::scalar(ElementType::S32)}),
      Shape::buffer(Shape::array(ElementType::F32, {4})),
  };
  return shapes;
}

// The shapes that no module may have.
const std::vector<Shape>& defective_shapes() {
  static const std::vector<Shape> shapes = [] {
    const auto with = [](const Shape& shape, Layout layout) {
      return shape.with_layout(std::make_shared<const Layout>(std::move(layout)));
    };
    const Shape matrix = Shape::array(ElementType::F32, {2, 3});
    Layout twice = Layout::descending(2);
    twice.minor_to_major = {1, 1};
    Layout tiled = Layout::descending(2);
    tiled.tiles = {Tile{{8, 0}}};
    Shape deep = Shape::tuple({});
    for (int i = 0; i < 1000; ++i) deep = Shape::tuple({deep});
    return std::vector<Shape>{
        Shape(),
        Shape::array(ElementType::F32, {-1}),
        Shape::array(ElementType::F32, {int64_t{1} << 40, int64_t{1} << 40}),
        Shape::array(ElementType::F32, {0, int64_t{1} << 40, int64_t{1} << 40}),
        Shape::array(ElementType::C128, {int64_t{1} << 60}),
        with(matrix, Layout::descending(3)),
        with(matrix, twice),
        with(matrix, tiled),
        Shape::tuple({Shape::array(ElementType::F32, {-5})}),
        deep,
    };
  }();
  return shapes;
}

Instruction parameter(int64_t number, Shape shape) {
  Instruction instruction;
  instruction.opcode = Opcode::Parameter;
  instruction.name = "p" + std::to_string(number);
  instruction.shape = std::move(shape);
  instruction.parameter_number = number;
  return instruction;
}

// A computation that returns its last parameter.
Computation applied(std::vector<Shape> parameters) {
  Computation computation;
  computation.name = "applied";
  for (size_t i = 0; i < parameters.size(); ++i)
    computation.instructions.push_back(parameter(static_cast<int64_t>(i), parameters[i]));
  computation.root = static_cast<InstructionIndex>(parameters.size() - 1);
  return computation;
}

// The entry computation: parameters of the given shapes and one more instruction that takes them all.
Module module_of(Instruction instruction, const std::vector<Shape>& operands, std::vector<Computation> called) {
  Module module;
  module.computations = std::move(called);
  Computation entry;
  entry.name = "entry";
  for (size_t i = 0; i < operands.size(); ++i) {
    entry.instructions.push_back(parameter(static_cast<int64_t>(i), operands[i]));
    instruction.operands.push_back(static_cast<InstructionIndex>(i));
  }
  entry.instructions.push_back(std::move(instruction));
  entry.root = static_cast<InstructionIndex>(operands.size());
  module.entry = static_cast<ComputationIndex>(module.computations.size());
  module.computations.push_back(std::move(entry));
  return module;
}

// Both entrances, which must return.
void try_out(const Module& module) {
  const Status status = verify(module);
  if (!status) {
    EXPECT_EQ(status.error().kind, ErrorKind::BadInput) << status.error().describe();
  }
  for (const Computation& computation : module.computations)
    for (const Instruction& instruction : computation.instructions) (void)infer_shape(module, computation, instruction);
}

// Sets a few number fields of `message`, at any depth, to numbers that are rarely right.
void scramble(google::protobuf::Message* message, Random& random, int depth = 0) {
  static const std::vector<int64_t> numbers = {0, 0, 1, 1, 2, 3, 4, -1, 7, 64, int64_t{1} << 40, INT64_MAX, INT64_MIN};
  const auto* descriptor = message->GetDescriptor();
  const auto* reflection = message->GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* field = descriptor->field(i);
    if (field->is_map() || below(random, 3) != 0) continue;
    const size_t count = field->is_repeated() ? below(random, 5) : 1;
    if (field->is_repeated()) reflection->ClearField(message, field);
    for (size_t k = 0; k < count; ++k) {
      const int64_t number = pick(random, numbers);
      if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_INT64) {
        field->is_repeated() ? reflection->AddInt64(message, field, number)
                             : reflection->SetInt64(message, field, number);
      } else if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_INT32 && !field->is_repeated()) {
        reflection->SetInt32(message, field, static_cast<int32_t>(number));
      } else if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_ENUM && !field->is_repeated()) {
        reflection->SetEnumValue(message, field, static_cast<int>(number & 7));
      } else if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE && depth < 3) {
        scramble(
            field->is_repeated() ? reflection->AddMessage(message, field) : reflection->MutableMessage(message, field),
            random, depth + 1);
      }
    }
  }
}

TEST(VerifierHostile, WrongOperandAndComputationCountsAreErrorsForEveryOpcode) {
  const Shape scalar = Shape::scalar(ElementType::F32);
  for (size_t o = 0; o < opcode_count; ++o) {
    for (size_t operands = 0; operands <= 7; ++operands) {
      for (size_t called = 0; called <= 3; ++called) {
        Instruction instruction;
        instruction.opcode = static_cast<Opcode>(o);
        instruction.shape = scalar;
        for (size_t c = 0; c < called; ++c) instruction.called.push_back(static_cast<ComputationIndex>(c));
        const Module module = module_of(instruction, std::vector<Shape>(operands, scalar),
                                        std::vector<Computation>(called, applied({scalar, scalar})));
        const verifier::OpcodeRule& rule = verifier::rule_for(instruction.opcode);
        const bool right_counts = rule.operands.contains(operands) && rule.called.contains(called);
        const Status status = verify(module);
        if (!right_counts) {
          EXPECT_FALSE(status) << to_string(instruction.opcode) << " with " << operands << " and " << called;
        }
      }
    }
  }
}

TEST(VerifierHostile, EveryOpcodeWithAnyOperandsAndAttributesNeverCrashes) {
  Random random(1);
  const std::vector<std::vector<Shape>> signatures = {
      {Shape::scalar(ElementType::F32), Shape::scalar(ElementType::F32)},
      {Shape::scalar(ElementType::Pred)},
      {Shape::tuple({})},
      {Shape::array(ElementType::F32, {4})},
      {Shape::scalar(ElementType::F32), Shape::scalar(ElementType::F32), Shape::scalar(ElementType::F32),
       Shape::tuple({Shape::scalar(ElementType::F32), Shape::scalar(ElementType::F32)})}};
  for (size_t o = 0; o < opcode_count; ++o) {
    for (size_t operand_count = 0; operand_count <= 6; ++operand_count) {
      for (int round = 0; round < 60; ++round) {
        Instruction instruction;
        instruction.opcode = static_cast<Opcode>(o);
        instruction.name = "subject";
        instruction.shape = pick(random, assorted_shapes());
        // Often all operands alike, so that rules get beyond their first check.
        std::vector<Shape> operands(operand_count, pick(random, assorted_shapes()));
        if (round % 2 == 0)
          for (Shape& operand : operands) operand = pick(random, assorted_shapes());
        if (round % 3 == 0 && !operands.empty()) instruction.shape = operands[0];
        for (size_t i = below(random, 4); i > 0; --i)
          instruction.dimensions.push_back(static_cast<int64_t>(below(random, 6)) - 1);
        instruction.tuple_index = static_cast<int64_t>(below(random, 5)) - 1;
        if (round % 4 != 0) scramble(&instruction.edit_attributes(), random);
        std::vector<Computation> called;
        const verifier::Count count = verifier::rule_for(instruction.opcode).called;
        for (size_t c = 0; c < std::min<size_t>(count.most, 3); ++c) {
          called.push_back(applied(pick(random, signatures)));
          instruction.called.push_back(static_cast<ComputationIndex>(c));
        }
        try_out(module_of(instruction, operands, called));
      }
    }
  }
}

TEST(VerifierHostile, DefectiveShapesAreErrorsWhereverTheyAre) {
  for (const Shape& shape : defective_shapes()) {
    Instruction copy;
    copy.opcode = Opcode::Copy;
    copy.shape = Shape::scalar(ElementType::F32);
    const Module module = module_of(copy, {shape}, {});
    EXPECT_FALSE(verify(module));
    EXPECT_FALSE(infer_shape(module, module.entry_computation(), module.entry_computation().root_instruction()));
  }
}

TEST(VerifierHostile, BrokenStructureIsAnError) {
  const Shape scalar = Shape::scalar(ElementType::F32);
  Instruction add;
  add.opcode = Opcode::Add;
  add.shape = scalar;
  const Module good = module_of(add, {scalar, scalar}, {});
  ASSERT_TRUE(verify(good));
  const auto broken = [&](auto&& breaking) {
    Module module = good;
    breaking(module);
    try_out(module);
    return !verify(module);
  };
  EXPECT_TRUE(broken([](Module& m) { m.computations.clear(); }));
  EXPECT_TRUE(broken([](Module& m) { m.entry = 7; }));
  EXPECT_TRUE(broken([](Module& m) { m.computations[0].instructions.clear(); }));
  EXPECT_TRUE(broken([](Module& m) { m.computations[0].root = 3; }));
  EXPECT_TRUE(broken([](Module& m) { m.computations[0].instructions[2].operands[1] = 99; }));
  EXPECT_TRUE(broken([](Module& m) { m.computations[0].instructions[2].operands[1] = 2; }));
  EXPECT_TRUE(broken([](Module& m) { m.computations[0].instructions[1].parameter_number = 0; }));
  EXPECT_TRUE(broken([](Module& m) { m.computations[0].instructions[1].parameter_number = INT64_MAX; }));
  EXPECT_TRUE(broken([](Module& m) { m.computations[0].instructions[1].parameter_number = -1; }));
  EXPECT_TRUE(broken([](Module& m) {
    m.computations[0].instructions[2].opcode = Opcode::Call;
    m.computations[0].instructions[2].called = {0};
  }));
  EXPECT_TRUE(broken([](Module& m) {
    m.computations[0].instructions[2].opcode = Opcode::Call;
    m.computations[0].instructions[2].called = {5};
  }));
  EXPECT_TRUE(broken([](Module& m) { m.has_entry_layout = true; }));
  EXPECT_TRUE(
      broken([](Module& m) { m.attributes.mutable_input_output_alias()->add_entries()->set_parameter_number(2); }));
  EXPECT_TRUE(
      broken([](Module& m) { m.attributes.mutable_input_output_alias()->add_entries()->add_output_shape_index(0); }));
  EXPECT_TRUE(broken([](Module& m) { m.attributes.mutable_buffer_donor()->add_entries()->set_parameter_number(-1); }));
  EXPECT_TRUE(broken([](Module& m) { m.attributes.add_cross_program_prefetches()->add_index(0); }));
  EXPECT_TRUE(
      broken([](Module& m) { m.computations[0].instructions[2].edit_attributes().add_control_predecessor_ids(8); }));
}

// One random change of a random instruction.
void mutate(Module& module, Random& random) {
  Computation& computation = module.computations[below(random, module.computations.size())];
  Instruction& instruction = computation.instructions[below(random, computation.instructions.size())];
  const auto any_number = [&] { return pick(random, std::vector<int64_t>{-1, 0, 1, 2, 3, INT64_MAX, INT64_MIN}); };
  switch (below(random, 12)) {
    case 0:
      if (!instruction.operands.empty()) instruction.operands.pop_back();
      break;
    case 1: instruction.operands.push_back(static_cast<InstructionIndex>(below(random, 20))); break;
    case 2:
      if (!instruction.operands.empty())
        instruction.operands[below(random, instruction.operands.size())] =
            static_cast<InstructionIndex>(below(random, computation.instructions.size() + 1));
      break;
    case 3: std::shuffle(instruction.operands.begin(), instruction.operands.end(), random); break;
    case 4:
      if (!instruction.dimensions.empty())
        instruction.dimensions[below(random, instruction.dimensions.size())] = any_number();
      break;
    case 5: instruction.dimensions.push_back(any_number()); break;
    case 6: instruction.shape = pick(random, assorted_shapes()); break;
    case 7:
      if (instruction.shape.is_array() && instruction.shape.rank() > 0) {
        std::vector<int64_t> dimensions = instruction.shape.dimensions();
        dimensions[below(random, dimensions.size())] = any_number();
        instruction.shape = Shape::array(instruction.shape.element_type(), dimensions);
      }
      break;
    case 8: scramble(&instruction.edit_attributes(), random); break;
    case 9: instruction.opcode = static_cast<Opcode>(below(random, opcode_count)); break;
    case 10:
      if (!instruction.called.empty())
        instruction.called[0] = static_cast<ComputationIndex>(below(random, module.computations.size() + 1));
      break;
    default:
      instruction.tuple_index = any_number();
      instruction.parameter_number = any_number();
      break;
  }
}

TEST(VerifierHostile, BrokenCorpusModulesNeverCrash) {
  const fs::path folder = fs::path(SAPPER_SOURCE_DIR) / "../shared/corpus";
  if (!fs::exists(folder)) GTEST_SKIP() << "no corpus";
  std::vector<std::string> files;
  for (const char* part : {"ops", "ops2"})
    for (const auto& entry : fs::directory_iterator(folder / part))
      if (entry.path().extension() == ".pb") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Random random(2);
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto bytes = read_file(file);
    ASSERT_TRUE(bytes);
    const auto good = parse_proto(*bytes);
    ASSERT_TRUE(good);
    for (int round = 0; round < 40; ++round) {
      Module module = *good;
      for (size_t changes = 1 + below(random, 3); changes > 0; --changes) mutate(module, random);
      try_out(module);
    }
  }
}

}  // namespace
}  // namespace sapper::hlo
