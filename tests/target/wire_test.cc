#include "target/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "target/process.h"

namespace sapper::target {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

class WireTest : public testing::Test {
 protected:
  std::pair<Descriptor, Descriptor> sockets_ = socket_pair().value();
  Connection ours_{sockets_.first.get(), wait_forever(sockets_.first.get())};
  Connection theirs_{sockets_.second.get(), wait_forever(sockets_.second.get())};
};

TEST_F(WireTest, MessageAndArraysRoundTrip) {
  Literal small(Shape::array(ElementType::S4, {3}));
  small.set_integer(1, -3);
  Literal large(Shape::array(ElementType::F32, {3, 1 << 20}));  // more than a socket buffers
  large.set_real(large.element_count() - 1, 5);
  const std::vector<Literal> arrays = {small, large, Literal(Shape::array(ElementType::F64, {0, 4})),
                                       Literal(Shape::token())};
  std::jthread sender([&] {
    proto::WorkerReply reply;
    reply.set_compile_seconds(1.5);
    reply.set_optimized_size(3);
    for (const Literal& array : arrays) *reply.add_outputs() = describe(array);
    ASSERT_TRUE(theirs_.send(reply));
    ASSERT_TRUE(theirs_.send_text("hlo"));
    ASSERT_TRUE(theirs_.send_arrays(arrays));
  });
  proto::WorkerReply reply;
  ASSERT_TRUE(ours_.receive(&reply));
  EXPECT_EQ(reply.compile_seconds(), 1.5);
  EXPECT_EQ(ours_.receive_text(reply.optimized_size()).value(), "hlo");
  const auto received = ours_.receive_arrays(reply.outputs());
  ASSERT_TRUE(received);
  ASSERT_EQ(received->size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) EXPECT_TRUE((*received)[i] == arrays[i]) << i;
}

TEST_F(WireTest, GarbageIsToldFromAFrame) {
  ASSERT_TRUE(theirs_.send_text("warning: this is not a frame at all"));
  proto::WorkerReply reply;
  const Status status = ours_.receive(&reply);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Crash);
  EXPECT_THAT(status.error().message, testing::HasSubstr("garbage"));
}

TEST_F(WireTest, ImpossibleArraysAreGarbage) {
  for (const std::vector<int64_t>& dimensions : {std::vector<int64_t>{-1}, {INT64_MAX, 4}, {int64_t{1} << 50}}) {
    google::protobuf::RepeatedPtrField<proto::WorkerArray> arrays;
    auto* array = arrays.Add();
    array->set_element_type(static_cast<int>(ElementType::F32));
    array->mutable_dimensions()->Add(dimensions.begin(), dimensions.end());
    EXPECT_FALSE(ours_.receive_arrays(arrays));
  }
  google::protobuf::RepeatedPtrField<proto::WorkerArray> arrays;
  arrays.Add()->set_element_type(200);
  EXPECT_FALSE(ours_.receive_arrays(arrays));
}

TEST_F(WireTest, ClosedInTheMiddle) {
  ASSERT_TRUE(theirs_.send_text("half"));
  sockets_.second = Descriptor();
  EXPECT_FALSE(ours_.receive_text(8));
  EXPECT_FALSE(ours_.send_text("to nobody"));
}

TEST_F(WireTest, WaitingGivesUpWithItsOwnError) {
  const Connection impatient(sockets_.first.get(), [](short) -> Status { return fail(ErrorKind::Timeout, "enough"); });
  const auto text = impatient.receive_text(1);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::Timeout);
}

}  // namespace
}  // namespace sapper::target
