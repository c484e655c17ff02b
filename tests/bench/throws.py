# SPDX-License-Identifier: MIT
"""Part of the benchmark: an exception through 50 calls."""
import os
import re
import shutil
import subprocess

BUILDS = {"-pg": ["-pg"], "-mfentry": ["-pg", "-mfentry"], "-finstrument-functions": ["-finstrument-functions"]}


def build(bench, run):
    source = os.path.join(os.environ.get("srcdir", "."), "tests/bench/throws.cc")
    for name, flags in [("native", []), *BUILDS.items()]:
        run(["g++", "-O2", *flags, "-o", bench.path("throws" + name), source])


def measure(bench):
    data = bench.path("data")
    rows = {name: {"build": name} for name in BUILDS}
    for _ in range(bench.options.storm_rounds):
        for name, row in rows.items():
            commands = {"native": [bench.path("throwsnative"), str(bench.options.throws)]}
            for tool in bench.tools:
                commands[tool.name] = tool.record(data, ["--no-libcall", bench.path("throws" + name),
                                                         str(bench.options.throws)])
            for who, command in commands.items():
                shutil.rmtree(data, ignore_errors=True)
                output, _, _ = bench.measure(command, subprocess.PIPE)
                value = float(re.search(r"ns=([\d.]+)", output)[1])
                row[f"{who}_ns"] = min(row.get(f"{who}_ns", value), value)
    return list(rows.values())


def show(rows, table, cell, ratio):
    print("\nus per exception through 50 calls, which are recorded (CPU time of the thread):\n")
    print(table(["", "native", "ftr", "uftrace", "ratio"],
                [[row["build"], cell(row, "native_ns", 1, 1e-3), cell(row, "ftr_ns", 1, 1e-3),
                  cell(row, "uftrace_ns", 1, 1e-3), ratio(row, "ns")] for row in rows]))
