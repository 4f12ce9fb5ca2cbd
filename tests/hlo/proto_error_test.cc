// What is no module is refused with an error that says where and why; nothing crashes or allocates without bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "hlo/proto.h"
#include "hlo/wire.h"
#include "tests/hlo/proto_builder.h"

namespace sapper::hlo {
namespace {

using testing::HasSubstr;

void expect_error(std::string_view bytes, const std::string& message, const std::string& instruction = "") {
  const auto module = parse_proto(bytes);
  ASSERT_FALSE(module) << "expected an error: " << message;
  EXPECT_EQ(module.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(module.error().message, HasSubstr(message));
  EXPECT_EQ(module.error().where.instruction, instruction);
}

struct Defect {
  std::function<void(proto::HloModuleProto&)> make;
  std::string message;
  std::string instruction;
};

proto::HloInstructionProto* add_of(proto::HloModuleProto& m) {
  return m.mutable_computations(0)->mutable_instructions(1);
}

const Defect defects[] = {
    {[](auto& m) { add_of(m)->set_opcode("addd"); }, "opcode \"addd\" is unknown", "add.2"},
    {[](auto& m) { add_of(m)->set_operand_ids(1, 77); }, "operand 1 has id 77, which no instruction", "add.2"},
    {[](auto& m) { add_of(m)->set_operand_ids(1, 2); }, "operand 1 (add.2) does not come before it", "add.2"},
    {[](auto& m) { m.mutable_computations(0)->mutable_instructions(0)->add_operand_ids(2); },
     "operand 0 (add.2) does not come before it: the graph is cyclic or not in post order", "parameter.1"},
    {[](auto& m) { add_of(m)->add_control_predecessor_ids(2); }, "control predecessor 0 (add.2)", "add.2"},
    {[](auto& m) { add_of(m)->add_control_predecessor_ids(9); }, "control predecessor 0 has id 9", "add.2"},
    {[](auto& m) { add_of(m)->set_id(1); }, "id 1 is that of another instruction of computation main", "add.2"},
    {[](auto& m) { add_of(m)->add_called_computation_ids(3); }, "calls computation 3, but no computation", "add.2"},
    {[](auto& m) { add_of(m)->add_called_computation_ids(1); }, "the calls are cyclic", "add.2"},
    {[](auto& m) { add_of(m)->clear_shape(); }, "states no shape", "add.2"},
    {[](auto& m) { add_of(m)->Clear(); }, "instruction 1 of computation main has no opcode or no shape", ""},
    {[](auto& m) {
       add_of(m)->mutable_shape()->set_element_type(proto::BUFFER);
       set_array_shape(add_of(m)->mutable_shape()->add_tuple_shapes(), proto::F32, {1'000'000'000, 1'000'000'000});
       *add_of(m)->mutable_literal()->mutable_shape() = add_of(m)->shape();
       add_of(m)->mutable_literal()->add_tuple_literals();
     },
     "literals of element type", "add.2"},
    {[](auto& m) { add_of(m)->mutable_shape()->set_element_type(static_cast<proto::PrimitiveType>(99)); },
     "element type number 99 is unknown", "add.2"},
    {[](auto& m) { add_of(m)->mutable_shape()->set_element_type(proto::PRIMITIVE_TYPE_INVALID); }, "no element type",
     "add.2"},
    {[](auto& m) { add_of(m)->mutable_shape()->set_dimensions(0, -1); }, "dimension 0 of a shape is -1", "add.2"},
    {[](auto& m) { add_of(m)->mutable_shape()->add_is_dynamic_dimension(true); }, "3 flags", "add.2"},
    {[](auto& m) { add_of(m)->mutable_shape()->mutable_layout()->set_minor_to_major(0, 0); }, "not a permutation",
     "add.2"},
    {[](auto& m) { add_of(m)->mutable_shape()->mutable_layout()->add_minor_to_major(2); }, "not a permutation",
     "add.2"},
    {[](auto& m) { m.mutable_computations(0)->mutable_instructions(0)->set_parameter_number(int64_t{1} << 60); },
     "parameter number is 1152921504606846976", "parameter.1"},
    {[](auto& m) { m.mutable_computations(0)->mutable_instructions(0)->set_parameter_number(-1); },
     "parameter number is -1", "parameter.1"},
    {[](auto& m) { m.mutable_computations(0)->set_root_id(12); }, "root of computation main has id 12", ""},
    {[](auto& m) { m.mutable_computations(0)->clear_instructions(); }, "computation main has no instructions", ""},
    {[](auto& m) { *m.add_computations() = m.computations(0); }, "computation main has id 1, which another", ""},
    {[](auto& m) { m.set_entry_computation_id(5); }, "entry computation has id 5, which no computation has", ""},
    {[](auto& m) { m.mutable_host_program_shape()->add_parameters(); }, "no element type", ""},
    {[](auto& m) { m.mutable_host_program_shape(); }, "host program shape has 0 parameters", ""},
    {[](auto& m) { (*m.mutable_schedule()->mutable_sequences())[8]; }, "schedule orders computation 8", ""},
    {[](auto& m) { (*m.mutable_schedule()->mutable_sequences())[1]; }, "has 0 of its 2 instructions", ""},
    {[](auto& m) {
       for (int i = 0; i < 2; ++i) (*m.mutable_schedule()->mutable_sequences())[1].add_instruction_ids(1);
     },
     "instruction 1, which it names before", ""},
    {[](auto& m) {
       for (const int id : {2, 1}) (*m.mutable_schedule()->mutable_sequences())[1].add_instruction_ids(id);
     },
     "puts it before one of its operands", "add.2"},
    {[](auto& m) {
       add_of(m)->set_opcode("constant");
       set_array_shape(add_of(m)->mutable_literal()->mutable_shape(), proto::F32, {2, 3});
     },
     "literal of shape f32[2,3] has 0 values rather than 6", "add.2"},
    {[](auto& m) {
       add_of(m)->mutable_shape()->Clear();
       set_array_shape(add_of(m)->mutable_shape(), proto::S32, {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000});
       *add_of(m)->mutable_literal()->mutable_shape() = add_of(m)->shape();
       add_of(m)->mutable_literal()->add_s32s(1);
     },
     "has 1 values rather than", "add.2"},
    {[](auto& m) { set_array_shape(add_of(m)->mutable_literal()->mutable_shape(), proto::F32, {0}); },
     "literal has shape f32[0] rather than f32[2,3]", "add.2"},
    {[](auto& m) { add_of(m)->mutable_literal()->add_f32s(1); }, "the literal states no shape", "add.2"},
};

TEST(ProtoError, EachDefectIsNamed) {
  for (const Defect& defect : defects) {
    proto::HloModuleProto message = small_module();
    defect.make(message);
    SCOPED_TRACE(defect.message);
    expect_error(message.SerializeAsString(), defect.message, defect.instruction);
  }
}

TEST(ProtoError, EveryTruncationIsAnError) {
  const std::string bytes = small_module().SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(parse_proto(std::string_view(bytes).substr(0, size)));
}

TEST(ProtoError, FlippedBytesNeverCrash) {
  const std::string bytes = small_module().SerializeAsString();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(value);
      const auto module = parse_proto(damaged);
      EXPECT_TRUE(!module || parse_proto(to_proto(*module)));
    }
  }
}

TEST(ProtoError, LengthPastTheEnd) {
  std::string bytes = small_module().SerializeAsString();
  bytes += "\x1a\xff\xff\xff\xff\xff\xff\xff\xff\x7f";  // a computation of 2^63 bytes
  expect_error(bytes, "the module is damaged or truncated");
}

TEST(ProtoError, StatedTwice) {
  proto::HloModuleProto message = small_module();
  proto::HloInstructionProto* add = add_of(message);
  unknown_fields(add).AddLengthDelimited(3, add->shape().SerializeAsString());
  expect_error(message.SerializeAsString(), "field 3 is damaged, no UTF-8 or stated twice", "add.2");
}

TEST(ProtoError, NamesMustBeUtf8) {
  std::string bytes = small_module().SerializeAsString();
  bytes[bytes.find("add.2")] = '\xff';
  expect_error(bytes, "field 1 is damaged, no UTF-8", "");
}

// tuple(tuple(...)) of a million levels.
TEST(ProtoError, DeepShapes) {
  std::string shape;
  {
    proto::ShapeProto innermost;
    innermost.set_element_type(proto::TOKEN);
    shape = innermost.SerializeAsString();
  }
  // Built from the inside out, by prepending: written backwards and reversed at the end.
  std::string backwards(shape.rbegin(), shape.rend());
  for (int level = 0; level < 1'000'000; ++level) {
    std::string head;
    append_varint(wire_tag(proto::ShapeProto::kElementTypeFieldNumber, WireType::Varint), head);
    append_varint(proto::TUPLE, head);
    append_varint(wire_tag(proto::ShapeProto::kTupleShapesFieldNumber, WireType::Bytes), head);
    append_varint(backwards.size(), head);
    backwards.append(head.rbegin(), head.rend());
  }
  shape.assign(backwards.rbegin(), backwards.rend());
  proto::HloModuleProto message = small_module();
  proto::HloInstructionProto* add = add_of(message);
  add->clear_shape();
  unknown_fields(add).AddLengthDelimited(Attributes::kShapeFieldNumber, shape);
  expect_error(message.SerializeAsString(), "a shape is damaged", "add.2");
}

TEST(ProtoError, FirstDefectInFileOrder) {
  proto::HloModuleProto message = small_module();
  proto::HloComputationProto* main = message.mutable_computations(0);
  for (int id = 3; id < 30000; ++id) add_instruction(main, id % 5000 == 0 ? "bogus" : "add", id, {1, 2});
  for (int i = 0; i < 5; ++i) expect_error(message.SerializeAsString(), "opcode \"bogus\" is unknown", "bogus.5000");
}

}  // namespace
}  // namespace sapper::hlo
