#include "inputs/need.h"

#include <algorithm>
#include <cmath>

namespace sapper::inputs {

Needs::Needs(const FlatProgram& program) : program_(program), needs_(program.nodes.size()) {
  for (Node n = 0; n < needs_.size(); ++n) {
    Need& need = needs_[n];
    const hlo::Shape& shape = *program.nodes[n].shape;
    if (shape.is_array()) need.values = need.firm = finite_values(shape.element_type());
    need.low.node = need.high.node = need.firm_low.node = need.firm_high.node = n;
  }
}

void Needs::clash(Node n, Cause kept, Cause dropped) {
  needs_[n].is_proof = false;
  constexpr size_t most_clashes = 1000;
  const bool is_firm = kept.because != Because::Overflow && dropped.because != Because::Overflow;
  if (is_firm && clashes_.size() < most_clashes) clashes_.push_back({n, kept, dropped});
}

bool Needs::is_bounded(Node n) const {
  const hlo::Shape& shape = *program_.nodes[n].shape;
  return shape.is_array() && shape.element_type() != hlo::ElementType::Pred;
}

void Needs::at_least(Node n, double low, Cause cause) {
  if (!is_bounded(n)) return;
  Need& need = needs_[n];
  const hlo::ElementType type = program_.nodes[n].shape->element_type();
  if (hlo::is_integer(type)) low = std::ceil(low);
  if (low > 0) low = std::max(low, least_normal(type));  // what is less may count as zero
  if (!(low > need.values.low)) {
    if (cause.because != Because::Overflow && low > need.firm.low) {
      need.firm.low = low;
      need.firm_low = cause;
    }
    return;
  }
  if (low > need.values.high) {
    if (cause.because <= need.high.because) return clash(n, need.high, cause);
    clash(n, cause, need.high);
    const bool firm_excludes = low > need.firm.high;
    if (firm_excludes && cause.because <= need.firm_high.because) return;
    if (firm_excludes) need.firm.high = std::max(low, finite_values(type).high);
    if (firm_excludes) need.firm_high = {n, Because::Overflow};
    need.values.high = need.firm.high;
    need.high = need.firm_high;
  }
  need.values.low = low;
  need.low = cause;
  if (cause.because == Because::Overflow) return;
  need.firm.low = low;
  need.firm_low = cause;
}

// The mirror image of at_least.
void Needs::at_most(Node n, double high, Cause cause) {
  if (!is_bounded(n)) return;
  Need& need = needs_[n];
  const hlo::ElementType type = program_.nodes[n].shape->element_type();
  if (hlo::is_integer(type)) high = std::floor(high);
  if (high < 0) high = std::min(high, -least_normal(type));
  if (!(high < need.values.high)) {
    if (cause.because != Because::Overflow && high < need.firm.high) {
      need.firm.high = high;
      need.firm_high = cause;
    }
    return;
  }
  if (high < need.values.low) {
    if (cause.because <= need.low.because) return clash(n, need.low, cause);
    clash(n, cause, need.low);
    const bool firm_excludes = high < need.firm.low;
    if (firm_excludes && cause.because <= need.firm_low.because) return;
    if (firm_excludes) need.firm.low = std::min(high, finite_values(type).low);
    if (firm_excludes) need.firm_low = {n, Because::Overflow};
    need.values.low = need.firm.low;
    need.low = need.firm_low;
  }
  need.values.high = high;
  need.high = cause;
  if (cause.because == Because::Overflow) return;
  need.firm.high = high;
  need.firm_high = cause;
}

void Needs::away_from_zero(Node n, double distance, Cause cause) {
  if (!is_bounded(n)) return;
  Need& need = needs_[n];
  if (distance > 0) distance = std::max(distance, least_normal(program_.nodes[n].shape->element_type()));
  if (cause.because != Because::Overflow && distance > need.firm.away && distance <= need.firm.largest()) {
    need.firm.away = distance;
    need.firm_away = cause;
  }
  if (!(distance > need.values.away)) return;
  if (distance > need.values.high && -distance < need.values.low)
    return clash(n, need.values.high > -need.values.low ? need.high : need.low, cause);
  need.values.away = distance;
  need.away = cause;
}

void Needs::as(Node n, const Interval& values, const Need& need) {
  at_least(n, values.low, need.low);
  at_most(n, values.high, need.high);
  away_from_zero(n, values.away, need.away);
}

void Needs::add_field(Node n, const Field& field) {
  std::vector<Field>& fields = needs_[n].fields;
  const auto same = std::ranges::find_if(fields, [&](const Field& other) { return (other.mask & field.mask) != 0; });
  if (same == fields.end())
    fields.push_back(field);
  else if (same->mask == field.mask)
    same->most = std::min(same->most, field.most);
  else
    doubt(n);
}

void Needs::add_fields(Node n, const std::vector<Field>& fields) {
  for (const Field& field : fields) add_field(n, field);
}

}  // namespace sapper::inputs
