# SPDX-License-Identifier: MIT
"""What ftr record --syscalls sees of a process tree, against strace on the same commands."""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

FTR = os.path.abspath(os.environ.get("FTR", "./ftr"))
SRC = os.path.abspath(os.environ.get("srcdir", "."))
CALLS = ("execve,execveat,open,openat,openat2,creat,pipe,pipe2,rename,renameat,renameat2,link,linkat,"
         "symlink,symlinkat,close,dup,dup2,dup3,fcntl,exit,exit_group,clone,clone3,fork,vfork")
SKIP = 77

PROGRAMS = {
    "raw": ("-static", r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/openat2.h>
int main(void)
{
	struct open_how how = { .flags = O_RDONLY };
	int fds[2];

	syscall(SYS_close, syscall(SYS_open, "/etc/passwd", O_RDONLY));
	syscall(SYS_close, syscall(SYS_creat, "made", 0644));
	syscall(SYS_close, syscall(SYS_openat2, AT_FDCWD, "made", &how, sizeof(how)));
	syscall(SYS_open, "/no/such/file", O_RDONLY);
	syscall(SYS_close, 99);
	syscall(SYS_pipe, fds);
	syscall(SYS_dup2, fds[0], 10);
	syscall(SYS_dup3, fds[1], 11, O_CLOEXEC);
	syscall(SYS_dup, 10);
	fcntl(11, F_DUPFD, 20);
	fcntl(11, F_DUPFD_CLOEXEC, 30);
	fcntl(11, F_GETFL);
	syscall(SYS_rename, "made", "moved");
	syscall(SYS_renameat, AT_FDCWD, "moved", AT_FDCWD, "made");
	syscall(SYS_renameat2, AT_FDCWD, "made", AT_FDCWD, "moved", 1);
	syscall(SYS_link, "moved", "linked");
	syscall(SYS_symlink, "moved", "sym");
	syscall(SYS_rename, "nothing", "here");
	if (syscall(SYS_fork) == 0)
		syscall(SYS_exit_group, 300);
	syscall(SYS_exit_group, 7);
}
"""),
    "openers": ("-lpthread", r"""
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *opener(void *arg)
{
	for (int i = 0; i < 200; i++)
		close(open("/etc/passwd", O_RDONLY));
	return arg;
}
int main(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], 0, opener, 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], 0);
	return 0;
}
"""),
    "spawners": ("", r"""
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/sched.h>
extern char **environ;
int main(void)
{
	char *argv[] = { "true", 0 };
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid;

	posix_spawn(&pid, "/bin/true", 0, 0, argv, environ);
	waitpid(pid, 0, 0);
	pid = vfork();
	if (pid == 0) {
		execv("/bin/false", argv);
		_exit(1);
	}
	waitpid(pid, 0, 0);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(3);
	waitpid(pid, 0, 0);
	args.flags = CLONE_UNTRACED;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(4);
	if (args.flags != CLONE_UNTRACED)
		_exit(9);
	waitpid(pid, 0, 0);
	syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0);
	return 0;
}
"""),
    "execthread": ("-lpthread", r"""
#include <pthread.h>
#include <unistd.h>
static void *other(void *arg)
{
	pause();
	return arg;
}
static void *runner(void *arg)
{
	execl("/bin/sh", "sh", "-c", "exit 6", (char *)0);
	return arg;
}
int main(void)
{
	pthread_t a, b;

	pthread_create(&a, 0, other, 0);
	pthread_create(&b, 0, runner, 0);
	pthread_join(a, 0);
	return 1;
}
"""),
}

SCRIPT = r"""
echo 'int main(void){return 0;}' > a.c
gcc -c a.c -o a.o && gcc a.o -o a && ./a
python3 -c 'import subprocess; subprocess.run(["true", ""])'
mv a b; ln b c; ln -s b d; mv nothing here 2>/dev/null
printf '#!/bin/sh\nexit 4\n' > s; chmod +x s; ./s
(kill -9 $BASHPID)
cat a.c | grep main > out
exit 3
"""

# gcc, also where ftr is built with another: clang writes to files of random names first.
TOP_MAKE = """
CC = gcc
OBJS = $(patsubst %,f%.o,1 2 3 4 5 6 7 8)
all: prog
prog: $(OBJS) main.o
	$(CC) -o $@ $^
f%.c:
	echo 'int f$*(void){return $*;}' > $@
main.c:
	echo 'int main(void){return 0;}' > $@
"""


# As many processes at once: each waits a while for the others.
WIDE = 200
WIDE_MAKE = """
all: $(patsubst %,out%,$(shell seq """ + str(WIDE) + """))
out%:
	sleep 1; echo $* > in$*; cat < in$* > $@; mv $@ tmp$*; ln tmp$* $@
"""


def cases(work):
    """(name, argv): what is run, in a directory of its own each time."""
    for name, (flags, source) in PROGRAMS.items():
        binary = os.path.join(work, name)
        build = subprocess.run(["gcc", "-w", "-x", "c", "-", "-x", "none", "-o", binary, *flags.split()],
                               input=source, text=True, check=False)
        if build.returncode == 0:
            yield name, [binary]
    yield "script", ["bash", "-c", SCRIPT]
    makefile = os.path.join(work, "Makefile.top")
    with open(makefile, "w", encoding="ascii") as file:
        file.write(TOP_MAKE)
    yield "make", ["make", "-s", "-f", makefile]
    yield "make -j4", ["make", "-s", "-j4", "-f", makefile]
    makefile = os.path.join(work, "Makefile.wide")
    with open(makefile, "w", encoding="ascii") as file:
        file.write(WIDE_MAKE)
    yield "wide", ["make", "-s", f"-j{WIDE}", "-f", makefile]


def plain(path):
    """Names that differ from run to run."""
    path = re.sub(r"/cc[A-Za-z0-9]{6}(\.|$)", r"/ccXXXXXX\1", path)
    path = re.sub(r"sh-thd\.\w+", "sh-thd.X", path)
    path = re.sub(r"/GmXXXXXX|/Gm\w{6}", "/GmX", path)
    path = re.sub(r"(pipe|socket):\[\d+\]", r"\1:[N]", path)
    return re.sub(r"/proc/\d+", "/proc/N", path)


def resolved(path, cwd):
    folder, name = os.path.split(os.path.join(cwd, path))
    return os.path.join(os.path.realpath(folder), name)


def strace_unquote(text):
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")


STRACE_LINE = re.compile(r"^(\w+)\((.*)\) += (-?\d+|\?)(<(.*)>)?( .*)?$")


def strace_events(prefix, cwd):
    found = collections.Counter()
    for path in glob.glob(prefix + ".*"):
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                line = line.rstrip("\n")
                status = re.match(r"\+\+\+ exited with (\d+)", line)
                if status:
                    found["exit", status[1]] += 1
                    continue
                if line.startswith(("+++ killed by", "+++ superseded by execve")):
                    found["exit", "0"] += 1
                    continue
                if line.startswith("execve") and "<pid changed to" in line:
                    found["exec", resolved(quoted(line)[0], cwd)] += 1
                    continue
                match = STRACE_LINE.match(line)
                if match:
                    strace_call(found, match, cwd)
    return found


def quoted(args):
    return [strace_unquote(text) for text in re.findall(r'"((?:[^"\\]|\\.)*)"', args)]


def fd_numbers(args):
    return re.findall(r"(?:^|, )(\d+)(?:<[^>]*>)?", args)


def strace_call(found, match, cwd):
    call, args, result, shown = match[1], match[2], match[3], match[5]
    failed = result.startswith("-")
    if call in ("clone", "clone3", "fork", "vfork"):
        if not failed and result != "?":
            found["fork"] += 1
        elif failed and call.startswith("clone"):
            found["clone failed"] += 1
    elif call.startswith(("rename", "link")):
        kind = "rename" if call.startswith("rename") else "link"
        names = quoted(args)
        if failed:
            found[kind + " failed"] += 1
        else:
            found[kind, plain(resolved(names[0], cwd)), plain(resolved(names[1], cwd))] += 1
    elif failed or result == "?":
        return
    elif call.startswith("exec"):
        found["exec", resolved(quoted(args)[0], cwd)] += 1
    elif call.startswith("open") or call == "creat":
        found["open", plain(shown), result] += 1
    elif call.startswith("pipe"):
        found["pipe", *re.findall(r"(\d+)<", args)[:2]] += 1
    elif call.startswith("symlink"):
        found["symlink", quoted(args)[0]] += 1
    elif call == "close":
        found["close", fd_numbers(args)[0]] += 1
    elif call.startswith("dup") or (call == "fcntl" and "F_DUPFD" in args):
        found["dup", fd_numbers(args)[0], result] += 1


def etrace_groups(text):
    """(upid, head, fields, texts, argv) of each record."""
    current = {}
    for line in text.splitlines():
        prefix, _, data = line.partition("!")
        upid = int(prefix.split(",")[0])
        tag = re.match(r"\w+", data)[0]
        rest = data[len(tag):]
        if len(tag) <= 2 or tag in ("Cont", "Cont_end") or tag.endswith("_end"):
            if tag == "A":
                current[upid][4].append(rest.partition("]")[2])
            elif len(tag) == 2 and rest.startswith("|"):
                current[upid][3][tag] = rest[1:]
            elif len(tag) == 2:
                current[upid][3][tag] = current[upid][3].get(tag, "") + rest.partition("]")[2]
        elif tag != "End_of_args":
            if upid in current:
                yield current[upid]
            fields = dict(item.split("=") for item in rest[1:].split(",") if item)
            current[upid] = (upid, tag, fields, {}, [])
    yield from current.values()


def etrace_events(text):
    found = collections.Counter()
    first = {}
    for upid, tag, fields, texts, _ in etrace_groups(text):
        if tag == "New_proc":
            found["exec", texts["PP"]] += 1
        elif tag == "SchedFork":
            found["fork"] += 1
        elif tag == "SysCloneFailed":
            found["clone failed"] += 1
        elif tag == "Exit":
            found["exit", fields["status"]] += 1
        elif tag == "Open":
            found["open", plain(texts["FN"]), fields["fd"]] += 1
        elif tag == "Pipe":
            found["pipe", fields["fd1"], fields["fd2"]] += 1
        elif tag == "Close":
            found["close", fields["fd"]] += 1
        elif tag == "Dup":
            found["dup", fields["oldfd"], fields["newfd"]] += 1
        elif tag == "Symlink":
            found["symlink", texts["ST"]] += 1
        elif tag in ("RenameFrom", "Rename2From", "LinkFrom", "LinkatFrom"):
            first[upid] = texts.get("RF", texts.get("LF"))
        elif tag in ("RenameTo", "LinkTo"):
            kind = "rename" if tag == "RenameTo" else "link"
            found[kind, plain(first.pop(upid)), plain(texts.get("RT", texts.get("LT")))] += 1
        elif tag in ("RenameFailed", "LinkFailed"):
            found[("rename" if tag[0] == "R" else "link") + " failed"] += 1
            first.pop(upid, None)
    return found


def fresh(work):
    """The same directory for both runs: names appear in arguments."""
    cwd = os.path.join(work, "run")
    shutil.rmtree(cwd, ignore_errors=True)
    os.mkdir(cwd)
    return cwd


def compare(name, argv, work):
    cwd = fresh(work)
    native = subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    cwd = fresh(work)
    prefix = os.path.join(work, "st")
    for old in glob.glob(prefix + ".*"):
        os.unlink(old)
    subprocess.run(["strace", "-ff", "-y", "-s", "100000", "-e", "trace=" + CALLS, "-o", prefix, *argv],
                   cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    expected = strace_events(prefix, cwd)
    cwd = fresh(work)
    output = os.path.join(work, "out.etrace")
    done = subprocess.run([FTR, "record", "--syscalls", "--format=etrace", "-o", output, *argv], cwd=cwd,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    with open(output, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    got = etrace_events(text)
    problems = []
    done.stdout, native.stdout = (re.sub(rb"\d+ Killed", b"N Killed", out)
                                  for out in (done.stdout, native.stdout))
    if (done.returncode, done.stdout) != (native.returncode if native.returncode >= 0
                                          else 128 - native.returncode, native.stdout):
        problems.append(f"{name}: status {done.returncode}, natively {native.returncode}; output "
                        f"{done.stdout[-200:]!r}, natively {native.stdout[-200:]!r}")
    check = subprocess.run([FTR, "check", "--etrace", output], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
    if check.returncode != 0:
        problems.append(f"{name}: {check.stdout[:500]}")
    if name == "spawners":  # strace loses the child of CLONE_UNTRACED
        expected["exit", "4"] += 1
    if name == "wide" and got["fork"] < 5 * WIDE:
        problems.append(f"wide: {got['fork']} forks")
    if name in ("make -j4", "openers", "wide"):  # who is first decides about descriptors, make also how many
        expected, got = without_numbers(expected), without_numbers(got)
    for key in sorted(set(expected) | set(got), key=str):
        if expected[key] != got[key]:
            problems.append(f"{name}: {key}: strace {expected[key]}, ftr {got[key]}")
    print(f"{name}: {sum(got.values())} records, {len(problems)} problems")
    return problems


def without_numbers(events):
    kinds = collections.Counter()
    for key, count in events.items():
        if key[0] in ("close", "dup", "pipe"):
            continue
        kinds[key[:2] if key[0] == "open" else key] += count
    return kinds


INSTRUMENTED = r"""
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void read_once(void)
{
	close(open("/etc/passwd", O_RDONLY));
}
static void *reader(void *arg)
{
	read_once();
	return arg;
}
int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, 0, reader, 0);
		pthread_join(thread, 0);
	}
	if (fork() == 0) {
		read_once();
		_exit(3);
	}
	wait(0);
	return 0;
}
"""


def compare_instrumented(work):
    """The calls of functions are recorded as well: of the tracer only its being loaded may show."""
    binary = os.path.join(work, "instrumented")
    build = subprocess.run(["gcc", "-finstrument-functions", "-w", "-x", "c", "-", "-o", binary, "-lpthread"],
                           input=INSTRUMENTED, text=True, check=False)
    if build.returncode != 0:
        return ["instrumented: does not build"]
    cwd = fresh(work)
    prefix = os.path.join(work, "st")
    for old in glob.glob(prefix + ".*"):
        os.unlink(old)
    subprocess.run(["strace", "-ff", "-y", "-s", "100000", "-e", "trace=" + CALLS, "-o", prefix, binary],
                   cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    expected = strace_events(prefix, cwd)
    cwd = fresh(work)
    subprocess.run([FTR, "record", "--syscalls", "-d", "data", binary], cwd=cwd, check=False)
    text = subprocess.run([FTR, "dump", "-d", "data", "--format=etrace"], cwd=cwd, stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    got = etrace_events(text)
    calls = subprocess.run([FTR, "report", "-d", "data"], cwd=cwd, stdout=subprocess.PIPE, text=True,
                           check=False).stdout
    problems = []
    if not re.search(r" 4  read_once$", calls, re.MULTILINE):
        problems.append("instrumented: the calls of read_once are not there:\n" + calls)
    for key in [key for key in got if key[0] == "open" and key[1].endswith("/libmcount.so")]:
        del got[key]
        got["close", key[2]] -= 1
    for key in sorted(set(expected) | set(got), key=str):
        if expected[key] != got[key]:
            problems.append(f"instrumented: {key}: strace {expected[key]}, ftr {got[key]}")
    print(f"instrumented: {sum(got.values())} records, {len(problems)} problems")
    return problems


def main():
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # of the make that runs us
        os.environ.pop(name, None)
    if shutil.which("strace") is None:
        print("skipped: strace is not here")
        sys.exit(SKIP)
    if subprocess.run(["strace", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("skipped: nothing may be traced here")
        sys.exit(SKIP)
    problems = []
    with tempfile.TemporaryDirectory(prefix="ftr-syscalls.") as work:
        work = os.path.realpath(work)
        wanted = sys.argv[1:]
        for name, argv in cases(work):
            if not wanted or name in wanted:
                problems += compare(name, argv, work)
        if not wanted or "instrumented" in wanted:
            problems += compare_instrumented(work)
    for problem in problems[:60]:
        print(problem)
    sys.exit(1 if problems else 0)


main()
