#include "target/stepper.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "target/trace_writer.h"
#include "target/x86.h"

namespace sapper::target {
namespace {

constexpr std::byte breakpoint{0xcc};
constexpr std::byte near_return{0xc3};

// In the order of the trace: as x86 numbers them.
constexpr std::array general_order = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// All that the handler works on. Made before arming.
struct Stepping {
  struct Copy {
    std::byte* begin;
    std::vector<std::byte> code;  // as it is without breakpoints
  };
  std::vector<Copy> copies;
  size_t size = 0;
  std::vector<char> is_boundary;  // of instructions, by offset
  TraceWriter trace;
  std::byte* open = nullptr;  // the boundary without a breakpoint
  pthread_t thread{};         // that is in the call
  struct sigaction before {};
  std::atomic_flag busy;
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

RegisterImage registers_of(const ucontext_t& context) {
  constexpr size_t magic_at = 464;
  constexpr uint32_t magic = 0x46505853;  // FP_XSTATE_MAGIC1
  constexpr size_t components_at = 512;
  RegisterImage image{.extended = reinterpret_cast<const std::byte*>(context.uc_mcontext.fpregs), .components = 3};
  uint32_t found = 0;
  std::memcpy(&found, image.extended + magic_at, sizeof found);
  if (found == magic) std::memcpy(&image.components, image.extended + components_at, sizeof image.components);
  for (size_t r = 0; r < general_order.size(); ++r)
    image.general[r] = static_cast<uint64_t>(context.uc_mcontext.gregs[general_order[r]]);
  return image;
}

// One breakpoint: the instruction at `offset` comes next. False: the code is unbroken from here on.
bool step(Stepping& s, const Stepping::Copy& copy, uint32_t offset, const ucontext_t& context) {
  TraceWriter& trace = s.trace;
  bool good = true;
  if (!trace.in_call()) {
    s.thread = pthread_self();
    good = trace.enter(reinterpret_cast<uint64_t>(copy.begin),
                       static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RDI]), {});
  }
  good = good && trace.step(offset, registers_of(context));
  if (good && copy.code[offset] == near_return) good = trace.leave({});
  if (good && !trace.is_over()) return true;
  restore_code(s);
  return false;
}

// Lets one thread on at a time: a kernel's work is split over threads, which share the code and its breakpoints. The
// others wait where they came to their first breakpoint.
void take_turn(Stepping& s) {
  while (true) {
    while (s.busy.test_and_set()) sched_yield();
    if (!s.trace.in_call() || pthread_equal(s.thread, pthread_self()) != 0) return;
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
  if (!s->trace.is_over() && step(*s, *copy, offset, context)) {
    if (s->open != nullptr) *s->open = breakpoint;
    *at = copy->code[offset];
    s->open = at;
  }
  s->busy.clear();
  errno = error;
}

Status make_writable(std::byte* copy, size_t size) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(copy) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(copy) + size;
  if (mprotect(std::bit_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return fail(ErrorKind::Unsupported, "the code of the kernel cannot be made writable: {}", std::strerror(errno));
  return {};
}

// Where instructions begin.
Result<std::vector<char>> find_boundaries(std::span<const std::byte> code) {
  std::vector<char> is_boundary(code.size(), 0);
  for (size_t at = 0; at < code.size();) {
    const auto instruction = decode_x86(code.subspan(at));
    if (!instruction) return fail(ErrorKind::Unsupported, "no x86-64 instruction that sapper knows is at {:#x}", at);
    is_boundary[at] = 1;
    at += instruction->length;
  }
  return is_boundary;
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
  SAPPER_TRY(std::vector<char> boundaries, find_boundaries({function.copies[0], function.size}));
  for (std::byte* copy : function.copies) SAPPER_CHECKED(make_writable(copy, function.size));
  SAPPER_TRY(TraceWriter trace, TraceWriter::create(path, {function.copies[0], function.size}, limits));
  trace.header().memcpy_address = function.memcpy_address;
  std::unique_ptr<Stepping> s(
      new Stepping{.size = function.size, .is_boundary = std::move(boundaries), .trace = std::move(trace)});
  for (std::byte* copy : function.copies) s->copies.push_back({copy, {copy, copy + function.size}});
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGTRAP, &action, &s->before);
  stepping = std::move(s);
  arm_code(*stepping);
  return Stepper();
}

void Stepper::disarm() {
  if (!std::exchange(is_armed_, false)) return;
  restore_code(*stepping);
  sigaction(SIGTRAP, &stepping->before, nullptr);
  stepping.reset();
}

}  // namespace sapper::target
