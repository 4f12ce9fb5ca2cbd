#include "check/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sapper::check {
namespace {

constexpr size_t most_lines = 20;

template <class Visit>
void for_each_output(const Report& report, Visit&& visit) {
  for (const OutputReport& output : report.outputs) visit(output);
  if (!report.kernels) return;
  for (const KernelReport& kernel : report.kernels->reports)
    for (const OutputReport& output : kernel.outputs) visit(output);
}

std::string times_bound(double excess) {
  if (excess == 0) return "";  // judged by a tolerance, or by what it does
  return std::isfinite(excess) ? fmt::format(" {:.3g} times its bound,", excess) : " where nothing may deviate,";
}

}  // namespace

std::optional<RankedMismatch> ranked_mismatch(const Report& report) {
  if (report.verdict != Verdict::Mismatch) return std::nullopt;
  RankedMismatch mismatch{report.path, "", 0, 0};
  if (report.guilty) mismatch.where = fmt::format("{} {}", report.guilty->level, report.guilty->pass);
  for_each_output(report, [&](const OutputReport& output) {
    if (output.verdict != Verdict::Mismatch) return;
    mismatch.excess = std::max(mismatch.excess, output.difference.max_excess);
    mismatch.relative = std::max(mismatch.relative, output.difference.worst_relative);
  });
  return mismatch;
}

std::string ranking(std::vector<RankedMismatch> mismatches) {
  if (mismatches.size() < 2) return "";
  std::ranges::stable_sort(mismatches, [](const RankedMismatch& a, const RankedMismatch& b) {
    return std::tie(a.excess, a.relative) > std::tie(b.excess, b.relative);
  });
  std::string text = "The worst first:\n";
  for (size_t i = 0; i < std::min(mismatches.size(), most_lines); ++i) {
    const RankedMismatch& mismatch = mismatches[i];
    text += fmt::format("  {}:{} relative error {:.3g}{}\n", mismatch.path, times_bound(mismatch.excess),
                        mismatch.relative, mismatch.where.empty() ? "" : ", " + mismatch.where);
  }
  if (mismatches.size() > most_lines) text += fmt::format("  and {} more\n", mismatches.size() - most_lines);
  return text;
}

std::optional<double> decided_share(const Report& report) {
  int64_t elements = 0, undetermined = 0;
  for_each_output(report, [&](const OutputReport& output) {
    elements += output.difference.elements;
    undetermined += output.difference.undetermined;
  });
  if (elements == 0) return std::nullopt;
  return 1 - static_cast<double>(undetermined) / static_cast<double>(elements);
}

}  // namespace sapper::check
