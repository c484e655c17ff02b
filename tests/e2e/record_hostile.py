# SPDX-License-Identifier: MIT
"""ftr record of a program that writes what it likes into its ring and its channel (fake_tracee.c)."""
import glob
import re
import shutil
import struct
import subprocess
import time

from recording import EVENT, LOST, Recording, Trace, build, harness


class RecordHostileTest(Recording):
    has_damaged_data = True

    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        build("fake_tracee.c", "fake", "-O1")

    def fake(self, mode, *words, status=0, quiet=True):
        self.record("--force", "-b", "64K", *words, "./fake", mode, status=status, quiet=quiet)
        return Trace("d").only()

    def test_hole(self):
        records = self.fake("hole", "--clock", "counter", status=128 + 9)
        self.assertEqual([r.time for r in records], [1000, 2000, 3000])

    def test_backwards(self):
        records = self.fake("backwards", "--clock", "counter")
        self.assertEqual([r.time for r in records], [5000, 5000, 6000, 6500])

    def test_deep(self):
        records = self.fake("deep", "--clock", "counter")
        self.assertEqual([r.depth for r in records[:1500]],
                         [min(i, 1023) for i in range(1500)])
        self.assertEqual([r.depth for r in records[1500:]],
                         [min(i, 1023) for i in reversed(range(1500))])

    def test_future(self):
        records = self.fake("future")
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.assertEqual(len(records), 3)
        self.assertLess(records[-1].time, now)

    def test_fake_overwrite(self):
        records = self.fake("overwrite", "--clock", "counter", "--on-full", "overwrite")
        self.assertEqual(records[0].type, LOST)
        self.assertEqual([r.time for r in records[1:]], list(range(2 * 4096 + 5, 3 * 4096 + 5)))

    # Records with a payload (fake_tracee.c says what is in it).

    def payload_records(self, mode, *words, **options):
        """(index, payload or None) of each call, as it stands in the file; events are left out."""
        self.record("--force", "-b", "64K", "--clock", "counter", *words, "./fake", mode, **options)
        with open(glob.glob("d/[0-9]*.dat")[0], "rb") as file:
            data = file.read()
        at, found = 0, []
        while at < len(data):
            when, word = struct.unpack_from("<QQ", data, at)
            self.assertEqual(word & 0x38, 0x28, "at %#x" % at)
            at += 16
            if word & 3 == EVENT:
                if word & 4:
                    self.assertEqual(struct.unpack_from("<H", data, at)[0], 4)
                    at += 8
                continue
            self.assertEqual(word >> 16, 0x401000)
            self.assertEqual(word & 3, when // 64 % 2)
            size = (when // 64 * 37 % 1020 + 1) if word & 4 else 0
            found.append((when // 64, data[at:at + size] if word & 4 else None))
            self.assertEqual(data[at + size:at + (size + 7) // 8 * 8].strip(b"\0"), b"")
            at += (size + 7) // 8 * 8
        self.assertEqual(at, len(data))
        return found

    def check_payloads(self, found):
        for index, (when, payload) in enumerate(found):
            self.assertEqual(when, index)
            wanted = bytes((index + i) & 255 | 128 for i in range(index * 37 % 1020 + 1)) if index // 2 % 2 else None
            self.assertEqual(payload, wanted, index)

    def test_payload(self):
        found = self.payload_records("payload")
        self.check_payloads(found)
        self.assertEqual(len(found), 100)
        # Without a specification of the arguments it is passed over, and everything else is shown.
        dump = self.ftr("dump", "--no-pager", "-d", "d")
        self.assertEqual(dump.returncode, 0)
        self.assertEqual(len(re.findall("^.*(?:entry|exit)", dump.stdout, re.M)), 100, dump.stdout)

    def test_payload_of_events(self):
        self.record("--force", "--clock", "counter", "./fake", "payload-event")
        shown = [self.ftr("dump", "--no-pager", "-d", "d").stdout]
        if shutil.which("uftrace"):
            shown.append(subprocess.run(["uftrace", "dump", "--no-pager", "-d", "d"], stdout=subprocess.PIPE,
                                        text=True, check=True).stdout)
        for text in shown:
            self.assertIn("watch:cpu", text)
            self.assertIn("read:page-fault", text)
            self.assertEqual(len(re.findall("entry|exit", text)), 2, text)

    def test_payload_killed(self):
        for _ in range(3):
            found = self.payload_records("payload-killed", status=128 + 9)
            self.check_payloads(found)
            self.assertGreater(len(found), 100)

    def test_killed_before_a_first_call(self):
        """A thread that asks in vain is left the arguments of its call, also in vector registers."""
        for flags in (["-pg", "-mfentry"], ["-finstrument-functions"]):
            build("first_floats.c", "FLOATS.so", "-O2", *flags, "-fPIC", "-shared", "-DPLUGIN=FLOATS")
            build("first_floats.c", "floats", "-O2", *flags)
            for _ in range(5):
                shutil.rmtree("d", ignore_errors=True)
                done = self.ftr("record", "-d", "d", "./floats", "kill")
                self.assertEqual((done.returncode, done.stdout), (-9, "18 9\n"), done.stderr)

    def test_payload_lies(self):
        found = self.payload_records("payload-lies", quiet=False)
        self.assertEqual([when for when, _ in found], [4 * i + j for i in range(10) for j in (0, 1)])

    def test_payload_flips(self):
        found = self.payload_records("payload-flips", quiet=False)
        self.assertEqual([when for when, _ in found], list(range(len(found))))
        self.assertEqual(len(found), 3 * 4096 // 2)

    def test_garbage(self):
        # Some of it may be calls with arguments, whose length cannot be told from the file.
        self.record("--force", "-b", "64K", "./fake", "garbage", quiet=False)
        self.assertEqual(self.ftr("dump", "--no-pager", "-d", "d").returncode, 0)

    def test_gone(self):
        self.assertEqual(len(self.fake("gone")), 1)

    def test_shrink(self):
        self.assertEqual(len(self.fake("shrink")), 1)

    def test_control_is_read_only(self):
        self.assertEqual(len(self.fake("control", "--clock", "counter")), 4)

    def test_requests(self):
        self.assertEqual(len(self.fake("requests", "--clock", "counter", quiet=False)), 4)


if __name__ == "__main__":
    harness.main()
