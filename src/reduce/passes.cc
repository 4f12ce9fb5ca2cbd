// The passes of the reducer: which edits are tried, in which order.
#include "reduce/edits.h"

namespace sapper::reduce {
namespace {

constexpr Pass large_passes[] = {
    {"results", &results, &keep_results},   {"end", &one, &end_earlier},
    {"cut", &entry_instructions, &cut},     {"enter", &one, &enter},
    {"bypass", &all_instructions, &bypass}, {"state", &one, &drop_state},
    {"shrink", &dimensions_of, &shrink},
};

constexpr Pass small_passes[] = {
    {"merge", &one, &merge},
    {"rank", &one, &drop_ranks},
    {"flags", &one, &drop_flags},
    {"attributes", &one, &drop_attributes},
    {"types", &one, &simplify_types},
    {"arrays", &one, &simplify_arrays},
    {"elements", &all_elements, &simplify_elements},
};

}  // namespace

std::span<const Pass> passes_for_size() { return large_passes; }
std::span<const Pass> passes_for_plainness() { return small_passes; }

}  // namespace sapper::reduce
