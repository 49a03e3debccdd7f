#!/usr/bin/env python3
"""usage: tests/bench/constrained.py BUILD [ROUNDS]

Constrained runs beside the native program: small parallel programs of constrained-programs/, the
shortest of five runs each, as ratios to the native build (gcc -O2): `foretell run` of the light
build (-O2), of the build with all hooks (as foretell-cc builds), and `foretell record` of that."""
import pathlib
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1]).resolve() / "bin"
ROUNDS = sys.argv[2] if len(sys.argv) > 2 else "3000000"
HERE = pathlib.Path(__file__).resolve().parent / "constrained-programs"
RUNS = 5


def call(work, *words, **more):
    return subprocess.run([str(w) for w in words], cwd=work, check=True, stderr=subprocess.DEVNULL, **more)


def shortest(work, *words):
    best = None
    for _ in range(RUNS):
        start = time.monotonic()
        call(work, *words)
        took = time.monotonic() - start
        best = took if best is None or took < best else best
    return best


def measure(work, name):
    source = HERE / f"{name}.c"
    call(work, BIN / "foretell-lower", "-w", source, "-o", "program")
    with open(pathlib.Path(work) / "set", "w") as out:
        call(work, BIN / "run_program", "--cover", "program", stdout=out)
    call(work, "gcc", "-O2", "-pthread", source, "-o", "native")
    call(work, BIN / "foretell-cc", "--light", "-O2", "-pthread", source, "-o", "light")
    call(work, BIN / "foretell-cc", "-g", "-pthread", source, "-o", "full")
    run = [BIN / "foretell", "run", "-q", "--schedules", "set", "--"]
    native = shortest(work, "./native", ROUNDS)
    light = shortest(work, *run, "./light", ROUNDS)
    full = shortest(work, *run, "./full", ROUNDS)
    record = shortest(work, BIN / "foretell", "record", "-q", "-o", "run.ftb", "--", "./full", ROUNDS)
    print(f"{name:10} {native * 1000:8.0f} ms {light / native:7.2f} {full / native:7.2f} {record / native:7.2f}", flush=True)


def main():
    print(f"{'program':10} {'native':>11} {'light':>7} {'full':>7} {'record':>7}")
    with tempfile.TemporaryDirectory() as work:
        for name in ("options", "phases", "scan", "sums"):
            measure(work, name)


if __name__ == "__main__":
    main()
