// Literals of every element type to and from their wire form.
#include "hlo/literal_proto.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hlo/proto.h"
#include "tests/hlo/proto_builder.h"

namespace sapper::hlo {
namespace {

std::vector<ElementType> array_types() {
  std::vector<ElementType> types;
  for (int number = 0; number <= static_cast<int>(ElementType::Buffer); ++number)
    if (is_array_type(static_cast<ElementType>(number))) types.push_back(static_cast<ElementType>(number));
  return types;
}

// Values of all bit patterns that the type has.
Literal arbitrary_literal(const Shape& shape) {
  Literal literal = Literal::uninitialized(shape);
  for (std::byte& byte : literal.mutable_bytes()) byte = static_cast<std::byte>(*rc::gen::arbitrary<uint8_t>());
  const bool is_small = shape.element_type() == ElementType::Pred || bit_width(shape.element_type()) < 8;
  for (int64_t i = 0; is_small && i < literal.element_count(); ++i) {
    if (is_float(shape.element_type())) {
      literal.mutable_bytes()[static_cast<size_t>(i)] &= std::byte{0xf};
    } else {
      literal.set_integer(i, *rc::gen::inRange(0, 16));
    }
  }
  return literal;
}

Shape arbitrary_shape(ElementType type) {
  auto dimensions = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 4));
  dimensions.resize(std::min<size_t>(dimensions.size(), 4));
  Layout layout = Layout::descending(dimensions.size());
  layout.minor_to_major = *rc::gen::exec([&] {
    std::vector<int64_t> order = layout.minor_to_major;
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[*rc::gen::inRange<size_t>(0, i)]);
    return order;
  });
  return Shape::array(type, dimensions, {}, std::make_shared<const Layout>(layout));
}

RC_GTEST_PROP(LiteralProto, EveryTypeRoundTrips, ()) {
  for (const ElementType type : array_types()) {
    const Shape shape = arbitrary_shape(type);
    const Literal literal = arbitrary_literal(shape);
    proto::LiteralProto message;
    to_proto(literal, shape, &message);
    const auto read = from_proto(message);
    RC_ASSERT(read);
    RC_ASSERT(*read == literal);
    proto::LiteralProto again;
    to_proto(*read, shape, &again);
    RC_ASSERT(message.SerializeAsString() == again.SerializeAsString());
  }
}

RC_GTEST_PROP(LiteralProto, TuplesRoundTrip, ()) {
  std::vector<Shape> shapes;
  std::vector<Literal> elements;
  for (const ElementType type : {ElementType::F32, ElementType::S4, ElementType::C64, ElementType::Pred}) {
    shapes.push_back(arbitrary_shape(type));
    elements.push_back(arbitrary_literal(shapes.back()));
  }
  shapes.push_back(Shape::tuple(shapes));
  elements.push_back(Literal::tuple(elements));
  shapes.push_back(Shape::token());
  elements.emplace_back(Shape::token());
  const Shape shape = Shape::tuple(shapes);
  const Literal literal = Literal::tuple(elements);
  proto::LiteralProto message;
  to_proto(literal, shape, &message);
  const auto read = literal_from_wire(message.SerializeAsString());
  RC_ASSERT(read);
  RC_ASSERT(read->literal == literal);
  RC_ASSERT(read->stated_shape == shape);
  RC_ASSERT(read->is_complete);
}

TEST(LiteralProto, FieldsAreThoseOfTheSchema) {
  Literal literal(Shape::array(ElementType::BF16, {2}));
  literal.set_real(0, 1);
  literal.set_real(1, -2);
  proto::LiteralProto message;
  to_proto(literal, literal.shape(), &message);
  EXPECT_EQ(message.bf16s(), std::string("\x80\x3f\x00\xc0", 4));

  literal = Literal(Shape::array(ElementType::C64, {1}));
  literal.set_complex(0, {1.5, -2});
  message.Clear();
  to_proto(literal, literal.shape(), &message);
  ASSERT_EQ(message.c64s_size(), 2);
  EXPECT_EQ(message.c64s(1), -2);

  literal = Literal(Shape::array(ElementType::S4, {2}));
  literal.set_integer(1, -3);
  message.Clear();
  to_proto(literal, literal.shape(), &message);
  EXPECT_EQ(message.s4s(), std::string("\x00\xfd", 2));
}

TEST(LiteralProto, BitsBeyondASubByteTypeAreDropped) {
  proto::LiteralProto message;
  message.mutable_shape()->set_element_type(proto::S4);
  message.mutable_shape()->add_dimensions(2);
  message.mutable_shape()->add_is_dynamic_dimension(false);
  message.set_s4s(std::string("\x0d\xf5", 2));
  const auto read = from_proto(message);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->integer_at(0), -3);
  EXPECT_EQ(read->integer_at(1), 5);
  EXPECT_EQ(read->data<int8_t>()[0], -3);
}

TEST(LiteralProto, ValuesMayComeOneAtATimeAndInPieces) {
  proto::LiteralProto message;
  message.mutable_shape()->set_element_type(proto::F32);
  message.mutable_shape()->add_dimensions(3);
  message.mutable_shape()->add_is_dynamic_dimension(false);
  unknown_fields(&message).AddFixed32(8, 0x3f800000);
  unknown_fields(&message).AddLengthDelimited(8, std::string("\x00\x00\x00\x40\x00\x00\x40\x40", 8));
  const auto read = from_proto(message);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(read->real_at(0), 1);
  EXPECT_EQ(read->real_at(2), 3);
}

TEST(LiteralProto, DynamicSizesAreKept) {
  const Shape shape = Shape::array(ElementType::S32, {4}, {true}, nullptr);
  Literal literal(shape);
  literal.set_dynamic_sizes({3});
  proto::LiteralProto message;
  to_proto(literal, shape, &message);
  const auto read = from_proto(message);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->dynamic_sizes(), std::vector<int64_t>{3});
}

}  // namespace
}  // namespace sapper::hlo
