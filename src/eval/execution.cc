#include "eval/execution.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "eval/strided_copy.h"

namespace sapper::eval {
namespace {

using hlo::Instruction;
using hlo::Literal;
using hlo::Shape;

int64_t memory_limit(const Options& options) {
  return options.memory_limit_bytes > 0 ? options.memory_limit_bytes : physical_memory_bytes() / 4 * 3;
}

// Sizes of the result's dynamic dimensions for operations that keep the operand's dimensions.
std::shared_ptr<const std::vector<int64_t>> kept_dynamic_sizes(const Shape& result,
                                                               const std::vector<SlotUse>& operands,
                                                               const std::vector<Value>& frame) {
  if (!result.is_dynamic()) return nullptr;
  for (const SlotUse& operand : operands) {
    const Value& value = frame[operand.slot];
    if (value.dynamic_sizes && value.dynamic_sizes->size() == result.rank()) return value.dynamic_sizes;
  }
  return nullptr;
}

// The same for broadcast and transpose, which move dimensions.
std::shared_ptr<const std::vector<int64_t>> moved_dynamic_sizes(const Instruction& instruction, const Value& operand) {
  if (!instruction.shape.is_dynamic() || !operand.dynamic_sizes) return nullptr;
  std::vector<int64_t> sizes = instruction.shape.dimensions();
  for (size_t i = 0; i < instruction.dimensions.size(); ++i) {
    const auto dimension = static_cast<size_t>(instruction.dimensions[i]);
    if (instruction.opcode == hlo::Opcode::Transpose) {
      sizes[i] = (*operand.dynamic_sizes)[dimension];
    } else {
      sizes[dimension] = (*operand.dynamic_sizes)[i];
    }
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(sizes));
}

}  // namespace

Execution::Execution(const hlo::Module& module, const Options& options)
    : module_(module),
      options_(options),
      pool_(memory_limit(options)),
      plans_(module.computations.size()),
      needs_(module.computations.size()),
      deadline_(std::min(current_deadline(), deadline_in(options.time_limit_seconds))) {
  keep_freed_memory();
}

const Plan& Execution::plan_of(hlo::ComputationIndex computation) {
  std::unique_ptr<Plan>& plan = plans_[computation];
  if (!plan) {
    plan = std::make_unique<Plan>(make_plan(module_, module_.computations[computation], options_));
  }
  return *plan;
}

Execution::Frame Execution::take_frame(const Plan& plan) {
  Frame frame;
  if (!spare_frames_.empty()) {
    frame = std::move(spare_frames_.back());
    spare_frames_.pop_back();
  }
  frame.resize(plan.slot_count);
  return frame;
}

MemoryNeed Execution::need_of(hlo::ComputationIndex computation) {
  if (!needs_[computation])
    needs_[computation] =
        least_memory(plan_of(computation), [this](hlo::ComputationIndex called) { return need_of(called); });
  return *needs_[computation];
}

Result<Literal> Execution::run(std::span<const Literal> arguments) {
  const MemoryNeed need = need_of(module_.entry);
  if (need.bytes > pool_.limit_bytes()) {
    const hlo::Computation& entry = module_.entry_computation();
    return sapper::fail(hlo::error_at(
        ErrorKind::Resource, need.instruction != nullptr ? *need.instruction : entry.root_instruction(),
        fmt::format("needs at least {} bytes of memory; the limit is {}", need.bytes, pool_.limit_bytes())));
  }
  for (const Literal& argument : arguments) pool_.reserve(argument.shape().host_byte_size());
  return call(module_.entry, arguments);
}

Result<Literal> Execution::call(hlo::ComputationIndex computation, std::span<const Literal> arguments) {
  std::vector<Value> values;
  for (const Literal& argument : arguments) append_leaves(argument, values);
  SAPPER_TRY(const std::vector<Value> results, run_computation(computation, std::move(values)));
  std::vector<const Value*> leaves;
  leaves.reserve(results.size());
  for (const Value& value : results) leaves.push_back(&value);
  size_t next = 0;
  return literal(module_.computations[computation].root_instruction().shape, leaves, next);
}

Result<std::vector<Value>> Execution::run_computation(hlo::ComputationIndex computation, std::vector<Value> arguments) {
  const Plan& plan = plan_of(computation);
  Frame frame = take_frame(plan);
  bind(plan, frame, arguments);
  SAPPER_CHECKED(run(plan, frame));
  std::vector<Value> results;
  take_results(plan, frame, results);
  give_back(std::move(frame));
  return results;
}

void Execution::bind(const Plan& plan, Frame& frame, std::vector<Value>& arguments) {
  for (size_t k = 0; k < plan.parameters.size(); ++k) {
    if (plan.parameters[k].dies) {
      pool_.release(std::move(arguments[k].bytes));
    } else {
      frame[plan.parameters[k].slot] = std::move(arguments[k]);
    }
  }
}

void Execution::take_results(const Plan& plan, Frame& frame, std::vector<Value>& results) {
  results.clear();
  for (const SlotUse& result : plan.results) {
    Value& value = frame[result.slot];
    results.push_back(result.dies ? std::move(value) : value);
  }
}

Status Execution::run(const Plan& plan, Frame& frame) {
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    const Site site{plan, step, frame};
    SAPPER_CHECKED(run_step(site));
    SAPPER_CHECKED(check_time(site.instruction()));  // first: a step may have left out what it had no time for
    const bool last_of_instruction = s + 1 == plan.steps.size() || plan.steps[s + 1].instruction != step.instruction;
    if (options_.trace && untraced_ == 0 && last_of_instruction) trace(site);
    for (const SlotUse& operand : step.operands)
      if (operand.dies) pool_.release(std::move(frame[operand.slot].bytes));
    for (const SlotUse& output : step.outputs)
      if (output.dies) pool_.release(std::move(frame[output.slot].bytes));
  }
  return {};
}

Status Execution::run_step(const Site& site) {
  return std::visit([&](const auto& work) { return run(site, work); }, site.step.work);
}

Status Execution::check_time(const Instruction& instruction) const {
  if (!deadline_passed()) return {};
  return sapper::fail(
      hlo::error_at(ErrorKind::Resource, instruction,
                    fmt::format("evaluation takes longer than the limit of {} s", options_.time_limit_seconds)));
}

// --- Memory.

Status Execution::check_room(const Site& site, int64_t bytes) const {
  if (pool_.fits(bytes)) return {};
  const Instruction& instruction = site.instruction();
  return sapper::fail(hlo::error_at(
      ErrorKind::Resource, instruction,
      fmt::format("needs {} bytes for {} {}, with {} bytes live and a limit of {}", bytes,
                  hlo::to_string(instruction.opcode), instruction.name, pool_.live_bytes(), pool_.limit_bytes())));
}

Result<Buffer> Execution::allocate(const Site& site, int64_t bytes) {
  SAPPER_CHECKED(check_room(site, bytes));
  return pool_.allocate(bytes);
}

Result<std::byte*> Execution::allocate_output(const Site& site) {
  SAPPER_TRY(Buffer buffer, allocate(site, site.instruction().shape.host_byte_size()));
  std::byte* const data = buffer->data();
  auto sizes = kept_dynamic_sizes(site.instruction().shape, site.step.operands, site.frame);
  set_output(site, 0, {std::move(buffer), std::move(sizes)});
  return data;
}

void Execution::set_output(const Site& site, size_t output, Value value) {
  site.frame[site.step.outputs[output].slot] = std::move(value);
}

Buffer Execution::take_if_sole(const Site& site, size_t k) {
  const SlotUse& use = site.step.operands[k];
  Buffer& buffer = site.frame[use.slot].bytes;
  if (!use.dies || buffer.use_count() != 1) return nullptr;
  return std::move(buffer);
}

std::vector<Value> Execution::take_operands(const Site& site, size_t first, size_t end) {
  std::vector<Value> values;
  values.reserve(end - first);
  for (size_t k = first; k < end; ++k) {
    const SlotUse& use = site.step.operands[k];
    Value& value = site.frame[use.slot];
    values.push_back(use.dies ? std::move(value) : value);
  }
  return values;
}

// --- Literals at the borders.

Literal Execution::literal(const Shape& shape, std::span<const Value*> leaves, size_t& next) const {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    elements.reserve(shape.elements().size());
    for (const Shape& element : shape.elements()) elements.push_back(literal(element, leaves, next));
    return Literal::tuple(std::move(elements));
  }
  const Value& value = *leaves[next++];
  if (!shape.is_array() || !value.bytes) return Literal(shape);
  Literal result = Literal::over(shape, value.bytes);
  if (value.dynamic_sizes) result.set_dynamic_sizes(*value.dynamic_sizes);
  return result;
}

std::vector<Literal> Execution::operand_literals(const Site& site) const {
  std::vector<const Value*> leaves;
  for (const SlotUse& operand : site.step.operands) leaves.push_back(&site.frame[operand.slot]);
  std::vector<Literal> literals;
  size_t next = 0;
  for (const hlo::InstructionIndex operand : site.instruction().operands)
    literals.push_back(literal(site.plan.computation->instructions[operand].shape, leaves, next));
  return literals;
}

void Execution::append_leaves(Literal result, std::vector<Value>& values) {
  if (result.shape().is_tuple()) {
    for (Literal& element : result.mutable_elements()) append_leaves(std::move(element), values);
    return;
  }
  Value value{result.shared_bytes(), nullptr};
  if (!result.dynamic_sizes().empty())
    value.dynamic_sizes = std::make_shared<const std::vector<int64_t>>(result.dynamic_sizes());
  values.push_back(std::move(value));
}

void Execution::set_outputs(const Site& site, Literal result) {
  std::vector<Value> values;
  append_leaves(std::move(result), values);
  for (size_t k = 0; k < values.size() && k < site.step.outputs.size(); ++k) {
    if (values[k].bytes && values[k].bytes.use_count() == 1) pool_.adopt(values[k].bytes);
    set_output(site, k, std::move(values[k]));
  }
}

void Execution::trace(const Site& site) const {
  const DeadlineScope lifted(Deadline::max());
  std::vector<const Value*> leaves;
  for (const Slot slot : site.plan.instruction_slots[site.step.instruction]) leaves.push_back(&site.frame[slot]);
  size_t next = 0;
  options_.trace(*site.plan.computation, site.instruction(), literal(site.instruction().shape, leaves, next));
}

// --- Steps.

void Execution::point_to_operands(const Site& site) {
  operand_pointers_.resize(site.step.operands.size());
  for (size_t k = 0; k < operand_pointers_.size(); ++k) operand_pointers_[k] = site.data(k);
}

// Outputs from `first` on are results of a lane program with several.
Status Execution::allocate_lanes(const Site& site, size_t first) {
  for (size_t k = first; k < site.step.outputs.size(); ++k) {
    SAPPER_TRY(Buffer buffer, allocate(site, site.plan.slot_bytes[site.step.outputs[k].slot]));
    result_pointers_.push_back(buffer->data());
    set_output(site, k, {std::move(buffer), nullptr});
  }
  return {};
}

Status Execution::run(const Site& site, const LaneStep& work) {
  const Shape& shape = site.instruction().shape;
  point_to_operands(site);
  Buffer buffer;
  auto sizes = kept_dynamic_sizes(shape, site.step.operands, site.frame);
  for (size_t k = 0; k < work.reusable.size() && !buffer; ++k)
    if (work.reusable[k] != 0) buffer = take_if_sole(site, k);
  if (!buffer) {
    SAPPER_TRY(buffer, allocate(site, shape.host_byte_size()));
  }
  result_pointers_.assign(1, buffer->data());
  set_output(site, 0, {std::move(buffer), std::move(sizes)});
  SAPPER_CHECKED(allocate_lanes(site, 1));
  work.program->run(operand_pointers_, result_pointers_, shape.element_count());
  return {};
}

Status Execution::run(const Site& site, const ViewStep& work) {
  const Shape& shape = site.instruction().shape;
  SAPPER_TRY(Buffer result, allocate(site, shape.host_byte_size()));
  materialize(work.view, site.data(0), result->data(), hlo::host_bytes(shape.element_type()));
  set_output(site, 0,
             {std::move(result), moved_dynamic_sizes(site.instruction(), site.frame[site.step.operands[0].slot])});
  return {};
}

Status Execution::run(const Site& site, const BitcastStep& work) {
  const Shape& shape = site.instruction().shape;
  const int element_bytes = hlo::host_bytes(shape.element_type());
  if (work.bitcast.is_rename()) {
    set_output(site, 0, site.frame[site.step.operands[0].slot]);
    return {};
  }
  SAPPER_TRY(Buffer result, allocate(site, shape.host_byte_size()));
  if (work.bitcast.operand) {
    // Sorting by physical position takes 16 bytes an element on both sides.
    constexpr int64_t bytes_per_element = 32;
    SAPPER_CHECKED(check_room(site, site.operand(0).shape.element_count() * bytes_per_element));
    if (!copy_in_physical_order(*work.bitcast.operand, *work.bitcast.result, site.data(0), result->data()))
      return run(site, UnsupportedStep{});
  } else {
    materialize(work.bitcast.views[0], site.data(0), result->data(), element_bytes);
    if (work.bitcast.views.size() > 1) {
      SAPPER_TRY(Buffer second, allocate(site, shape.host_byte_size()));
      materialize(work.bitcast.views[1], result->data(), second->data(), element_bytes);
      std::swap(result, second);
      pool_.release(std::move(second));
    }
  }
  set_output(site, 0, {std::move(result), nullptr});
  return {};
}

Status Execution::run(const Site& site, const ReduceStep& work) {
  SAPPER_TRY(std::byte * result, allocate_output(site));
  point_to_operands(site);
  result_pointers_.clear();
  SAPPER_CHECKED(allocate_lanes(site, 1));
  const std::byte* const array = work.program ? nullptr : site.data(1);
  work.reduce.run({array, work.program.get(), operand_pointers_, result_pointers_}, site.data(0), result);
  return {};
}

Status Execution::run(const Site& site, const OpStep& work) {
  SAPPER_CHECKED(check_room(site, site.instruction().shape.host_byte_size()));
  SAPPER_TRY(Literal result, work.op(op_context(site), operand_literals(site)));
  return set_result(site, std::move(result));
}

OpContext Execution::op_context(const Site& site) {
  const bool is_traced = site.instruction().opcode == hlo::Opcode::Scan;  // a loop; other bodies are elementwise
  return {module_, *site.plan.computation, site.instruction(), options_,
          [this, is_traced](hlo::ComputationIndex computation, std::span<const Literal> arguments) {
            untraced_ += is_traced ? 0 : 1;
            Result<Literal> value = call(computation, arguments);
            untraced_ -= is_traced ? 0 : 1;
            return value;
          }};
}

Status Execution::set_result(const Site& site, Literal result) {
  const Instruction& instruction = site.instruction();
  if (!result.shape().same_ignoring_layout(instruction.shape)) {
    return sapper::fail(
        hlo::error_at(ErrorKind::Internal, instruction,
                      fmt::format("{} ({}) was evaluated to {}, but is {}", hlo::to_string(instruction.opcode),
                                  instruction.name, result.shape().to_text(false), instruction.shape.to_text(false))));
  }
  set_outputs(site, std::move(result));
  return {};
}

Status Execution::run(const Site& site, const ConstantStep&) {
  const Instruction& instruction = site.instruction();
  if (!instruction.literal) {
    return sapper::fail(
        hlo::error_at(ErrorKind::BadInput, instruction,
                      "the value of this constant was elided when the module was printed, but is needed"));
  }
  set_outputs(site, *instruction.literal);
  return {};
}

Status Execution::run(const Site& site, const ZeroStep&) {
  for (size_t k = 0; k < site.step.outputs.size(); ++k) {
    SAPPER_TRY(Buffer buffer, allocate(site, site.plan.slot_bytes[site.step.outputs[k].slot]));
    std::memset(buffer->data(), 0, buffer->size());
    set_output(site, k, {std::move(buffer), nullptr});
  }
  return {};
}

Status Execution::run(const Site&, const RenameStep&) { return {}; }

Status Execution::run(const Site& site, const SubstituteStep&) {
  const DeadlineScope lifted(Deadline::max());
  SAPPER_TRY(Literal result,
             options_.substitute.run(*site.plan.computation, site.instruction(), operand_literals(site)));
  return set_result(site, std::move(result));
}

Status Execution::run(const Site& site, const UnsupportedStep&) {
  const Instruction& instruction = site.instruction();
  return sapper::fail(
      hlo::error_at(ErrorKind::Unsupported, instruction,
                    fmt::format("not evaluated: {} ({})", hlo::to_string(instruction.opcode), instruction.name)));
}

}  // namespace sapper::eval
