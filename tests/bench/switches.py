# SPDX-License-Identifier: MIT
"""Part of the benchmark: what recorded events add to a context switch."""
import os
import re
import shutil
import subprocess

WAYS = {"calls alone": ["--no-event"], "and task events": ["--no-sched"], "and scheduling": []}


def build(bench, run):
    run(["gcc", "-D_GNU_SOURCE", "-pg", "-O2", "-o", bench.path("switches"),
         os.path.join(os.environ.get("srcdir", "."), "tests/bench/switches.c")])


def measure(bench):
    program = [bench.path("switches"), str(bench.options.switches)]
    data = bench.path("data")
    rows = {way: {"way": way} for way in ("not recorded", *WAYS)}
    for _ in range(bench.options.storm_rounds):
        commands = [("not recorded", "native", program)]
        for way, words in WAYS.items():
            commands += [(way, tool.name, tool.record(data, ["--no-libcall", *words, *program])) for tool in bench.tools]
        for way, who, command in commands:
            shutil.rmtree(data, ignore_errors=True)
            output, _, _ = bench.measure(command, subprocess.PIPE)
            value = float(re.search(r"ns=([\d.]+)", output)[1])
            rows[way][f"{who}_ns"] = min(rows[way].get(f"{who}_ns", value), value)
    return list(rows.values())


def show(rows, table, cell, ratio):
    print("\nns per context switch, two processes that hand a byte to and fro (CPU time of both):\n")
    print(table(["", "native", "ftr", "uftrace", "ratio"],
                [[row["way"], cell(row, "native_ns", 0), cell(row, "ftr_ns", 0), cell(row, "uftrace_ns", 0),
                  ratio(row, "ns")] for row in rows]))
