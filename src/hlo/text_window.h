// The grammar of attributes about dimensions: window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f,
// padding=0_0x1_1_2, slice={[0:2:1], [3:4]}. Each reader stands beside its writer.
#pragma once

#include <string>
#include <vector>

#include "hlo/hlo.pb.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

// Numbers joined by x: 3, 3x3.
[[nodiscard]] std::vector<int64_t> read_sizes(Scanner& scan, std::string_view what);

[[nodiscard]] proto::Window read_window(Scanner& scan);
void append_window(std::string& out, const proto::Window& window);

[[nodiscard]] proto::ConvolutionDimensionNumbers read_dim_labels(Scanner& scan);
void append_dim_labels(std::string& out, const proto::ConvolutionDimensionNumbers& numbers);

[[nodiscard]] proto::PaddingConfig read_padding(Scanner& scan);
void append_padding(std::string& out, const proto::PaddingConfig& padding);

using SliceDimensions = google::protobuf::RepeatedPtrField<proto::HloInstructionProto::SliceDimensions>;
void read_slice(Scanner& scan, SliceDimensions* dimensions);
void append_slice(std::string& out, const SliceDimensions& dimensions);

}  // namespace sapper::hlo
