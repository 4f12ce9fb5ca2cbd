// Development: how often inspection names the HLO instruction whose machine code is wrong. The kernels of modules are
// inspected as XLA:CPU compiled them, where nothing may be named, then with one instruction of their code patched at a
// time (native_patches.h).
//   native_defects FILE... [--products] [--on cpu@0.106] [--init-flags FLAGS] [--most N] [--show]
// What is right is read off the two runs themselves: the first HLO instruction, in order, whose values in the registers
// where the unpatched run shows it differ between the two; else the result. Where the unpatched run shows nothing of
// the instruction (a scalar tail, partial sums), that is a later one: such lines of the output (***) need a look.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "check/inputs_for.h"
#include "check/single_instruction.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "inspect/native.h"
#include "inspect/native_buffers.h"
#include "tests/inspect/native_patches.h"

namespace sapper::inspect {
namespace {

struct Counts {
  int kernels = 0, with_divergence = 0, not_inspected = 0;
  int patches = 0, without_effect = 0, within_contract = 0, died = 0, wrong_results = 0;
  int right = 0, wrong = 0, unnamed = 0;

  [[nodiscard]] nlohmann::ordered_json to_json() const {
    return {{"kernels", kernels},
            {"not_inspected", not_inspected},
            {"false_divergences", with_divergence},
            {"patches", patches},
            {"without_effect", without_effect},
            {"died", died},
            {"within_contract", within_contract},
            {"wrong_results", wrong_results},
            {"right", right},
            {"wrong", wrong},
            {"unnamed", unnamed}};
  }
};

// What makes a kernel hard: the first of these that it has. `kernel` is of one instruction.
std::string kind_of(const hlo::Module& kernel, bool in_loop) {
  bool is_product = false;
  bool is_reduction = false;
  bool is_packed = false;
  hlo::for_each_instruction(kernel, [&](const hlo::Computation&, const hlo::Instruction& it) {
    is_product |= it.opcode == hlo::Opcode::Dot || it.opcode == hlo::Opcode::Convolution;
    is_reduction |= it.opcode == hlo::Opcode::Reduce || it.opcode == hlo::Opcode::ReduceWindow;
    is_packed |= it.shape.is_array() && it.shape.element_type() != hlo::ElementType::Pred &&
                 hlo::bit_width(it.shape.element_type()) < 32;
  });
  if (is_product) return "matmul";
  if (in_loop) return "loop";
  if (is_reduction) return "reduce";
  if (is_packed) return "packed";
  constexpr int64_t lanes = 16;
  const hlo::Shape& shape = kernel.entry_computation().root_instruction().shape;
  return shape.is_array() && shape.element_count() % lanes != 0 ? "tail" : "elementwise";
}

const hlo::Instruction& instruction_of(const Inspection& inspection, const InspectedInstruction& inspected) {
  return inspection.module.computations[inspected.computation].instructions[inspected.instruction];
}

std::string named(const Inspection& inspection) {
  if (!inspection.first_divergence) return "";
  return instruction_of(inspection, inspection.instructions[*inspection.first_divergence]).name;
}

// Products small enough that XLA:CPU makes code for them instead of calling a library, most of them.
std::vector<std::string> products() {
  std::vector<std::string> texts;
  for (const char* type : {"f32", "f64", "s32", "s8", "bf16", "f16", "u16"}) {
    texts.push_back(fmt::format(R"(HloModule matrix_matrix_{0}
      ENTRY main {{
        a = {0}[7,12] parameter(0)
        b = {0}[12,9] parameter(1)
        ROOT d = {0}[7,9] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
      }})",
                                type));
    texts.push_back(fmt::format(R"(HloModule matrix_vector_{0}
      ENTRY main {{
        a = {0}[40,24] parameter(0)
        b = {0}[24] parameter(1)
        ROOT d = {0}[40] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
      }})",
                                type));
    texts.push_back(fmt::format(R"(HloModule vector_matrix_{0}
      ENTRY main {{
        a = {0}[24,40] parameter(0)
        b = {0}[24] parameter(1)
        c = {0}[40] parameter(2)
        d = {0}[40] dot(b, a), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
        ROOT e = {0}[40] add(d, c)
      }})",
                                type));
  }
  return texts;
}

class Study {
 public:
  Study(target::Target target, std::string init_flags, size_t most, bool shows)
      : target_(std::move(target)), most_(most), shows_(shows) {
    configuration_.init_flags = std::move(init_flags);
  }

  void module(const std::string& label, const Result<hlo::Module>& read) {
    const auto status = [&]() -> Status {
      SAPPER_TRY(const hlo::Module module, read);
      SAPPER_CHECKED(hlo::verify(module));
      check::Sampling sampling;
      sampling.seeds = 1;
      SAPPER_TRY(const auto sets, check::inputs_for(module, "", std::nullopt, sampling));
      SAPPER_TRY(const auto compiled,
                 pool_.compile(target_, {.module = hlo::to_compilable_proto(module), .configuration = configuration_}));
      SAPPER_TRY(const hlo::Module optimized, hlo::parse_proto(compiled.optimized));
      for (const hlo::Computation& computation : optimized.computations)
        for (const hlo::Instruction& instruction : computation.instructions)
          if (!computation.is_fusion && has_code(instruction))
            kernel(label, module, sets.front().arguments, computation, instruction, optimized);
      return {};
    }();
    if (!status) fmt::print(stderr, "{}: {}\n", label, status.error().describe());
  }

  [[nodiscard]] nlohmann::ordered_json report() const {
    nlohmann::ordered_json by_kind;
    for (const auto& [kind, counts] : counts_) by_kind[kind] = counts.to_json();
    return by_kind;
  }

 private:
  using Lanes = std::map<std::pair<uint32_t, std::string>, std::vector<Lane>>;

  struct Stepped {
    target::StepResult result;
    Lanes lanes;
  };

  static bool has_code(const hlo::Instruction& instruction) {
    return instruction.opcode == hlo::Opcode::Fusion || instruction.opcode == hlo::Opcode::Dot;
  }

  Result<Stepped> step(const hlo::Module& module, const std::vector<hlo::Literal>& arguments, const std::string& kernel,
                       const hlo::Module& single, const std::vector<CodePatch>& patches,
                       std::optional<TagTable>& tags) {
    target::StepRequest request{.module = hlo::to_compilable_proto(module),
                                .configuration = configuration_,
                                .arguments = arguments,
                                .kernel = kernel};
    for (const CodePatch& patch : patches) request.patches.emplace_back(patch.byte, patch.value);
    Stepped stepped;
    SAPPER_TRY(stepped.result, pool_.step(target_, request));
    if (stepped.result.end) return fail(*stepped.result.end);
    SAPPER_TRY(const KernelBuffers buffers, read_buffers(single, stepped.result.trace));
    if (!tags) tags.emplace(buffers.elements);
    SAPPER_TRY(const std::vector<Site> sites, find_sites(stepped.result.trace, buffers.places, *tags));
    for (const Site& site : sites)
      stepped.lanes[{site.offset, register_name(site.reg, site.vector_bytes)}] = site.lanes;
    return stepped;
  }

  void kernel(const std::string& name, const hlo::Module& module, const std::vector<hlo::Literal>& arguments,
              const hlo::Computation& computation, const hlo::Instruction& instruction, const hlo::Module& optimized) {
    NativeOptions options{.target = target_, .configuration = configuration_, .kernel = instruction.name};
    const hlo::Module single = check::single_instruction_module(optimized, computation, instruction);
    Counts& counts = counts_[kind_of(single, &computation != &optimized.entry_computation())];
    const auto control = inspect_native(pool_, module, arguments, options);
    const std::string label = name + " " + instruction.name;
    if (!control) {
      ++counts.not_inspected;
      if (shows_) fmt::print("{}: not inspected: {}\n", label, control.error().describe());
      return;
    }
    ++counts.kernels;
    if (control->first_divergence) {
      ++counts.with_divergence;
      fmt::print("{}: FALSE divergence of {}\n", label, named(*control));
    }
    if (shows_) print(label, *control);
    if (most_ == 0) return;
    const bool is_fusion = instruction.opcode == hlo::Opcode::Fusion;
    const std::string function = is_fusion ? instruction.name : instruction.name + "_kernel";
    std::optional<TagTable> tags;  // of all runs
    const auto plain = step(module, arguments, function, single, {}, tags);
    if (!plain) return;
    std::vector<CodePatch> patches = patches_of(plain->result.trace.code());
    // Evenly from all over the code.
    for (size_t k = 0; k < std::min(most_, patches.size()); ++k)
      patch(label, module, arguments, function, single, *control, *plain,
            patches[k * patches.size() / std::min(most_, patches.size())], options, counts, tags);
  }

  void patch(const std::string& label, const hlo::Module& module, const std::vector<hlo::Literal>& arguments,
             const std::string& function, const hlo::Module& single, const Inspection& control, const Stepped& plain,
             const CodePatch& patch, NativeOptions options, Counts& counts, std::optional<TagTable>& tags) {
    ++counts.patches;
    const auto stepped = step(module, arguments, function, single, {patch}, tags);
    if (!stepped) {
      ++counts.died;
      return;
    }
    if (stepped->result.output == plain.result.output) {
      ++counts.without_effect;
      return;
    }
    options.patches = {{patch.byte, patch.value}};
    const auto inspection = inspect_native(pool_, module, arguments, options);
    if (!inspection) {
      ++counts.died;
      if (shows_) fmt::print("{} {:#x} {}: {}\n", label, patch.offset, patch.change, inspection.error().describe());
      return;
    }
    const bool is_wrong = std::ranges::any_of(
        inspection->notes, [](const std::string& note) { return note.find("result: mismatch") != std::string::npos; });
    if (!is_wrong) {
      ++counts.within_contract;
      return;
    }
    ++counts.wrong_results;
    const std::string right = truth(control, plain, *stepped);
    const std::string name = named(*inspection);
    ++(name.empty() ? counts.unnamed : name == right ? counts.right : counts.wrong);
    if (name != right || shows_)
      fmt::print("{} {:#x} {}: {} named, {} right{}\n", label, patch.offset, patch.change,
                 name.empty() ? "nothing" : name, right, name == right ? "" : " ***");
    if (shows_ && name != right) print(label, *inspection);
  }

  // The first HLO instruction whose value differs where it first stands: later places may be copies of it that belong
  // to what follows.
  static std::string truth(const Inspection& control, const Stepped& plain, const Stepped& patched) {
    for (const InspectedInstruction& inspected : control.instructions) {
      if (inspected.standing == Standing::Folded || inspected.standing == Standing::Unknown) continue;
      std::map<uint32_t, std::string> places;
      for (const ProbePoint& probe : inspected.probes)
        places[static_cast<uint32_t>(std::stoul(control.code[probe.line].address, nullptr, 16))] = probe.reg;
      std::set<Tag> seen;
      for (const auto& place : places) {
        const auto before = plain.lanes.find(place);
        const auto after = patched.lanes.find(place);
        if (before == plain.lanes.end() || after == patched.lanes.end()) continue;
        // Threads may have shared the work in another order: what is of one element is compared.
        const auto values = by_tag(before->second);
        const auto now = by_tag(after->second);
        std::vector<Tag> here;
        for (const auto& [tag, value] : values) {
          const auto same = now.find(tag);
          if (seen.contains(tag) || same == now.end()) continue;
          if (same->second != value) return instruction_of(control, inspected).name;
          here.push_back(tag);
        }
        seen.insert(here.begin(), here.end());
      }
    }
    return instruction_of(control, control.instructions.back()).name;
  }

  static std::map<Tag, std::vector<uint64_t>> by_tag(const std::vector<Lane>& lanes) {
    std::map<Tag, std::vector<uint64_t>> values;
    for (const Lane& lane : lanes) values[lane.tag].push_back(lane.value);
    return values;
  }

  static void print(const std::string& label, const Inspection& inspection) {
    fmt::print("{}: {} steps, {} of {} results differ\n", label, inspection.steps, inspection.output_differing,
               inspection.output_elements);
    for (const InspectedInstruction& inspected : inspection.instructions) {
      const hlo::Instruction& it = instruction_of(inspection, inspected);
      fmt::print("    {:<30} {:<20} {:<12} {:<12} {}/{} seen, {} differ; {}", it.name, hlo::to_string(it.opcode),
                 to_string(inspected.standing), to_string(inspected.liberty), inspected.seen, inspected.elements,
                 inspected.differing, inspected.reason);
      for (size_t k = 0; k < std::min<size_t>(3, inspected.probes.size()); ++k)
        fmt::print("  [{} {} {}]", inspection.code[inspected.probes[k].line].address, inspected.probes[k].reg,
                   inspection.code[inspected.probes[k].line].text);
      fmt::print("\n");
    }
    for (const std::string& note : inspection.notes) fmt::print("    {}\n", note);
  }

  target::CompilerPool pool_{{.workers = 2, .compile_seconds = 60}};
  target::Target target_;
  target::Configuration configuration_;
  size_t most_;
  bool shows_;
  std::map<std::string, Counts> counts_;  // by kind
};

}  // namespace
}  // namespace sapper::inspect

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "worker") return sapper::target::run_worker(std::atoi(argv[2]));
  CLI::App app("how often inspection names the instruction whose machine code is wrong");
  std::vector<std::string> files;
  std::string on = "cpu";
  std::string init_flags;
  size_t most = 8;
  bool shows = false;
  bool with_products = false;
  app.add_option("files", files);
  app.add_flag("--products", with_products);
  app.add_option("--on", on);
  app.add_option("--init-flags", init_flags);
  app.add_option("--most", most, "patches of each kernel");
  app.add_flag("--show", shows);
  CLI11_PARSE(app, argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto target = sapper::target::parse_target(on);
  if (!target) {
    fmt::print(stderr, "{}\n", target.error().describe());
    return 2;
  }
  sapper::inspect::Study study(*target, init_flags, most, shows);
  for (const std::string& file : files)
    study.module(std::filesystem::path(file).stem().string(), sapper::hlo::read_module(file));
  if (with_products)
    for (const std::string& text : sapper::inspect::products()) {
      const auto module = sapper::hlo::parse_text(text);
      study.module(module ? module->name : "", module);
    }
  fmt::print("{}\n", study.report().dump(2));
}
