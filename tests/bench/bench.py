# SPDX-License-Identifier: MIT
"""The benchmark: ftr beside Debian's uftrace and no tracer at all, interleaved in one run.

What a call costs is CPU time of the traced thread, measured by the program itself (work.c); what the
recorder costs is CPU time of the whole `record` less the program's own.  The least of all rounds
counts.  Only ratios carry over to another machine.
"""
import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import filters
import packs
import storms
import switches
import throws

SRC = os.environ.get("srcdir", ".")
BUILD = os.environ.get("builddir", ".")
BUILDS = {
    "-pg": ["-pg"],
    "-mfentry": ["-pg", "-mfentry"],
    "-finstrument-functions": ["-finstrument-functions"],
    "patched": ["-fpatchable-function-entry=5"],
}
OPTIONS = {"patched": ["-P", "."]}      # of recording; uftrace patches nothing unasked
LIBCALLS = "--force"        # in the place of a build: not instrumented, library calls are recorded
WORKLOADS = ("fib", "chain", "mix", "threads")
ANALYSES = {
    "report": ["report"],
    "report -F fib": ["report", "-F", "fib"],
    "report -t 1us": ["report", "-t", "1us"],
    "graph": ["graph"],
    "replay": ["replay"],
    "dump": ["dump"],
    "dump --chrome": ["dump", "--chrome"],
}


class Failure(Exception):
    """What was tried and what came of it."""


class Tool:
    """A tracer: how it is called; None where it is not installed."""

    def __init__(self, name, command):
        self.name = name
        self.command = command

    def record(self, data, program, *options):
        # The whole path of the words after "record" is alike in both.
        return [self.command, "record", "--no-pager", "-d", data, *options, *program]

    def analyse(self, data, words):
        return [self.command, *words, "--no-pager", "-d", data]


class Bench:
    """One run: where its files are, which tools there are, how much is measured."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.tools = [Tool("ftr", options.ftr)]
        if options.uftrace:
            self.tools.append(Tool("uftrace", options.uftrace))

    def path(self, name):
        return os.path.join(self.folder, name)

    def build(self):
        compiler = os.environ.get("BENCH_CC", "gcc")
        source = os.path.join(SRC, "tests/bench/work.c")
        for name, flags in [("native", []), *BUILDS.items()]:
            # Or gcc makes a loop of fib's second call.
            run_quietly([compiler, "-O2", "-fno-optimize-sibling-calls", "-fno-builtin-labs", *flags,
                         "-o", self.path("work" + name), source, "-lpthread"])
        storms.build(self, run_quietly)
        switches.build(self, run_quietly)
        throws.build(self, run_quietly)
        for name in ("measure", "memcpy"):
            run_quietly([compiler, "-O2", "-o", self.path(name),
                         os.path.join(SRC, f"tests/bench/{name}.c")])

    def measure(self, command, output=subprocess.DEVNULL):
        """Run it: its output, CPU seconds (with its children's) and peak KB."""
        result = self.path("measured")
        done = subprocess.run([self.path("measure"), result, *command], stdin=subprocess.DEVNULL,
                              stdout=output, stderr=subprocess.PIPE, text=True, check=False,
                              cwd=self.folder)
        with open(result, encoding="ascii") as file:
            user, system, peak, status = map(int, file.read().split())
        if done.returncode or status:
            raise Failure(f"{' '.join(command)}: status {status}: {done.stderr.strip()[-300:]}")
        return done.stdout, (user + system) / 1e6, peak

    def work(self, build, words, tool=None):
        """Run the program, under a tool or none: what it says, and the whole CPU time in ns."""
        options = [build] if build == LIBCALLS else OPTIONS.get(build, [])
        program = [self.path("work" + ("native" if build == LIBCALLS else build)), *words]
        data = self.path("data")
        if tool:
            shutil.rmtree(data, ignore_errors=True)
            program = tool.record(data, program, *options)
        output, cpu, _ = self.measure(program, subprocess.PIPE)
        said = re.search(r"calls=(\d+) ns=([\d.]+) cpu_ns=(\d+)", output)
        if not said:
            raise Failure(f"{' '.join(program)}: said {output!r}")
        return int(said[1]), float(said[2]), int(said[3]), cpu * 1e9


def run_quietly(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        raise Failure(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout


def least(row, key, value):
    row[key] = min(row.get(key, value), value)


def measure_startup(bench):
    """CPU of the whole record of a program that does nothing."""
    row = {}
    for _ in range(bench.options.startup_rounds):
        for tool in bench.tools:
            data = bench.path("data")
            shutil.rmtree(data, ignore_errors=True)
            _, cpu, peak = bench.measure(tool.record(data, [bench.path("work-pg"), "empty"]))
            least(row, f"{tool.name}_ms", cpu * 1e3)
            least(row, f"{tool.name}_peak_kb", peak)
        _, cpu, _ = bench.measure([bench.path("work-pg"), "empty"])
        least(row, "native_ms", cpu * 1e3)
    return row


def count_calls(bench):
    """The calls in the trace that lies there, of functions of the workloads."""
    text = run_quietly([bench.options.ftr, "report", "--no-pager", "-d", bench.path("data"),
                        "-f", "call"])
    return sum(int(nr) for nr, name in re.findall(r"^\s*(\d+)\s+(\w+)", text, re.M)
               if re.fullmatch(r"fib|chain\d+|mix\d+|labs", name))


def measure_calls(bench, startup):
    rows = {(load, build): {"workload": load, "build": build}
            for load in WORKLOADS for build in BUILDS}
    rows[("labs", LIBCALLS)] = {"workload": "labs", "build": LIBCALLS}
    for number in range(bench.options.rounds):
        for (load, build), row in rows.items():
            words = ["time", load, str(bench.options.reps)]
            least(row, "native_ns", bench.work("native", words)[1])
            for tool in bench.tools:
                calls, ns, own, whole = bench.work(build, words, tool)
                least(row, f"{tool.name}_ns", ns)
                rest = whole - own - startup[f"{tool.name}_ms"] * 1e6
                least(row, f"{tool.name}_recorder_ns", max(rest, 0) / calls)
                if tool.name == "ftr" and number == 0:
                    row["ftr_lost_calls"] = calls - count_calls(bench)
        progress(f"round {number + 1} of {bench.options.rounds}")
    for row in rows.values():
        for tool in bench.tools:
            row[f"{tool.name}_added_ns"] = row[f"{tool.name}_ns"] - row["native_ns"]
    return list(rows.values())


def record_trace(bench):
    """The trace to analyse: its calls."""
    return bench.work("-pg", ["count", "threads", str(bench.options.records // 2)], bench.tools[0])[0]


def measure_analysis(bench, calls):
    records, rows = 2 * calls, []
    for name, words in ANALYSES.items():
        row = {"analysis": name, "records": records}
        for _ in range(bench.options.analysis_rounds):
            for tool in bench.tools:
                _, cpu, peak = bench.measure(tool.analyse(bench.path("data"), words))
                least(row, f"{tool.name}_cpu_s", cpu)
                least(row, f"{tool.name}_peak_kb", peak)
        rows.append(row)
        progress(name)
    return rows


def measure_fxt(bench, calls):
    """The trace written as FXT and read again; the floor is memcpy of the same bytes."""
    file, copy, ftr = bench.path("trace.fxt"), bench.path("copy.fxt"), bench.options.ftr
    row = {"calls": calls}
    for _ in range(max(bench.options.analysis_rounds, 2)):
        _, cpu, peak = bench.measure([ftr, "dump", "--no-pager", "--fxt", "-o", file, "-d",
                                      bench.path("data")])
        least(row, "write_cpu_s", cpu)
        least(row, "write_peak_kb", peak)
        _, cpu, _ = bench.measure(["cp", file, copy])
        least(row, "copy_cpu_s", cpu)
        least(row, "memcpy_cpu_s", int(run_quietly([bench.path("memcpy"), file])) / 1e9)
        _, cpu, peak = bench.measure([ftr, "report", "--no-pager", "-d", file])
        least(row, "read_cpu_s", cpu)
        least(row, "read_peak_kb", peak)
    row["bytes_per_call"] = os.path.getsize(file) / row["calls"]
    progress("fxt")
    return row


def progress(text):
    if sys.stderr.isatty():
        print(f"... {text}", file=sys.stderr)


def ratio(row, key, unit=""):
    """ftr / uftrace, as text."""
    if f"uftrace_{key}" not in row:
        return "-"
    return f"{row[f'ftr_{key}'] / max(row[f'uftrace_{key}'], 1e-9):.3f}{unit}"


def cell(row, key, digits=1, scale=1.0):
    return f"{row[key] * scale:.{digits}f}" if key in row else "-"


def table(head, rows):
    widths = [max(len(line[i]) for line in [head, *rows]) for i in range(len(head))]
    lines = ["| " + " | ".join(text.ljust(width) if i == 0 else text.rjust(width)
                               for i, (text, width) in enumerate(zip(line, widths))) + " |"
             for line in [head, *rows]]
    lines.insert(1, "|" + "|".join("-" * (width + 1) + (":" if i else "-")
                                   for i, width in enumerate(widths)) + "|")
    return "\n".join(lines)


def show_calls(rows):
    print("\nns per call (least CPU time of the traced thread), and CPU of the recorder per call:\n")
    print(table(["workload", "native", "ftr", "uftrace", "added: ftr", "uftrace", "ratio",
                 "recorder: ftr", "uftrace", "ratio", "lost"],
                [[f"{row['workload']} {row['build']}", cell(row, "native_ns"), cell(row, "ftr_ns"),
                  cell(row, "uftrace_ns"), cell(row, "ftr_added_ns"), cell(row, "uftrace_added_ns"),
                  ratio(row, "added_ns"), cell(row, "ftr_recorder_ns"),
                  cell(row, "uftrace_recorder_ns"), ratio(row, "recorder_ns"),
                  str(row["ftr_lost_calls"])] for row in rows]))


def show_startup(row):
    print("\nrecording an empty program (CPU ms of all of it):\n")
    print(table(["", "native", "ftr", "uftrace", "ratio"],
                [["CPU ms", cell(row, "native_ms", 2), cell(row, "ftr_ms", 2),
                  cell(row, "uftrace_ms", 2), ratio(row, "ms")],
                 ["peak MB", "", cell(row, "ftr_peak_kb", 1, 1 / 1024),
                  cell(row, "uftrace_peak_kb", 1, 1 / 1024), ratio(row, "peak_kb")]]))


def speed(row, name):
    """Million records per CPU second, as text."""
    key = f"{name}_cpu_s"
    return f"{row['records'] / row[key] / 1e6:.2f}" if key in row else "-"


def show_analysis(rows):
    print(f"\nreading {rows[0]['records'] / 1e6:.1f} M records "
          "(output to /dev/null; million records per CPU second; speed-up; peak memory in MB):\n")
    print(table(["command", "ftr Mrec/s", "uftrace", "speed-up", "ftr MB", "uftrace MB"],
                [[row["analysis"], speed(row, "ftr"), speed(row, "uftrace"),
                  f"{row['uftrace_cpu_s'] / row['ftr_cpu_s']:.1f} x" if "uftrace_cpu_s" in row
                  else "-", cell(row, "ftr_peak_kb", 1, 1 / 1024),
                  cell(row, "uftrace_peak_kb", 1, 1 / 1024)] for row in rows]))


def show_fxt(row):
    print(f"\nFXT, {row['calls'] / 1e6:.1f} M calls, {row['bytes_per_call']:.2f} bytes a call "
          "(million calls per CPU second; peak memory in MB):\n")
    lines = {"write (dump --fxt)": "write", "read (report)": "read",
             "copy of the file (cp)": "copy", "floor (memcpy of the same bytes)": "memcpy"}
    print(table(["", "Mcalls/s", "MB"],
                [[text, f"{row['calls'] / max(row[f'{key}_cpu_s'], 1e-6) / 1e6:.1f}",
                  cell(row, f"{key}_peak_kb", 1, 1 / 1024)] for text, key in lines.items()]))


def show(result):
    if result["calls"]:
        show_calls(result["calls"])
    show_startup(result["startup"])
    if result["filters"]:
        filters.show(result["filters"], table, cell, ratio)
    if result["storms"]:
        storms.show(result["storms"], table, cell, ratio)
    if result["switches"]:
        switches.show(result["switches"], table, cell, ratio)
    if result["throws"]:
        throws.show(result["throws"], table, cell, ratio)
    if result["packs"]:
        packs.show(result["packs"], table, cell)
    if result["analysis"]:
        show_analysis(result["analysis"])
    if result["fxt"]:
        show_fxt(result["fxt"])


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ftr", default=os.environ.get("FTR", "ftr"))
    parser.add_argument("--uftrace", default=shutil.which("uftrace"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reps", type=int, default=500, help="repetitions of 0.1 ms in a run")
    parser.add_argument("--startup-rounds", type=int, default=15)
    parser.add_argument("--lives", type=int, default=1000, help="of a storm")
    parser.add_argument("--switches", type=int, default=100_000, help="to and fro")
    parser.add_argument("--throws", type=int, default=5000, help="exceptions, each through 50 calls")
    parser.add_argument("--storm-rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=20_000_000, help="of the trace to analyse or pack")
    parser.add_argument("--pack-rounds", type=int, default=5)
    parser.add_argument("--analysis-rounds", type=int, default=1)
    parser.add_argument("--parts", default="calls,filters,storms,switches,throws,packs,analysis,fxt", help="beside the start-up")
    parser.add_argument("--json", default="bench.json", help="where the numbers go")
    parser.add_argument("--smoke", action="store_true", help="everything, but very little of it")
    options = parser.parse_args()
    if options.smoke:
        options.lives, options.storm_rounds, options.switches = 3, 1, 100
        options.throws, options.pack_rounds = 20, 1
        options.rounds, options.reps, options.startup_rounds = 1, 3, 1
        options.records, options.analysis_rounds = 20_000, 1
    return options


def main():
    options = parse_options()
    with tempfile.TemporaryDirectory(prefix="ftr-bench.") as folder:
        bench = Bench(options, folder)
        bench.build()
        startup = measure_startup(bench)
        result = {
            "date": datetime.date.today().isoformat(),
            "machine": {"kernel": platform.release(), "cpus": os.cpu_count()},
            "uftrace": run_quietly([options.uftrace, "--version"]).strip()
                       if options.uftrace else None,
            "startup": startup,
            "calls": measure_calls(bench, startup) if "calls" in options.parts else [],
            "filters": filters.measure(bench) if "filters" in options.parts else [],
            "storms": storms.measure(bench) if "storms" in options.parts else [],
            "switches": switches.measure(bench) if "switches" in options.parts else [],
            "throws": throws.measure(bench) if "throws" in options.parts else [],
            "packs": packs.measure(bench) if "packs" in options.parts else [],
        }
        calls = record_trace(bench) if re.search("analysis|fxt", options.parts) else 0
        result["analysis"] = measure_analysis(bench, calls) if "analysis" in options.parts else []
        result["fxt"] = measure_fxt(bench, calls) if "fxt" in options.parts else None
    with open(options.json, "w", encoding="ascii") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    show(result)
    lost = sum(abs(row["ftr_lost_calls"]) for row in result["calls"])
    if lost:
        raise Failure(f"{lost} calls are missing in, or too many in, the traces of ftr")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"bench: {failure}")
