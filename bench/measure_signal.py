#!/usr/bin/env python3
"""Measures what verdicts are worth, and writes docs/signal.md.

    bench/measure_signal.py --results FOLDER [--corpus FOLDER] [--targets T,...] [--seeds N]

Each measurement is kept in the results folder and not made again while it is there, so that a run that was interrupted
goes on. Needs a release build with the development tools: cmake --build build/release --target sensitivity
inputs_corpus bounds_test.
"""

import argparse
import collections
import glob
import json
import os
import subprocess

from sapper_runs import BUILD, ROOT, VERDICTS, row

CPU = ["cpu", "cpu@0.106", "cpu@0.81"]
TPU = ["tpu:" + generation for generation in ("v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x")]
# Of the models below 1,000 instructions those that every compiler here takes less than a minute for.
MODELS = ["jaxopt_gn", "jaxopt_osqp", "jnp_expm", "jnp_fft", "jnp_gp", "jraph_gcn_train", "jraph_in_train",
          "optax_mlp_adabelief", "optax_mlp_amsgrad", "optax_mlp_fromage", "optax_mlp_lion", "optax_mlp_sm3",
          "optax_mlp_yogi", "pgx_connect_four_step"]


def measured(path, command, environment=None):
    """The output of a command, from the results folder if it is there."""
    if not os.path.exists(path):
        print(" ".join(command[:8]), "...", flush=True)
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}, text=True,
                              stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1, 3):
            raise SystemExit(f"{command[0]} ended with {done.returncode}")
        with open(path + ".part", "w") as file:
            file.write(done.stdout)
        os.replace(path + ".part", path)
    with open(path) as file:
        return file.read()


def table(header, rows):
    return "\n".join([row(header), "| --- |" + " ---: |" * (len(header) - 1), *map(row, rows)])


def checks(options, target, what, modules, *limits):
    path = os.path.join(options.results, f"{what}-{target.replace(':', '-')}.jsonl")
    command = [os.path.join(BUILD, "sapper"), "check", *modules, "--on", target, "--json", "--inputs-kind", "all",
               *limits] + (["--level", "all"] if target.startswith("tpu") else [])
    return [json.loads(line) for line in measured(path, command).splitlines()]


def checks_of_operations(options, target):
    return checks(options, target, "check", [options.corpus], "--seeds", str(options.seeds))


def checks_of_models(options, target):
    modules = [os.path.join(options.models, f"{model}.tpu.hlo.pb.zst") for model in MODELS]
    return checks(options, target, "models", modules, "--seeds", "1", "--time-limit", "60", "--jobs", "1")


def decided(report):
    outputs = report["outputs"] + [o for kernel in report.get("kernels", []) for o in kernel.get("outputs", [])]
    return sum(o["elements"] for o in outputs), sum(o["undetermined"] for o in outputs)


def false_alarms(options, checks_on):
    """Two tables: counts of verdicts, and what is neither agree nor policy, in one row where targets say the same."""
    rows, open_questions = [], collections.defaultdict(list)
    for target in options.targets:
        reports = checks_on(options, target)
        verdicts = collections.Counter(report["verdict"] for report in reports)
        elements, undetermined = map(sum, zip(*(decided(report) for report in reports)))
        rows.append([f"`{target}`", len(reports)] + [verdicts[v] for v in VERDICTS] +
                    [f"{100 * (1 - undetermined / max(1, elements)):.2f} %"])
        for report in reports:
            if report["verdict"] in ("agree", "policy"):
                continue
            reason = (report.get("reason") or (report.get("error") or {}).get("message", "")).split("\n")[0]
            module = os.path.basename(report["path"]).split(".")[0]
            open_questions[module, report.get("input_set", ""), report["verdict"], reason].append(f"`{target}`")
    counts = table(["target", "modules"] + VERDICTS + ["elements decided"], rows)
    rest = table(["module", "inputs", "verdict", "reason", "targets"],
                 [[*question, ", ".join(targets)] for question, targets in open_questions.items()])
    return counts, rest


def sensitivity(options):
    files = sorted(glob.glob(os.path.join(options.corpus, "*.pb")))
    command = [os.path.join(BUILD, "tests/sensitivity"), "--seeds", "2", "--most", "3"] + files
    kinds = json.loads(measured(os.path.join(options.results, "sensitivity.json"), command))["kinds"]
    columns = ["real", "mismatch", "policy", "suspicious", "undetermined", "agree", "tolerance"]
    rows = [[kind["kind"]] + [kind[c] for c in columns] for kind in kinds]
    rows.append(["**all**"] + [sum(kind[c] for kind in kinds) for c in columns])
    return table(["change", "effective", "mismatch", "policy", "suspicious", "undetermined", "agree",
                  "seen by 0.01 / 0.1"], rows)


def soundness(options):
    command = [os.path.join(BUILD, "tests/bounds_test"), "--gtest_filter=Soundness.*"]
    environment = {"SAPPER_SOUNDNESS_PAIRS": "100000", "RC_PARAMS": "seed=20261130"}
    text = measured(os.path.join(options.results, "soundness.txt"), command, environment)
    counts = next((line for line in text.splitlines() if line.startswith("seed ")), "no result")
    return counts + ("; none leaves its bound" if "[  PASSED  ]" in text and "[  FAILED  ]" not in text else "; **some leave their bound**")


def ranges(options):
    command = [os.path.join(BUILD, "tests/inputs_corpus")] + sorted(glob.glob(os.path.join(options.corpus, "*.pb")))
    return measured(os.path.join(options.results, "ranges.txt"), command).splitlines()[-1]


PAGE = """# What verdicts are worth

Made by `bench/measure_signal.py`, which anyone can run again. [verdicts.md](verdicts.md) says how verdicts come about.

## False alarms
Each module of the corpus of operations on inputs of every kind (dense, edges, sparse, structured, rounding), {seeds} seed(s) each; on TPUs at all levels: every HLO program,
every kernel run from its LLO (`original` and `final_bundles`), and the whole program with the kernels' values flowing. The worst verdict of all inputs counts.

{counts}

What is neither `agree` nor `policy`; [findings](findings/) has those that are defects of a compiler. Where the reason is *not the same twice*, the target
computes something else from the same arguments in another execution, and a further measurement may find another number of them:

{rest}

Whole models of the corpus, the {models} that are quick enough to try on every target, likewise, one seed. The verdict is that of the worst of five kinds of inputs, and of the
worst element: rounding decides for a few elements of most training steps.

{model_counts}

{model_rest}

## Sensitivity
Wrong compilers made of the same modules, one instruction changed (`tests/check/hlo_mutants.cc`), judged as a device's result would be, beside the fixed tolerance of 0.01 absolute and
0.1 relative. *Effective*: some output differs on some input, and not only by what real arithmetic calls the same. *Policy*: within what the compilers document (a rounding left
out). *Suspicious*: within its hard bound, but at least four times as far off as independent roundings would be.

{sensitivity}

## Soundness of the bounds
Random programs and legal variants of them (`tests/bounds/soundness_test.cc`): {soundness}.

## Inputs
Sampled inputs of the corpus of operations (`tests/inputs/corpus_inputs.cc`): {ranges}.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", required=True)
    parser.add_argument("--corpus", default=os.path.join(ROOT, "../shared/corpus/ops"))
    parser.add_argument("--models", default=os.path.join(ROOT, "../shared/corpus/models"))
    parser.add_argument("--targets", type=lambda text: text.split(","), default=CPU + TPU)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    if not glob.glob(os.path.join(options.corpus, "*.pb")):
        raise SystemExit(f"{options.corpus}: no modules")
    os.makedirs(options.results, exist_ok=True)
    counts, rest = false_alarms(options, checks_of_operations)
    model_counts, model_rest = false_alarms(options, checks_of_models)
    page = PAGE.format(counts=counts, rest=rest, models=len(MODELS), model_counts=model_counts, model_rest=model_rest,
                       sensitivity=sensitivity(options), soundness=soundness(options),
                       ranges=ranges(options), seeds=options.seeds)
    with open(os.path.join(ROOT, "docs/signal.md"), "w") as file:
        file.write(page)


if __name__ == "__main__":
    main()
