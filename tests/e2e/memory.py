# SPDX-License-Identifier: MIT
"""Who asks for memory and gives it back: record --probe=memory, and what reads its events."""
import collections
import glob
import os
import re
import shutil
import subprocess

from recording import CC, CXX, FTR, SRCDIR, TIMEOUT, AsNative, allocators, harness

Request = collections.namedtuple("Request", "tid name values")

PROGRAMS = (
    ("python3", "-c", "import json, threading; print(json.dumps([1, {}]), threading.active_count())"),
    ("perl", "-e", "my %h; $h{$_} = 'x' x $_ for 1..500; print scalar(keys %h)"),
    ("bash", "-c", "for i in 1 2 3; do echo $((i * 7)) | cat; done"), ("sort", "/etc/passwd"), ("ls", "-a", "/usr"),
    ("tar", "cf", "/dev/null", "/etc/passwd"), ("make", "--version"), ("git", "--version"),
)


class MemoryTest(AsNative):
    def requests(self, path="d"):
        """All requests of the trace, by task in order."""
        text = self.output("dump", "-d", path)
        tid, found = 0, []
        for line in text.splitlines():
            start = re.match(r"[\d.]+ +(\d+): \[event\] memory:", line)
            if start:
                tid = int(start.group(1))
            match = re.match(r"  memory:(\w+): (.*)", line)
            if match:
                values = dict(word.split("=", 1) for word in match.group(2).split(", "))
                found.append(Request(tid, match.group(1), values))
        return found

    def output(self, *words):
        done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def build_requests(self, *flags):
        self.compile("requests", SRCDIR + "/tests/prog/requests.cc", *flags, compiler=CXX)

    def record(self, *program, **environment):
        self.same_as_native(["--no-event", "--probe=memory"], *program, **environment)
        return self.requests()

    def by(self, requests, function):
        """Names and sizes of what @function itself asked for."""
        return [(request.name, int(request.values.get("bytes", 0))) for request in requests
                if request.values["caller"].startswith("&" + function + "+")]

    EACH = [("malloc", 101), ("free", 0), ("calloc", 102), ("free", 0), ("malloc", 103), ("realloc", 20004),
            ("realloc", 30000), ("free", 0), ("memalign", 106), ("free", 0), ("memalign", 107), ("free", 0),
            ("memalign", 108), ("free", 0), ("memalign", 109), ("free", 0),
            ("new", 1), ("delete", 0), ("new", 112), ("delete", 0), ("new", 1024), ("delete", 0), ("new", 2048),
            ("delete", 0), ("new", 113), ("delete", 0), ("new", 114), ("delete", 0), ("malloc", (1 << 62) - 1)]

    def test_each(self):
        for flags in ([], ["-no-pie"], ["-pg"], ["-finstrument-functions"], ["-static-libstdc++"]):
            self.build_requests("-std=c++17", *flags)
            for libcalls in ([], ["--no-libcall"], ["--nest-libcall"], ["-e"]):
                with self.subTest(flags=flags, libcalls=libcalls):
                    self.same_as_native(["--no-event", "--probe=memory", *libcalls], "./requests", "each")
                    requests = self.requests()
                    if "-static-libstdc++" in flags:     # its operator new is the program's own
                        calls = [name for name, nr in self.by(requests, "each")]
                        self.assertEqual(calls.count("malloc"), 3)
                        continue
                    self.assertEqual(self.by(requests, "each"), self.EACH)
                    self.linked([r for r in requests if r.values["caller"].startswith("&each+")])

    def linked(self, requests):
        """Each block is given back before its address is given again; a failure has none."""
        live = set()
        for request in requests:
            address = request.values["address"]
            live.discard(request.values.get("from"))
            if request.name in ("free", "delete"):
                self.assertIn(address, live)
                live.remove(address)
            elif address != "0":
                self.assertNotIn(address, live)
                live.add(address)
        self.assertEqual(live, set())
        self.assertEqual(requests[-1].values["address"], "0")

    def test_allocators(self):
        """What comes behind libmcount.so is asked: its operator new calls no malloc."""
        self.skip_with_sanitizer()
        self.build_requests("-std=c++17")
        for name, path in allocators():
            with self.subTest(name):
                requests = self.record("./requests", "each", LD_PRELOAD=path)
                self.assertEqual(self.by(requests, "each"), self.EACH)
                self.assertEqual(len(self.record("./requests", "threads", LD_PRELOAD=path)) // 4000, 2)

    def skip_with_sanitizer(self):
        with open(FTR, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("AddressSanitizer, in ftr itself, bears no other allocator")

    def test_pages(self):
        self.build_requests("-std=c++17")
        requests = self.record("./requests", "pages")
        self.assertEqual([(name, nr if nr < 1 << 63 else nr - (1 << 64)) for name, nr in self.by(requests, "pages")],
                         [("mmap", 8192), ("mremap", 40960), ("munmap", 40960), ("brk", 4096), ("brk", -4096),
                          ("brk", 8192)])
        moved = [r.values for r in requests if r.name == "mremap"][0]
        self.assertEqual(moved["from_bytes"], "8192")

    def test_thrown(self):
        for flags in ([], ["-pg"]):
            with self.subTest(flags=flags):
                self.build_requests("-std=c++17", *flags)
                requests = self.record("./requests", "thrown")
                self.assertEqual(self.by(requests, "deeper"), [("malloc", 201), ("free", 0)] * 4)

    def test_threads(self):
        """Blocks that one thread was given and another one gives back."""
        self.build_requests("-std=c++17")
        requests = [r for r in self.record("./requests", "threads")
                    if re.match("&(give|take)[+(]", r.values["caller"])]
        self.assertEqual(collections.Counter(r.name for r in requests), {"malloc": 4000, "free": 4000})
        self.assertEqual({r.values.get("bytes") for r in requests}, {"301", None})
        self.assertEqual(len({r.tid for r in requests}), 16)
        self.assertEqual({r.values["address"] for r in requests if r.name == "malloc"},
                         {r.values["address"] for r in requests if r.name == "free"})

    def test_places(self):
        self.build_requests("-std=c++17")
        requests = self.record("./requests", "places")
        sizes = collections.Counter(int(r.values["bytes"]) for r in requests if r.name == "malloc")
        self.assertEqual({nr: sizes[nr] for nr in (401, 402, 403, 404, 405)},
                         {401: 1, 402: 1, 403: 1, 404: 3, 405: 1})
        self.assertIn(("malloc", 4), self.by(requests, "strdup") + self.by(requests, "__strdup"))

    def test_off(self):
        """Without it nothing of it is in the process; with it the program sees no more than untraced."""
        self.compile("maps", "memory_maps.c")
        for options, wanted in ((["--force"], "0 \n"), (["--probe=memory"], "1 \n")):
            done = subprocess.run([FTR, "record", "-d", "d", *options, "./maps"], stdout=subprocess.PIPE, text=True,
                                  timeout=TIMEOUT, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, wanted))
            self.assertEqual(len(glob.glob("d/*.event")) > 1, "--probe=memory" in options)

    def test_own_malloc(self):
        for flags in ([], ["-finstrument-functions"]):      # untraced, -pg asks for memory
            self.compile("own", "memory_own_malloc.c", *flags)
            self.assertEqual([r for r in self.record("./own") if r.name == "malloc"], [])

    def test_own_new(self):
        self.compile("own", "memory_own_new.cc", compiler=CXX)
        requests = self.record("./own")
        self.assertEqual(len([r for r in requests if r.name == "new"]), 0)
        self.assertEqual(sum(r.values.get("bytes") == "20" for r in requests), 5)

    def test_plugin(self):
        """operator new is found although its library came later, for its caller alone."""
        self.library("plugin", "memory_plugin.cc", compiler=CXX)
        self.compile("loader", "memory_loader.c")
        requests = self.record("./loader")
        self.assertGreaterEqual(sum(r.name == "new" for r in requests), 60)

    def test_programs(self):
        """What was not made for us runs as it does untraced."""
        for program in PROGRAMS:
            if shutil.which(program[0]) is None:
                continue
            with self.subTest(program[0]):
                self.same_as_native(["--no-event", "--probe=memory"], *program)
                self.assertGreater(len(self.requests()), 3)

    def test_refused(self):
        for word in ("nothing", "", "memory,", "memory,nothing"):
            done = subprocess.run([FTR, "record", "--probe=" + word, "true"], stderr=subprocess.PIPE, text=True,
                                  timeout=TIMEOUT, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("is not one of: memory", done.stderr)

    def test_uftrace(self):
        """Debian's uftrace reads the calls as if there were no such events."""
        if shutil.which("uftrace") is None:
            self.skipTest("uftrace is not installed")
        self.build_requests("-std=c++17", "-pg")
        self.record("./requests", "each", "thrown")
        done = subprocess.run(["uftrace", "report", "-d", "d", "-f", "call"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        theirs = {name: int(nr) for nr, name in re.findall(r"^\s*(\d+)\s+(\S+)", done.stdout, re.M)}
        self.assertEqual(theirs["deeper"], 84)
        self.assertEqual(self.report("-f", "call")["deeper"], 84)

    def sums(self, path, *words):
        """By caller: requests, failures, bytes, live bytes, live blocks."""
        text = self.output("report", "--by=caller", "-d", path, "--no-pager", "-f",
                           "call,error,bytes,live-bytes,live-blocks", *words)
        return {name: tuple(int(nr) for nr in numbers.split()) for numbers, name in
                re.findall(r"^((?: +\d+){5})  (\S+)$", text, re.M)}

    # By what tests/prog/requests.cc says of itself.
    SUMS = {"leak": (15, 0, 7530, 4517, 9), "give": (4000, 0, 1204000, 0, 0), "deeper": (4, 0, 804, 0, 0),
            "each": (16, 1, sum(nr for name, nr in EACH if nr < 1 << 40), 0, 0)}

    def test_sums(self):
        for flags in ([], ["-pg"]):
            with self.subTest(flags=flags):
                self.build_requests("-std=c++17", *flags)
                self.record("./requests", "leak", "threads", "each", "thrown")
                sums = self.sums("d")
                self.assertEqual({name: row for name, row in sums.items() if name in self.SUMS}, self.SUMS)
                with open("x.fxt", "wb") as file:
                    subprocess.run([FTR, "dump", "--fxt", "-d", "d"], stdout=file, timeout=TIMEOUT, check=True)
                self.assertEqual(self.sums("x.fxt", "--event-full"), sums)
        self.record("./requests", "each")
        done = subprocess.run([FTR, "report", "--by=caller", "-d", "d", "-s", "live-bytes,name", "--no-pager"],
                              stdout=subprocess.PIPE, text=True, timeout=TIMEOUT, check=True)
        self.assertRegex(done.stdout, r"Calls +Bytes +Live bytes +Live blocks  Caller\n")
        for options, wanted in (([], False), (["-D1"], True)):
            done = subprocess.run([FTR, "report", "--by=caller", "-d", "d", "--no-pager", *options],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=True)
            self.assertEqual("live blocks may have been given back" in done.stderr, wanted)
        subprocess.run([FTR, "record", "-d", "none", "--force", "true"], timeout=TIMEOUT, check=True)
        done = subprocess.run([FTR, "report", "--by=caller", "-d", "none"], stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--probe=memory", done.stderr)

    def test_realloc_between_threads(self):
        """A block that realloc gave back is another thread's before the realloc is recorded."""
        self.compile("storm", "memory_storm.c")
        self.same_as_native(["--no-event", "--probe=memory"], "./storm")
        self.assertEqual(self.sums("d")["work"][3:], (0, 0))
        self.assertEqual(self.sums("d")["work"][0], 60000)

    def test_totals_as_valgrind(self):
        if shutil.which("valgrind") is None:
            self.skipTest("valgrind is not installed")
        self.skip_with_sanitizer()
        self.compile("totals", "memory_totals.c")
        done = subprocess.run(["valgrind", "--leak-check=full", "--run-libc-freeres=no", "./totals"],
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, timeout=2 * TIMEOUT,
                              check=False)
        theirs = [int(nr.replace(",", "")) for nr in re.search(
            r"in use at exit: ([\d,]+) bytes in ([\d,]+) blocks\n"
            r".* usage: ([\d,]+) allocs, [\d,]+ frees, ([\d,]+) bytes",
            done.stderr).groups()]
        self.record("./totals")
        sums = self.sums("d").values()
        self.assertEqual([sum(row[3] for row in sums), sum(row[4] for row in sums), sum(row[0] for row in sums),
                          sum(row[2] for row in sums)], theirs)
        lost = re.search(r"definitely lost: ([\d,]+) bytes in ([\d,]+) blocks", done.stderr).groups()
        bytes_lost, blocks_lost = (int(nr.replace(",", "")) for nr in lost)
        live_bytes, live_blocks = self.sums("d")["main"][3:]
        # What is left in a register leads to the last block, for valgrind.
        self.assertIn((live_bytes - bytes_lost, live_blocks - blocks_lost), ((0, 0), (299, 1)))

    def test_formats(self):
        """Calls and requests in one replay; FXT has all of it, so what is read of that is the same."""
        self.build_requests("-std=c++17", "-pg")
        self.record("./requests", "each")
        replay = self.output("replay", "-d", "d", "--no-pager", "-f", "none", "--no-libcall")
        self.assertRegex(replay, r"each\(\) {\n *\/\* memory:malloc \(address=0x[0-9a-f]+, bytes=101, "
                         r"caller=&each\+0x[0-9a-f]+\) \*/\n")
        with open("x.fxt", "wb") as file:
            subprocess.run([FTR, "dump", "--fxt", "-d", "d"], stdout=file, timeout=TIMEOUT, check=True)
        self.assertEqual(self.output("replay", "-d", "x.fxt", "--no-pager", "-f", "none", "--no-libcall"), replay)
        chrome = self.output("dump", "--chrome", "-d", "d")
        self.assertEqual(len(re.findall(r'"memory:\w+"', chrome)), len(self.requests()))

    def test_converted(self):
        """A directory that is made of another one, of FXT or of SWAP has all of it, beside what uftrace reads."""
        self.build_requests("-std=c++17", "-pg")
        self.record("./requests", "each")
        wanted = self.shown("d")
        self.output("convert", "d", "x.fxt")
        self.output("dump", "--format=swap", "-o", "x.swap", "-d", "d")
        for source in ("d", "x.fxt", "x.swap"):
            with self.subTest(source=source):
                shutil.rmtree("made", ignore_errors=True)
                self.output("convert", source, "made")
                self.assertEqual(self.shown("made"), wanted)
                self.assertEqual(len(glob.glob("made/*.event")), 1)
                if shutil.which("uftrace"):
                    subprocess.run(["uftrace", "replay", "--no-pager", "-d", "made"], stdout=subprocess.DEVNULL,
                                   timeout=TIMEOUT, check=True)

    def test_leaks_of_each_process(self):
        """As LSAN messages of SWAP: a child has its own, and the program that it becomes says what it was."""
        self.compile("leaks", """\
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) void leak(int bytes) { kept = malloc(bytes); kept = 0; }
__attribute__((noinline)) void give(int bytes) { free(malloc(bytes)); }
int main(int argc, char **argv)
{
	give(30011);
	if (argc > 1) {
		leak(10007);
		return 0;
	}
	kept = malloc(20011);
	if (fork() == 0) {
		free(kept);
		leak(10009);
		execl(argv[0], argv[0], "child", NULL);
	}
	free(kept);
	wait(NULL);
	return 0;
}
""", "-g", "-O1")
        self.same_as_native(["--no-event", "--probe=memory", "--force"], "./leaks")
        subprocess.run([FTR, "dump", "--format=swap", "-o", "x.swap", "-d", "d"], stderr=subprocess.DEVNULL, timeout=TIMEOUT,
                       check=True)
        texts = []
        for path in glob.glob("x.swap.*.leaks"):
            with open(path, encoding="utf-8") as file:
                texts.append([line for line in file.read().splitlines() if "leak+" in line or "main+" in line or "give+" in line])
        (text,) = filter(None, texts)
        self.assertRegex(text[0], r"^10009 bytes in 1 block, asked for by leak\+0x[0-9a-f]+ \(0x[0-9a-f]+\), when it was /.*/leaks$")
        self.assertRegex(text[1], r"^10007 bytes in 1 block, asked for by leak\+0x[0-9a-f]+ \(0x[0-9a-f]+\)$")
        self.assertEqual(len(text), 2)

    def shown(self, data):
        return (self.output("replay", "-d", data, "--no-pager", "-f", "none", "--no-libcall"),
                self.output("report", "-d", data, "--no-pager", "--by=caller"))


if __name__ == "__main__":
    harness.main()
