#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
How many instructions a recorded call adds: the same on each machine, whatever else it does.

A program makes so many calls of an empty function and then more, recorded and not; each instruction
that it executes is counted, natively by single steps, or by the log of qemu's user-mode emulation
where the kernel starts such programs by it.

    tests/bench/instructions.py FTR [COMPILER...]

For 64-bit Arm: instructions.py build-check/aarch64/ftr aarch64-linux-gnu-gcc --sysroot=ROOT, with
QEMU_LD_PREFIX=ROOT in the environment.
"""
import ctypes
import os
import platform
import signal
import subprocess
import sys
import tempfile

PROGRAM = """
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) void called(int n) { sink = n; }
int main(int argc, char **argv)
{
	int nr = atoi(argv[1]);

	for (int i = 0; i < nr; i++)
		called(i);
	return 0;
}
"""
# Of the machine that is emulated, as what ftr starts has to be: has the emulator log the next program.
LAUNCHER = """
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	setenv("QEMU_SINGLESTEP", "1", 1);
	setenv("QEMU_LOG", "exec,nochain", 1);
	setenv("QEMU_LOG_FILENAME", argv[1], 1);
	execv(argv[2], argv + 2);
	return 127;
}
"""
FEW, MANY = 64, 1088    # calls
ROUNDS = 4
BUILDS = {"-pg": ["-pg"], "-finstrument-functions": ["-finstrument-functions"],
          "-fpatchable-function-entry": ["-fpatchable-function-entry=5"]}
PTRACE_TRACEME, PTRACE_SINGLESTEP = 0, 9
STEPPER = [sys.executable, os.path.abspath(__file__), "--step"]


def step(log, words):
    """Run the words and write how many instructions they took; a signal is passed on."""
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    child = os.fork()
    if child == 0:
        ptrace(PTRACE_TRACEME, 0, None, None)
        os.execv(words[0], words)
    nr, status = 0, os.waitpid(child, 0)[1]
    while os.WIFSTOPPED(status):
        passed = os.WSTOPSIG(status) if os.WSTOPSIG(status) != signal.SIGTRAP else 0
        ptrace(PTRACE_SINGLESTEP, child, None, passed)
        nr += 1
        status = os.waitpid(child, 0)[1]
    with open(log, "w", encoding="ascii") as file:
        file.write(f"{nr}\n")
    return os.waitstatus_to_exitcode(status)


def emulated_count(log):
    with open(log, "rb") as file:
        return sum(line.startswith(b"Trace") for line in file)


def count(recorder, program, calls, is_native):
    """The program's instructions; the recorder, with its words, or none."""
    log = os.path.abspath("log")
    words = [os.path.abspath(program), str(calls)]
    runner = STEPPER if is_native else [os.path.abspath("launcher")]
    subprocess.run([*recorder, *runner, log, *words], check=True, timeout=300, stderr=subprocess.DEVNULL)
    if is_native:
        with open(log, encoding="ascii") as file:
            return int(file.read())
    return emulated_count(log)


def least(recorder, program, is_native):
    """Of a call: what is done at times, as when a ring's end is reached, is not counted."""
    few, many = (min(count(recorder, program, calls, is_native) for _ in range(ROUNDS)) for calls in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def main():
    if sys.argv[1:2] == ["--step"]:
        return step(sys.argv[2], sys.argv[3:])
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    ftr, compiler = os.path.abspath(sys.argv[1]), sys.argv[2:] or ["gcc"]
    target = subprocess.run([*compiler, "-dumpmachine"], check=True, stdout=subprocess.PIPE, text=True).stdout.split("-")[0]
    is_native = target == platform.machine()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for name, source in (("bare", PROGRAM), ("launcher", LAUNCHER)):
            with open(f"{name}.c", "w", encoding="ascii") as file:
                file.write(source)
            subprocess.run([*compiler, "-O2", "-o", name, f"{name}.c"], check=True)
        for name, flags in BUILDS.items():
            subprocess.run([*compiler, "-O2", "-o", "traced", *flags, "bare.c"], check=True)
            recorder = [ftr, "record", "--no-event", "--force", "-d", "data"]
            traced, bare = (least(words, program, is_native) for words, program in ((recorder, "traced"), ([], "bare")))
            print(f"{target} {name}: {traced - bare:.1f} instructions are added to a call of {bare:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
