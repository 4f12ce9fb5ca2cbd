// select-and-scatter: each source element goes to the one element of the operand that `select` picks under its window,
// and is combined there by `scatter` with what came before. Source elements are taken in row-major order. `select` is
// asked (chosen so far, next) in the row-major order of the window, and keeps the chosen one when true.
#include <algorithm>

#include "eval/lane_memory.h"
#include "eval/op.h"
#include "eval/parallel.h"
#include "eval/scalar_function.h"
#include "eval/sliding_window.h"

namespace sapper::eval {
namespace {

constexpr size_t block = ScalarFunction::block;

// n windows side by side, whose operand elements differ in a dimension that the window does not slide over.
class Columns {
 public:
  Columns(const OpContext& context, ScalarFunction select, ScalarFunction scatter, const hlo::Literal& operand,
          const hlo::Literal& source, std::byte* result)
      : select_(std::move(select)),
        scatter_(std::move(scatter)),
        operand_(operand.bytes().data()),
        source_(source.bytes().data()),
        result_(result),
        operand_bytes_(hlo::host_bytes(operand.shape().element_type())),
        source_bytes_(hlo::host_bytes(source.shape().element_type())),
        result_bytes_(hlo::host_bytes(context.instruction.shape.element_type())),
        lane_bytes_(lane_bytes(operand.shape().element_type())),
        operand_reader_(operand.shape().element_type(), block),
        source_reader_(source.shape().element_type(), block),
        result_reader_(context.instruction.shape.element_type(), block),
        result_writer_(context.instruction.shape.element_type(), block),
        chosen_(operand.shape().element_type(), block),
        keeps_(hlo::ElementType::Pred, block),
        scattered_(context.instruction.shape.element_type(), block),
        packed_(block * static_cast<size_t>(result_bytes_)) {}

  // Picks elements: window element e of column i is operand element start + offset(e) + i * stride.
  Status choose(size_t n, int64_t start, int64_t stride, Walk<1>& elements) {
    const int64_t count = elements.positions();
    for (int64_t e = 0; e < count; ++e, elements.next()) {
      const int64_t offset = start + elements.offset(0);
      const auto* lanes =
          static_cast<const std::byte*>(operand_reader_.read(n, operand_ + offset * operand_bytes_, stride));
      auto* keeps = reinterpret_cast<uint8_t*>(keeps_.at(0));
      if (e == 0) {
        std::fill_n(keeps, n, uint8_t{0});
      } else {
        const void* inputs[] = {chosen_.at(0), lanes};
        void* outputs[] = {keeps};
        SAPPER_CHECKED(select_.run(n, inputs, outputs));
      }
      for (size_t i = 0; i < n; ++i) {
        if (keeps[i] != 0) continue;
        std::memcpy(chosen_.at(i), lanes + i * lane_bytes_, lane_bytes_);
        place_[i] = offset + static_cast<int64_t>(i) * stride;
      }
    }
    return {};
  }

  // Combines source elements offset + i * stride into the chosen places.
  Status scatter(size_t n, int64_t offset, int64_t stride) {
    const auto bytes = static_cast<size_t>(result_bytes_);
    for (size_t i = 0; i < n; ++i) std::memcpy(packed_.data() + i * bytes, result_ + place_[i] * result_bytes_, bytes);
    const void* inputs[] = {result_reader_.read(n, packed_.data(), 1),
                            source_reader_.read(n, source_ + offset * source_bytes_, stride)};
    void* outputs[] = {scattered_.at(0)};
    SAPPER_CHECKED(scatter_.run(n, inputs, outputs));
    result_writer_.write(n, packed_.data(), 1, scattered_.at(0));
    for (size_t i = 0; i < n; ++i) std::memcpy(result_ + place_[i] * result_bytes_, packed_.data() + i * bytes, bytes);
    return {};
  }

 private:
  ScalarFunction select_;
  ScalarFunction scatter_;
  const std::byte* operand_;
  const std::byte* source_;
  std::byte* result_;
  int operand_bytes_;
  int source_bytes_;
  int result_bytes_;
  size_t lane_bytes_;
  LaneReader operand_reader_;
  LaneReader source_reader_;
  LaneReader result_reader_;
  LaneWriter result_writer_;
  LaneBuffer chosen_;
  LaneBuffer keeps_;
  LaneBuffer scattered_;
  std::vector<std::byte> packed_;
  int64_t place_[block] = {};
};

// Every element of an array set to a scalar of its type.
void fill(hlo::Literal& array, const hlo::Literal& scalar) {
  const int bytes = hlo::host_bytes(array.shape().element_type());
  copy_run(array.mutable_bytes().data(), 1, scalar.bytes().data(), 0, array.element_count(), bytes);
}

}  // namespace

Result<hlo::Literal> select_and_scatter(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Literal& operand = operands[0];
  const hlo::Literal& source = operands[1];
  const hlo::Literal& init = operands[2];
  hlo::Literal result = hlo::Literal::uninitialized(context.instruction.shape);
  fill(result, init);
  if (source.element_count() == 0) return result;

  const hlo::ElementType compared[] = {operand.shape().element_type(), operand.shape().element_type()};
  const hlo::ElementType combined[] = {result.shape().element_type(), source.shape().element_type()};
  SAPPER_TRY(ScalarFunction select, ScalarFunction::make(context, 0, compared));
  SAPPER_TRY(ScalarFunction scatter, ScalarFunction::make(context, 1, combined, std::span(combined).first(1)));
  const bool is_parallel = select.program() != nullptr && scatter.program() != nullptr;

  // Columns lie along one dimension that the window does not slide over; the others of those are independent work.
  std::vector<WindowedDimension> dimensions =
      windowed_dimensions(context.instruction.attributes().window(), operand, source.shape().dimensions());
  WindowedDimension run{1, 1, 1, std::nullopt};
  for (size_t d = dimensions.size(); d-- > 0;) {
    if (dimensions[d].window) continue;
    run = dimensions[d];
    dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(d));
    break;
  }
  std::vector<Axis<2>> independent;
  std::vector<Axis<1>> positions;  // that the window slides to
  std::vector<const WindowedDimension*> windowed;
  int64_t cost = 10;
  for (const WindowedDimension& dimension : dimensions) {
    if (dimension.window) {
      positions.push_back({dimension.positions, {dimension.position_stride}});
      windowed.push_back(&dimension);
      cost *= dimension.positions * (1 + dimension.window->count(dimension.positions / 2));
    } else {
      independent.push_back({dimension.positions, {dimension.base_stride, dimension.position_stride}});
    }
  }

  const auto longest = static_cast<int64_t>(block);
  const int64_t runs = (run.positions + longest - 1) / longest;
  const Columns prototype(context, std::move(select), std::move(scatter), operand, source,
                          result.mutable_bytes().data());
  const Status done =
      try_blocks(is_parallel, Walk<2>(independent).positions() * runs, cost, [&](int64_t begin, int64_t end) -> Status {
        Columns columns = prototype;
        Walk<2> outer(independent);
        Walk<1> position(positions);
        Walk<1> element({});
        std::vector<Axis<1>> elements(windowed.size());
        const int64_t position_count = position.positions();
        for (int64_t i = begin; i < end; ++i) {
          outer.seek(i / runs);
          const int64_t first = i % runs * longest;
          const auto n = static_cast<size_t>(std::min(longest, run.positions - first));
          for (int64_t p = 0; p < position_count; ++p, position.next()) {
            int64_t start = outer.offset(0) + first * run.base_stride;
            for (size_t w = 0; w < windowed.size(); ++w) {
              start += windowed[w]->start(position.index(w));
              elements[w] = windowed[w]->elements(position.index(w));
            }
            element.restart(elements);
            if (element.positions() == 0) continue;
            SAPPER_CHECKED(columns.choose(n, start, run.base_stride, element));
            const int64_t offset = outer.offset(1) + first * run.position_stride + position.offset(0);
            SAPPER_CHECKED(columns.scatter(n, offset, run.position_stride));
          }
        }
        return {};
      });
  SAPPER_CHECKED(done);
  return result;
}

}  // namespace sapper::eval
