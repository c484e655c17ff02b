# SPDX-License-Identifier: MIT
"""Reading by an index (doc/adr/0087): every command prints what it prints without, of real recordings."""
import glob
import os
import random
import shutil

from recording import build, harness

RECORDINGS = [[], ["-A", "step@arg1", "-R", "leaf@retval"], ["--no-event"], ["--nest-libcall"], ["--probe=memory"]]
RANGES = harness.times(6, short=2)
COMMANDS = (["replay", "-f", "time,delta,tid,addr"], ["replay", "--flat"], ["replay", "-t", "100us"], ["replay", "-D", "2"],
            ["replay", "-F", "step"], ["replay", "-N", "leaf"], ["replay", "-T", "step@trace_off", "--no-event"],
            ["replay", "-F", "outer"], ["report", "-F", "start", "-N", "dive"], ["replay", "-T", "usleep@trace_on", "--trace=off"],
            ["graph", "-F", "nothing"], ["replay", "-C", "leaper"], ["replay", "-F", "step@if:arg1>8000"], ["replay", "--event-full"], ["replay", "--json"],
            ["report", "-f", "all"], ["report", "--task"], ["report", "-t", "1us"], ["report", "-T", "leaf@time=0"], ["graph"],
            ["graph", "step"], ["dump"], ["dump", "-v"], ["dump", "-D", "2"], ["dump", "--chrome"], ["dump", "--format=fxt"], ["dump", "--format=swap"],
            ["dump", "--flame-graph"], ["dump", "--graphviz"], ["slowest", "step"])


def tids(data):
    return sorted(int(os.path.basename(path).split(".")[0]) for path in glob.glob(f"{data}/[0-9]*.dat*") if path.endswith((".dat", ".pack")))


class IndexTest(harness.Test):
    has_damaged_data = True     # uftrace is not to read packed data

    @classmethod
    def set_up_class(cls):
        build("long_story.c", "story", "-pg", "-O1")

    def run_well(self, *words):
        done = self.ftr(*words)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done

    def shown(self, data, *words):
        done = self.ftr(words[0], "--no-pager", "-d", data, *words[1:], text=False)
        # What is not called is likened to what was read.
        return done.returncode, done.stdout, done.stderr if b"no calls of" not in done.stderr else b""

    def moments(self, data):
        """When the trace begins and ends, in nanoseconds."""
        lines = self.run_well("replay", "--no-pager", "-d", data, "-f", "time", "--event-full").stdout.splitlines()
        stamps = [int(words[0].replace(".", "")) for line in lines if (words := line.split()) and words[0].replace(".", "").isdigit()]
        return min(stamps), max(stamps)

    def random_range(self, chance, first, last):
        begin = chance.randrange(first, last)
        end = begin + chance.choice((20000, 1000000, last - begin + 1))
        if chance.random() < .5:
            form = "{}.{:09d}"
            begin, end = (form.format(*divmod(at, 10**9)) for at in (begin, end))
        else:
            begin, end = f"{begin - first + 1}ns", f"{end - first + 1}ns"
        return f"{begin}~{end}" if chance.random() < .8 else f"{begin}~"

    def same_shown(self, data, seed):
        chance = random.Random(seed)
        first, last = self.moments(data)
        for number in range(RANGES):
            words = ["-r", self.random_range(chance, first, last)]
            if number % 2 == 1:
                words += ["--tid", str(chance.choice(tids(data)))]
            for command in chance.sample(COMMANDS, 7):
                whole = self.shown(data, *command, *words, "--no-index")
                for _ in range(2):      # the first may make the index
                    self.expect(self.shown(data, *command, *words) == whole, f"{command + words} of {data} prints something else")

    def indexed(self, data):
        """How many tasks have an index, once a range was shown that begins behind them."""
        _, last = self.moments(data)
        self.run_well("report", "-d", data, "-r", "{}.{:09d}~".format(*divmod(last, 10**9)))
        return len(glob.glob(f"{data}/*.index"))

    def test_recordings(self):
        for seed, options in enumerate(harness.few(RECORDINGS, short=2)):
            with self.subTest(options=options):
                self.run_well("record", "-d", "d", *options, "./story")
                self.same_shown("d", seed)
                self.assertEqual(self.indexed("d"), 3)
                self.assertFalse(glob.glob("d/.*"))

    def test_packed(self):
        self.run_well("record", "-d", "d", "./story")
        self.run_well("pack", "d")
        self.same_shown("d", 1)
        self.assertEqual(self.indexed("d"), 3)
        self.run_well("unpack", "d")        # the index is of other files then
        self.same_shown("d", 2)

    def test_tids(self):
        self.run_well("record", "-d", "d", "./story")
        chance = random.Random(9)
        for tid in tids("d"):
            for command in chance.sample(COMMANDS, 9):
                words = [*command, "--tid", str(tid)]
                self.assertEqual(self.shown("d", *words), self.shown("d", *words, "--no-index"), words)

    def test_damage(self):
        """Whatever lies there under that name, it is not believed, and made anew."""
        self.run_well("record", "-d", "d", "./story")
        chance = random.Random(5)
        first, last = self.moments("d")
        words = ["report", "-r", f"{(last - first) // 2}ns~"]
        whole = self.shown("d", *words)
        indexes = sorted(glob.glob("d/*.index"))
        texts = {}
        for path in indexes:
            with open(path, "rb") as file:
                texts[path] = file.read()
        for _ in range(30):
            for path, text in texts.items():
                bent = bytearray(text)
                bent[chance.randrange(len(bent))] ^= 1 << chance.randrange(8)
                with open(path, "wb") as file:
                    file.write(bent[:chance.choice((len(bent), chance.randrange(len(bent))))])
            self.assertEqual(self.shown("d", *words), whole)
        for path, text in texts.items():
            with open(path, "rb") as file:
                self.assertEqual(len(file.read()), len(text))
        shutil.copytree("d", "copy")
        self.assertEqual(self.shown("copy", *words)[1:], whole[1:])


if __name__ == "__main__":
    harness.main()
