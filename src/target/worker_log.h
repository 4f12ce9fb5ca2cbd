// What a worker prints: read from a pipe without blocking, the last part kept.
#pragma once

#include <string>

#include "target/process.h"

namespace sapper::target {

class WorkerLog {
 public:
  explicit WorkerLog(Descriptor pipe);
  // To poll; -1 once the other end is closed.
  [[nodiscard]] int descriptor() const { return pipe_.get(); }
  // Reads what is there.
  void drain();
  [[nodiscard]] std::string take();
  // The last lines that say something: stack traces left out, a fatal error's line always in.
  [[nodiscard]] std::string last_words() const;

 private:
  Descriptor pipe_;
  std::string text_;
};

}  // namespace sapper::target
