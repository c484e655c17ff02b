#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Messages a second that ftr serve gives to clients over loopback, and whether any is lost.

usage: serve.py [--steps=N] [--clients=N] [--rounds=N]; FTR and CC as for the tests.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
FTR = os.path.abspath(os.environ.get("FTR", "./ftr"))


def run(args):
    """(messages of each client, seconds from the first client's coming to the last one's end)"""
    serve = subprocess.Popen([FTR, "serve", "--wait", "--port=0", "--no-event", "--no-libcall", "./steps"],
                             stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    port = re.search(r":(\d+);", serve.stderr.readline()).group(1)
    serve.stdin.write(f"{args.steps}\n")
    serve.stdin.close()
    start = time.monotonic()
    clients = [subprocess.Popen([FTR, "recv", f"127.0.0.1:{port}", "-o", f"{i}.swap"], stderr=subprocess.DEVNULL)
               for i in range(args.clients)]
    for client in clients:
        client.wait()
    seconds = time.monotonic() - start
    serve.stderr.read()
    serve.wait()
    calls = []
    for i in range(args.clients):
        table = subprocess.run([FTR, "report", "--no-pager", "-f", "call", f"{i}.swap"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout
        calls.append(sum(int(line.split()[0]) for line in table.splitlines()[2:]))
    return [2 * nr for nr in calls], seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000000)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    cc = os.environ.get("CC", "gcc").split()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        subprocess.run([*cc, "-pg", "-O1", "-o", "steps", os.path.join(TOP, "tests/prog/steps.c")], check=True)
        wanted, best = 2 * (2 * args.steps + 1), 0
        for _ in range(args.rounds):
            messages, seconds = run(args)
            if messages.count(wanted) < len(messages):
                sys.exit(f"{wanted - min(messages)} of {wanted} messages were lost")
            best = max(best, wanted / seconds)
        os.chdir("/")
    print(f"{best / 1e6:.2f} M messages a second to {args.clients} clients, none of {wanted} lost")


if __name__ == "__main__":
    main()
