// Inspections made by hand, for the tests of reports.
#pragma once

#include <fmt/format.h>

#include "hlo/text.h"
#include "inspect/inspection.h"

namespace sapper::inspect::testing {

// A fusion with a fusion in it over f32[8,16,130]: the third instruction of the inner one is wrong in a box.
inline Inspection small_inspection() {
  Inspection inspection;
  inspection.module = *hlo::parse_text(R"(
HloModule small
inner { p = f32[8,16,130] parameter(0)  c = f32[] constant(0.5)  b = f32[8,16,130] broadcast(c), dimensions={}
  scaled = f32[8,16,130] multiply(p, b)  ROOT wave = f32[8,16,130] sine(scaled) }
outer { x = f32[8,16,130] parameter(0)  y = f32[8,16,130] parameter(1)  sum = f32[8,16,130] add(x, y)
  nested = f32[8,16,130] fusion(sum), kind=kLoop, calls=inner  ROOT out = f32[8,16,130] subtract(nested, x) }
ENTRY main { a = f32[8,16,130] parameter(0)  d = f32[8,16,130] parameter(1)
  ROOT kernel = f32[8,16,130] fusion(a, d), kind=kLoop, calls=outer }
)");
  inspection.target = "tpu:v5e";
  inspection.stage = "final_bundles";
  inspection.kernel = "kernel";
  inspection.inputs_kind = "dense";
  inspection.command = "sapper inspect small.hlo --on tpu:v5e";
  inspection.steps = 1234;
  for (int i = 0; i < 300; ++i)
    inspection.code.push_back({fmt::format("%v{} = vadd.f32 %v{}, %v{}", i, i + 1, i + 2), fmt::format("{:#x}", i),
                               i == 200 ? "scaled" : ""});
  const auto add = [&](const char* computation, const char* name, Standing standing) -> InspectedInstruction& {
    InspectedInstruction item;
    item.standing = standing;
    for (hlo::ComputationIndex c = 0; c < inspection.module.computations.size(); ++c)
      for (hlo::InstructionIndex i = 0; i < inspection.module.computations[c].instructions.size(); ++i)
        if (inspection.module.computations[c].name == computation &&
            inspection.module.computations[c].instructions[i].name == name) {
          item.computation = c;
          item.instruction = i;
        }
    const hlo::Shape& shape = inspection.module.computations[item.computation].instructions[item.instruction].shape;
    item.elements = item.seen = shape.element_count();
    item.probes.push_back({.line = inspection.instructions.size() * 7, .reg = "v3", .executions = 130, .elements = 99});
    inspection.instructions.push_back(item);
    return inspection.instructions.back();
  };
  add("outer", "sum", Standing::Observed);
  InspectedInstruction& wrong = add("inner", "scaled", Standing::Diverges);
  wrong.reason = "its operands are right";
  hlo::Literal expected(inspection.module.computations[wrong.computation].instructions[wrong.instruction].shape);
  hlo::Literal got = expected;
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    expected.set_real(i, static_cast<double>(i % 130) - 65);
    const int64_t z = i / (16 * 130);
    const int64_t y = i / 130 % 16;
    const bool in_box = z >= 2 && z <= 4 && y >= 3 && y <= 9 && i % 130 >= 100;
    got.set_real(i, expected.real_at(i) + (in_box ? static_cast<double>(z * y) : 0));
    wrong.differing += in_box ? 1 : 0;
  }
  wrong.box_low = {2, 3, 100};
  wrong.box_high = {4, 9, 129};
  wrong.max_absolute = 36;
  wrong.worst = DifferingElement{
      .index = {4, 9, 129}, .got = 100, .expected = 64, .line = 200, .reg = "v3", .lane = 17, .execution = 40};
  wrong.expected = isolate::summarize(expected);
  wrong.got = isolate::summarize(got);
  wrong.seen_elements.assign(static_cast<size_t>(expected.element_count()), true);
  wrong.expected_value = std::move(expected);
  wrong.got_value = std::move(got);
  add("inner", "wave", Standing::Downstream);
  InspectedInstruction& elided = add("outer", "out", Standing::Explained);
  elided.liberty = Liberty::NotRounded;
  inspection.first_divergence = 1;
  inspection.output_elements = 8 * 16 * 130;
  inspection.output_differing = 630;
  return inspection;
}

// A fusion of `count` instructions, of which the last is wrong in one of its 2^20 elements.
inline Inspection large_inspection(int count) {
  Inspection inspection;
  std::string body = "HloModule large\nbody { v0 = f32[1024,1024] parameter(0)\n";
  for (int i = 1; i <= count; ++i)
    body += fmt::format("  {}v{} = f32[1024,1024] add(v{}, v{})\n", i == count ? "ROOT " : "", i, i - 1, i / 2);
  inspection.module = *hlo::parse_text(body +
                                       "}\nENTRY main { p = f32[1024,1024] parameter(0) "
                                       "ROOT kernel = f32[1024,1024] fusion(p), kind=kLoop, calls=body }");
  inspection.target = "tpu:v5e";
  inspection.kernel = "kernel";
  for (int i = 0; i < 10 * count; ++i) inspection.code.push_back({fmt::format("%v{} = vadd.f32 %v0, %v1", i), "", ""});
  for (int i = 1; i <= count; ++i) {
    InspectedInstruction item;
    item.instruction = static_cast<hlo::InstructionIndex>(i);
    item.standing = i == count ? Standing::Diverges : Standing::Observed;
    item.elements = item.seen = 1 << 20;
    inspection.instructions.push_back(std::move(item));
  }
  InspectedInstruction& wrong = inspection.instructions.back();
  hlo::Literal value(hlo::Shape::array(hlo::ElementType::F32, {1024, 1024}));
  wrong.expected_value = value;
  value.set_real(777 * 1024 + 333, 5);
  wrong.got_value = value;
  wrong.seen_elements.assign(1 << 20, true);
  wrong.differing = 1;
  wrong.box_low = wrong.box_high = {777, 333};
  wrong.worst = DifferingElement{.index = {777, 333}, .got = 5, .line = 3, .reg = "v1"};
  inspection.first_divergence = inspection.instructions.size() - 1;
  return inspection;
}

}  // namespace sapper::inspect::testing
