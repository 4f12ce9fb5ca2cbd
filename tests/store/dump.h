// All that a store holds, as text: two stores with the same text are the same, whoever wrote them and in which order.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "store/connection.h"

namespace sapper::store {

inline std::string cell_text(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:a}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* blob = std::get_if<Blob>(&value)) return fmt::format("<{}>", blob->bytes);
  return "NULL";
}

inline std::string dump(const std::string& url) {
  const auto connection = connect(url, Access::Read);
  if (!connection) throw std::runtime_error(connection.error().describe());
  std::string all;
  for (const char* table : {"name, settings FROM campaigns", "* FROM artifacts", "* FROM pieces",
                            "* FROM campaign_pieces", "* FROM occurrences", "* FROM runs", "* FROM campaign_runs",
                            "* FROM run_artifacts", "* FROM findings", "* FROM schema"}) {
    const auto rows = (*connection)->run(fmt::format("SELECT {}", table));
    if (!rows) throw std::runtime_error(rows.error().describe());
    std::vector<std::string> lines;
    for (const Row& row : *rows) {
      std::string& line = lines.emplace_back();
      for (const Value& value : row) line += cell_text(value) + "|";
    }
    std::sort(lines.begin(), lines.end());
    all += fmt::format("{}\n{}\n", table, fmt::join(lines, "\n"));
  }
  return all;
}

}  // namespace sapper::store
