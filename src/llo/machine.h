// Machine: one TPU core that runs the code of one kernel: registers, memory spaces, queues between units, sync flags,
// DMA. It knows what is undefined, and says what the program does that no correct program does (Finding).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "llo/generation.h"
#include "llo/matrix_product.h"
#include "llo/memory.h"
#include "llo/step.h"
#include "llo/vreg.h"

namespace sapper::llo {

// What no correct kernel does.
enum class FindingKind : uint8_t {
  UndefinedOutput,   // a byte of the result depends on undefined data
  UndefinedControl,  // an address, a size, a branch or a guard does
  OutOfBounds,       // an access outside of the piece of memory it was made for
  Misaligned,        // a DMA moves to or from the inside of a row
  Race,              // memory that a DMA in flight reads or writes is touched before its wait; two writers
  Deadlock,          // a wait that nothing will ever fulfil
  UnbalancedSync,    // a sync flag is not zero at the end, a DMA is not waited for
  EmptyQueue,        // a pop of a queue with nothing in it; results left in one
  Halt,              // the kernel's own check failed
  BrokenInvariant,   // what holds in every program does not (invariants.h)
};
[[nodiscard]] const char* to_string(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::Halt;
  std::string message;
  InstructionIndex instruction = UINT32_MAX;
};

struct MachineOptions {
  Generation generation;
  uint64_t step_limit = 0;        // steps in all above this are a Resource error; 0: no limit
  double time_limit_seconds = 0;  // 0: no limit
  bool flush_subnormals = true;   // of floating-point arithmetic: the hardware has no subnormals (subnormals.h)
  // Matrix units round f32 numbers to bf16 first, to nearest even: compiler passes put bf16 ones in their place.
  bool round_matmul_operands = true;
  MatrixSum matrix_sum = MatrixSum::Double;
  // EUP results are correctly rounded; not zero: moved by up to their documented error, chosen from this seed.
  uint64_t perturb_transcendentals = 0;
  // Called after each step that took effect; may change what it did. Slow.
  std::function<void(const Step&, class Machine&)> observer;
  // Called before each step that is to take effect; true: it did what the step would do, or something else.
  std::function<bool(const Step&, class Machine&)> substitute;
};

// The queues between the units that finish later and the instructions that take their results.
enum class QueueKind : uint8_t {
  Permute,
  CrossLaneReduce,
  Transpose,
  Transcendental,
  MatrixResult,
  Scalar,
  Division,
  CmemLoad,
  OtherCore
};

// A value on its way through a queue.
struct Queued {
  Vreg value;
  std::optional<Vreg> undefined;  // nullopt: all defined
  Slot token = kNoSlot;           // of the instruction that pushed it
};

// State of its own that a unit keeps between instructions (matrix units, transposes): opcodes_*.cc define it.
struct UnitState {
  virtual ~UnitState() = default;
};

class Machine {
 public:
  explicit Machine(MachineOptions options);

  // Makes room for `code`'s registers, fills its constants, and gives every allocation of its program (and of
  // `declarations`, an SSA form of the same kernel, where the program declares none) its place.
  [[nodiscard]] Status load(const Code& code, const Program* declarations = nullptr);
  // The place of an inlined_call_operand that the kernel reads at its start; to be set after load.
  // In the space's address unit, or a scalar's bits.
  void bind_operand(int index, uint32_t value) { bound_operands_[index] = value; }
  [[nodiscard]] std::optional<uint32_t> bound_operand(int index) const;

  // Makes this and `other` the two cores of one chip: they share HBM, and send each other registers. Before load.
  void join(Machine& other);
  [[nodiscard]] Machine* other_core() { return other_core_; }
  // The core that flags and DMA name by `field` of an address: 0 is this one, 2 + k the one of number k. Null: none.
  [[nodiscard]] Machine* core_named(uint32_t field);

  // Runs from the first step to the end, or to where it waits for the other core; then from there on. Errors: Resource
  // (limits), Unsupported (an opcode's case that is not modelled); a finding that makes it pointless to go on (out of
  // bounds, deadlock) ends the run without an error.
  [[nodiscard]] Status run();

  [[nodiscard]] bool is_waiting() const { return waiting_; }
  // The instruction that runs next; UINT32_MAX: none does.
  [[nodiscard]] InstructionIndex next_instruction() const { return code_->steps[next_].source; }

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] uint64_t steps_run() const { return steps_run_; }
  [[nodiscard]] uint64_t vector_steps_run() const { return vector_steps_run_; }  // of them on vectors and masks
  [[nodiscard]] const MachineOptions& options() const { return options_; }
  [[nodiscard]] const Code& code() const { return *code_; }
  [[nodiscard]] const Instruction& instruction(const Step& step) const;

  // --- for the meanings of opcodes ---
  [[nodiscard]] uint32_t scalar(Slot slot) const { return scalars_[slot]; }
  [[nodiscard]] uint32_t scalar_undefined(Slot slot) const { return scalars_undefined_[slot]; }  // bits
  void set_scalar(Slot slot, uint32_t value, uint32_t undefined = 0);
  [[nodiscard]] bool predicate(Slot slot) const { return predicates_[slot] != 0; }
  [[nodiscard]] bool predicate_undefined(Slot slot) const { return predicates_undefined_[slot] != 0; }
  void set_predicate(Slot slot, bool value, bool undefined = false);
  [[nodiscard]] const Vreg& vector(Slot slot) const { return vectors_[slot]; }
  // The undefined bits; null: all defined.
  [[nodiscard]] const Vreg* vector_undefined(Slot slot) const {
    return vectors_clean_[slot] != 0 ? nullptr : &vectors_undefined_[slot];
  }
  // To be written in full; all defined until set_vector_undefined says otherwise.
  [[nodiscard]] Vreg& write_vector(Slot slot) {
    vectors_clean_[slot] = 1;
    return vectors_[slot];
  }
  // `bits` undefined from here on (all zero: all defined).
  void set_vector_undefined(Slot slot, const Vreg& bits);

  struct Place {
    Space space = Space::Vmem;
    uint32_t address = 0;
  };
  // Of an allocation that the code names; null: it does not.
  [[nodiscard]] const Place* place_of(const AllocationName& name) const;

  [[nodiscard]] Memory& memory(Space space) { return *memories_[static_cast<size_t>(space)]; }
  [[nodiscard]] const Memory& memory(Space space) const { return *memories_[static_cast<size_t>(space)]; }
  [[nodiscard]] std::deque<Queued>& queue(QueueKind kind, uint32_t unit) { return queues_[{kind, unit}]; }
  [[nodiscard]] const std::deque<Queued>* find_queue(const std::pair<QueueKind, uint32_t>& name) const {
    const auto place = queues_.find(name);
    return place == queues_.end() ? nullptr : &place->second;
  }
  template <class State>
  [[nodiscard]] State& unit(uint32_t number);

  // What Lanewise and Movement do, for actions that are that in a part of their cases.
  void compute_lanewise(const Step& step, const Lanewise& lanewise);
  void apply_movement(const Step& step, MoveFunction move);

  // A scalar that decides where something goes: reports it where it is undefined.
  [[nodiscard]] uint32_t decisive(const Step& step, Slot slot, const char* what);

  void report(const Step& step, FindingKind kind, std::string message);
  // Ends the run after this step: nothing sensible can follow.
  void stop() { stopped_ = true; }
  void fail_with(Error error);
  // The step that calls this has done nothing; it runs again when the other core has run.
  void wait_for_other_core() { waiting_ = true; }

  // --- memory traffic, checked. False: out of bounds, which was reported and ends the run. What a DMA in flight is at
  // is reported, but the access goes on.
  [[nodiscard]] bool may_read(const Step& step, Space space, uint64_t word, uint64_t count);
  [[nodiscard]] bool may_write(const Step& step, Space space, uint64_t word, uint64_t count);
  // `count` words are read from where undefined data say, here `word`: to the program they are undefined, and nothing
  // is read. Reports where the data can lead out of bounds, as far as these do.
  void check_reach(const Step& step, Space space, uint64_t word, uint64_t count);

  // Where the last step wrote to memory, in order; kept only while there is an observer.
  struct Written {
    Space space = Space::Vmem;
    uint64_t word = 0;
    uint64_t count = 0;
  };
  [[nodiscard]] const std::vector<Written>& written() const { return written_; }
  // The rows of memory that the sublanes of a vector were loaded from or stored to; kept only while there is an
  // observer.
  struct Rows {
    Space space = Space::Vmem;
    uint32_t sublanes = 0;  // bit i: sublane i took part
    std::array<uint64_t, kSublanes> word{};
  };
  [[nodiscard]] const std::optional<Rows>& rows() const { return rows_; }
  void note_rows(const Rows& rows) {
    if (options_.observer) rows_ = rows;
  }
  // The queues to whose ends the last step pushed.
  using QueueName = std::pair<QueueKind, uint32_t>;
  [[nodiscard]] const std::vector<QueueName>& pushed() const { return pushed_; }
  void push(QueueKind kind, uint32_t unit, const Queued& queued) {
    if (options_.observer) pushed_.emplace_back(kind, unit);
    queue(kind, unit).push_back(queued);
  }

  // --- DMA in flight: [first, first + length) + k * stride for k < count, in words of a space.
  struct Stretch {
    Space space = Space::Vmem;
    uint64_t first = 0;
    uint64_t length = 0;
    uint64_t stride = 0;
    uint64_t count = 1;
  };
  struct Flight {
    std::vector<Stretch> source;
    std::vector<Stretch> destination;
    uint32_t flag = 0;      // sync flag that counts its granules
    uint64_t granules = 0;  // not yet waited for
    InstructionIndex instruction = UINT32_MAX;
  };
  [[nodiscard]] std::vector<Flight>& flights() { return flights_; }
  [[nodiscard]] const std::vector<Flight>& flights() const { return flights_; }

  // --- sync flags
  [[nodiscard]] int64_t& sync_flag(uint32_t address) { return sync_flags_[address]; }
  [[nodiscard]] const std::map<uint32_t, int64_t>& sync_flags() const { return sync_flags_; }

 private:
  void step(const Step& step);
  void copy(const Step& step);
  [[nodiscard]] Result<uint32_t> give_place(const AllocationName& name, const Program* declarations);
  [[nodiscard]] Result<uint32_t> give_undeclared_place(const AllocationName& name);
  [[nodiscard]] std::optional<Space> space_of_alternative(const AllocationName& name) const;
  [[nodiscard]] bool in_bounds(const Step& step, Space space, uint64_t word, uint64_t count);
  void note_flight(const Step& step, Space space, uint64_t word, uint64_t count, bool writing);

  MachineOptions options_;
  const Code* code_ = nullptr;
  std::vector<uint32_t> scalars_, scalars_undefined_;
  std::vector<uint8_t> predicates_, predicates_undefined_;
  std::vector<Vreg> vectors_, vectors_undefined_;
  std::vector<uint8_t> vectors_clean_;
  std::vector<std::shared_ptr<Memory>> memories_;
  Machine* other_core_ = nullptr;
  uint32_t number_ = 0;  // of the chip's cores
  bool waiting_ = false;
  std::map<std::pair<QueueKind, uint32_t>, std::deque<Queued>> queues_;
  std::map<std::pair<const void*, uint32_t>, std::unique_ptr<UnitState>> units_;
  std::map<uint32_t, int64_t> sync_flags_;
  std::map<int, uint32_t> bound_operands_;
  std::map<std::pair<uint32_t, bool>, Place> places_;  // of allocations: number, spill
  std::vector<Flight> flights_;
  std::vector<Written> written_;
  std::optional<Rows> rows_;
  std::vector<QueueName> pushed_;
  std::vector<Finding> findings_;
  std::optional<Error> error_;
  uint64_t steps_run_ = 0;
  uint64_t vector_steps_run_ = 0;
  uint32_t next_ = 0;
  bool stopped_ = false;
};

template <class State>
State& Machine::unit(uint32_t number) {
  static const char kind = 0;  // its address names the type
  auto& place = units_[{&kind, number}];
  if (!place) place = std::make_unique<State>();
  return static_cast<State&>(*place);
}

}  // namespace sapper::llo
