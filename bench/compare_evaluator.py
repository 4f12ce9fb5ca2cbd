#!/usr/bin/env python3
"""Times `sapper eval` beside XLA's HloEvaluator and XLA:CPU on the modules of bench/ops, in one run, and prints the ratios.

Usage: bench/compare_evaluator.py [FILE.hlo...]
The bars: 20 times faster than the HloEvaluator everywhere; at most 4 times XLA:CPU's time on add, exp, reduce, dot, softmax. The
exit code is 1 when one is missed. jaxlib 0.4.13, the last with an HloEvaluator client, is fetched into a venv in sapper's cache.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ["jaxlib==0.4.13", "numpy<2", "scipy", "ml_dtypes<0.5"]
FASTER_THAN_EVALUATOR = 20
SLOWER_THAN_CPU = {"add": 4, "exp": 4, "reduce": 4, "dot": 4, "softmax": 4}
RUNS = 10


def enter_venv():
    """Starts this script again under the venv's Python, which it makes when it is not there."""
    cache = pathlib.Path(
        os.environ.get("SAPPER_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "sapper")
    )
    folder = cache / "jaxlib-0.4.13"
    if pathlib.Path(sys.prefix) == folder:
        return
    if not (folder / "complete").exists():
        print(f"fetching {' '.join(PACKAGES)} into {folder} ...", file=sys.stderr)
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", *PACKAGES], check=True)
        (folder / "complete").touch()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # XLA says a great deal
    python = str(folder / "bin/python")
    os.execv(python, [python, *sys.argv])


def jaxlib_seconds(client, path, arguments):
    """The best of the timed runs; compilation and the first run, which warms the caches, do not count. And the first output."""
    from jaxlib import xla_client

    module = xla_client._xla.hlo_module_from_text(path.read_text())
    computation = xla_client.XlaComputation(module.as_serialized_hlo_module_proto())
    executable = client.compile(xla_client._xla.mlir.xla_computation_to_mlir_module(computation))
    buffers = [client.buffer_from_pyval(argument, client.devices()[0]) for argument in arguments]
    seconds = []
    for _ in range(RUNS if client.platform == "cpu" else 3):
        start = time.perf_counter()
        output = executable.execute(buffers)[0].block_until_ready()
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:]), output


def sapper_seconds(path, arguments):
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        numpy.savez(f"{folder}/in.npz", **{f"in{i}": argument for i, argument in enumerate(arguments)})
        command = [ROOT / "sapper", "eval", path, "--inputs", f"{folder}/in.npz", "--output", f"{folder}/out.npz", "--repeat", str(RUNS), "--json"]
        result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        return min(result["seconds"][1:]), numpy.load(f"{folder}/out.npz")["out0"]


def main():
    enter_venv()
    import numpy
    from jaxlib import xla_client

    evaluator, cpu = xla_client.make_interpreter_client(), xla_client.make_cpu_client()
    paths = [pathlib.Path(name) for name in sys.argv[1:]] or sorted((ROOT / "bench/ops").glob("*.hlo"))
    met = True
    print(f"{'op':<12}{'HloEvaluator':>14}{'XLA:CPU':>10}{'sapper':>10}{'faster than HloEvaluator':>28}{'of XLA:CPU':>14}")
    for path in paths:
        module = xla_client._xla.hlo_module_from_text(path.read_text())
        shapes = xla_client.XlaComputation(module.as_serialized_hlo_module_proto()).program_shape().parameter_shapes()
        random = numpy.random.default_rng(0)
        arguments = [random.random(shape.dimensions(), dtype=numpy.float32) for shape in shapes]
        slow, _ = jaxlib_seconds(evaluator, path, arguments)
        fast, expected = jaxlib_seconds(cpu, path, arguments)
        ours, output = sapper_seconds(path, arguments)
        numpy.testing.assert_allclose(output, numpy.asarray(expected), rtol=1e-4, err_msg=f"{path}: the values differ")
        faster, bar, limit = slow / ours, FASTER_THAN_EVALUATOR, SLOWER_THAN_CPU.get(path.stem)
        good = faster >= bar and (limit is None or ours <= limit * fast)
        met = met and good
        print(f"{path.stem:<12}{slow * 1e3:>11.2f} ms{fast * 1e3:>7.2f} ms{ours * 1e3:>7.2f} ms{faster:>21.0f} (>= {bar})"
              f"{ours / fast:>8.2f}{f' (<= {limit})' if limit else '':<8}{'' if good else '  MISSED'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
