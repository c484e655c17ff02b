# SPDX-License-Identifier: MIT
"""System calls as strace shows them and as the etrace text has them, as multisets that can be compared."""
import collections
import glob
import os
import re
import shutil
import subprocess

FTR = os.path.abspath(os.environ.get("FTR", "./ftr"))
CALLS = ("execve,execveat,open,openat,openat2,creat,pipe,pipe2,rename,renameat,renameat2,link,linkat,"
         "symlink,symlinkat,close,dup,dup2,dup3,fcntl,exit,exit_group,clone,clone3,fork,vfork")


def plain(path):
    """Names that differ from run to run."""
    path = re.sub(r"/cc[A-Za-z0-9]{6}(\.|$)", r"/ccXXXXXX\1", path)
    path = re.sub(r"/st[A-Za-z0-9]{6}$", "/stXXXXXX", path)  # of ar
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
    for line in text.rstrip("\n").split("\n"):
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


def fresh(work, tree):
    """The same directory for all runs: names appear in arguments.  A copy of @tree, or (None) empty."""
    cwd = os.path.join(work, "run")
    shutil.rmtree(cwd, ignore_errors=True)
    if tree is None:
        os.mkdir(cwd)
    else:
        shutil.copytree(tree, cwd, symlinks=True)
    return cwd


def strace_run(argv, cwd, prefix):
    for old in glob.glob(prefix + ".*"):
        os.unlink(old)
    subprocess.run(["strace", "-ff", "-y", "-s", "100000", "-e", "trace=?" + CALLS.replace(",", ",?"), "-o", prefix, *argv],
                   cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return strace_events(prefix, cwd)


def without_numbers(events):
    kinds = collections.Counter()
    for key, count in events.items():
        if key[0] in ("close", "dup", "pipe"):
            continue
        kinds[key[:2] if key[0] == "open" else key] += count
    return kinds



def outcome(done):
    """(exit status as a shell gives it, output without process ids)"""
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return status, re.sub(rb" *\d+ Killed", b" N Killed", done.stdout)


def compare(name, argv, work, tree=None, in_turn=True, expects=None):
    """Run it without anything, under strace and under ftr.  A list of differences.

    in_turn: nothing is left to chance, descriptors are the same each time.  expects: is given what strace
    counted, to change it, and what ftr counted; returns its own differences.
    """
    native = outcome(subprocess.run(argv, cwd=fresh(work, tree), stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, check=False))
    cwd = fresh(work, tree)
    expected = strace_run(argv, cwd, os.path.join(work, "st"))
    output = os.path.join(work, "out.etrace")
    done = outcome(subprocess.run([FTR, "record", "--syscalls", "--format=etrace", "-o", output, *argv],
                                  cwd=fresh(work, tree), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  check=False))
    with open(output, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        got = etrace_events(file.read())
    problems = []
    # Jobs side by side write in any order.
    if done[0] != native[0] or (in_turn and done[1] != native[1]):
        problems.append(f"{name}: status {done[0]}, natively {native[0]}; output {done[1][-200:]!r}, natively "
                        f"{native[1][-200:]!r}")
    check = subprocess.run([FTR, "check", "--etrace", output], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
    if check.returncode != 0:
        problems.append(f"{name}: {check.stdout[:500]}")
    if expects is not None:
        problems += expects(expected, got)
    if not in_turn:
        expected, got = without_numbers(expected), without_numbers(got)
    for key in sorted(set(expected) | set(got), key=str):
        if expected[key] != got[key]:
            problems.append(f"{name}: {key}: strace {expected[key]}, ftr {got[key]}")
    print(f"{name}: {sum(got.values())} records, {len(problems)} problems")
    return problems
