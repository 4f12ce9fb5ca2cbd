// The proto form round trips: over the corpus, and for what the corpus does not have.
#include "hlo/proto.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "tests/hlo/proto_builder.h"

namespace sapper::hlo {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus(const std::string& folder) {
  const fs::path path = fs::path(SAPPER_SOURCE_DIR) / "../shared/corpus" / folder;
  std::vector<std::string> files;
  if (!fs::exists(path)) return files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".pb" || entry.path().extension() == ".zst") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// The same message with the entries of maps sorted: optimized modules come with them in no particular order.
std::string canonical(const std::string& bytes) {
  proto::HloModuleProto message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  std::string sorted;
  google::protobuf::io::StringOutputStream stream(&sorted);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  EXPECT_TRUE(message.SerializeToCodedStream(&coded));
  coded.Trim();
  return sorted;
}

class CorpusTest : public testing::TestWithParam<const char*> {};

TEST_P(CorpusTest, RoundTripsExactly) {
  const std::vector<std::string> files = corpus(GetParam());
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto bytes = read_file(file);
    ASSERT_TRUE(bytes) << bytes.error().describe();
    const auto module = parse_proto(*bytes);
    ASSERT_TRUE(module) << module.error().describe();
    const std::string written = to_proto(*module);
    EXPECT_TRUE(written == *bytes || written == canonical(*bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(Proto, CorpusTest, testing::Values("ops", "ops2", "models", "models/opt"));

Module parse(const proto::HloModuleProto& message) {
  auto module = parse_proto(message.SerializeAsString());
  EXPECT_TRUE(module) << module.error().describe();
  return std::move(module).value_or(Module());
}

// `expected` in what is written for it.
void expect_round_trip(const proto::HloModuleProto& expected) {
  proto::HloModuleProto written;
  ASSERT_TRUE(written.ParseFromString(to_proto(parse(expected))));
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(expected, written)) << difference;
}

// small_module with all that is derived when a module is written.
proto::HloModuleProto complete_module() {
  proto::HloModuleProto message;
  EXPECT_TRUE(message.ParseFromString(to_proto(parse(small_module()))));
  return message;
}

void add_unknown(google::protobuf::Message* message) {
  unknown_fields(message).AddVarint(1000, 7);
  unknown_fields(message).AddLengthDelimited(1001, "new");
}

TEST(Proto, KeepsUnknownFieldsOfEveryLevel) {
  const std::function<google::protobuf::Message*(proto::HloModuleProto&)> places[] = {
      [](auto& m) { return &m; },
      [](auto& m) { return m.mutable_computations(0); },
      [](auto& m) { return m.mutable_computations(0)->mutable_program_shape(); },
      [](auto& m) { return m.mutable_computations(0)->mutable_program_shape()->mutable_parameters(0); },
      [](auto& m) { return m.mutable_computations(0)->mutable_instructions(0); },
      [](auto& m) { return m.mutable_computations(0)->mutable_instructions(0)->mutable_metadata(); },
      [](auto& m) { return m.mutable_computations(0)->mutable_instructions(0)->mutable_shape(); },
      [](auto& m) { return m.mutable_computations(0)->mutable_instructions(0)->mutable_shape()->mutable_layout(); },
      [](auto& m) { return m.mutable_computations(0)->mutable_instructions(1)->mutable_window()->add_dimensions(); },
      [](auto& m) { return m.mutable_host_program_shape(); },
      [](auto& m) { return m.mutable_host_program_shape()->mutable_result(); },
      [](auto& m) { return m.mutable_input_output_alias()->add_entries(); },
  };
  for (const auto& place : places) {
    proto::HloModuleProto message = complete_module();
    add_unknown(place(message));
    expect_round_trip(message);
  }
}

proto::HloInstructionProto* add_constant(proto::HloModuleProto& message) {
  proto::HloComputationProto* main = message.mutable_computations(0);
  proto::HloInstructionProto* constant = add_instruction(main, "constant", 9);
  *constant->mutable_literal()->mutable_shape() = constant->shape();
  for (int i = 0; i < 6; ++i) constant->mutable_literal()->add_f32s(static_cast<float>(i));
  return constant;
}

TEST(Proto, KeepsUnknownFieldsOfLiterals) {
  proto::HloModuleProto message = complete_module();
  proto::LiteralProto* literal = add_constant(message)->mutable_literal();
  expect_round_trip(message);
  add_unknown(literal->mutable_shape());
  expect_round_trip(message);
  add_unknown(literal);
  literal->add_sparse_indices(3);
  expect_round_trip(message);
}

TEST(Proto, WritesTheNewLiteralOnceItChanged) {
  proto::HloModuleProto message = complete_module();
  add_unknown(add_constant(message)->mutable_literal());
  Module module = parse(message);
  Instruction& constant = module.computations[0].instructions[2];
  Literal literal = *constant.literal;
  literal.set_real(0, 42);
  constant.literal = std::make_shared<const Literal>(literal);
  proto::HloModuleProto written;
  ASSERT_TRUE(written.ParseFromString(to_proto(module)));
  EXPECT_EQ(written.computations(0).instructions(2).literal().f32s(0), 42);
}

TEST(Proto, ReadsOtherLayoutOfALiteral) {
  proto::HloModuleProto message = complete_module();
  proto::LiteralProto* literal = add_constant(message)->mutable_literal();
  auto* order = literal->mutable_shape()->mutable_layout()->mutable_minor_to_major();
  std::swap(*order->Mutable(0), *order->Mutable(1));
  expect_round_trip(message);
  // 2x3, column by column: 0 1, 2 3, 4 5.
  const Literal read = *parse(message).computations[0].instructions[2].literal;
  const auto values = read.data<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{0, 2, 4, 1, 3, 5}));
}

TEST(Proto, SharesWhatRepeats) {
  const Module module = parse(small_module());
  const auto& instructions = module.computations[0].instructions;
  EXPECT_EQ(&instructions[0].shape.dimensions(), &instructions[1].shape.dimensions());
}

TEST(Proto, HotFieldsAreNotInTheAttributes) {
  proto::HloModuleProto message = complete_module();
  proto::HloInstructionProto* add = message.mutable_computations(0)->mutable_instructions(1);
  add->mutable_metadata()->set_op_name("x");
  add->add_dimensions(3);
  add->set_tuple_index(1);
  add->set_parameter_number(1);
  add->set_feature_group_count(5);
  const Instruction read = parse(message).computations[0].instructions[1];
  proto::HloInstructionProto expected;
  expected.set_feature_group_count(5);
  EXPECT_EQ(read.attributes().SerializeAsString(), expected.SerializeAsString());
  EXPECT_EQ(read.metadata->op_name(), "x");
  EXPECT_EQ(read.dimensions, std::vector<int64_t>{3});
  expect_round_trip(message);
}

TEST(Proto, AcceptsUnpackedRepeatedFields) {
  proto::HloModuleProto message = small_module();
  proto::HloInstructionProto* add = message.mutable_computations(0)->mutable_instructions(1);
  add->clear_operand_ids();
  for (int i = 0; i < 2; ++i) {
    unknown_fields(add).AddVarint(36, 1);  // operand_ids
    unknown_fields(add).AddVarint(14, 4);  // dimensions
  }
  const Instruction read = parse(message).computations[0].instructions[1];
  EXPECT_EQ(read.operands, (std::vector<InstructionIndex>{0, 0}));
  EXPECT_EQ(read.dimensions, (std::vector<int64_t>{4, 4}));
}

TEST(Proto, OperandsMayBeLocalIds) {
  proto::HloModuleProto message = small_module();
  proto::HloComputationProto* main = message.mutable_computations(0);
  for (auto& instruction : *main->mutable_instructions()) instruction.set_id(instruction.id() | int64_t{1} << 32);
  const Instruction read = parse(message).computations[0].instructions[1];
  EXPECT_EQ(read.operands, (std::vector<InstructionIndex>{0, 0}));
  EXPECT_EQ(read.id, 2 | int64_t{1} << 32);
}

TEST(Proto, SparseIdsResolve) {
  proto::HloModuleProto message = small_module();
  proto::HloComputationProto* main = message.mutable_computations(0);
  main->mutable_instructions(0)->set_id(INT64_MAX);
  main->mutable_instructions(1)->set_id(-5);
  main->mutable_instructions(1)->set_operand_ids(0, INT64_MAX);
  main->mutable_instructions(1)->set_operand_ids(1, INT64_MAX);
  main->set_root_id(-5);
  EXPECT_EQ(parse(message).computations[0].instructions[1].operands, (std::vector<InstructionIndex>{0, 0}));
}

TEST(Proto, NumbersWhatHasNoId) {
  Module module = parse(small_module());
  module.computations[0].id = -1;
  for (Instruction& instruction : module.computations[0].instructions) instruction.id = -1;
  const auto again = parse_proto(to_proto(module));
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_EQ(again->computations[0].instructions[1].operands, (std::vector<InstructionIndex>{0, 0}));
}

TEST(Proto, NumbersNewInstructionsAmongPackedIds) {
  proto::HloModuleProto message = small_module();
  for (auto& i : *message.mutable_computations(0)->mutable_instructions()) i.set_id(i.id() | int64_t{1} << 32);
  Module module = parse(message);
  Instruction added = module.computations[0].instructions[1];
  added.id = -1;
  module.computations[0].instructions.push_back(added);
  proto::HloModuleProto written;
  ASSERT_TRUE(written.ParseFromString(to_proto(module)));
  EXPECT_EQ(written.computations(0).instructions(2).id(), 3 | int64_t{1} << 32);
}

// main(p) = negate(p) + abs(p), listed p, negate, abs, add but scheduled p, abs, negate, add.
proto::HloModuleProto scheduled_module() {
  proto::HloModuleProto message = small_module();
  proto::HloComputationProto* main = message.mutable_computations(0);
  main->mutable_instructions()->RemoveLast();
  add_instruction(main, "negate", 3, {1});
  add_instruction(main, "abs", 4, {1});
  add_instruction(main, "add", 2, {3, 4});
  auto& sequence = (*message.mutable_schedule()->mutable_sequences())[1];
  for (const int64_t id : {1, 4, 3, 2}) sequence.add_instruction_ids(id);
  return message;
}

TEST(Proto, ScheduleOrdersInstructions) {
  const Module module = parse(scheduled_module());
  EXPECT_TRUE(module.is_scheduled);
  const Computation& main = module.computations[0];
  EXPECT_EQ(main.instructions[1].opcode, Opcode::Abs);
  EXPECT_EQ(main.instructions[3].operands, (std::vector<InstructionIndex>{2, 1}));
  EXPECT_EQ(main.root, 3U);
}

TEST(Proto, ScheduleRoundTripsWithTheListedOrder) {
  proto::HloModuleProto message;
  ASSERT_TRUE(message.ParseFromString(to_proto(parse(scheduled_module()))));
  EXPECT_EQ(message.computations(0).instructions(1).opcode(), "negate");
  EXPECT_EQ(message.schedule().sequences().at(1).instruction_ids(1), 4);
  expect_round_trip(message);
}

TEST(Proto, ListedOrderIsDroppedOnceItIsIllegal) {
  Module module = parse(scheduled_module());
  module.computations[0].instructions[2].operands = {1};  // negate(abs(p)), listed before abs
  proto::HloModuleProto written;
  ASSERT_TRUE(written.ParseFromString(to_proto(module)));
  EXPECT_EQ(written.computations(0).instructions(1).opcode(), "abs");
}

TEST(Proto, EntryLayoutComesFromTheHostProgramShape) {
  proto::HloModuleProto message = complete_module();
  message.mutable_host_program_shape()->mutable_parameters(0)->mutable_layout()->set_memory_space(5);
  const Module module = parse(message);
  ASSERT_TRUE(module.has_entry_layout);
  EXPECT_EQ(module.entry_parameter_layouts[0].layout()->memory_space, 5);
  expect_round_trip(message);
  message.mutable_host_program_shape()->set_parameter_names(0, "x");
  expect_round_trip(message);
}

TEST(Proto, ReadsAndWritesTheConfiguration) {
  proto::HloModuleProtoWithConfig message;
  *message.mutable_hlo_module() = complete_module();
  message.mutable_config()->set_replica_count(4);
  *message.mutable_config()->mutable_entry_computation_layout() = message.hlo_module().host_program_shape();
  add_unknown(message.mutable_config());
  const std::string bytes = message.SerializeAsString();
  const auto module = parse_proto(bytes);
  ASSERT_TRUE(module) << module.error().describe();
  EXPECT_EQ(module->name, "small");
  EXPECT_EQ(module->config.replica_count(), 4);
  EXPECT_EQ(to_proto_with_config(*module), bytes);
}

TEST(Proto, ReadsTheModuleOfAnHloProto) {
  // HloProto: the module is field 1, the buffer assignment field 3.
  proto::HloModuleProtoWithConfig message;
  *message.mutable_hlo_module() = complete_module();
  unknown_fields(&message).AddLengthDelimited(3, "buffers");
  const auto module = parse_proto(message.SerializeAsString());
  ASSERT_TRUE(module) << module.error().describe();
  EXPECT_EQ(module->name, "small");
}

TEST(Proto, CompilersGetLayoutsAndUniqueNames) {
  Module module = parse(small_module());
  const Shape bare = Shape::array(ElementType::F32, {2, 3});
  for (Instruction& instruction : module.computations[0].instructions) {
    instruction.name = "x";
    instruction.shape = bare;
  }
  Instruction constant;
  constant.opcode = Opcode::Constant;
  constant.name = "x";
  constant.shape = Shape::tuple({bare});
  constant.literal = std::make_shared<const Literal>(constant.shape);
  module.computations[0].instructions.push_back(constant);

  const auto exact = parse_proto(to_proto(module));
  ASSERT_TRUE(exact) << exact.error().describe();
  EXPECT_EQ(exact->computations[0].instructions[1].name, "x");
  EXPECT_EQ(exact->computations[0].instructions[1].shape, bare);

  proto::HloModuleProto compilable;
  ASSERT_TRUE(compilable.ParseFromString(to_compilable_proto(module)));
  const auto& instructions = compilable.computations(0).instructions();
  EXPECT_EQ(instructions[1].name(), "x.1");
  EXPECT_EQ(instructions[2].name(), "x.2");
  EXPECT_EQ(instructions[1].shape().layout().minor_to_major(0), 1);
  EXPECT_TRUE(instructions[2].literal().shape().tuple_shapes(0).has_layout());
  EXPECT_TRUE(compilable.computations(0).program_shape().result().has_layout());
  EXPECT_TRUE(compilable.host_program_shape().parameters(0).has_layout());
}

TEST(Proto, OldShapesWithoutFlagsAreStatic) {
  proto::HloModuleProto message = complete_module();
  proto::ShapeProto* shape = message.mutable_computations(0)->mutable_instructions(0)->mutable_shape();
  shape->clear_is_dynamic_dimension();
  shape->mutable_layout()->clear_tail_padding_alignment_in_elements();
  const Module module = parse(message);
  EXPECT_EQ(module.computations[0].instructions[0].shape, module.computations[0].instructions[1].shape);
  expect_round_trip(message);
}

}  // namespace
}  // namespace sapper::hlo
