#include "llo/generation.h"

#include <array>

namespace sapper::llo {

namespace {

struct Row {
  std::string_view name;
  int matrix_size;
};
constexpr std::array<Row, 7> kGenerations = {{
    {"v2", 128},
    {"v3", 128},
    {"v4", 128},
    {"v5e", 128},
    {"v5p", 128},
    {"v6e", 256},
    {"tpu7x", 256},
}};

}  // namespace

Result<Generation> generation_of(std::string_view name) {
  for (const Row& row : kGenerations)
    if (row.name == name) return Generation{std::string(row.name), row.matrix_size};
  return fail(ErrorKind::BadInput, "no TPU generation is called '{}': v2, v3, v4, v5e, v5p, v6e or tpu7x", name);
}

}  // namespace sapper::llo
