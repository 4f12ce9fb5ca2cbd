// How many generated programs a compiler takes, counted by the compiler; and which operation on which type it does not
// (the source of src/fuzz/dialect.cc). `--each`: one operation a program, each on each type.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "base/stopwatch.h"
#include "fuzz/dialect.h"
#include "fuzz/generator.h"
#include "fuzz/rule.h"
#include "fuzz/side_by_side.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "target/compiler.h"

namespace sapper::fuzz {
namespace {

struct Arguments {
  std::string on = "cpu";
  int programs = 1000;
  uint64_t seed = 0;
  int together = 8;
  int jobs = 2;
  bool each = false;
  bool all = false;
  bool show = false;
  double time_limit = 30;
  int depth = 0;
  int64_t instructions = 0;
};

struct Tally {
  std::mutex mutex;
  int accepted = 0;
  std::map<std::string, std::vector<std::string>> refused;  // by reason: modules
  std::map<hlo::Opcode, int> opcodes;
  std::map<hlo::ElementType, int> types;
};

// Numbers and names of a message left out, so that messages of one cause are equal.
std::string cause(const std::string& message) {
  std::string text = message.substr(0, message.find('\n')).substr(0, 160);
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

void count_module(const hlo::Module& module, Tally& tally) {
  hlo::for_each_instruction(module, [&](const hlo::Computation&, const hlo::Instruction& instruction) {
    ++tally.opcodes[instruction.opcode];
    if (instruction.shape.is_array()) ++tally.types[instruction.shape.element_type()];
  });
}

void compile(target::CompilerPool& pool, const target::Target& target, std::span<const hlo::Module> modules,
             Tally& tally) {
  target::CompileRequest request;
  request.module = hlo::to_compilable_proto(modules.size() == 1 ? modules[0] : side_by_side(modules));
  // What is taken does not depend on how well the machine code is.
  if (target.platform == target::Platform::Cpu)
    request.configuration.options["xla_backend_optimization_level"] = int64_t{0};
  const auto result = pool.compile(target, request);
  if (result) {
    const std::lock_guard lock(tally.mutex);
    tally.accepted += static_cast<int>(modules.size());
    for (const hlo::Module& module : modules) count_module(module, tally);
  } else if (modules.size() > 1) {
    compile(pool, target, modules.first(modules.size() / 2), tally);
    compile(pool, target, modules.subspan(modules.size() / 2), tally);
  } else {
    const std::lock_guard lock(tally.mutex);
    tally.refused[fmt::format("{}: {}", to_string(result.error().kind), cause(result.error().message))].push_back(
        hlo::to_text(modules[0]) + "\n" + result.error().message);
  }
}

// A program of each rule for each type that it can make.
std::vector<hlo::Module> one_operation_each(const Grammar& grammar) {
  std::vector<hlo::Module> modules;
  for (const Rule& rule : rules()) {
    for (const WeightedType& type : grammar.types) {
      for (const std::vector<int64_t>& dimensions : {std::vector<int64_t>{}, {4, 4}}) {
        Grammar one = grammar;
        one.only = {rule.opcode};
        one.depth = 1;
        const hlo::Shape shape = hlo::Shape::array(type.type, dimensions);
        if (!one.takes(rule.opcode) || !rule.makes(rule, one, shape)) continue;
        modules.push_back(generate_for(one, Choices(modules.size()), shape).module);
        modules.back().name = fmt::format("{}_{}", to_string(rule.opcode), to_string(type.type));
      }
    }
  }
  return modules;
}

int run(const Arguments& arguments) {
  const auto target = target::parse_target(arguments.on);
  if (!target) {
    fmt::print(stderr, "{}\n", target.error().describe());
    return 2;
  }
  const Stopwatch clock;
  Grammar grammar = arguments.all ? Grammar() : within_dialects(Grammar(), {*target});
  if (arguments.depth > 0) grammar.depth = arguments.depth;
  if (arguments.instructions > 0) grammar.instructions = arguments.instructions;
  std::vector<hlo::Module> modules;
  if (arguments.each)
    modules = one_operation_each(grammar);
  else
    for (int i = 0; i < arguments.programs; ++i)
      modules.push_back(generate(grammar, Choices(mixed(arguments.seed, static_cast<uint64_t>(i)))).module);
  const double generating = clock.seconds();
  Tally tally;
  target::CompilerPool pool({.workers = arguments.jobs, .compile_seconds = arguments.time_limit});
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  const auto together = static_cast<size_t>(arguments.together);
  for (int i = 0; i < arguments.jobs; ++i)
    threads.emplace_back([&] {
      for (size_t first; (first = next.fetch_add(together)) < modules.size();)
        compile(pool, *target, std::span(modules).subspan(first, std::min(together, modules.size() - first)), tally);
    });
  for (std::thread& thread : threads) thread.join();
  fmt::print("{} programs on {}: {} accepted; {:.1f} s generating, {:.1f} s in all\n", modules.size(),
             target->to_string(), tally.accepted, generating, clock.seconds());
  int used = 0;
  std::vector<std::string> missing;
  for (const Rule& rule : rules()) {
    if (tally.opcodes[rule.opcode] > 0)
      ++used;
    else
      missing.emplace_back(to_string(rule.opcode));
  }
  fmt::print("{} of {} opcodes of the table; not: {}\n", used, rules().size(), fmt::join(missing, ", "));
  std::vector<std::string> types;
  for (const auto& [type, count] : tally.types) types.push_back(fmt::format("{} {}", to_string(type), count));
  fmt::print("{} element types: {}\n", types.size(), fmt::join(types, ", "));
  for (const auto& [reason, refused] : tally.refused) {
    fmt::print("\n=== {} times: {}\n", refused.size(), reason);
    if (arguments.each) {
      std::map<std::string, int> names;
      for (const std::string& text : refused) ++names[text.substr(10, text.find_first_of(",\n", 10) - 10)];
      for (const auto& [name, count] : names) fmt::print("  {}", name);
      fmt::print("\n");
    }
    const auto shortest = std::ranges::min_element(refused, {}, &std::string::size);
    if (arguments.show) fmt::print("{}\n", *shortest);
  }
  return 0;
}

}  // namespace
}  // namespace sapper::fuzz

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "worker") return sapper::target::run_worker(std::atoi(argv[2]));
  sapper::fuzz::Arguments arguments;
  CLI::App app("Counts the generated programs that a compiler takes");
  app.add_option("--on", arguments.on);
  app.add_option("--programs", arguments.programs);
  app.add_option("--seed", arguments.seed);
  app.add_option("--together", arguments.together);
  app.add_option("--jobs", arguments.jobs);
  app.add_flag("--show", arguments.show, "The smallest program of each reason");
  app.add_option("--depth", arguments.depth);
  app.add_option("--instructions", arguments.instructions);
  app.add_option("--time-limit", arguments.time_limit, "Seconds for one compilation");
  app.add_flag("--each", arguments.each);
  app.add_flag("--all", arguments.all, "What the dialect of the target leaves out, too");
  CLI11_PARSE(app, argc, argv);
  return sapper::fuzz::run(arguments);
}
