#include <gtest/gtest.h>

#include "tests/eval/op_harness.h"

namespace sapper::eval {
namespace {

const Literal& data() {
  static const Literal literal = literal_of<int64_t>(ElementType::S32, {4}, {1, 2, 3, 4});
  return literal;
}

void set_groups(hlo::Instruction& instruction, const std::vector<Dims>& groups) {
  for (const Dims& group : groups) {
    auto* added = instruction.edit_attributes().add_replica_groups();
    added->mutable_replica_ids()->Assign(group.begin(), group.end());
  }
}

TEST(Collective, AloneADeviceKeepsItsData) {
  using enum hlo::Opcode;
  for (const Opcode opcode : {AllReduce, AllGather, AllToAll, ReduceScatter, CollectiveBroadcast, AllReduceStart}) {
    for (const std::vector<Dims>& groups : {std::vector<Dims>{}, std::vector<Dims>{{0}}}) {
      hlo::Instruction instruction = instruction_of(opcode, data().shape(), {0});
      set_groups(instruction, groups);
      const Literal operands[] = {data()};
      EXPECT_EQ(must_run(instruction, {}, operands), data()) << hlo::to_string(opcode);
    }
  }
}

TEST(Collective, SeveralOperandsGiveATuple) {
  const Literal operands[] = {data(), data()};
  const Literal result =
      must_run(instruction_of(Opcode::AllReduce, Shape::tuple({data().shape(), data().shape()})), {}, operands);
  ASSERT_EQ(result.elements().size(), 2U);
  EXPECT_EQ(result.elements()[1], data());
}

TEST(Collective, ATupleOfOneStaysATuple) {
  const Literal operands[] = {data()};
  const Literal result = must_run(instruction_of(Opcode::AllToAll, Shape::tuple({data().shape()})), {}, operands);
  ASSERT_EQ(result.elements().size(), 1U);
  EXPECT_EQ(result.elements()[0], data());
}

TEST(Collective, SeveralDevicesAreNotEvaluated) {
  const Literal operands[] = {data()};
  hlo::Instruction grouped = instruction_of(Opcode::AllReduce, data().shape());
  set_groups(grouped, {{0, 1}});
  hlo::Instruction iota = instruction_of(Opcode::AllReduce, data().shape());
  iota.edit_attributes().mutable_iota_collective_device_list()->set_num_devices_per_group(2);
  hlo::Instruction listed = instruction_of(Opcode::AllReduce, data().shape());
  auto* group = listed.edit_attributes().mutable_collective_device_list()->add_replica_groups();
  group->add_replica_ids(0);
  group->add_replica_ids(1);
  for (const hlo::Instruction& instruction : {grouped, iota, listed}) {
    const Result<Literal> result = run_op(instruction, {}, operands);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
  }
  const Result<Literal> replicated = run_op(instruction_of(Opcode::AllReduce, data().shape()), {}, operands, nullptr,
                                            [](hlo::Module& module) { module.config.set_replica_count(2); });
  EXPECT_FALSE(replicated);
}

TEST(Collective, GatheringFromMoreThanOneDeviceIsNotEvaluated) {
  const Literal operands[] = {data()};
  const Result<Literal> result =
      run_op(instruction_of(Opcode::AllGather, Shape::array(ElementType::S32, {8}), {0}), {}, operands);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("s32[8]"), std::string::npos);
}

Result<Literal> permute(const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  hlo::Instruction instruction = instruction_of(Opcode::CollectivePermute, data().shape());
  for (const auto& [source, target] : pairs) {
    auto* pair = instruction.edit_attributes().add_source_target_pairs();
    pair->set_source(source);
    pair->set_target(target);
  }
  const Literal operands[] = {data()};
  return run_op(instruction, {}, operands);
}

TEST(Collective, PermuteGivesOwnDataOrZeros) {
  EXPECT_EQ(*permute({{0, 0}}), data());
  EXPECT_EQ(integers(*permute({})), (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(integers(*permute({{0, 1}})), (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_FALSE(permute({{1, 0}}));
}

TEST(Collective, StartAndDone) {
  const Shape pair = Shape::tuple({data().shape(), data().shape()});
  const Literal operands[] = {data()};
  const Literal gathering = must_run(instruction_of(Opcode::AllGatherStart, pair, {0}), {}, operands);
  const Literal started[] = {gathering};
  EXPECT_EQ(must_run(instruction_of(Opcode::AllGatherDone, data().shape()), {}, started), data());

  const Shape with_context =
      Shape::tuple({data().shape(), data().shape(), Shape::scalar(ElementType::U32), Shape::scalar(ElementType::U32)});
  hlo::Instruction permute_start = instruction_of(Opcode::CollectivePermuteStart, with_context);
  permute_start.edit_attributes().add_source_target_pairs();  // 0 to 0
  const Literal permuting[] = {must_run(permute_start, {}, operands)};
  EXPECT_EQ(must_run(instruction_of(Opcode::CollectivePermuteDone, data().shape()), {}, permuting), data());
}

Result<Literal> ragged(int64_t input_offset, int64_t send_size, int64_t output_offset) {
  const auto scalar = [](int64_t value) { return literal_of<int64_t>(ElementType::S32, {1}, {value}); };
  const Literal output = literal_of<int64_t>(ElementType::S32, {3, 2}, {-1, -1, -1, -1, -1, -1});
  const Literal operands[] = {literal_of<int64_t>(ElementType::S32, {2, 2}, {1, 2, 3, 4}),
                              output,
                              scalar(input_offset),
                              scalar(send_size),
                              scalar(output_offset),
                              scalar(send_size)};
  return run_op(instruction_of(Opcode::RaggedAllToAll, output.shape()), {}, operands);
}

TEST(Collective, RaggedAllToAllMovesRows) {
  EXPECT_EQ(integers(*ragged(1, 1, 2)), (std::vector<int64_t>{-1, -1, -1, -1, 3, 4}));
  EXPECT_EQ(integers(*ragged(0, 0, 0)), (std::vector<int64_t>{-1, -1, -1, -1, -1, -1}));
  EXPECT_FALSE(ragged(1, 2, 0));
  EXPECT_FALSE(ragged(0, 2, INT32_MAX));
}

}  // namespace
}  // namespace sapper::eval
