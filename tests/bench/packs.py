# SPDX-License-Identifier: MIT
"""Part of the benchmark: what --pack costs the recorder, and saves."""
import os
import re
import shutil
import subprocess

LOADS = ("fib", "chain", "mix", "threads")
WAYS = {"plain": [], "packed": ["--pack"]}


def data_bytes(folder):
    return sum(entry.stat().st_size for entry in os.scandir(folder)
               if re.fullmatch(r"\d+\.dat(\.pack)?", entry.name))


def measure(bench):
    """CPU of the recorder: of all processes, less the program's own."""
    data, rows = bench.path("data"), []
    for load in LOADS:
        row = {"workload": load}
        words = [bench.path("work-pg"), "count", load, str(bench.options.records // 2)]
        for _ in range(bench.options.pack_rounds):
            for way, options in WAYS.items():
                shutil.rmtree(data, ignore_errors=True)
                output, cpu, _ = bench.measure(bench.tools[0].record(data, [*options, *words]), subprocess.PIPE)
                calls, own = re.search(r"calls=(\d+) .*cpu_ns=(\d+)", output).groups()
                value = (cpu * 1e9 - int(own)) / int(calls)
                row[f"{way}_ns"] = min(row.get(f"{way}_ns", value), value)
                row[f"{way}_bytes"] = data_bytes(data) / int(calls)
        rows.append(row)
    return rows


def show(rows, table, cell):
    print("\n--pack: the recorder's CPU ns per call, and bytes per call:\n")
    print(table(["workload", "plain", "packed", "ratio", "bytes: plain", "packed"],
                [[row["workload"], cell(row, "plain_ns"), cell(row, "packed_ns"), f"{row['packed_ns'] / row['plain_ns']:.2f}",
                  cell(row, "plain_bytes", 2), cell(row, "packed_bytes", 2)] for row in rows]))
