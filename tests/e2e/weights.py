# SPDX-License-Identifier: MIT
"""Trees by what happened in calls: graph --by, dump --by, report --by=leak, and what others say of the same program."""
import collections
import json
import os
import re
import shutil
import signal
import subprocess

from recording import CXX, FTR, SRCDIR, TIMEOUT, AsNative, harness

BUILDS = (["-pg"], ["-finstrument-functions"], ["-pg", "-mfentry"])
# What tests/prog/weights.c says of itself: bytes and blocks by path.
GIVEN = {("main", "load", "get"): 3000, ("main", "store", "get"): 200, ("main", "store"): 700,
         ("thread", "store", "get"): 400, ("thread", "store"): 1400}
BLOCKS = {("main", "load", "get"): 3, ("main", "store", "get"): 1, ("main", "store"): 1,
          ("thread", "store", "get"): 2, ("thread", "store"): 2}
LEFT = {("main", "load", "get"): 1000, ("main", "store"): 700}
WAITS = {("main", "sync:join-wait"), ("thread", "meet", "sync:barrier-wait"), ("main", "thread:create")}
# Their memory at the end is the same wherever they run.
PROGRAMS = (("sort", "/etc/passwd"), ("ls", "-a", "/usr"), ("grep", "-c", "root", "/etc/passwd"), ("sed", "-n", "p", "/etc/passwd"),
            ("tar", "cf", "/dev/null", "/etc/passwd"), ("find", "/etc/passwd"))
# Nothing of the surroundings, which are not the same under each of the tools.
PLAIN = {"PATH": os.environ["PATH"], "HOME": "/", "LC_ALL": "C"}


class WeightsTest(AsNative):
    def output(self, *words):
        done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def folded(self, by, *words, path="d"):
        """{path: weight}; lines of several programs are added up."""
        found = collections.Counter()
        for line in self.output("dump", "-d", path, "--flame-graph", "--by=" + by, *words).splitlines():
            names, _, weight = line.rpartition(" ")
            found[tuple(names.split(";"))] += int(weight)
        return found

    def tree(self, by, path="d"):
        """The same of graph --json: self of each path that has some, and all in the roots."""
        nodes = [json.loads(line) for line in
                 self.output("graph", "-d", path, "--by=" + by, "--json").splitlines()]
        paths, found = {}, collections.Counter()
        for node in nodes:
            self.assertEqual(node["by"], by)
            is_root = "parent" not in node
            paths[node["id"]] = () if is_root else paths[node["parent"]] + (node["func"],)
            if node["self"]:
                found[paths[node["id"]]] += node["self"]
        total = sum(node["total"] for node in nodes if "parent" not in node)
        self.assertEqual(total, sum(found.values()))
        return found

    def leaks(self, path="d", *words):
        """{path: (live bytes, live blocks)}, the innermost function first."""
        text = self.output("report", "-d", path, "--by=leak", "--no-pager", "-f", "live-bytes,live-blocks", *words)
        return {tuple(names.split(" < ")): (int(left), int(blocks)) for left, blocks, names in
                re.findall(r"^ +(\d+) +(\d+)  (.*)$", text, re.M)}

    def own(self, found):
        """Without what libc asks for by itself."""
        return {path: weight for path, weight in found.items()
                if path[-1] in ("get", "store", "load") or ":" in path[-1]}

    def record(self, *program, options=("--no-libcall",)):
        self.same_as_native(["--no-event", "--probe=memory,sync,thread", *options], *program)

    def test_each(self):
        for flags in BUILDS:
            with self.subTest(flags=flags):
                self.compile("weights", "weights.c", *flags)
                self.record("./weights")
                self.assertEqual(self.own(self.folded("bytes")), GIVEN)
                self.assertEqual(self.own(self.folded("blocks")), BLOCKS)
                self.assertEqual(self.own(self.folded("leak")), LEFT)
                self.assertEqual(set(self.own(self.folded("wait", "--sample-time=1ns"))), WAITS)
                for by in ("bytes", "blocks", "leak"):
                    self.assertEqual(self.tree(by), self.folded(by))
                self.assertEqual(self.tree("wait"), self.folded("wait", "--sample-time=1ns"))
                self.assertEqual({path: row for path, row in self.leaks().items() if path[0] in ("get", "store")},
                                 {("get", "load", "main"): (1000, 1), ("store", "main"): (700, 1)})

    def test_not_traced(self):
        """A function that is not traced is known as the caller."""
        self.compile("weights", "weights.c", "-g")
        for options, by_get, by_store in ((["--force"], ("get", "malloc"), ("store", "realloc")),
                                          (["--force", "--no-libcall"], ("get",), ("store",))):
            self.record("./weights", options=options)
            found = self.folded("bytes")
            self.assertEqual((found[by_get], found[by_store]), (3600, 2100))

    def test_library_calls(self):
        """malloc is itself the innermost call, where such are recorded."""
        self.compile("weights", "weights.c", "-pg")
        self.record("./weights", options=[])
        found = self.folded("bytes")
        self.assertEqual({path: found[path] for path in
                          (("main", "load", "get", "malloc"), ("thread", "store", "realloc"))},
                         {("main", "load", "get", "malloc"): 3000, ("thread", "store", "realloc"): 1400})

    def test_formats(self):
        """What is read of another format weighs the same; SWAP has no ends of thread:create."""
        self.compile("weights", "weights.c", "-pg")
        self.record("./weights")
        self.output("dump", "-d", "d", "--fxt", "-o", "x.fxt")
        self.output("dump", "-d", "d", "--format=swap", "-o", "x.swap")
        self.output("convert", "x.fxt", "made")
        for path in ("x.fxt", "x.swap", "made"):
            for by in ("bytes", "blocks", "leak", "wait"):
                with self.subTest(path=path, by=by):
                    wanted = self.folded(by, "--sample-time=1ns")
                    if path == "x.swap":
                        wanted.pop(("main", "thread:create"), None)
                    self.assertEqual(self.folded(by, "--sample-time=1ns", path=path), wanted)

    def test_two_images(self):
        """A forked child, and what it executes: each has its own blocks."""
        self.compile("weights", "weights.c", "-pg")
        self.record("sh", "-c", "./weights; ./weights & wait", options=["--no-libcall", "--force"])
        self.assertEqual(self.own(self.folded("leak")), {path: 2 * nr for path, nr in LEFT.items()})

    def test_hangs(self):
        """Who waits when the program is killed has waited until then."""
        self.compile("hangs", """\
#include <pthread.h>
#include <unistd.h>
#include <signal.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void hang(void) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); }
static void *thread(void *arg) { hang(); return arg; }
__attribute__((noinline)) void last(void) { usleep(1); }
int main(void)
{
	pthread_t id;
	pthread_mutex_lock(&mutex);
	pthread_create(&id, 0, thread, 0);
	usleep(300000);
	last();
	raise(SIGKILL);
}
""", "-pg")
        done = subprocess.run([FTR, "record", "-d", "d", "--no-event", "--probe=sync", "./hangs"], timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        found = self.folded("wait")
        self.assertEqual(list(found), [("thread", "hang", "pthread_mutex_lock", "sync:mutex-wait")])
        self.assertGreater(sum(found.values()), 200000)

    def test_nothing_left(self):
        self.compile("clean", "#include <stdlib.h>\nint main(void)\n{\n\tvoid *volatile p = malloc(5);\n\tfree(p);\n}\n", "-pg")
        self.record("./clean")
        self.assertEqual(self.leaks(), {})
        self.assertEqual(sum(self.tree("leak").values()), 0)

    def test_valgrind(self):
        """In use at the end: what ftr counts is all of it, reachable blocks, too."""
        self.compile("requests", SRCDIR + "/tests/prog/requests.cc", "-std=c++17", compiler=CXX)
        self.compared_with(self.by_valgrind, ("./requests", "leak", "each"), *PROGRAMS, needs=("valgrind",))

    def test_heaptrack(self):
        self.compared_with(self.by_heaptrack, *PROGRAMS[:4], needs=("heaptrack", "heaptrack_print"))

    def compared_with(self, ask, *programs, needs):
        for tool in needs:
            if shutil.which(tool) is None:
                self.skipTest(tool + " is not installed")
        with open(FTR, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("AddressSanitizer, in ftr itself, bears no other allocator")
        for program in programs:
            with self.subTest(program[0]):
                self.assertIsNotNone(shutil.which(program[0]))
                subprocess.run([FTR, "record", "-d", "d", "--force", "--no-event", "--probe=memory", *program], env=PLAIN,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT, check=True)
                ours, theirs = list(self.leaks().values()), ask(shutil.which(program[0]), *program[1:])
                totals = (sum(left for left, _ in ours), sum(blocks for _, blocks in ours))
                self.assertEqual(totals[:len(theirs)], theirs)
                self.assertGreater(totals[0], 0)

    def by_valgrind(self, *program):
        done = subprocess.run(["valgrind", "--leak-check=full", "--show-leak-kinds=all", "--run-libc-freeres=no",
                               "--run-cxx-freeres=no", *program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, timeout=2 * TIMEOUT, env=PLAIN, check=True)
        return tuple(int(nr.replace(",", "")) for nr in
                     re.search(r"in use at exit: ([\d,]+) bytes in ([\d,]+) blocks", done.stderr).groups())

    def by_heaptrack(self, *program):
        """Bytes alone: its folded stacks have no blocks, and its totals are rounded."""
        subprocess.run(["heaptrack", "-o", self.dir + "/heap", *program], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=2 * TIMEOUT, env=PLAIN, check=True)
        (data,) = [name for name in os.listdir(".") if re.match(r"heap\.(zst|gz)$", name)]
        subprocess.run(["heaptrack_print", "-F", "folded", "--flamegraph-cost-type", "leaked", "-f", data],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT, check=True)
        with open("folded", encoding="utf-8") as file:
            left = sum(int(line.rpartition(" ")[2]) for line in file)
        os.remove(data)
        return (left,)


if __name__ == "__main__":
    harness.main()
