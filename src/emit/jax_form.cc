// --as jax and --as pytest: the program in Python, its data in an .npz file beside it, and the comparison.
#include <fmt/ranges.h>

#include "emit/emit.h"

namespace sapper::emit {
namespace {

// Shared by both forms: reads the data, runs the program, compares each element with what it may deviate.
constexpr const char* runner = R"(

def load(data, name, like):
    # Types that NumPy lacks travel as bit patterns.
    array = data[name]
    dtype = np.dtype(like)
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "V" or array.dtype.itemsize == dtype.itemsize and dtype.name.startswith(("bfloat", "float8", "float4")):
        return array.view(dtype)
    return array.astype(dtype)


def wrong_elements(got, expected, tolerance):
    kind = np.complex128 if np.iscomplexobj(expected) else np.float64
    if np.asarray(expected).dtype.kind in "iu" and np.all(tolerance == 0):
        return np.argwhere(np.asarray(got) != np.asarray(expected))
    got, expected = np.asarray(got).astype(kind), np.asarray(expected).astype(kind)
    with np.errstate(invalid="ignore"):
        near = np.abs(got - expected) <= tolerance
    same = (got == expected) | (np.isnan(got) & np.isnan(expected)) | np.isinf(tolerance)
    return np.argwhere(~(near | same))


def check():
    """The wrong elements of each result that has some."""
    data = np.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), DATA))
    wrong = []
    for prefix in PREFIXES:
        arguments = [jnp.asarray(load(data, f"{prefix}in{k}", dtype)) for k, dtype in enumerate(ARGUMENTS)]
        results = jax.jit(program)(*arguments)
        results = results if isinstance(results, (tuple, list)) else (results,)
        for k, (result, dtype) in enumerate(zip(results, RESULTS, strict=True)):
            expected = load(data, f"{prefix}out{k}", dtype)
            places = wrong_elements(result, expected, data[f"{prefix}tolerance{k}"])
            if len(places):
                at = tuple(places[0])
                wrong.append(f"{prefix}result {k}: {len(places)} of {expected.size} elements are wrong, "
                             f"the first at {list(map(int, at))}: {result[at]}, expected {expected[at]}")
    return wrong
)";

std::string dtypes_of(const std::vector<hlo::Literal>& arrays) {
  std::vector<std::string> names;
  names.reserve(arrays.size());
  for (const hlo::Literal& array : arrays) names.push_back(jax_dtype(array.shape().element_type()));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

Result<std::string> python_of(const Subject& subject, const std::string& data) {
  SAPPER_TRY(const std::string program, jax_program(subject.one.module));
  const Run& run = subject.runs.front();
  std::vector<hlo::Literal> results;
  for (const Output& output : run.outputs) results.push_back(output.expected);
  std::string prefixes = subject.runs.size() == 1 ? "\"\"" : "\"set0_\"";
  for (size_t s = 1; s < subject.runs.size(); ++s) prefixes += fmt::format(", \"set{}_\"", s);
  std::string text =
      fmt::format("# {}\n# Seen on {}: {}\nimport os\n\n", subject.one.about.empty() ? subject.name : subject.one.about,
                  subject.one.options.target.to_string(), to_text(subject.one.expected));
  if (!subject.one.options.configuration.init_flags.empty())
    text += fmt::format("os.environ.setdefault(\"XLA_FLAGS\", {:?})\n", subject.one.options.configuration.init_flags);
  text +=
      "import jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax import "
      "lax\n\njax.config.update(\"jax_enable_x64\", True)\n\n";
  text += fmt::format("DATA = \"{}\"\nPREFIXES = [{}]\nARGUMENTS = {}\nRESULTS = {}\n\n\n", data, prefixes,
                      dtypes_of(run.arguments), dtypes_of(results));
  return text + program + runner;
}

Result<std::vector<File>> with_data(const Subject& subject, const std::string& prefix, const std::string& ending) {
  const std::string data = subject.name + ".npz";
  SAPPER_TRY(const std::string python, python_of(subject, data));
  SAPPER_TRY(const std::vector<File> hlo, as_hlo(subject));
  return std::vector<File>{{prefix + subject.name + ".py", python + ending}, {data, hlo[1].bytes}};
}

}  // namespace

Result<std::vector<File>> as_jax(const Subject& subject) {
  return with_data(subject, "", R"(

if __name__ == "__main__":
    failures = check()
    print("\n".join(failures) or "as expected")
    raise SystemExit(1 if failures else 0)
)");
}

Result<std::vector<File>> as_pytest(const Subject& subject) {
  return with_data(subject, "test_",
                   fmt::format(R"(

def test_{}():
    assert not check()
)",
                               subject.name));
}

}  // namespace sapper::emit
