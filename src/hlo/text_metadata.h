// The grammar of what instructions carry besides their meaning: metadata={op_name="..." source_line=3},
// frontend_attributes={a="b"}, statistics={visualizing_index=0,s=1.5}, origin={({"a"}, {"b" {0}})}, and of
// result_accuracy={tolerance={atol=0.1}}. Each reader stands beside its writer.
#pragma once

#include <string>

#include "hlo/hlo.pb.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

[[nodiscard]] proto::OpMetadata read_metadata(Scanner& scan);
void append_metadata(std::string& out, const proto::OpMetadata& metadata);
// Whether there is a field that text can say.
[[nodiscard]] bool says_anything(const proto::OpMetadata& metadata);

[[nodiscard]] proto::FrontendAttributes read_frontend_attributes(Scanner& scan);
// Attributes whose name is not a word are left out: text cannot say them.
void append_frontend_attributes(std::string& out, const proto::FrontendAttributes& attributes);

[[nodiscard]] proto::StatisticsViz read_statistics(Scanner& scan);
void append_statistics(std::string& out, const proto::StatisticsViz& statistics);

[[nodiscard]] proto::OriginalArrayProto read_original_array(Scanner& scan);
void append_original_array(std::string& out, const proto::OriginalArrayProto& array);
[[nodiscard]] proto::OriginalValueProto read_original_value(Scanner& scan);
void append_original_value(std::string& out, const proto::OriginalValueProto& value);

[[nodiscard]] proto::ResultAccuracy read_result_accuracy(Scanner& scan);
void append_result_accuracy(std::string& out, const proto::ResultAccuracy& accuracy);

}  // namespace sapper::hlo
