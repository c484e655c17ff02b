#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracedat.py - events a CPU second that ftr and trace-cmd read of a trace.dat of this kernel's events, the best of 5 turns.
Needs root, trace-cmd and $FTR; works in the current directory, on 64 MB of buffers a CPU."""
import os
import resource
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.environ.setdefault("srcdir", TOP)
sys.path[:0] = [TOP + "/tests/lib", TOP + "/tests/e2e"]
import tracedat_kernel      # noqa: E402
import tracedat_made        # noqa: E402
import tracefs              # noqa: E402

ROUNDS = 5
COMMANDS = (("trace-cmd", "report", "-t", "-N"), ("trace-cmd", "report", "-t"), ("ftr", "report", "--no-pager"),
            ("ftr", "report", "--no-pager", "--by=event"), ("ftr", "replay", "--no-pager"), ("ftr", "dump", "--no-pager"),
            ("ftr", "convert", "-", "x.fxt"), ("ftr", "convert", "-", "y.dat"))


def workload():
    for _ in range(3):
        subprocess.run("find /usr -newer /etc/passwd | wc -l; cat /usr/lib/*.so* /usr/bin/* 2>/dev/null | dd bs=512 | wc -c",
                       shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def record():
    tracefs.mount("tracefs")
    instance = tracedat_kernel.Instance("tracefs")
    try:
        instance.record("mono", workload, 65536)
        machine = tracedat_kernel.RealMachine("tracefs")
        cpus = [instance.pages(cpu) for cpu in range(os.cpu_count())]
    finally:
        instance.remove()
        tracefs.unmount("tracefs")
    with open("x.dat", "wb") as file:
        file.write(tracedat_made.version6(machine, cpus, [(tracedat_made.TRACECLOCK, b"local [mono]\n\0")], []))


def cpu_seconds(words):
    program = os.environ["FTR"] if words[0] == "ftr" else words[0]
    operands = ["x.dat" if word == "-" else word for word in words[1:]] + ([] if "-" in words else ["x.dat"])
    since = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, *operands], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - since.ru_utime - since.ru_stime


def main():
    record()
    run = subprocess.run(["trace-cmd", "report", "-t", "-N", "x.dat"], check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    events = sum(b"] " in line for line in run.stdout.splitlines())
    best = {words: min(cpu_seconds(words) for _ in range(ROUNDS)) for words in COMMANDS}
    print(f"{events} events, {os.path.getsize('x.dat') / 1e6:.0f} MB")
    for words, seconds in best.items():
        print(f"{' '.join(words):34} {seconds:7.2f} s {events / seconds / 1e6:7.2f} M events/s "
              f"{best[COMMANDS[0]] / seconds:6.1f} x")


if __name__ == "__main__":
    main()
