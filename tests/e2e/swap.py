# SPDX-License-Identifier: MIT
"""SWAP streams: what ftr writes, decoded by the tables alone; and every message of the tables, read and written back."""
import re
import struct
import subprocess

from recording import FTR, TIMEOUT, Recording, harness

import swap_made

DATA = harness.SRCDIR + "/tests/data"
NO_EVENT = (0x0001, 0x0002, 0x0012)     # of programs, which readers take in


class Swap(Recording):
    def command(self, *words, stdin=None):
        done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT, check=False,
                              input=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def write(self, name, data):
        with open(name, "wb") as file:
            file.write(data)

    def read(self, name):
        with open(name, "rb") as file:
            return file.read()

    def side(self, name):
        with open(name + ".side", encoding="utf-8") as file:
            return [line.rstrip("\n").split("\t") for line in file]

    def cpus(self, name):
        return int(next(line[1] for line in self.side(name) if line[0] == "cpus"))

    def replay(self, path, stdin=None, events="--event-full"):
        done = self.command("replay", "--no-pager", "--color=no", events, path, stdin=stdin)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode()

    def converted(self, trace, *words):
        self.command("convert", *words, f"{DATA}/{trace}", "x.swap")
        numbers = {line[0]: line[1] for line in self.side("x.swap") if len(line) == 2}
        return self.read("x.swap"), int(numbers["cpus"]), int(numbers["devices"])

    def check_stream(self, data, cpus, devices, is_legacy=False):
        """Decoded to its last byte: numbers follow each other, times do not go back, calls are nested."""
        found, opened, last = list(swap_made.messages(data, cpus, devices, is_legacy)), {}, (0, 0)
        self.assertEqual([sequence for _, sequence, _, _ in found], list(range(len(found))))
        self.assertEqual(found[0][0], swap_made.SYSTEM)
        pids = [values["pid"] for ident, _, _, values in found if ident == 0x0001]
        self.assertEqual(sorted(values["pid"] for ident, _, _, values in found if ident == 0x0002), sorted(set(pids)))
        for ident, _, time, values in found:
            self.assertLess(time[1], 10**9)
            self.assertLessEqual(last, time)
            last = time
            if ident == 0x0008:
                stack = opened.setdefault(values["tid"], [])
                self.assertEqual(values["caller"], stack[-1] if stack else 0)
                stack.append(values["pc"])
            elif ident == 0x0009:
                self.assertEqual(opened[values["tid"]].pop(), values["pc"])
        return found

    def test_what_is_written_follows_the_tables(self):
        for trace in ("threads", "demo-fork", "values", "events"):
            with self.subTest(trace=trace):
                self.check_stream(*self.converted(trace))

    def test_times_in_the_form_of_old_hosts(self):
        data, cpus, devices = self.converted("threads", "--swap-time=legacy")
        self.check_stream(data, cpus, devices, is_legacy=True)
        shown = self.replay("x.swap")
        plain, *_ = self.converted("threads")
        self.assertNotEqual(data, plain)
        self.assertEqual(self.replay("x.swap"), shown)

    def lsan(self, data, cpus=0):
        """(status, pid, message) of each LSAN message, and that each process's TERMINATE comes later."""
        found, ended = [], set()
        for ident, _, _, values in swap_made.messages(data, cpus):
            if ident == 0x0022:
                self.assertNotIn(values["pid"], ended)
                self.assertEqual((values["call_type"], values["caller"]), (0, 0))
                found.append((values["status"], values["pid"], values["message"]))
            elif ident == 0x0002:
                ended.add(values["pid"])
        return found

    LEAKS = [
        "2372 bytes in 4 blocks not given back",
        "1000 bytes in 1 block, asked for by get+0xf (0x560707b25238)",
        "700 bytes in 1 block, asked for by store+0x21 (0x560707b252e7)",
        "672 bytes in 2 blocks, asked for at 0x7f20d7ebbcb3",
    ]

    def test_leaks(self):
        """A file names them, beside a file; else texts do.  The first request is before all others."""
        data, cpus, _ = self.converted("weights")
        head = struct.pack("<III", 4, 28587, 0)[:8]
        self.assertEqual(data.count(head + b"leaks are looked for\0" + bytes(12)), 1)
        self.assertEqual(data.count(struct.pack("<II", 2, 28587) + b"x.swap.28587.leaks\0" + bytes(12)), 1)
        self.assertEqual(self.lsan(data, cpus), [(4, 28587, "leaks are looked for"), (2, 28587, "x.swap.28587.leaks")])
        idents = [ident for ident, *_ in swap_made.messages(data, cpus)]
        self.assertEqual(idents[idents.index(0x0022) + 1], 0x0101)
        self.assertEqual(idents.index(0x0022) + 1, idents.index(0x0101))
        self.assertEqual(self.read("x.swap.28587.leaks").decode().splitlines(), self.LEAKS)
        piped = self.command("dump", "--format=swap", "-d", f"{DATA}/weights").stdout
        self.assertEqual(self.lsan(piped, cpus), [(4, 28587, "leaks are looked for")] + [(1, 28587, text) for text in self.LEAKS])

    def test_leaks_are_told_once(self):
        """Those of ftr are found again; those of others are passed on as they are."""
        self.converted("weights")
        self.assertNotIn("LSAN", self.replay("x.swap"))
        self.assertEqual(re.findall("memory:.*", self.replay("x.swap")), re.findall("memory:.*", self.replay(f"{DATA}/weights")))
        self.command("convert", "x.swap", "y.swap")
        self.assertEqual(self.lsan(self.read("y.swap"), self.cpus("y.swap")),
                         [(4, 28587, "leaks are looked for"), (2, 28587, "y.swap.28587.leaks")])
        piped = self.command("dump", "--format=swap", "-d", f"{DATA}/weights").stdout
        self.assertEqual(self.replay("-", piped).count("swap:LSAN"), 5)
        self.command("convert", "-", "z.swap", stdin=piped)
        self.assertEqual(self.lsan(self.read("z.swap"), self.cpus("z.swap")), self.lsan(piped, self.cpus("x.swap")))
        self.assertEqual(self.replay("z.swap").count("swap:LSAN"), 5)
        self.write("x.swap", swap_made.stream([(0x0022, struct.pack("<II", 2, 70) + b"a\0" + bytes(12))]))
        self.command("convert", "x.swap", "y.swap")
        self.assertEqual(self.lsan(self.read("y.swap"), self.cpus("y.swap")), [(2, 70, "a")])

    def test_leaks_are_not_told_of_a_part(self):
        for words in (("-N", "get"), ("-r", "10us~40us"), ("--no-event",), ("-D", "1")):
            data = self.command("dump", "--format=swap", *words, "-d", f"{DATA}/weights").stdout
            self.assertNotIn(b"leaks are looked for", data)

    def test_the_form_of_times_is_detected(self):
        entry = struct.pack("<IIQQI", 70, 70, 0x1000, 0, 0) + struct.pack("<I", 0)
        leave = struct.pack("<IIQQI", 70, 70, 0x1000, 0, 0) + b"v"
        for seconds in (1700000000, 77):
            for is_legacy in (False, True):
                with self.subTest(seconds=seconds, is_legacy=is_legacy):
                    self.write("x.swap", swap_made.stream([(8, entry), (9, leave)], is_legacy, seconds=seconds))
                    self.assertRegex(self.replay("x.swap"), r"1\.000 us \[ *70\] \| <1000>\(\);")

    def test_what_is_read_back_is_the_same(self):
        """But for events without a message, of which the writer gives the number."""
        self.converted("threads")
        self.assertEqual(self.replay("x.swap", None, "--no-event"), self.replay(f"{DATA}/threads", None, "--no-event"))
        self.command("convert", "x.swap", "y.swap")
        self.command("convert", "y.swap", "z.swap")
        self.assertEqual(self.read("y.swap"), self.read("z.swap"))
        self.assertEqual(self.side("y.swap"), self.side("z.swap"))
        self.assertEqual(self.replay("x.swap"), self.replay("z.swap"))

    def test_every_message_there_and_back(self):
        items = [(ident, payload) for ident, payload in swap_made.payloads() if ident not in NO_EVENT]
        self.write("x.swap", swap_made.stream(items))
        shown = self.replay("x.swap")
        for ident, _ in items:
            name = "SYSTEM" if ident == swap_made.SYSTEM else swap_made.TABLE[ident][0]
            if not re.match("FUNCTION|SYSCALL|CONTEXT|ERROR|SAMPLE", name):
                self.assertIn("swap:" + name, shown)
        self.command("convert", "x.swap", "y.swap")
        written = {}
        data, at = self.read("y.swap"), 0
        while at < len(data):
            ident, *_, size = struct.unpack_from("<IIIII", data, at)
            written.setdefault(ident, []).append(data[at + 20:at + 20 + size])
            at += 20 + size
        for ident, payload in items:
            if ident not in (0x0003, 0x0008, 0x0009, 0x000a, 0x000b, 0x0010, 0x0011):
                with self.subTest(ident=hex(ident)):
                    self.assertIn(payload, written.get(ident, []))

    def test_sequence_numbers_wrap_and_gaps_are_losses(self):
        sample = struct.pack("<IQII", 70, 0x1000, 70, 0)
        self.write("x.swap", swap_made.stream([(4, sample)] * 4, sequence=0xfffffffe))
        self.assertNotIn("LOST", self.replay("x.swap"))
        self.write("x.swap", swap_made.stream([(4, sample)] * 2) + swap_made.stream([(4, sample)] * 2, sequence=7))
        self.assertIn("LOST 5 records", self.replay("x.swap"))

    def test_damage_is_passed_over(self):
        sample = struct.pack("<IQII", 70, 0x1000, 70, 0)
        data = swap_made.stream([(4, sample)] * 3)
        self.write("x.swap", data + b"\xff" * 50 + swap_made.stream([(4, sample)] * 2, sequence=3) + data[:30])
        done = self.command("replay", "--no-pager", "--event-full", "x.swap")
        self.assertEqual(done.stdout.count(b"sample:cpu"), 5)
        self.assertIn(b"not a message, or truncated", done.stderr)

    def test_from_a_pipe(self):
        sample = struct.pack("<IQII", 70, 0x1000, 70, 0)
        self.assertIn("sample:cpu (0x1000)", self.replay("-", swap_made.stream([(4, sample)])))

    def test_a_side_file_of_another_stream_is_not_believed(self):
        self.converted("threads")
        self.write("x.swap", swap_made.stream([(4, struct.pack("<IQII", 70, 0x1000, 70, 0))]))
        done = self.command("replay", "--no-pager", "x.swap")
        self.assertIn(b"belongs to another stream", done.stderr)


if __name__ == "__main__":
    harness.main()
