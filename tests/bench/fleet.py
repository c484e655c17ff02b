#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fleet.py CALLS - what a database of ClickHouse takes for so many calls of a made-up trace: CPU time of ftr and of the
server, and bytes on disk of each table.  Needs $FTR and $builddir as make check gives them; works in the current directory."""
import os
import resource
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import clickhouse       # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def main():
    calls = int(sys.argv[1])
    subprocess.run([os.environ["builddir"] + "/tests/bench/mkdata", "made", str(2 * calls), "4"], check=True,
                   stdout=subprocess.DEVNULL)
    server = clickhouse.Server("server", clickhouse.free_ports(3))
    try:
        for words in (["--no-compress"], []):
            before, since = cpu_seconds(server.process.pid), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([os.environ["FTR"], "load", "--to=" + server.url("f"), *words, "--run=" + "".join(words or "gzip"),
                            "made"], check=True, stdout=subprocess.DEVNULL)
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = now.ru_utime + now.ru_stime - since.ru_utime - since.ru_stime
            print(f"{' '.join(words) or 'gzip':14} ftr {used / calls * 1e6:.2f} us a call, "
                  f"server {(cpu_seconds(server.process.pid) - before) / calls * 1e6:.2f} us a call")
        before = cpu_seconds(server.process.pid)
        while server.ask("SELECT count() FROM system.merges") != [["0"]]:
            time.sleep(1)
        print(f"merging afterwards: {(cpu_seconds(server.process.pid) - before) / calls / 2 * 1e6:.2f} us a call")
        for table, rows, size in server.ask("SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active "
                                            "AND database = 'f' GROUP BY table ORDER BY table"):
            print(f"{table:14} {int(rows):12} rows {int(size):14} bytes, {int(size) / calls / 2:.3f} a call")
    finally:
        server.kill()


if __name__ == "__main__":
    main()
