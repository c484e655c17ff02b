# SPDX-License-Identifier: MIT
"""System calls as people see them: replay, report, and the exports that other tools read."""
import json
import os
import re
import shutil
import subprocess
import sys

from recording import SRCDIR, build, harness, run_observed

# %(p)s is the program, %(d)s its directory, N a number.
SHOWN = """
sys_execve(path="%(p)s", argv=["%(p)s"]) = 0
sys_open(path="/etc/passwd", flags=O_RDONLY|O_CLOEXEC) = 3
sys_openat(path="%(d)s/made", flags=O_RDWR|O_CREAT|O_TRUNC, mode=0640) = 4
sys_openat2(path="%(d)s/made", flags=O_RDONLY) = 5
sys_creat(path="%(d)s/made2", flags=O_WRONLY|O_CREAT|O_TRUNC, mode=0600) = 6
sys_open(path="%(d)s/missing", flags=O_WRONLY) = ENOENT
sys_pipe(fd1=7, fd2=8) = 0
sys_pipe2(fd1=9, fd2=10, flags=O_NONBLOCK|O_CLOEXEC) = 0
sys_rename(from="%(d)s/made", to="%(d)s/m2") = 0
sys_renameat(from="%(d)s/m2", to="%(d)s/m3") = 0
sys_renameat2(from="%(d)s/m3", to="%(d)s/made2", flags=RENAME_EXCHANGE) = 0
sys_renameat2(from="%(d)s/nothing", to="%(d)s/x", flags=RENAME_NOREPLACE) = ENOENT
sys_link(from="%(d)s/m3", to="%(d)s/l1") = 0
sys_link(from="%(d)s/m3", to="%(d)s/l1") = EEXIST
sys_linkat(from="%(d)s/m3", to="%(d)s/l2", flags=AT_SYMLINK_FOLLOW) = 0
sys_symlink(target="m3", link="%(d)s/s1") = 0
sys_symlinkat(target="m3", link="%(d)s/s1") = EEXIST
sys_close(fd=3) = 0
sys_close(fd=77) = EBADF
sys_dup(oldfd=4) = 3
sys_dup2(oldfd=4, newfd=20) = 20
sys_dup3(oldfd=4, newfd=21, flags=O_CLOEXEC) = 21
sys_fcntl(fd=4, cmd=F_DUPFD) = 30
sys_fcntl(fd=4, cmd=F_DUPFD_CLOEXEC) = 31
sys_close_range(fd=20) = 0
sys_close_range(fd=21) = 0
sys_mount(source="none", target="/no/dir", type="tmpfs", flags=MS_NOSUID|MS_NODEV) = E
sys_mount(source="/", target="/no/dir", flags=MS_BIND) = E
sys_umount2(target="/no/dir", flags=MNT_DETACH) = E
sys_prctl(name="renamed") = 0
sys_openat(path="/proc/self/comm", flags=O_WRONLY) = 11
sys_write(name="written")
sys_prctl(name="worker") = 0
sys_fork() = N
sys_exit(status=5)
sys_vfork() = N
sys_execve(path="%(d)s/missing", argv=["%(p)s", "x\\ny", ""]) = ENOENT
sys_execve(path="%(p)s", argv=["%(p)s", "x\\ny", ""]) = 0
sys_clone3(flags=SIGCHLD) = N
sys_exit(status=6)
sys_exit(signal=SIGKILL)
sys_clone(flags=CLONE_SIGHAND) = EINVAL
sys_clone(flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD) = N
sys_execveat(path="%(p)s", argv=["%(p)s", "x\\ny", ""]) = 0
sys_exit(status=2)
"""

# What stands in place of these on a machine that has only the later forms (tests/prog/older_calls.h, and libc's vfork).
LATER = (("sys_open(", "sys_openat("), ("sys_creat(", "sys_openat("), ("sys_pipe(fd1=7, fd2=8)", "sys_pipe2(fd1=7, fd2=8, flags=0)"),
         ("sys_rename(", "sys_renameat("), ('/l1") =', '/l1", flags=0) ='), ("sys_link(", "sys_linkat("),
         ("sys_symlink(", "sys_symlinkat("), ("sys_dup2(oldfd=4, newfd=20)", "sys_dup3(oldfd=4, newfd=20, flags=0)"),
         ("sys_fork()", "sys_clone(flags=SIGCHLD)"), ("sys_vfork()", "sys_clone(flags=CLONE_VM|CLONE_VFORK|SIGCHLD)"))
HAS_OLDER = os.uname().machine != "aarch64"


def expected(**names):
    shown = SHOWN
    for older, later in LATER if not HAS_OLDER else ():
        shown = shown.replace(older, later)
    return (shown % names).strip().split("\n")


def plain(line):
    """Process ids, and rights that decide which errno."""
    line = re.sub(r"^(sys_(v?fork|clone3?)\(.*\) = )[0-9]+$", r"\1N", line)
    return re.sub(r"^(sys_u?mount2?\(.*\) = E)\w+$", r"\1", line)


class ShownTest(harness.Test):
    """One program, recorded once."""

    @classmethod
    def set_up_class(cls):
        cls.program, cls.data = os.path.abspath("program"), os.path.abspath("data")
        build("observed_all.c", cls.program, "-w")
        done = run_observed("record", "--syscalls", "-d", cls.data, cls.program)
        assert done.returncode == 2, done

    def output(self, *words):
        done = self.ftr(*words, errors="replace")
        self.expect(done.returncode == 0, f"ftr {words}: {done.returncode} {done.stderr[:300]}")
        return done.stdout

    def test_replay(self):
        lines = re.findall(r"sys_.*\)(?: = \w+)?(?=;)", self.output("replay", "--no-pager", "-d", self.data, "-f", "none"))
        got = [plain(line) for line in lines]
        at = 0
        for line in expected(p=self.program, d=self.shared):
            if line in got[at:] and "exit" not in line:
                at = got.index(line, at) + 1
            else:
                self.expect(line in got, f"replay: no {line} after {got[at - 1] if at else 'the beginning'}")

    def test_chrome(self):
        path = "t.json"
        self.output("dump", "--chrome", "-o", path, "-d", self.data)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        lanes = {event["pid"] for event in events if event["ph"] == "M" and event["name"] == "process_name"}
        self.expect(len(lanes) == 6, f"chrome: {len(lanes)} processes have a name")
        begun = {event["id"]: event for event in events if event["ph"] == "s"}
        ended = {event["id"]: event for event in events if event["ph"] == "f"}
        self.expect(len(begun) == 6 and set(begun) == set(ended), f"chrome: flows {begun} {ended}")
        forks = [event for event in events if event["ph"] == "B" and
                 event["name"] in ("sys_fork", "sys_vfork", "sys_clone", "sys_clone3")]
        self.expect(len(forks) == 7, f"chrome: {len(forks)} forks")  # one of them failed
        for flow, event in begun.items():
            self.expect(any(fork["pid"] == event["pid"] and fork["ts"] <= event["ts"] for fork in forks),
                   f"chrome: the flow {event} begins in no call")
            self.expect(ended[flow]["tid"] != event["tid"] and ended[flow]["ts"] >= event["ts"],
                   f"chrome: the flow {event} ends in {ended[flow]}")
        opened = [event for event in events if event["ph"] == "B" and event["name"] == "sys_openat2"]
        self.expect(len(opened) == 1 and "O_RDONLY" in opened[0]["args"]["arguments"], f"chrome: openat2 {opened}")

    def test_fxt(self):
        path = "t.fxt"
        self.output("dump", "--fxt", "-o", path, "-d", self.data)
        done = subprocess.run([sys.executable, SRCDIR + "/tests/roundtrip/fxt_check.py", path],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        shown = subprocess.run([sys.executable, SRCDIR + "/tests/roundtrip/perfetto_check.py", "--strict", path],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.expect(shown.returncode == 0, f"fxt: {shown.stdout}")
        counts = {kind: int(nr) for nr, kind in re.findall(r"^ *(\d+) (.*)$", done.stdout, re.M)}
        self.expect(done.returncode == 0, f"fxt: {done.stdout}")
        self.expect(counts.get("event: flow begin") == 6 and counts.get("event: flow end") == 6, f"fxt: {counts}")
        self.expect(counts.get("thread") == 7 and counts.get("calls without end") == 0, f"fxt: {counts}")
        shown = [re.findall("sys_.*;", self.output("replay", "--no-pager", "-d", name, "-f", "none").replace('"', ""))
                 for name in (self.data, path)]
        self.expect(shown[0] == shown[1], "fxt: replay shows its calls otherwise")

    def test_uftrace(self):
        """Converted, it is the same; Debian's uftrace, where it is there, sees that these are no data of tasks."""
        path = "converted"
        self.output("convert", "--to=uftrace", self.data, path)
        replay, again = (self.output("replay", "--no-pager", "-d", name, "-f", "none") for name in (self.data, path))
        self.expect('sys_openat2(path="%s/made", flags=O_RDONLY) = 5;' % self.shared in again, f"uftrace: {again}")
        self.expect(replay == again, "uftrace: replay shows its calls otherwise")
        if shutil.which("uftrace") is None:
            return
        for name in (self.data, path):
            done = subprocess.run(["uftrace", "replay", "--no-pager", "-d", name, "-f", "none"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  check=False)
            self.expect("ERROR" not in done.stdout and "Usage" not in done.stdout, f"uftrace: {done.stdout[:300]}")

    def report(self, data, by, fields, *words):
        """[values..., name] of each row; only of columns that cannot be blank."""
        lines = self.output("report", "--no-pager", "--by", by, "-f", fields, *words, "-d", data).splitlines()[2:]
        return [line.split(None, fields.count(",") + 1) for line in lines]

    def test_report(self):
        text = "t.etrace"
        self.output("dump", "--format=etrace", "--mount", "--thread-names", "-o", text, "-d", self.data)
        calls = {row[2]: (int(row[0]), int(row[1])) for row in self.report(self.data, "call", "call,error")}
        older = (("open", (2, 1)), ("link", (2, 1)), ("creat", (1, 0)), ("vfork", (1, 0)))
        for call, wanted in (("openat2", (1, 0)), ("renameat2", (2, 1)), ("umount2", (1, 1)),
                             *(older if HAS_OLDER else (("linkat", (3, 1)), ("symlinkat", (2, 1))))):
            self.expect(calls.get(call) == wanted, f"report: {call} {calls.get(call)}, expected {wanted}")
        for name, failures in ((self.data, 1), (text, 0)):
            files = {row[-1]: [int(value) for value in row[:-1]]
                     for row in self.report(name, "file", "call,error,read,write,process")}
            made, missing = files.get(self.shared + "/made"), files.get(self.shared + "/missing", [0, 0])
            self.expect(made == [3, 0, 2, 1, 1], f"report: {name}: made {made}")
            self.expect(missing[1] == 2 * failures, f"report: {name}: missing {missing}")
            processes = self.report(name, "process", "call,fork,status,pid")
            self.expect(sorted(int(row[2]) for row in processes) == sorted([2, 3, 3, 5, 6, 137 * failures]),
                   f"report: {name}: {processes}")  # the text cannot hold signals
            first = [row for row in processes if row[-1] == self.program and row[1] != "0"]
            self.expect(len(processes) == 6 and len(first) == 1 and int(first[0][1]) == 5,
                   f"report: {name}: {processes}")
        counts = [int(row[0]) for row in self.report(self.data, "call", "call", "-s", "call")]
        self.expect(counts == sorted(counts, reverse=True), f"report -s call: {counts}")
        names = [row[1] for row in self.report(self.data, "call", "call", "-s", "name")]
        self.expect(names == sorted(names), f"report -s name: {names}")
        done = self.ftr("report", "--by=call", "-d", SRCDIR + "/tests/data/threads")
        self.expect(done.returncode == 1 and "record --syscalls" in done.stderr, f"report of none: {done}")


if __name__ == "__main__":
    harness.main()
