# SPDX-License-Identifier: MIT
"""libftr.a keeps no mutable state in files, prints nothing and ends no process."""
import os
import re
import subprocess

import tree

# Printing and exiting belong to cmds/.  (_exit is for the child of a fork.)
FORBIDDEN = {"exit", "printf", "__printf_chk", "puts", "putchar", "vprintf", "__vprintf_chk",
             "perror", "stdout", "stderr", "err", "errx", "warn", "warnx"}
MUTABLE = re.compile(r"^(\.data|\.bss|\.tbss|\.tdata)(?!\.rel\.ro)|^\*COM\*$")
SYMBOL = re.compile(r"^[0-9a-f]{16} ([lgu! ])......\s(\S+)\s+([0-9a-f]{16})\s+(\S+)$")


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def check_state(archive):
    problems, member = [], "?"
    for line in run("objdump", "-t", archive).splitlines():
        if line.endswith("file format elf64-x86-64"):
            member = line.partition(":")[0]
        match = SYMBOL.match(line)
        if match and MUTABLE.match(match[2]) and int(match[3], 16) > 0:
            problems.append(f"{member}: {match[4]} is mutable and lives in {match[2]}")
    return problems


def check_calls(archive):
    problems, member = [], "?"
    for line in run("nm", "-P", "-A", "-u", archive).splitlines():
        member, name = line.split()[:2]
        if name in FORBIDDEN:
            problems.append(f"{member} uses {name}: only cmds/ prints, only main exits")
    return problems


def main():
    if os.environ.get("SANITIZERS"):
        tree.skip("the sanitizers add state of their own")
    archive = os.path.join(tree.BUILD, "libftr.a")
    tree.finish(check_state(archive) + check_calls(archive), "libftr symbols")


main()
