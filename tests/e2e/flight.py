# SPDX-License-Identifier: MIT
"""A flight recorder: record --overwrite, its dumps, and what signals to the recorder do."""
import re

from recording import EXIT, LOST, Trace, build, harness

MB = 1 << 20
CALLS = 100_000         # of leaf in each work()


class FlightTest(harness.Test):
    @classmethod
    def set_up_class(cls):
        build("flight.c", "flight", "-pg", "-O1")

    def make(self, *words, status=0, stderr=""):
        done = self.ftr("record", "--no-libcall", "--no-event", "-d", "made", *words)
        self.assertEqual((done.returncode, done.stderr), (status, stderr))

    def record(self, *words, **expected):
        self.make(*words, **expected)
        return Trace("made").only()

    def names(self):
        """What was called, in order, each run of the same calls once; gaps are LOST."""
        done = self.ftr("replay", "--no-pager", "--no-merge", "-d", "made", "-f", "none")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = re.findall(r"(\w+)\(\)|/\* (LOST)", done.stdout)
        names = [name or lost for name, lost in names]
        return [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]

    def test_the_end(self):
        """As much as was asked for, of the end; what is missing is counted.

        The ring has room for all of it: were it full, the calls would wait, and have an event that tells how long."""
        records = self.record("--overwrite=1M", "-b", "16M", "./flight", "mark", "none")
        self.assertLessEqual(len(records) * 16, MB)
        self.assertGreater(len(records) * 16, MB // 2)
        self.assertEqual(records[0].type, LOST)
        self.assertEqual(records[0].time, records[1].time)
        self.assertEqual((records[-1].type, records[-1].depth), (EXIT, 0))
        calls = 1 + 3 * (1 + CALLS) + 1
        self.assertEqual(records[0].addr + len(records) - 1, 2 * calls)

    def test_all_of_it(self):
        records = self.record("--overwrite=64M", "-b", "16M", "./flight", "mark")
        self.assertEqual(len(records), 2 * (1 + 2 * (1 + CALLS) + 1))
        self.assertNotIn(LOST, {record.type for record in records})

    def test_a_crash(self):
        self.record("--overwrite=1M", "./flight", "abort", status=128 + 6)
        self.assertEqual(self.names(), ["LOST", "leaf"])

    def test_a_trigger(self):
        for _ in range(5):
            self.record("--overwrite=1M", "-T", "mark@dump", "./flight", "mark", "none")
            names = self.names()
            self.assertEqual(names[:3], ["LOST", "leaf", "mark"])
            self.assertEqual(names.count("LOST"), 2)

    def dumped(self, name, condition, stderr=""):
        """The first arguments of those calls of a function that are left: they asked for a dump.

        The ring is small: who asks before the recorder has come to the last request asks for nothing new."""
        self.make("--overwrite=512k", "-b", "64K", "-T", f"{name}@dump,if:{condition}",
                  "-A", "judged@arg1/i32,fparg1,arg2/s", "-R", "judged@retval/i64", "-A", "left@arg1/i32", "./flight",
                  "3", "5", "7", "9", stderr=stderr)
        done = self.ftr("replay", "--no-pager", "--no-merge", "-d", "made", "-f", "none")
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.findall(rf"{name}\((-?\d+)", done.stdout)

    def test_a_condition(self):
        """Of what is known when the call begins, and when it ends: as readers decide it."""
        for condition, asked in (("arg1==3", "3"), ("arg1>3 && arg1<9", "57"), ("fparg1>=3.5", "79"),
                                 ('arg2~"*"', "3579"), ('arg2 < "6"', "35"), ("retval<0", "3"), ("retval", "379"),
                                 ("retval==false", "5"), ("duration>10ms", "7"), ("duration>=20ms && retval==2", "7"),
                                 ("arg1==9 || duration>10ms", "79"), ("!(duration<10ms || arg1!=7)", "7"),
                                 ("!(arg1>3 && retval>0)", "35"), ('duration<10ms && arg2!~"?"', ""),
                                 ('duration<10ms && !(arg2~"5" || arg2=="3")', "9")):
            with self.subTest(condition=condition):
                self.assertEqual("".join(self.dumped("judged", condition)), asked)

    def test_a_condition_of_a_call_that_a_jump_left(self):
        """It has a duration, but no value."""
        self.assertEqual(self.dumped("left", "arg1 > 0 && duration > 0ns"), ["2", "4"])
        self.assertEqual(self.dumped("left", "retval >= 0 || arg1 < 0"), ["-2", "0"])

    def test_a_condition_that_the_program_cannot_decide(self):
        self.assertEqual(self.dumped("judged", 'arg2~"[35]"', stderr="ftr: warning: no call of judged asks for a dump: "
                                     "the condition compares what its values are not; choose others\n"), [])

    def test_triggers_in_a_row(self):
        """Who asks without end does not keep the recorder from dumping."""
        self.record("--overwrite=1M", "-T", "leaf@dump", "./flight")
        self.assertIn("leaf", self.names())

    def test_a_signal(self):
        records = self.record("--overwrite=1M", "--signal=SIGUSR1@dump", "./flight", "mark", "ask", "none")
        self.assertEqual(self.names()[:3], ["LOST", "leaf", "asked"])
        self.assertEqual(len([record for record in records if record.type == LOST]), 2)

    def test_a_time(self):
        records = self.record("--overwrite=10m", "-b", "16M", "./flight", "mark")
        self.assertEqual(len(records), 2 * (1 + 2 * (1 + CALLS) + 1))

    def test_threads_drain(self):
        records = self.record("--overwrite=1M", "--num-thread=2", "-T", "mark@dump", "./flight", "mark")
        self.assertEqual(records[0].type, LOST)

    def test_switched_by_signals(self):
        for start, words, names in (
                ("on", ("USR1@trace_off", "USR2@trace_on"), ["main", "work", "leaf", "asked", "work", "leaf"]),
                ("off", ("USR1@trace_on", "USR2@trace_off"), ["work", "leaf", "mark", "work", "leaf", "asked"]),
                ("on", ("USR1@trace_off",), ["main", "work", "leaf", "asked"])):
            with self.subTest(words=words):
                given = [f"--signal={word}" for word in words]
                self.record(f"--trace={start}", *given, "./flight",
                            *(["ask", "mark", "again"] if len(words) == 2 else ["ask", "mark"]))
                self.assertEqual(self.names(), names)

    def test_finished_by_a_signal(self):
        self.record("--signal=10@finish", "./flight", "ask", "mark",
                    stderr="ftr: warning: recording ends here: a signal finished it (--signal); the program "
                           "continues untraced\n")
        self.assertNotIn("mark", self.names())

    def test_refused(self):
        for words, reason in ((["--overwrite=0"], "keeps nothing"), (["--overwrite=x"], "neither a size like"),
                              (["--signal=USR1"], "is not SIGNAL@ACTION"), (["--signal=KILL@dump"], "cannot be used"),
                              (["--signal=USR1@dmp"], "no action"), (["--signal=SIGRTMIN+99@dump"], "cannot be"),
                              (["--signal=USR1@dump"], "add --overwrite"),
                              (["-T", "mark@dump"], "add --overwrite"),
                              (["--overwrite=1M", "-T", "leaf@dump,if:arg1->next>3"], "follows no pointers"),
                              (["--overwrite=1M", "-T", "leaf@dump,if:" + "||".join(["arg1>3"] * 65)], "there are 65")):
            with self.subTest(words=words):
                done = self.ftr("record", "-d", "none", *words, "./flight")
                self.assertEqual(done.returncode, 2)
                self.assertIn(reason, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    harness.main()
