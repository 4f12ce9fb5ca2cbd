// From a judged piece to what the store keeps of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hlo/literal.h"
#include "isolate/cascade.h"
#include "isolate/piece.h"
#include "store/records.h"

namespace sapper::isolate {

// `captured`: the arguments, when they were not sampled: kept with a failure.
[[nodiscard]] store::Record record_of(const Piece& piece, store::RunKey key, const Judged& judged,
                                      const std::vector<hlo::Literal>* captured);

// As the store keeps the piece: its module as serialized proto, and where each occurrence is. `modules`: what was cut,
// and `files`: where it was read from, by Occurrence::module.
[[nodiscard]] store::Piece stored(const Piece& piece, const std::vector<hlo::Module>& modules,
                                  const std::vector<std::string>& files);

}  // namespace sapper::isolate
