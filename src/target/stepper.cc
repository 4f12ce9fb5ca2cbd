#include "target/stepper.h"

#include <cpuid.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>

#include "target/process.h"
#include "target/trace.h"
#include "target/x86.h"

namespace sapper::target {
namespace {

constexpr std::byte breakpoint{0xcc};
constexpr std::byte near_return{0xc3};

// Where the parts of the registers lie in the frame of a signal (Intel SDM volume 1, 13.4, the standard form).
struct StateLayout {
  static constexpr size_t low = 160;     // the low 16 bytes of vectors 0 to 15
  static constexpr size_t header = 512;  // which parts are there
  uint32_t middle = 0;                   // their next 16 bytes
  uint32_t masks = 0;
  uint32_t high = 0;  // their upper 32
  uint32_t more = 0;  // vectors 16 to 31
};

enum Component : uint32_t { Sse = 1, Avx = 2, Opmask = 5, ZmmHigh = 6, ZmmMore = 7 };

uint32_t component_offset(Component component) {
  uint32_t size = 0;
  uint32_t offset = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid_count(0xd, component, &size, &offset, &c, &d) == 0 || size == 0) return 0;
  return offset;
}

// The registers of the trap before, in the parts that a frame has.
struct State {
  std::array<uint64_t, 16> general;
  alignas(64) std::array<std::byte, 256> low;
  alignas(64) std::array<std::byte, 256> middle;
  alignas(64) std::array<std::byte, 512> high;
  alignas(64) std::array<std::byte, 1024> more;
  std::array<uint64_t, 8> masks;
};

// In the order of the trace: as x86 numbers them.
constexpr std::array general_order = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// What XLA:CPU passes to a kernel, in its first argument.
struct KernelCall {
  const std::array<uint64_t, 3>* work_groups;  // how many there are
  const std::array<uint64_t, 3>* work_group;   // which one this is
  uint64_t argument_count;
  struct Argument {
    const std::byte* data;
    uint64_t size;
  };
  const Argument* arguments;
};

constexpr uint64_t most_arguments = 4096;

// All that the handler works on. Made before arming.
struct Stepping {
  struct Copy {
    std::byte* begin;
    std::vector<std::byte> code;  // as it is without breakpoints
  };
  std::vector<Copy> copies;
  size_t size = 0;
  std::vector<char> is_boundary;  // of instructions, by offset
  StepLimits limits;
  StateLayout layout;
  std::string path;  // of the trace
  std::byte* file = nullptr;
  size_t file_bytes = 0;
  std::byte* end = nullptr;
  std::byte* at = nullptr;  // where the next record goes
  TraceHeader* header = nullptr;
  std::byte* open = nullptr;  // the boundary without a breakpoint
  const Copy* running = nullptr;
  pthread_t thread{};
  uint64_t calls = 0;  // of the kernel that are to be stepped; 0: not known before the first
  bool in_call = false;
  bool is_done = false;
  bool all_registers = false;  // the next record has them all
  struct sigaction before {};
  State state;
  std::atomic_flag busy;
  double start = 0;
};

std::unique_ptr<Stepping> stepping;  // what the handler sees

void restore_code(Stepping& s) {
  for (const Stepping::Copy& copy : s.copies) std::memcpy(copy.begin, copy.code.data(), s.size);
}

void arm_code(const Stepping& s) {
  for (const Stepping::Copy& copy : s.copies)
    for (size_t i = 0; i < s.size; ++i)
      if (s.is_boundary[i] != 0) copy.begin[i] = breakpoint;
}

template <class T>
void put(Stepping& s, const T& value) {
  std::memcpy(s.at, &value, sizeof value);
  s.at += padded(sizeof value);
}

void publish(Stepping& s) {
  std::atomic_signal_fence(std::memory_order_release);
  s.header->record_bytes = static_cast<uint64_t>(s.at - s.file) - sizeof(TraceHeader) - padded(s.size);
}

// The kernel goes on unseen.
void cut(Stepping& s) {
  s.header->is_cut = 1;
  s.in_call = false;
  restore_code(s);
}

// An Entry or Exit record. False: no room.
bool record_call(Stepping& s, RecordKind kind, const KernelCall& call) {
  if (call.argument_count > most_arguments) return false;
  size_t needed = sizeof(CallRecord);
  const std::span arguments(call.arguments, call.argument_count);
  const auto room = static_cast<size_t>(s.end - s.at);
  for (const KernelCall::Argument& argument : arguments) {
    if (argument.size > room) return false;
    needed += sizeof(BufferRecord) + padded(argument.size);
  }
  if (needed > room) return false;
  put(s, CallRecord{.kind = kind,
                    .buffers = static_cast<uint32_t>(call.argument_count),
                    .code_address = reinterpret_cast<uint64_t>(s.running->begin),
                    .work_group = *call.work_group});
  for (const KernelCall::Argument& argument : arguments)
    put(s, BufferRecord{reinterpret_cast<uint64_t>(argument.data), argument.size});
  for (const KernelCall::Argument& argument : arguments) {
    if (argument.size > 0) std::memcpy(s.at, argument.data, argument.size);
    s.at += padded(argument.size);
  }
  publish(s);
  return true;
}

// The parts of the frame; a part that is not there is zero.
struct Frame {
  explicit Frame(const ucontext_t& context, const StateLayout& layout)
      : state(reinterpret_cast<const std::byte*>(context.uc_mcontext.fpregs)) {
    constexpr size_t magic_at = 464;
    constexpr uint32_t magic = 0x46505853;  // FP_XSTATE_MAGIC1
    uint32_t found = 0;
    std::memcpy(&found, state + magic_at, sizeof found);
    uint64_t present = 3;
    if (found == magic) std::memcpy(&present, state + StateLayout::header, sizeof present);
    const auto part = [&](Component component, size_t offset) {
      return (present >> component & 1) != 0 && offset != 0 ? state + offset : zeros.data();
    };
    low = part(Sse, StateLayout::low);
    middle = part(Avx, layout.middle);
    masks = part(Opmask, layout.masks);
    high = part(ZmmHigh, layout.high);
    more = part(ZmmMore, layout.more);
  }
  static constexpr std::array<std::byte, 1024> zeros{};
  const std::byte* state;
  const std::byte* low;
  const std::byte* middle;
  const std::byte* masks;
  const std::byte* high;
  const std::byte* more;
};

// Which elements of `Each` bytes differ, as bits; `old` becomes `now`.
template <size_t Each, size_t Size>
uint32_t changed(std::array<std::byte, Size>& old, const std::byte* now) {
  if (std::memcmp(old.data(), now, Size) == 0) return 0;
  uint32_t bits = 0;
  for (size_t i = 0; i < Size / Each; ++i)
    if (std::memcmp(old.data() + i * Each, now + i * Each, Each) != 0) bits |= 1U << i;
  std::memcpy(old.data(), now, Size);
  return bits;
}

void record_step(Stepping& s, uint32_t offset, const ucontext_t& context) {
  const Frame frame(context, s.layout);
  State& state = s.state;
  StepRecord record{.offset = offset};
  for (size_t r = 0; r < general_order.size(); ++r) {
    const auto now = static_cast<uint64_t>(context.uc_mcontext.gregs[general_order[r]]);
    if (state.general[r] != now) record.general |= static_cast<uint16_t>(1U << r);
    state.general[r] = now;
  }
  record.vectors = changed<16>(state.low, frame.low) | changed<16>(state.middle, frame.middle) |
                   changed<32>(state.high, frame.high) | changed<64>(state.more, frame.more) << 16;
  for (size_t r = 0; r < state.masks.size(); ++r) {
    uint64_t now = 0;
    std::memcpy(&now, frame.masks + r * sizeof now, sizeof now);
    if (state.masks[r] != now) record.masks |= 1U << r;
    state.masks[r] = now;
  }
  if (s.all_registers) {
    record.general = UINT16_MAX;
    record.vectors = UINT32_MAX;
    record.masks = UINT8_MAX;
    s.all_registers = false;
  }

  put(s, record);
  for (size_t r = 0; r < state.general.size(); ++r)
    if ((record.general >> r & 1) != 0) put(s, state.general[r]);
  for (size_t r = 0; r < 32; ++r) {
    if ((record.vectors >> r & 1) == 0) continue;
    if (r < 16) {
      std::memcpy(s.at, state.low.data() + r * 16, 16);
      std::memcpy(s.at + 16, state.middle.data() + r * 16, 16);
      std::memcpy(s.at + 32, state.high.data() + r * 32, 32);
    } else {
      std::memcpy(s.at, state.more.data() + (r - 16) * 64, 64);
    }
    s.at += 64;
  }
  for (size_t r = 0; r < state.masks.size(); ++r)
    if ((record.masks >> r & 1) != 0) put(s, state.masks[r]);
  ++s.header->steps;
  publish(s);
}

constexpr size_t largest_step = sizeof(StepRecord) + size_t{16} * 8 + size_t{32} * 64 + size_t{8} * 8;

// The kernel's call, while it runs: its structures are the caller's and outlive it.
KernelCall current_call;

// A call of the kernel begins.
bool enter(Stepping& s, const Stepping::Copy& copy, const ucontext_t& context) {
  std::memcpy(&current_call, std::bit_cast<const void*>(context.uc_mcontext.gregs[REG_RDI]), sizeof current_call);
  s.running = &copy;
  s.thread = pthread_self();
  s.in_call = true;
  s.all_registers = true;
  if (s.calls == 0) {
    const auto& groups = *current_call.work_groups;
    s.calls = std::max<uint64_t>(1, groups[0]) * std::max<uint64_t>(1, groups[1]) * std::max<uint64_t>(1, groups[2]);
  }
  return record_call(s, RecordKind::Entry, current_call);
}

// One breakpoint: the instruction at `offset` comes next. False: the code is unbroken from here on.
bool step(Stepping& s, const Stepping::Copy& copy, uint32_t offset, const ucontext_t& context) {
  if (!s.in_call && !enter(s, copy, context)) return cut(s), false;
  if (s.header->steps >= s.limits.steps || static_cast<size_t>(s.end - s.at) < largest_step) return cut(s), false;
  record_step(s, offset, context);
  if (copy.code[offset] != near_return) return true;
  s.in_call = false;
  if (!record_call(s, RecordKind::Exit, current_call)) return cut(s), false;
  if (++s.header->invocations < s.calls) return true;
  s.is_done = true;
  restore_code(s);
  return false;
}

// Lets one thread on at a time: a kernel's work is split over threads, which share the code and its breakpoints. The
// others wait where they came to their first breakpoint.
void take_turn(Stepping& s) {
  while (true) {
    while (s.busy.test_and_set()) sched_yield();
    if (!s.in_call || pthread_equal(s.thread, pthread_self()) != 0) return;
    s.busy.clear();
    sched_yield();
  }
}

const Stepping::Copy* copy_at(const Stepping& s, const std::byte* at) {
  for (const Stepping::Copy& copy : s.copies)
    if (copy.begin <= at && at < copy.begin + s.size) return &copy;
  return nullptr;
}

void on_trap(int /*signal*/, siginfo_t* /*info*/, void* raw) {
  const int error = errno;
  auto& context = *static_cast<ucontext_t*>(raw);
  auto* const at = std::bit_cast<std::byte*>(context.uc_mcontext.gregs[REG_RIP] - 1);
  Stepping* const s = stepping.get();
  const Stepping::Copy* copy = s == nullptr ? nullptr : copy_at(*s, at);
  if (copy == nullptr) {  // not ours
    signal(SIGTRAP, SIG_DFL);
    return;
  }
  context.uc_mcontext.gregs[REG_RIP] -= 1;
  take_turn(*s);
  const auto offset = static_cast<uint32_t>(at - copy->begin);
  if (s->header->is_cut == 0 && !s->is_done && step(*s, *copy, offset, context)) {
    if (s->open != nullptr) *s->open = breakpoint;
    *at = copy->code[offset];
    s->open = at;
  }
  s->busy.clear();
  errno = error;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Status make_writable(std::byte* copy, size_t size) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(copy) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(copy) + size;
  if (mprotect(std::bit_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return fail(ErrorKind::Unsupported, "the code of the kernel cannot be made writable: {}", std::strerror(errno));
  return {};
}

// Sets is_boundary: where instructions begin.
Status find_boundaries(Stepping& s) {
  s.is_boundary.assign(s.size, 0);
  for (size_t at = 0; at < s.size;) {
    const auto instruction = decode_x86(std::span(s.copies[0].code).subspan(at));
    if (!instruction) return fail(ErrorKind::Unsupported, "no x86-64 instruction that sapper knows is at {:#x}", at);
    s.is_boundary[at] = 1;
    at += instruction->length;
  }
  return {};
}

// The file of the trace, as large as it may become, with its header and the code.
Status map_file(Stepping& s) {
  s.file_bytes = sizeof(TraceHeader) + padded(s.size) + s.limits.bytes;
  const Descriptor file(open(s.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  void* memory = MAP_FAILED;
  // Pages come as they are written, so that a short trace costs little; that there is room for all is asked before.
  struct statvfs space {};
  const bool has_room =
      file.get() >= 0 && fstatvfs(file.get(), &space) == 0 && uint64_t{space.f_bavail} * space.f_bsize > s.file_bytes;
  if (has_room && ftruncate(file.get(), static_cast<off_t>(s.file_bytes)) == 0)
    memory = mmap(nullptr, s.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED)
    return fail(ErrorKind::Interrupted, "{}: no {} MiB for the trace of the kernel", s.path, s.file_bytes >> 20);
  s.file = static_cast<std::byte*>(memory);
  s.end = s.file + s.file_bytes;
  s.at = s.file + sizeof(TraceHeader) + padded(s.size);
  s.header = new (s.file) TraceHeader{.magic = TraceHeader::expected_magic, .code_bytes = s.size};
  std::memcpy(s.file + sizeof(TraceHeader), s.copies[0].code.data(), s.size);
  return {};
}

}  // namespace

void pin_to_one_cpu() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int now = sched_getcpu();
  CPU_SET(now < 0 ? 0 : now, &allowed);
  sched_setaffinity(0, sizeof allowed, &allowed);
}

Status patch_code(const SteppedFunction& function, std::span<const BytePatch> patches) {
  for (const BytePatch& patch : patches) {
    if (patch.offset >= function.size)
      return fail(ErrorKind::BadInput, "byte {} is beyond the kernel's code of {} bytes", patch.offset, function.size);
    for (std::byte* copy : function.copies) {
      SAPPER_CHECKED(make_writable(copy, function.size));
      copy[patch.offset] = std::byte{patch.value};
    }
  }
  return {};
}

Result<Stepper> Stepper::arm(const SteppedFunction& function, const std::string& path, const StepLimits& limits) {
  if (stepping != nullptr) return fail(ErrorKind::Internal, "a kernel is being stepped already");
  if (function.copies.empty()) return fail(ErrorKind::Internal, "no code to step through");
  auto s = std::make_unique<Stepping>();
  for (std::byte* copy : function.copies) s->copies.push_back({copy, {copy, copy + function.size}});
  s->size = function.size;
  s->path = path;
  s->limits = limits;
  s->layout = {.middle = component_offset(Avx),
               .masks = component_offset(Opmask),
               .high = component_offset(ZmmHigh),
               .more = component_offset(ZmmMore)};
  SAPPER_CHECKED(find_boundaries(*s));
  for (std::byte* copy : function.copies) SAPPER_CHECKED(make_writable(copy, function.size));
  SAPPER_CHECKED(map_file(*s));
  s->header->memcpy_address = function.memcpy_address;
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGTRAP, &action, &s->before);
  s->start = processor_seconds();
  stepping = std::move(s);
  arm_code(*stepping);
  return Stepper();
}

void Stepper::disarm() {
  if (!std::exchange(is_armed_, false)) return;
  restore_code(*stepping);
  stepping->header->seconds = processor_seconds() - stepping->start;
  sigaction(SIGTRAP, &stepping->before, nullptr);
  const auto used = static_cast<off_t>(stepping->at - stepping->file);
  munmap(stepping->file, stepping->file_bytes);
  (void)!truncate(stepping->path.c_str(), used);  // a longer file is no harm
  stepping.reset();
}

}  // namespace sapper::target
