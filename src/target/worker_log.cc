#include "target/worker_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

namespace sapper::target {
namespace {

constexpr size_t kept_bytes = size_t{64} << 10;
constexpr size_t last_lines = 12;

// "    @ 0x55d1  frame", "*** Check failure stack trace: ***", "#0 0x..." and the like.
bool is_stack_trace(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) return true;
  line.remove_prefix(start);
  return line.starts_with("@ ") || line.starts_with("***") || line.starts_with("0x") || line.starts_with("#");
}

// glog's and absl's fatal lines: "F0000 00:00:1795987727.152784   30501 file.cc:906] Check failed: ...".
bool is_fatal(std::string_view line) {
  return line.size() > 5 && line[0] == 'F' && line.find_first_not_of("0123456789", 1) == 5;
}

}  // namespace

WorkerLog::WorkerLog(Descriptor pipe) : pipe_(std::move(pipe)) { fcntl(pipe_.get(), F_SETFL, O_NONBLOCK); }

void WorkerLog::drain() {
  std::array<char, 16384> chunk{};
  while (true) {
    const ssize_t n = read(pipe_.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) pipe_ = Descriptor();
    if (n <= 0) return;
    text_.append(chunk.data(), static_cast<size_t>(n));
    if (text_.size() > 2 * kept_bytes) text_.erase(0, text_.size() - kept_bytes);
  }
}

std::string WorkerLog::take() {
  drain();
  return std::exchange(text_, {});
}

std::string WorkerLog::last_words() const {
  std::vector<std::string_view> lines;
  std::string_view rest = text_;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!is_stack_trace(line)) lines.push_back(line);
  }
  std::string words;
  for (size_t i = 0; i < lines.size(); ++i)
    if (i + last_lines >= lines.size() || is_fatal(lines[i])) words += fmt::format("\n  {}", lines[i]);
  return words;
}

}  // namespace sapper::target
