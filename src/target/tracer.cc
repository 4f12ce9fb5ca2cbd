#include "target/tracer.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <string>

#include "target/process.h"

namespace sapper::target {
namespace {

constexpr std::byte breakpoint{0xcc};
constexpr std::byte near_return{0xc3};
constexpr int end_signal = SIGURG;  // by which the traced process says that it is done; ignored where nobody traces
constexpr size_t most_threads = 4096;
constexpr size_t largest_state = 32768;  // an XSAVE area

// The tracing process. It was forked off threads: it neither allocates nor locks.
class Tracing {
 public:
  Tracing(const SteppedFunction& function, TraceWriter& trace)
      : function_(function), code_(function.copies[0], function.size), trace_(trace) {}

  // The process whose memory and threads these are. 0, or errno where it cannot be traced.
  int begin(const char* memory, const char* folder_of_threads) {
    if (const int error = attach(folder_of_threads); error != 0) return error;
    memory_ = {open(memory, O_RDWR | O_CLOEXEC)};
    return memory_.file >= 0 && set_entries(breakpoint) ? 0 : errno;
  }

  // Until all calls are traced or the process says that it is done, or ends.
  void run() {
    while (!trace_.is_over() && !is_told_to_end_) {
      auto* const waiting = std::find_if(threads_.begin(), threads_.begin() + count_,
                                         [](const Thread& thread) { return thread.state == State::AtEntry; });
      if (waiting != threads_.begin() + count_) {
        if (!trace_call(*waiting)) return;
        continue;
      }
      int status = 0;
      const pid_t id = waitpid(-1, &status, __WALL);
      if (id < 0) return;  // the process has ended
      if (Thread* const thread = thread_of(id)) stopped(*thread, status), go_on(*thread);
    }
    hold();
    set_entries(code_[0]);
    trace_.header().seconds = processor_seconds();
    for (const Thread& thread : threads()) ptrace(PTRACE_DETACH, thread.id, nullptr, signal_of(thread));
  }

 private:
  enum class State : uint8_t { Runs, Stopped, AtEntry, InCall, Gone };
  struct Thread {
    pid_t id = 0;
    State state = State::Runs;
    int status = 0;  // of waitpid, where it is stopped
  };

  [[nodiscard]] std::span<Thread> threads() { return {threads_.data(), count_}; }

  // A thread that is new is traced from its beginning. Null: there are too many.
  Thread* thread_of(pid_t id) {
    const auto known = std::ranges::find(threads(), id, &Thread::id);
    if (known != threads().end()) return &*known;
    if (count_ == most_threads) return nullptr;
    threads_[count_] = {.id = id};
    return &threads_[count_++];
  }

  // All threads, again until there is no new one: they come and go meanwhile.
  int attach(const char* folder_of_threads) {
    const int folder = open(folder_of_threads, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno;
    for (size_t before = SIZE_MAX; before != count_;) {
      before = count_;
      lseek(folder, 0, SEEK_SET);
      alignas(8) std::array<char, 4096> entries{};
      for (long bytes = 0; (bytes = syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0;)
        for (const char* at = entries.data(); at < entries.data() + bytes; at += length_of(at))
          if (const int error = seize(number(at + name_offset)); error != 0) return error;
    }
    close(folder);
    return 0;
  }
  int seize(pid_t id) {
    if (id == 0 || std::ranges::find(threads(), id, &Thread::id) != threads().end()) return 0;
    // That it is traced already, or has ended, is no error, but for the first.
    if (ptrace(PTRACE_SEIZE, id, nullptr, PTRACE_O_TRACECLONE) != 0) return count_ == 0 ? errno : 0;
    return thread_of(id) == nullptr ? EAGAIN : 0;
  }
  // Parts of a struct linux_dirent64.
  static constexpr size_t name_offset = 19;
  static uint16_t length_of(const char* entry) {
    uint16_t length = 0;
    std::memcpy(&length, entry + 16, sizeof length);
    return length;
  }
  static pid_t number(const char* text) {
    pid_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
    return *text == 0 ? value : 0;
  }

  // --- memory and registers of the process

  [[nodiscard]] bool poke(uint64_t address, std::byte value) const {
    return pwrite(memory_.file, &value, 1, static_cast<off_t>(address)) == 1;
  }
  bool set_entries(std::byte value) const {
    return std::ranges::all_of(function_.copies,
                               [&](std::byte* copy) { return poke(reinterpret_cast<uint64_t>(copy), value); });
  }
  [[nodiscard]] static user_regs_struct registers_of(const Thread& thread) {
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, thread.id, nullptr, &registers);
    return registers;
  }
  [[nodiscard]] RegisterImage image_of(const Thread& thread, const user_regs_struct& r) {
    constexpr size_t components_at = 512;
    RegisterImage image{.general = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11,
                                    r.r12, r.r13, r.r14, r.r15},
                        .extended = state_.data()};
    iovec area{state_.data(), state_.size()};
    if (ptrace(PTRACE_GETREGSET, thread.id, NT_X86_XSTATE, &area) == 0)
      std::memcpy(&image.components, state_.data() + components_at, sizeof image.components);
    return image;
  }
  // The copy of the function that `address` is in; 0: it is in none.
  [[nodiscard]] uint64_t copy_at(uint64_t address) const {
    for (std::byte* const copy : function_.copies) {
      const auto begin = reinterpret_cast<uint64_t>(copy);
      if (begin <= address && address < begin + function_.size) return begin;
    }
    return 0;
  }

  // --- threads that stop and go on

  static int signal_of(const Thread& thread) {
    const bool is_event = thread.status >> 16 != 0;
    const bool is_signal = thread.state == State::Stopped && !is_event;
    return is_signal && WSTOPSIG(thread.status) != end_signal ? WSTOPSIG(thread.status) : 0;
  }

  // Takes note of what waitpid said of it.
  void stopped(Thread& thread, int status) {
    thread.status = status;
    thread.state = WIFSTOPPED(status) ? State::Stopped : State::Gone;
    if (thread.state == State::Gone || status >> 16 != 0) return;
    if (WSTOPSIG(status) == end_signal) is_told_to_end_ = true;
    if (WSTOPSIG(status) != SIGTRAP) return;
    user_regs_struct registers = registers_of(thread);
    if (copy_at(registers.rip - 1) != registers.rip - 1) return;
    registers.rip -= 1;
    ptrace(PTRACE_SETREGS, thread.id, nullptr, &registers);
    thread.state = State::AtEntry;
  }
  static void go_on(Thread& thread) {
    if (thread.state != State::Stopped) return;
    ptrace(PTRACE_CONT, thread.id, nullptr, signal_of(thread));
    thread.state = State::Runs;
  }
  // All threads stop.
  void hold() {
    for (Thread& thread : threads()) {
      if (thread.state != State::Runs) continue;
      int status = 0;
      ptrace(PTRACE_INTERRUPT, thread.id, nullptr, nullptr);
      if (waitpid(thread.id, &status, __WALL) == thread.id)
        stopped(thread, status);
      else
        thread.state = State::Gone;
    }
  }
  void release() {
    for (Thread& thread : threads()) go_on(thread);
  }

  // Lets the thread run by `request` until it traps. False: it is gone.
  bool until_trap(Thread& thread, __ptrace_request request) {
    for (int signal = 0;;) {
      int status = 0;
      ptrace(request, thread.id, nullptr, signal);
      if (waitpid(thread.id, &status, __WALL) != thread.id || !WIFSTOPPED(status)) {
        thread.state = State::Gone;
        return false;
      }
      const bool is_event = status >> 16 != 0;
      if (!is_event && WSTOPSIG(status) == SIGTRAP) break;
      signal = is_event ? 0 : WSTOPSIG(status);
    }
    return true;
  }

  // --- one call

  // The thread is at the function's entry. False: it is gone.
  bool trace_call(Thread& thread) {
    user_regs_struct registers = registers_of(thread);
    const uint64_t begin = registers.rip;
    thread.state = State::InCall;
    bool good = trace_.enter(begin, registers.rdi, memory_);
    uint64_t last = 0;
    while (good) {
      // Iterations of one repeated instruction are one step.
      if (registers.rip != last)
        good = trace_.step(static_cast<uint32_t>(registers.rip - begin), image_of(thread, registers));
      last = registers.rip;
      if (!good || code_[registers.rip - begin] == near_return) break;
      if (!(registers.rip == begin ? step_over_entry(thread, begin) : until_trap(thread, PTRACE_SINGLESTEP)))
        return false;
      registers = registers_of(thread);
      if (copy_at(registers.rip) != begin && !pass_callee(thread, begin, registers, good)) return false;
    }
    if (good) good = trace_.leave(memory_);
    thread.state = State::Stopped;
    thread.status = 0;  // no signal is to be delivered
    go_on(thread);
    return true;
  }

  // Nobody else comes through meanwhile.
  bool step_over_entry(Thread& thread, uint64_t begin) {
    hold();
    const bool good = poke(begin, code_[0]) && until_trap(thread, PTRACE_SINGLESTEP) && poke(begin, breakpoint);
    release();
    return good;
  }

  // The thread has left the function: it runs until it is back. `good`: it will be.
  bool pass_callee(Thread& thread, uint64_t begin, user_regs_struct& registers, bool& good) {
    uint64_t back = 0;
    std::byte there{};
    good = memory_.read(registers.rsp, &back, sizeof back) && copy_at(back) == begin && memory_.read(back, &there, 1) &&
           poke(back, breakpoint);
    if (!good) return trace_.cut(), true;
    if (!until_trap(thread, PTRACE_CONT)) return false;
    registers = registers_of(thread);
    registers.rip -= 1;
    ptrace(PTRACE_SETREGS, thread.id, nullptr, &registers);
    good = poke(back, there) && registers.rip == back;
    if (!good) trace_.cut();
    return true;
  }

  const SteppedFunction& function_;
  std::span<const std::byte> code_;
  TraceWriter& trace_;
  SteppedMemory memory_;
  bool is_told_to_end_ = false;
  std::array<Thread, most_threads> threads_{};
  size_t count_ = 0;
  alignas(64) std::array<std::byte, largest_state> state_{};
};

[[noreturn]] void trace_parent(const SteppedFunction& function, TraceWriter& trace, const std::string& memory,
                               const std::string& threads, int ready) {
  // What the parent has open is not kept open by this process: others wait for its end.
  close_range(0, static_cast<unsigned>(ready) - 1, 0);
  close_range(static_cast<unsigned>(ready) + 1, ~0U, 0);
  Tracing tracing(function, trace);
  const int error = tracing.begin(memory.c_str(), threads.c_str());
  (void)!write(ready, &error, sizeof error);
  close(ready);
  if (error == 0) tracing.run();
  _exit(0);
}

}  // namespace

Result<Tracer> Tracer::start(const SteppedFunction& function, const std::string& path, const StepLimits& limits) {
  if (function.copies.empty()) return fail(ErrorKind::Internal, "no code to step through");
  SAPPER_TRY(TraceWriter trace, TraceWriter::create(path, {function.copies[0], function.size}, limits));
  trace.header().memcpy_address = function.memcpy_address;
  trace.header().by = SteppedBy::Tracer;
  SAPPER_TRY(auto pipe, pipe_pair());
  const std::string memory = fmt::format("/proc/{}/mem", getpid());
  const std::string threads = fmt::format("/proc/{}/task", getpid());
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // where Yama lets only parents trace
  const pid_t process = fork();
  if (process == 0) trace_parent(function, trace, memory, threads, pipe.second.get());
  pipe.second = Descriptor();
  int error = process < 0 ? errno : 0;
  if (process > 0 && read(pipe.first.get(), &error, sizeof error) != sizeof error) error = ECHILD;
  prctl(PR_SET_PTRACER, 0);
  if (error == 0) return Tracer(std::move(trace), process);
  if (process > 0) waitpid(process, nullptr, 0);
  return fail(ErrorKind::Unsupported,
              "the kernel cannot be stepped by a process that traces the compiler's (ptrace: {}); containers and "
              "kernel.yama.ptrace_scope may forbid it",
              std::strerror(error));
}

void Tracer::stop() {
  const pid_t process = std::exchange(process_, 0);
  if (process == 0) return;
  raise(end_signal);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  trace_.close();
}

}  // namespace sapper::target
