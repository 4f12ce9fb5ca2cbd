#!/usr/bin/env python3
"""Makes two modules whose kernels are large, and measures how long `sapper inspect` takes to look into them.

    bench/large_fusions.py FOLDER [--on tpu:v5e] [--most SECONDS]

Writes FOLDER/elementwise.hlo (a fusion of about 5,900 elementwise instructions) and FOLDER/product.hlo (a product with
about 700 instructions fused to it), the same every time, and an inspection beside each. Ends with 1 where one takes
longer than SECONDS (60). Needs a release build.
"""

import argparse
import json
import os
import random
import sys
import time

from sapper_runs import sapper

# Two instructions each, the second on what the first made: values stay near 1.
PAIRS = [
    ("add({last}, {other})", "multiply({made}, half)"),
    ("subtract({last}, {other})", "add({made}, {last})"),
    ("maximum({last}, {other})", "subtract({made}, fifth)"),
    ("minimum({last}, {other})", "add({made}, fifth)"),
    ("multiply({last}, {other})", "tanh({made})"),
]


def chain(values, shape, count, seed):
    """`count` instructions that go on from `values`, each from the last one and one of those shortly before. Values stay
    near 1 and go on depending on all that was before."""
    chosen = random.Random(seed)
    values = list(values)
    lines = []

    def add(text):
        lines.append(f"  v{len(lines)} = {shape} {text}")
        values.append(f"v{len(lines) - 1}")

    while len(lines) < count:
        last, other = values[-1], chosen.choice(values[-8:-1])
        first, second = chosen.choice(PAIRS)
        add(first.format(last=last, other=other))
        add(second.format(last=last, made=values[-1]))
    return lines, values[-1]


def constants(shape):
    lines = []
    for name, value in (("half", 0.5), ("fifth", 0.2)):
        lines += [f"  {name}.s = f32[] constant({value})", f"  {name} = {shape} broadcast({name}.s), dimensions={{}}"]
    return lines


def module(name, head, shape, count, seed, values):
    lines, last = chain(values, shape, count, seed)
    body = head + constants(shape) + lines
    return "\n".join([f"HloModule {name}", "", "ENTRY main {", *body, f"  ROOT result = {shape} negate({last})", "}", ""])


def modules():
    small, square = "f32[64,128]", "f32[256,256]"
    yield "elementwise", module("elementwise", [f"  a = {small} parameter(0)", f"  b = {small} parameter(1)"], small, 5900,
                                1, ["a", "b"])
    product = [f"  a = {square} parameter(0)", f"  b = {square} parameter(1)",
               f"  d = {square} dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"]
    yield "product", module("product", product, square, 700, 2, ["a", "d"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("folder")
    arguments.add_argument("--on", default="tpu:v5e")
    arguments.add_argument("--most", type=float, default=60)
    given = arguments.parse_args()
    os.makedirs(given.folder, exist_ok=True)
    slow = False
    for name, text in modules():
        path = os.path.join(given.folder, name + ".hlo")
        with open(path, "w") as file:
            file.write(text)
        output = os.path.join(given.folder, name)
        begin = time.monotonic()
        sapper("inspect", path, "--on", given.on, "--output", output)
        seconds = time.monotonic() - begin
        with open(os.path.join(output, "inspection.json")) as file:
            inspection = json.load(file)
        standings = [item["standing"] for item in inspection["instructions"]]
        counts = ", ".join(f"{standings.count(standing)} {standing}" for standing in sorted(set(standings)))
        print(f"{name}: {len(standings)} instructions in {inspection['kernel']} ({counts}), {inspection['steps']} steps, "
              f"{seconds:.1f} s in all, {inspection['seconds']:.1f} s of them in the kernel")
        slow = slow or seconds > given.most
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
