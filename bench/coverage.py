#!/usr/bin/env python3
"""What isolation covers: cuts each model, judges its pieces on a target, and prints a table as in docs/coverage.md.

    bench/coverage.py --on TARGET [--level hlo|llo] [--shard I/N] [--budget T] [--time-limit S] --store FILE MODULE...

A shard is a sample of all pieces by their fingerprints, whatever the model. What the store knows is not judged again, so
that a run that was interrupted goes on.
"""

import argparse
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAPPER = os.path.join(ROOT, "build/release/sapper")
VERDICTS = ["agree", "policy", "undetermined", "mismatch", "rejected", "crash", "timeout"]


def isolated(module, name, options):
    command = [SAPPER, "isolate", module, "--on", options.on, "--level", options.level, "--seeds", "1", "--time-limit",
               options.time_limit, "--shard", options.shard, "--store", options.store, "--campaign", name, "--json"]
    done = subprocess.run(command + (["--budget", options.budget] if options.budget else []), text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{module}: sapper isolate ended with {done.returncode}")
    return map(json.loads, done.stdout.splitlines())


def kind_of(reason):
    """Reasons that differ in names and numbers only are one."""
    return re.sub(r"\s+", " ", re.sub(r"\(instruction [^)]*\)|^kernel [^:]*: |\b\d+(\.\d+)?\b|%\S+", "", reason)).strip()[:110]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", required=True)
    parser.add_argument("--level", default="hlo")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--budget", help="for each model")
    parser.add_argument("--time-limit", default="60")
    parser.add_argument("--store", required=True)
    parser.add_argument("modules", nargs="+")
    options = parser.parse_args()
    print("| model | instructions | pieces | of them here | judged | " + " | ".join(VERDICTS) + " |")
    print("| --- |" + " ---: |" * (len(VERDICTS) + 4))
    total, reasons = [0] * (len(VERDICTS) + 4), {}
    for module in options.modules:
        name = os.path.basename(module).split(".")[0]
        did, report = isolated(module, f"{name} on {options.on}", options)
        verdicts = [report["verdicts"].get(verdict, 0) for verdict in VERDICTS]
        row = [did["instructions"], did["distinct"], did["selected"], sum(verdicts), *verdicts]
        total = [a + b for a, b in zip(total, row)]
        for reason, count in report["undetermined"].items():
            reasons[kind_of(reason)] = reasons.get(kind_of(reason), 0) + count
        print("| " + " | ".join(map(str, [name, *row])) + " |", flush=True)
    print("| " + " | ".join(map(str, ["**all**", *total])) + " |\n")
    print("| undetermined because | pieces |\n| --- | ---: |")
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        print("| " + reason.replace("|", "\\|") + f" | {count} |")


if __name__ == "__main__":
    main()
