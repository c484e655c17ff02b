# SPDX-License-Identifier: MIT
"""What programs say of themselves by ftr.h, in every view and format."""
import collections
import json
import os
import re
import shutil
import subprocess

from recording import CC, CXX, FTR, TIMEOUT, AsNative, harness

import swap_made

HEADER = os.path.join(os.environ["srcdir"], "libmcount")
COMPILERS = [compiler for compiler in (CC, CXX, ["clang"], ["clang++"]) if shutil.which(compiler[-1])]


class UserTest(AsNative):
    def output(self, *words):
        done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def build(self, name, *flags, compiler=None):
        compiler = compiler or CC
        language = ["-x", "c++"] if "++" in compiler[-1] else ["-std=gnu11"]
        source = os.path.join(os.environ["srcdir"], "tests/prog/user_marks.c")
        subprocess.run([*compiler, *language, "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-I", HEADER, "-o", name,
                        source, "-pthread", *flags], check=True, timeout=TIMEOUT)

    WANTED = collections.Counter({
        ("begin",): 1, ("x" * 200,): 1, ("",): 1,
        **{("queue", i / 2): 1 for i in range(5)},
        ("round", "begin"): 5, ("round", "end"): 5, ("across", "begin"): 1, ("across", "end"): 1,
    })

    def said(self, path="d"):
        """Marks, values of counters and ends of spans, of what replay shows."""
        found = collections.Counter()
        text = self.output("replay", "-d", path, "--no-pager", "--no-libcall")
        for name, rest in re.findall(r"/\* user:([\w -]*?)(?: (\((?!tid).*\)|(?:begin|end) #\d+.*))? \*/", text):
            span = re.match(r"(begin|end) #", rest)
            value = re.match(r"\(value=([-\d.]+)", rest)
            if name != "chart":
                found[(name, span.group(1)) if span else (name, float(value.group(1))) if value else (name,)] += 1
        return found, text

    def test_each(self):
        for compiler in COMPILERS:
            for flags in (["-pg"], ["-O2"], ["-O0", "-no-pie", "-fno-pie"]):
                with self.subTest(compiler=compiler[-1], flags=flags):
                    self.build("marks", *flags, compiler=compiler)
                    self.same_as_native(["--no-event"], "./marks")
                    found, text = self.said()
                    self.assertEqual(found, self.WANTED, text)
                    self.assertIn('a message: "done"', text)
                    self.assertRegex(text, r'user:chart \(type=4, color=3, caller=&main\+0x[0-9a-f]+, name="queue"\)')
                    self.assertRegex(text, r"user:begin \(caller=&main\+0x[0-9a-f]+\)")

    def test_libraries(self):
        self.build("libsay.so", "-DPART=1", "-shared", "-fPIC")
        self.build("plugin.so", "-DPART=2", "-shared", "-fPIC", compiler=CXX)
        self.build("marks", "-pg", "-Wl,--no-as-needed", "./libsay.so")
        self.same_as_native(["--no-event"], "./marks", "./plugin.so")
        found, text = self.said()
        self.assertEqual(found, self.WANTED + collections.Counter({("of a library",): 1, ("of a plug-in",): 1, ("of both", 1.0): 1,
                                                                   ("of both", 2.0): 1}), text)

    def test_static(self):
        """Without the dynamic linker they do nothing."""
        self.build("marks", "-static")
        done = subprocess.run(["./marks"], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "299\n"))

    def test_converted(self):
        self.build("marks", "-pg")
        self.same_as_native(["--no-event"], "./marks")
        self.output("convert", "d", "x.fxt")
        for source in ("d", "x.fxt"):
            shutil.rmtree("other", ignore_errors=True)
            self.output("convert", source, "other")
            self.assertEqual(self.said("other")[0], self.WANTED)
        report = self.output("report", "-d", "d", "--no-pager", "--by=event")
        self.assertRegex(report, r"(?m) 10  user:round$")
        if shutil.which("uftrace"):
            subprocess.run(["uftrace", "replay", "--no-pager", "-d", "d"], stdout=subprocess.DEVNULL, timeout=TIMEOUT, check=True)

    def test_chrome(self):
        self.build("marks", "-pg")
        self.same_as_native(["--no-event"], "./marks")
        events = json.loads(self.output("dump", "--chrome", "-d", "d"))["traceEvents"]
        values = [event["args"]["value"] for event in events if event["ph"] == "C" and event["name"] == "user:queue"]
        self.assertEqual(values, [0, 0.5, 1, 1.5, 2])
        spans = [(event["ph"], event["id"], event["cat"]) for event in events if event["name"] == "user:round"]
        self.assertEqual(sorted(collections.Counter(phase for phase, _, _ in spans).items()), [("b", 5), ("e", 5)])
        self.assertEqual(len({number for phase, number, _ in spans if phase == "b"}), 5)
        self.assertEqual({number for phase, number, _ in spans if phase == "b"}, {number for phase, number, _ in spans if phase == "e"})

    def test_messages(self):
        """Series are custom charts of SWAP."""
        self.build("marks", "-pg")
        self.same_as_native(["--no-event"], "./marks")
        self.output("dump", "--format=swap", "-o", "x.swap", "-d", "d")
        with open("x.swap", "rb") as stream, open("x.swap.side", encoding="utf-8") as side:
            numbers = dict(line.split() for line in side if line.startswith(("cpus\t", "devices\t")))
            found = [values for ident, _, _, values in swap_made.messages(stream.read(), int(numbers["cpus"]), int(numbers["devices"]))
                     if ident == 0x0109]
        self.assertEqual([(values["name"], values["type"], values["color"]) for values in found], [("queue", 4, 3)] + 5 * [("", 0, 0)])
        self.assertEqual([values["value"] for values in found[1:]], [0, 0.5, 1, 1.5, 2])
        self.assertEqual(len({values["handle"] for values in found}), 1)
        shutil.rmtree("other", ignore_errors=True)
        self.output("convert", "x.swap", "other")
        self.assertEqual({key: nr for key, nr in self.said("other")[0].items() if key[0] == "queue"},
                         {("queue", i / 2): 1 for i in range(5)})


if __name__ == "__main__":
    harness.main()
