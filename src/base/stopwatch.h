// How long something takes, in wall time.
#pragma once

#include <chrono>

namespace sapper {

class Stopwatch {
 public:
  // Since it was made.
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sapper
