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

from sapper_runs import VERDICTS, row, sapper


def isolated(module, name, options):
    budget = ["--budget", options.budget] if options.budget else []
    printed = sapper("isolate", module, "--on", options.on, "--level", options.level, "--seeds", "1", "--time-limit",
                     options.time_limit, "--shard", options.shard, "--store", options.store, "--campaign", name, "--json",
                     *budget)
    return map(json.loads, printed.splitlines())


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
    print(row(["model", "instructions", "pieces", "of them here", "judged", *VERDICTS]))
    print("| --- |" + " ---: |" * (len(VERDICTS) + 4))
    total, reasons = [0] * (len(VERDICTS) + 4), {}
    for module in options.modules:
        name = os.path.basename(module).split(".")[0]
        did, report = isolated(module, f"{name} on {options.on}", options)
        verdicts = [report["verdicts"].get(verdict, 0) for verdict in VERDICTS]
        counts = [did["instructions"], did["distinct"], did["selected"], sum(verdicts), *verdicts]
        total = [a + b for a, b in zip(total, counts)]
        for reason, count in report["undetermined"].items():
            reasons[kind_of(reason)] = reasons.get(kind_of(reason), 0) + count
        print(row([name, *counts]), flush=True)
    print(row(["**all**", *total]) + "\n")
    print("| undetermined because | pieces |\n| --- | ---: |")
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        print(row([reason, count]))


if __name__ == "__main__":
    main()
