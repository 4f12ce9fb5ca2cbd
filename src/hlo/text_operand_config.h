// The grammar of what the operands of dots and convolutions are, besides dense and unscaled:
// sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1 idx=2}} and
// block_scaling_config={lhs={scale_idx=2 strides=1x32 steps=1x1}}. Each reader stands beside its writer.
#pragma once

#include <string>

#include "hlo/hlo.pb.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

[[nodiscard]] proto::SparsityConfig read_sparsity(Scanner& scan);
void append_sparsity(std::string& out, const proto::SparsityConfig& config);

[[nodiscard]] proto::BlockScalingConfig read_block_scaling(Scanner& scan);
void append_block_scaling(std::string& out, const proto::BlockScalingConfig& config);

}  // namespace sapper::hlo
