# SPDX-License-Identifier: MIT
"""Part of bench.py: what a call costs that rules leave out, beside uftrace with the same rules."""
import re
import shutil

BUILD = "-mfentry"
# What is shown of a row, the workload, the options.  The program calls nothing but the workload.
ROWS = [
    ("recorded", "mix", []),
    ("outside of -F", "mix", ["-F", "fib"]),
    ("inside of -N", "chain", ["-N", "chain1"]),
    ("too deep for -D", "fib", ["-D", "1"]),
    ("too short for -t", "mix", ["-t", "1s"]),
]


def run(bench, load, options, tool):
    data = bench.path("data")
    program = [bench.path("work" + (BUILD if tool else "native")), "time", load, str(bench.options.reps)]
    if tool:
        shutil.rmtree(data, ignore_errors=True)
        program = tool.record(data, program, *options)
    output, _, _ = bench.measure(program, -1)
    return float(re.search(r"calls=\d+ ns=([\d.]+)", output)[1])


def measure(bench):
    rows = []
    for what, load, options in ROWS:
        row = {"what": f"{what} ({load})", "native_ns": float("inf")}
        for _ in range(bench.options.rounds):
            row["native_ns"] = min(row["native_ns"], run(bench, load, options, None))
            for tool in bench.tools:
                key = f"{tool.name}_ns"
                row[key] = min(row.get(key, float("inf")), run(bench, load, options, tool))
        for tool in bench.tools:
            row[f"{tool.name}_added_ns"] = row[f"{tool.name}_ns"] - row["native_ns"]
        rows.append(row)
    return rows


def of_recorded(row, rows):
    """Added by ftr, as a share of what uftrace adds to a call that it records."""
    if "uftrace_added_ns" not in rows[0]:
        return "-"
    return f"{row['ftr_added_ns'] / max(rows[0]['uftrace_added_ns'], 1e-9):.3f}"


def show(rows, table, cell, ratio):
    print("\nns added to a call that is left out (the least of the rounds; the first is recorded):\n")
    print(table(["call", "ftr", "uftrace", "ratio", "of uftrace's recorded"],
                [[row["what"], cell(row, "ftr_added_ns"), cell(row, "uftrace_added_ns"),
                  ratio(row, "added_ns"), of_recorded(row, rows)] for row in rows]))
