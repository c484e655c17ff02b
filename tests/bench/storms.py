# SPDX-License-Identifier: MIT
"""Part of the benchmark: threads, children and programs that live for ten calls."""
import os
import shutil
import tempfile
import time

STORMS = {"threads": "threads, one after another", "forks": "forked children", "execs": "fork and exec"}


def build(bench, run):
    run(["gcc", "-pg", "-O2", "-o", bench.path("storm"),
         os.path.join(os.environ.get("srcdir", "."), "tests/bench/storm.c"), "-lpthread"])


def measure(bench):
    """
    Into memory, if possible, and each time into a directory of its own: a file for each life is made, and ext4 looks
    long for inodes that were not deleted just now.
    """
    rows, datas = [], []
    folder = tempfile.mkdtemp(prefix="ftr-bench.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    for name in STORMS:
        row = {"storm": name, "lives": bench.options.lives}
        program = [bench.path("storm"), name, str(bench.options.lives)]
        for _ in range(bench.options.storm_rounds):
            commands = {"native": program}
            for tool in bench.tools:
                datas.append(os.path.join(folder, str(len(datas))))
                commands[tool.name] = tool.record(datas[-1], program)
            for who, command in commands.items():
                start = time.monotonic()
                _, cpu, _ = bench.measure(command)
                for key, value in ((f"{who}_s", time.monotonic() - start), (f"{who}_cpu_s", cpu)):
                    row[key] = min(row.get(key, value), value)
        rows.append(row)
    shutil.rmtree(folder, ignore_errors=True)
    return rows


def show(rows, table, cell, ratio):
    print(f"\n{rows[0]['lives']} short lives, each recorded (CPU and elapsed ms of all of it):\n")
    print(table(["", "CPU: native", "ftr", "uftrace", "ratio", "elapsed: native", "ftr", "uftrace", "ratio"],
                [[STORMS[row["storm"]]] +
                 [text for key in ("cpu_s", "s")
                  for text in (cell(row, f"native_{key}", 0, 1e3), cell(row, f"ftr_{key}", 0, 1e3),
                               cell(row, f"uftrace_{key}", 0, 1e3), ratio(row, key))]
                 for row in rows]))
