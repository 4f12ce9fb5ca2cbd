#include "isolate/reach.h"

#include <fmt/format.h>

#include <charconv>

namespace sapper::isolate {

Reach::Reach(const hlo::Module& module) : executions_(module.computations.size(), 0) { executions_[module.entry] = 1; }

void Reach::enter_called(hlo::ComputationIndex caller, const hlo::Instruction& instruction) {
  const double times = instruction.opcode == hlo::Opcode::While ? trip_count(instruction) : 1;
  for (const hlo::ComputationIndex called : instruction.called) executions_[called] += executions_[caller] * times;
}

double trip_count(const hlo::Instruction& loop) {
  // {"known_trip_count":{"n":"12"},...}
  const std::string_view config = loop.attributes().backend_config();
  const size_t at = config.find("\"known_trip_count\"");
  if (at == std::string_view::npos) return 1;
  const std::string_view number = config_value(config.substr(at), "n");
  double count = 1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  return error == std::errc() && count >= 1 ? count : 1;
}

std::string_view config_value(std::string_view config, std::string_view key) {
  const std::string quoted = fmt::format("\"{}\"", key);
  const size_t at = config.find(quoted);
  if (at == std::string_view::npos) return {};
  const size_t begin = config.find_first_not_of(" :\"", at + quoted.size());
  if (begin == std::string_view::npos) return {};
  const size_t end = config.find_first_of("\",}] ", begin);
  return config.substr(begin, end == std::string_view::npos ? end : end - begin);
}

}  // namespace sapper::isolate
