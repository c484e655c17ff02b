# SPDX-License-Identifier: MIT
"""How long record -p stops the threads of a program of ten thousand functions, to patch them and to leave it.

usage: tests/bench/stops.py [--rounds=N] [--kinds=K,...] [--threads=N,...] FTR...

Each FTR in turn attaches to the same programs (tests/prog/attach_code.c), as often as that, and leaves them; milliseconds,
least and median, as ftr prints them: of which "work" is what ftr does while all threads stand, the rest waits for the last of
them to stop.  Half of the threads sleep; the others call functions, more of them than there are processors.
"""
import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

KINDS = {
    "entries": (["gcc", "-fpatchable-function-entry=5", "-DPREPARED"], []),
    "plain": (["gcc", "-fcf-protection=none"], ["-P", "."]),
    "xray": (["clang", "-fxray-instrument", "-fxray-instruction-threshold=1"], []),
}
SHOWN = {
    "functions": r"(\d+) functions patched in",
    "work": r"functions patched in ([\d.]+) ms",
    "stop": r"all \d+ threads were stopped \d+ times?, for at most ([\d.]+) ms",
    "times": r"all \d+ threads were stopped (\d+) time",
    "leave": r"left: .* were stopped for at most ([\d.]+) ms",
    "kept": r"attached: one thread was kept for ([\d.]+) ms",
}


def build(kinds, directory):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../prog/attach_code.c")
    for kind in kinds:
        words = KINDS[kind][0]
        subprocess.run([words[0], "-D_GNU_SOURCE", "-DMANY", "-O1", *words[1:], "-o", os.path.join(directory, kind), source,
                        "-lpthread"], check=True)


def has_begun(data):
    return os.path.isdir(data) and any(name[0].isdigit() and os.path.getsize(os.path.join(data, name)) > 0
                                       for name in os.listdir(data) if name.endswith(".dat"))


def attach(ftr, options, pid, data):
    command = [ftr, "record", "-v", "-p", str(pid), "-d", data, "--no-libcall", "--no-event", "-F", "leaf", *options]
    recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 1.0    # nothing is recorded: what is patched tells nobody
    while recorder.poll() is None and time.monotonic() < end and not has_begun(data):
        time.sleep(0.05)
    recorder.send_signal(signal.SIGINT)
    errors = recorder.communicate()[1]
    shutil.rmtree(data, ignore_errors=True)
    return {name: float(found[1]) for name, found in ((name, re.search(text, errors)) for name, text in SHOWN.items()) if found}


def measure(options, kind, threads, directory):
    works = ["many" if i % 2 == 0 else "wait" for i in range(threads - 1)]
    program = subprocess.Popen([os.path.join(directory, kind), *works], stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    found = {ftr: [] for ftr in options.ftr}
    for _ in range(options.rounds):
        for ftr in options.ftr:
            found[ftr].append(attach(ftr, KINDS[kind][1], program.pid, os.path.join(directory, "data")))
    program.send_signal(signal.SIGTERM)
    assert program.communicate()[0] == "wrong 0\n"
    return found


def show(kind, threads, ftr, rows):
    cells = []
    for name in SHOWN:
        values = [row[name] for row in rows if name in row]
        if values:
            cells.append(f"{name} {min(values):.2f} {statistics.median(values):.2f}")
    print(f"{kind:8} {threads:3} threads  {ftr}: {', '.join(cells)}", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--threads", default="1,4,15")
    parser.add_argument("ftr", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        kinds = [kind for kind in options.kinds.split(",") if shutil.which(KINDS[kind][0][0])]
        build(kinds, directory)
        for kind in kinds:
            for threads in options.threads.split(","):
                for ftr, rows in measure(options, kind, int(threads), directory).items():
                    show(kind, int(threads), ftr, rows)


main()
