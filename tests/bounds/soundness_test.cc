// Soundness: no legal variant of a random program leaves its bound. SAPPER_SOUNDNESS_PAIRS asks for more pairs of
// programs and variants than the few that every run tries.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <random>

#include "bounds/bounded.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "legal_variant.h"
#include "numerics/compare.h"
#include "random_program.h"

namespace sapper::bounds {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Module;
using hlo::Shape;
using numerics::Contract;

constexpr int variants_of_a_program = 8;

// Of one of several kinds: numbers of ordinary size, positive ones, halves (ties), all exponents, special values.
Literal input(std::mt19937_64& random) {
  Literal literal(Shape::array(ElementType::F32, {4, 6}));
  std::normal_distribution<double> normal;
  const auto kind = random() % 6;
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    double value = normal(random);
    if (kind == 1) value = std::fabs(value) + 0.5;
    if (kind == 2) value = std::round(value * 4) / 2;
    if (kind == 3) value = std::ldexp(value, static_cast<int>(random() % 280) - 149);
    if (kind == 4) value *= 20;
    if (kind == 5 && random() % 4 == 0) {
      constexpr std::array special = {0.0,
                                      -0.0,
                                      1.0,
                                      -1.0,
                                      0x1p-149,
                                      0x1p-127,
                                      3.4e38,
                                      -3.4e38,
                                      HUGE_VAL,
                                      -HUGE_VAL,
                                      std::numeric_limits<double>::quiet_NaN(),
                                      2147483648.0,
                                      0.5,
                                      16777216.0};
      value = special[random() % special.size()];
    }
    literal.set_real(i, value);
  }
  return literal;
}

Module parsed(const std::string& text) {
  Result<Module> module = hlo::parse_text(text);
  RC_ASSERT(module.has_value());
  const Status status = hlo::verify(*module);
  if (!status) RC_FAIL(status.error().describe() + text);
  return std::move(*module);
}

const std::array contracts = {
    Contract{},
    Contract{.flush_subnormals = true},
    Contract{.excess_precision = true},
    Contract{.contraction = true},
    Contract{.excess_precision = true, .contraction = true, .flush_subnormals = true, .bfloat16_products = true},
    Contract{.excess_precision = true,
             .contraction = true,
             .flush_subnormals = true,
             .bfloat16_products = true,
             .short_formulas = true},
};

struct Counts {
  int64_t programs = 0, pairs = 0, elements = 0, differing = 0, undetermined = 0;
  int64_t moved = 0, tight = 0;  // elements that some variant moves within a finite bound; of these by a 64th or more
};

// How far variants have moved each element of a leaf at most, beside its bound.
class Tightness {
 public:
  Tightness(const Literal& expected, const Literal& deviation)
      : expected_(expected), deviation_(deviation), widest_(static_cast<size_t>(expected.element_count())) {}

  void see(const Literal& got) {
    for (size_t i = 0; i < widest_.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const double distance = std::fabs(got.real_at(at) - expected_.real_at(at));
      if (distance > widest_[i]) widest_[i] = distance;
    }
  }

  void count(Counts& counts) const {
    for (size_t i = 0; i < widest_.size(); ++i) {
      const double bound = deviation_.real_at(static_cast<int64_t>(i));
      if (!(widest_[i] > 0) || !std::isfinite(bound)) continue;
      ++counts.moved;
      counts.tight += bound <= 64 * widest_[i] ? 1 : 0;
    }
  }

 private:
  const Literal& expected_;
  const Literal& deviation_;
  std::vector<double> widest_;
};

void check_program(const std::vector<uint32_t>& steps, uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  std::vector<Literal> arguments;
  arguments.reserve(random_program::parameters);
  for (int p = 0; p < random_program::parameters; ++p) arguments.push_back(input(random));
  const Contract& contract = contracts[random() % contracts.size()];
  const std::string text = random_program::Writer({}).program(steps);
  const Module module = parsed(text);
  const auto bounded = with_bounds(module, contract);
  RC_ASSERT(bounded.has_value());
  const auto reference = evaluate(*bounded, arguments);
  RC_ASSERT(reference.has_value());
  const std::vector<Literal> expected = hlo::leaves(reference->value);
  ++counts.programs;
  std::vector<std::optional<Tightness>> tightness(expected.size());
  for (size_t leaf = 0; leaf < expected.size(); ++leaf)
    if (reference->deviations[leaf].shape().is_array())
      tightness[leaf].emplace(expected[leaf], reference->deviations[leaf]);
  for (int v = 0; v < variants_of_a_program; ++v) {
    random_program::Rewriting rewriting;
    if (contract.excess_precision) rewriting.leaves_rounding_out = [&] { return random() % 2 == 0; };
    if (contract.contraction) rewriting.contracts = [&] { return random() % 2 == 0; };
    const std::string variant_text = random_program::Writer(rewriting).program(steps);
    const Module rewritten = parsed(variant_text);
    LegalVariant variant(rewritten, contract, random());
    const auto got = eval::evaluate(rewritten, arguments, {.substitute = variant.substitute()});
    RC_ASSERT(got.has_value());
    const std::vector<Literal> actual = hlo::leaves(*got);
    ++counts.pairs;
    for (size_t leaf = 0; leaf < expected.size(); ++leaf) {
      const Literal& deviation = reference->deviations[leaf];
      if (tightness[leaf]) tightness[leaf]->see(actual[leaf]);
      const numerics::Difference exact = numerics::compare(actual[leaf], expected[leaf], {});
      const numerics::Difference difference =
          deviation.shape().is_array() ? numerics::compare_within(actual[leaf], expected[leaf], deviation) : exact;
      counts.elements += exact.elements;
      counts.differing += exact.mismatches;
      counts.undetermined += difference.undetermined;
      if (difference.mismatches == 0) continue;
      const double allowed = deviation.shape().is_array() ? deviation.real_at(difference.worst) : 0;
      std::string inputs;
      for (const Literal& argument : arguments)
        for (int64_t i = 0; i < argument.element_count(); ++i)
          inputs += fmt::format("{}{}", i % 6 == 0 ? "\n" : " ", argument.real_at(i));
      RC_FAIL(fmt::format("leaf {} element {}: {} where {} was expected, {} apart, may be {}\ncontract {}\n{}{}{}",
                          leaf, difference.worst, difference.got, difference.expected, difference.worst_absolute,
                          allowed, &contract - contracts.data(), text.substr(text.find("ENTRY")),
                          variant_text == text ? "" : variant_text.substr(variant_text.find("ENTRY")), inputs));
    }
  }
  for (const auto& leaf : tightness)
    if (leaf) leaf->count(counts);
}

TEST(Soundness, NoLegalVariantLeavesItsBound) {
  const char* wanted = std::getenv("SAPPER_SOUNDNESS_PAIRS");
  const int64_t pairs = wanted != nullptr ? std::atoll(wanted) : 4000;
  rc::detail::TestParams parameters = rc::detail::configuration().testParams;
  if (wanted == nullptr) parameters.seed = 1;  // every run the same
  parameters.maxSuccess = static_cast<int>(pairs / variants_of_a_program);
  Counts counts;
  const auto result = rc::detail::checkTestable(
      [&] {
        const auto steps =
            *rc::gen::resize(10, rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, UINT32_MAX)));
        RC_PRE(!steps.empty());
        check_program(steps, *rc::gen::noShrink(rc::gen::inRange<uint64_t>(0, UINT64_MAX)), counts);
      },
      rc::detail::TestMetadata{"soundness", "soundness"}, parameters);
  fmt::print(
      "seed {}: {} programs, {} pairs, {} elements; {} differ, {} of these undetermined; of {} elements "
      "that variants move within a finite bound, {:.1f} % by a 64th of it or more\n",
      parameters.seed, counts.programs, counts.pairs, counts.elements, counts.differing, counts.undetermined,
      counts.moved,
      100.0 * static_cast<double>(counts.tight) / static_cast<double>(std::max<int64_t>(1, counts.moved)));
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.is<rc::detail::SuccessResult>()) << text.str();
  // Bounds that say nothing are sound, too.
  EXPECT_GT(static_cast<double>(counts.tight), 0.8 * static_cast<double>(counts.moved));
  EXPECT_LT(static_cast<double>(counts.undetermined), 0.2 * static_cast<double>(counts.differing));
}

}  // namespace
}  // namespace sapper::bounds
