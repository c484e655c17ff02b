# SPDX-License-Identifier: MIT
"""trace.dat, the file of trace-cmd: made ones of every layout, option and damage, against what they were made of."""
import os
import re
import shutil
import struct
import subprocess
import sys

from recording import FTR, SRCDIR, TIMEOUT, harness
import tracedat_made as made

WORK, IDLE, SCHED = 0xc0000010, 0xc0000100, 0xc0000200
PRINTK, PRINTK_ODD = 0xc0001000, 0xc0001010
SECOND = 10 ** 9
LAYOUTS = [(is_big, long_bytes) for is_big in (False, True) for long_bytes in (4, 8)]


def story(machine):
    """Two CPUs, with calls, texts, all types of records, and losses."""
    first, second = made.Pages(machine), made.Pages(machine)
    first.put(1000, machine.call(10, WORK))
    first.put(1500, machine.call(10, SCHED))
    first.put(1600, machine.said(10, "hello", 7))
    first.put(2000, machine.call(10, SCHED, True))
    first.put(3000, machine.call(10, WORK, True))
    first.put(4000, machine.switch(10, "worker", 12, "other one"))
    first.put(4000 + SECOND, machine.print(12, WORK + 5, "text of print\n"))
    second.put(2500, machine.bprint(11, IDLE + 5, PRINTK, b"seven\0\0\0" + machine.pack("i", 7)))
    second.put(2600, machine.bprint(11, IDLE + 5, PRINTK_ODD, machine.pack("ii", 7, 9)))
    second.put(2700, machine.function(0, SCHED + 5, IDLE + 5), True)
    second.stamp(SECOND + 9000)
    second.pad(SECOND + 10000, 20)
    second.put(SECOND + 10001, machine.newtask(11, 13, "kid", 0x10000))
    second.begin(SECOND + 20000, 5)
    second.put(SECOND + 20001, machine.said(13, "x" * 200, -1))
    second.begin(SECOND + 30000, 0)
    second.put(SECOND + 30001, machine.said(13, "y", -1))
    return [first.data(), second.data()]


SHOWN = f"""\
10 1000 > do_work
10 1500 > sched_it
10 1600 my:said hello 7
10 2000 < sched_it
11 2500 ftrace:bprint do_idle: seven is 7
11 2600 ftrace:bprint ip=0xc0000105 fmt=0xc0001010 buf=ARRAY[]
0 2700 ftrace:function sched_it <-- do_idle
10 3000 < do_work
10 4000 sched:sched_switch worker:10 ==> other one:12
12 1000004000 ftrace:print do_work: text of print
11 1000010001 task:task_newtask pid=13 comm=kid flags=10000
13 1000020001 my:said {"x" * 200} -1
13 1000030001 my:said y -1
"""


class TraceDat(harness.Test):
    """Helpers."""

    def save(self, data, name="x.dat"):
        with open(name, "wb") as file:
            file.write(data)
        return name

    def dump(self, name="x.dat", warnings=""):
        """A line for each event: tid, time, what."""
        run = self.ftr("dump", "--no-pager", name)
        self.assertEqual((run.returncode, run.stderr), (0, warnings))
        lines, shown = [], ""
        for line in run.stdout.splitlines():
            head = re.match(r"(\d+)\.(\d{9}) +(\d+): \[(\w+) *\] (.*)", line)
            if head is None:
                data = re.match(r"  [\w:]+: (.*)", line)
                if data is not None:
                    lines[-1] += " " + data.group(1)
                continue
            seconds, ns, tid, kind, rest = head.groups()
            at = f"{tid} {int(seconds) * SECOND + int(ns)} "
            name = rest.split("(")[0]
            if kind == "data":
                continue
            lines.append(at + {"entry": "> " + name, "exit": "< " + name, "event": name}.get(kind, kind))
        shown = "".join(line + "\n" for line in lines)
        return shown

    def check(self, data, expected=SHOWN, warnings=""):
        self.save(data)
        self.assertEqual(self.dump(warnings=warnings), expected)

    def losses(self):
        shown = self.ftr("replay", "--no-pager", "-f", "tid", "x.dat").stdout
        return [f"{tid} {text}" for tid, text in re.findall(r"\[ +(\d+)\] \| +/\* (LOST.*?) \*/", shown)]

    def one(self, machine, time=1000, text="a"):
        pages = made.Pages(machine)
        pages.put(time, machine.said(10, text, 1))
        return pages.data()

    def warned(self, data, *expected):
        """The warnings; and what is left is shown."""
        self.save(data)
        run = self.ftr("dump", "--no-pager", "x.dat")
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = [line for line in run.stderr.splitlines() if line]
        self.assertEqual(len(lines), len(expected), run.stderr)
        for line, text in zip(lines, expected):
            self.assertIn(text, line)
        return run.stdout

    def refused(self, data, text):
        self.save(data)
        run = self.ftr("dump", "--no-pager", "x.dat")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn(text, run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1)


class Read(TraceDat):
    # Layouts.

    def test_version_6(self):
        for is_big, long_bytes in LAYOUTS:
            machine = made.Machine(is_big, long_bytes)
            self.check(made.version6(machine, story(machine)))
            self.assertEqual(self.losses(), ["11 LOST 5 kernel events of CPU 1", "13 LOST kernel events of CPU 1"])

    def test_longs_of_programs_are_not_those_of_the_kernel(self):
        machine = made.Machine(long_bytes=8)
        self.check(made.version6(machine, story(machine), user_long=4))

    def test_pages_of_other_sizes(self):
        for page_bytes in (512, 65536):
            machine = made.Machine(page_bytes=page_bytes)
            self.check(made.version6(machine, story(machine)))

    def test_version_7(self):
        for is_big, long_bytes in LAYOUTS:
            for packer in ("none", "zlib"):
                machine = made.Machine(is_big, long_bytes)
                file = made.Version7(machine, packer)
                file.buffer("", "mono", list(enumerate(story(machine))))
                file.metas((5, 3, 1, 0, 4, 2))      # in any order
                self.check(file.finish())

    def test_chunks_of_several_pages(self):
        machine = made.Machine()
        file = made.Version7(machine, "zlib")
        file.metas()
        file.buffer("", "mono", list(enumerate(story(machine))), 2)
        self.check(file.finish())

    def test_from_a_pipe(self):
        machine = made.Machine()
        for data in (made.version6(machine, story(machine)),):
            whole = self.ftr("report", "--no-pager", "-f", "total,call", self.save(data)).stdout
            with open("x.dat", "rb") as file:
                piped = self.ftr("report", "--no-pager", "-f", "total,call", "-", stdin=file).stdout
            run = subprocess.run(["sh", "-c", f'cat x.dat | "{FTR}" report --no-pager -f total,call -'],
                                 stdout=subprocess.PIPE, text=True, timeout=TIMEOUT, check=True)
            self.assertIn("do_work", whole)
            self.assertEqual((piped, run.stdout), (whole, whole))

    # Commands.

    def test_commands(self):
        machine = made.Machine()
        self.save(made.version6(machine, story(machine), [(made.UNAME, b"Linux box 6.1.0-9 x86_64\0"),
                                                          (made.VERSION, b"3.1.6\0")]))
        shown = self.ftr("report", "--no-pager", "-f", "total,self,call", "x.dat").stdout
        self.assertRegex(shown, r"2\.000 us +1\.500 us +1 +do_work\n +0\.500 us +0\.500 us +1 +sched_it")
        shown = self.ftr("replay", "--no-pager", "x.dat").stdout
        self.assertRegex(shown, r"\[ +10\] \|   sched_it\(\) \{\n.*\| +/\* my:said \(hello 7\) \*/")
        self.assertIn("sched_it", self.ftr("graph", "--no-pager", "x.dat").stdout)
        shown = self.ftr("info", "--no-pager", "x.dat").stdout
        self.assertRegex(shown, r"kernel version +: Linux 6\.1\.0-9\n# hostname +: box")
        for suffix in ("fxt", "json", "mmd"):
            run = self.ftr("convert", "x.dat", "y." + suffix)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(self.dump("y.fxt").count(" > "), 2)
        self.assertEqual(self.ftr("convert", "--to=uftrace", "x.dat", "y").returncode, 0)
        self.assertIn("my:said", self.ftr("replay", "--no-pager", "--event-full", "--kernel-full", "-d", "y").stdout)

    def test_threads_and_names(self):
        machine = made.Machine()
        pages = made.Pages(machine)
        pages.put(1, machine.newtask(10, 20, "thread", 0x10000))
        pages.put(2, machine.newtask(20, 21, "deeper", 0x10000))
        pages.put(3, machine.newtask(10, 22, "process", 0))
        for tid in (20, 21, 22, 23):
            pages.put(10 + tid, machine.said(tid, "here", tid))
        self.save(made.version6(machine, [pages.data()]))
        self.assertEqual(self.ftr("convert", "x.dat", "y.json").returncode, 0)
        with open("y.json", encoding="utf-8") as file:
            text = file.read()
        names = dict(re.findall(r'"pid":(\d+),"tid":\d+,"name":"thread_name","args":{"name":"\[\d+\] (.*?)"', text))
        tasks = set(re.findall(r'"pid":(\d+),"tid":(\d+),"name":"thread_name"', text))
        self.assertEqual(tasks, {("10", "10"), ("10", "20"), ("10", "21"), ("22", "22"), ("23", "23")})
        self.assertEqual(names["22"], "process")
        self.assertEqual(names["23"], "<...>")

    def test_idle_calls_on_two_processors_do_not_mix(self):
        machine = made.Machine()
        cpus = [made.Pages(machine), made.Pages(machine)]
        for cpu, pages in enumerate(cpus):
            pages.put(1000 + 100 * cpu, machine.call(0, IDLE))
            pages.put(2000 + 100 * cpu, machine.call(0, IDLE, True))
        self.save(made.version6(machine, [pages.data() for pages in cpus]))
        shown = self.ftr("report", "--no-pager", "-f", "total,self,call", "x.dat").stdout
        self.assertRegex(shown, r"2\.000 us +2\.000 us +2 +do_idle")

    # Options.

    def test_clocks(self):
        machine = made.Machine()
        tsc = (made.TRACECLOCK, b"local [x86-tsc] mono\n\0")
        factor = (made.TSC2NSEC, struct.pack("<IIQ", 3 << 20, 21, 77))
        shift = struct.pack("<QIIIQQqqQQIqqq", 1, 0, 2, 2, 500, 100, 20, 10, 1, 2, 0, 0, 1, 0)
        rows = [
            ([], 1000), ([(made.TRACECLOCK, b"local [mono]\n\0")], 1000),
            ([(made.DATE, b"0x10\0")], 17000), ([(made.OFFSET, b"16\0")], 1016), ([(made.OFFSET, b"-16\0")], 984),
            ([tsc, factor], 1500), ([tsc, factor, (made.OFFSET, b"0x10\0"), (made.DATE, b"1")], 2516),
            ([(made.TIME_SHIFT, struct.pack("<QIIIQqQ", 1, 0, 1, 1, 0, 500, 1))], 1500),
            ([(made.TIME_SHIFT, shift[:-24])], 1020),
            ([(made.TIME_SHIFT, struct.pack("<QIIIQqQQ", 1, 0, 1, 1, 5000, -100, 3, 1))], 1400),
        ]
        for options, expected in rows:
            self.check(made.version6(machine, [self.one(machine)], options), f"10 {expected} my:said a 1\n")

    def test_ticks_of_unknown_length(self):
        machine = made.Machine()
        shown = self.warned(made.version6(machine, [self.one(machine)], [(made.TRACECLOCK, b"[x86-tsc]\0")]),
                            "times are counts of the clock x86-tsc")
        self.assertIn("0.000001000", shown)

    def test_number_of_processors(self):
        machine = made.Machine()
        data = made.version6(machine, [self.one(machine), self.one(machine, 2000)],
                             [(made.CPUCOUNT, machine.pack("I", 2))], cpu_nr=1)
        self.check(data, "10 1000 my:said a 1\n10 2000 my:said a 1\n")

    def test_instances(self):
        machine = made.Machine()
        data = made.version6(machine, [self.one(machine), b""], [(made.TRACEID, machine.pack("Q", 1))],
                             [("net", [b"", self.one(machine, 500)]), ("two", [self.one(machine, 3000), b""])])
        expected = "10 500 my:said net: a 1\n10 1000 my:said a 1\n10 3000 my:said two: a 1\n"
        self.check(data, expected)
        file = made.Version7(machine, "zlib")
        file.metas()
        file.buffer("net", "mono", [(7, self.one(machine, 500))])
        file.buffer("", "mono", [(0, self.one(machine))])
        file.buffer("two", "mono", [(1, self.one(machine, 3000))])
        self.check(file.finish(), expected)

    def test_options_that_say_nothing_here(self):
        machine = made.Machine()
        options = [(made.CPUSTAT, b"CPU: 0\nentries: 1\n\0"), (made.HOOK, b"a,b,c\0"), (made.TRACEID, bytes(8)),
                   (made.PROCMAPS, b"1 0 x\n\0"), (made.GUEST, b"box\0" + bytes(12))]
        self.check(made.version6(machine, [self.one(machine)], options), "10 1000 my:said a 1\n")
        self.warned(made.version6(machine, [self.one(machine)], [(99, b"new")]), "unknown option 99 is ignored")

    # Texts of latency tracers.

    TEXT = """\
# tracer: nop
#
           worker-10    [001] d..2.   100.000001: said: hello 7
       my task-1-11    (     11) [000]   100.000002: do_work <-sched_it
CPU:1 [LOST 12 EVENTS]
          <idle>-0       [001] dNh1.   100.000003: unknown_one: a: b
  worker-10      0d..3    12us+: sched_switch: worker:10 ==> x:1
 => not an event
"""
    TEXT_SHOWN = """\
10 100000001000 my:said hello 7
11 100000002000 ftrace:function do_work <-sched_it
0 100000003000 unknown_one a: b
10 100000003000 sched:sched_switch worker:10 ==> x:1
"""

    def test_latency(self):
        machine = made.Machine()
        warning = "ftr: warning: x.dat: 1 lines are not events of a task and are skipped, the first is line 8\n"
        self.check(made.version6(machine, [], latency=self.TEXT), self.TEXT_SHOWN, warning)
        self.assertEqual(self.losses(), ["11 LOST 12 kernel events of CPU 1"])
        for packer in ("none", "zlib"):
            file = made.Version7(machine, packer)
            file.metas()
            text = self.TEXT.encode()
            if packer == "none":
                section = file.section(made.BUFFER_TEXT, text)
            else:
                section = len(file.data)
                data = machine.pack("I", 1) + file.chunk(text)
                file.data += machine.pack("HHIQ", made.BUFFER_TEXT, 1, 0, len(data)) + data
            file.options.append((made.BUFFER_TEXT, machine.pack("Q", section) + b"\0mono\0"))
            self.check(file.finish(), self.TEXT_SHOWN, warning)

    # Damage.

    def test_refused(self):
        machine = made.Machine()
        good = made.version6(machine, [self.one(machine)])
        self.refused(made.version6(machine, [], version=b"5"), "version 5 of trace.dat: ftr reads versions 6 and 7")
        self.refused(good[:12] + b"\x02" + good[13:], "byte order 2 and longs of 8 bytes are not possible")
        self.refused(good[:13] + b"\x05" + good[14:], "byte order 0 and longs of 5 bytes are not possible")
        self.refused(good[:14] + b"\x01\x10\0\0" + good[18:], "pages of 4097 bytes are not possible")
        self.refused(good[:16], "ends inside its header")
        self.refused(good.replace(b"header_page", b"header_pag3"), "header_page and header_event")
        metas = machine.metas()
        end = 18
        for meta, name in zip(metas, ["header_page and header_event", "the formats of ftrace",
                                      "the formats of events", "kallsyms", "printk_formats", "saved_cmdlines"]):
            for cut in (end + 2, end + len(meta) - 1):
                self.refused(good[:cut], "the file ends inside " + name)
            end += len(meta)
        self.refused(good[:end + 3], "the file ends inside its list of CPUs")
        self.refused(made.Version7(machine, "lzo").finish(), 'compressed by "lzo"')

    def test_what_is_left_is_shown(self):
        machine = made.Machine()
        good = made.version6(machine, [self.one(machine), self.one(machine, 2000)])
        flyrecord = good.index(b"flyrecord\0")
        self.warned(good[:flyrecord + 5], "the file ends before its events")
        self.warned(good[:flyrecord] + b"flyrecorD\0" + good[flyrecord + 10:], 'there should be "flyrecord"')
        self.warned(good[:flyrecord + 20], "ends inside its list of 2 CPUs")
        self.assertIn("my:said", self.warned(good[:-4096], "CPU 1: the file ends inside its pages"))
        self.assertIn("my:said", self.warned(good[:-4090], "CPU 1: the file ends inside its pages",
                                             "the file ends inside a page"))
        far = good[:flyrecord + 26] + machine.pack("Q", 1 << 60) + good[flyrecord + 34:]
        self.assertIn("my:said", self.warned(far, "CPU 1: its pages would be beyond the end"))
        for option, text in [((made.DATE, b"soon\0"), "damaged offset of the clock is ignored: soon"),
                             ((made.TSC2NSEC, bytes(16)), "damaged TSC2NSEC"),
                             ((made.TIME_SHIFT, bytes(12) + b"\xff" * 8), "damaged TIME_SHIFT"),
                             ((made.BUFFER, b"\xff" * 8 + b"x\0"), "the events of an instance are missing"),
                             ((made.BUFFER, b"short"), "the events of an instance are missing")]:
            shown = self.warned(made.version6(machine, [self.one(machine)], [option]), text)
            self.assertIn("1000", shown)

    def test_damaged_formats(self):
        machine = made.Machine()
        machine.events["my"].append("no format")
        machine.printk += "nonsense\n"
        shown = self.warned(made.version6(machine, [self.one(machine)]), "damaged format of my:?",
                            "1 damaged lines of printk_formats")
        self.assertIn("my:said", shown)

    def test_damaged_sections(self):
        machine = made.Machine()

        def file(packer="zlib"):
            seven = made.Version7(machine, packer)
            seven.metas()
            seven.buffer("", "mono", [(0, self.one(machine)), (1, self.one(machine, 2000))])
            return seven
        for number, warnings in [(made.HEADER_INFO, ["should be section 16", "header_page does not say"]),
                                 (made.KALLSYMS, ["should be section 19"])]:
            seven = file()
            seven.options = [(i, machine.pack("Q", 20) if i == number else data) for i, data in seven.options]
            self.assertIn("my:said", self.warned(seven.finish(), *warnings))
        seven = file()                          # options that lead back to themselves
        data = bytearray(seven.finish())
        first, = struct.unpack_from("<Q", data, seven.first)
        again = data.index(machine.pack("HI", 0, 8), first) + 6
        data[again:again + 8] = machine.pack("Q", first)
        self.save(bytes(data))
        self.assertEqual(self.ftr("dump", "x.dat").returncode, 0)
        seven = file()
        data = seven.finish()
        at = data.index(zipped := seven.chunk(self.one(machine))[8:])
        broken = data[:at] + bytes(len(zipped)) + data[at + len(zipped):]
        self.assertIn("2000", self.warned(broken, "CPU 0: compressed data are damaged"))
        huge = data[:at - 4] + b"\xff" * 4 + data[at:]
        self.assertIn("2000", self.warned(huge, "CPU 0: compressed data are damaged"))
        seven.options.append((made.BUFFER, b"short"))
        self.assertIn("my:said", self.warned(seven.finish(), "the events of a buffer are missing"))

    def test_cut_anywhere(self):
        """Whatever is there of a file, ftr ends by itself, with what it found or one message."""
        machine = made.Machine()
        seven = made.Version7(machine, "zlib")
        seven.metas()
        seven.buffer("", "mono", list(enumerate(story(machine))))
        for data in (made.version6(machine, story(machine)), seven.finish()):
            for cut in range(0, len(data), 211):
                self.save(data[:cut])
                run = self.ftr("dump", "--no-pager", "x.dat")
                self.assertIn(run.returncode, (0, 1), (cut, run.stderr))
                self.assertTrue(run.returncode == 0 or run.stderr.count("\n") == 1, (cut, run.stderr))


class Written(TraceDat):
    """What ftr writes, ftr and trace-cmd read."""

    def setUp(self):
        super().setUp()
        harness.build("threads.c", "prog", "-pg", "-O1")
        run = self.ftr("record", "--no-event", "-d", "d", "./prog")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def write(self, source, target="x.dat", *warnings):
        run = self.ftr("dump", "--format=trace.dat", "-o", target, "-d", source)
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in warnings:
            self.assertIn(text, run.stderr)
        if not warnings:
            self.assertEqual(run.stderr, "")
        return target

    def calls(self, source):
        run = self.ftr("replay", "--no-pager", "-f", "time,duration,tid", "--no-event", source)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def test_calls_are_the_same(self):
        self.write("d", "x.dat", "images of programs with their modules", "processes of threads")
        self.assertIn("main() {", self.calls("d"))
        self.assertEqual(self.calls("x.dat"), self.calls("d"))

    def test_programs_calls_are_none_of_the_kernels(self):
        """Nothing needs --kernel-full, whatever the file becomes."""
        self.write("d", "x.dat", "not in the output")
        for way in (["x.dat", "y.fxt"], ["--to=uftrace", "x.dat", "y"], ["y.fxt", "z.dat"], ["z.dat", "z.fxt"]):
            self.assertEqual(self.ftr("convert", *way).returncode, 0)
            self.assertEqual(self.calls(way[-1]), self.calls("d"), way)
        with open("x.dat", "rb") as file:
            data = file.read()
        self.assertEqual(data.count(b"\nftr ") + data.count(b"\0ftr "), 1)
        self.save(re.sub(rb"(?<=[\n\0])ftr ", b"who ", data), "other.dat")     # may be where a kernel is
        self.assertEqual(self.ftr("convert", "other.dat", "other.fxt").returncode, 0)
        self.assertNotIn("main", self.calls("other.fxt"))

    def test_again_it_is_the_same_file(self):
        self.write("d", "x.dat", "not in the output")
        self.write("x.dat", "y.dat")
        self.assertEqual(self.ftr("convert", "x.dat", "z.dat").returncode, 0)
        with open("x.dat", "rb") as x, open("y.dat", "rb") as y, open("z.dat", "rb") as z:
            first = x.read()
            self.assertEqual((y.read(), z.read()), (first, first))
        piped = self.ftr("dump", "--format=trace.dat", "-o", "-", "x.dat", text=False).stdout
        self.assertEqual(piped, first)

    def test_records_are_kept(self):
        for is_big, long_bytes in LAYOUTS:
            self.check_kept(made.Machine(is_big, long_bytes))

    def check_kept(self, machine):
        secret = machine.pack("HBBi", 302, 0x41, 0x17, 10) + machine.pack("Ii", 4 << 16 | 16, 5) + b"abc\0hidden!\0"
        pages = made.Pages(machine)
        pages.put(SECOND, secret)
        pages.put(SECOND + 1, machine.call(14, WORK, True))     # began before
        data = made.version6(machine, story(machine), (), [("net", [b"", self.one(machine, 500)]),
                                                           ("two", [pages.data(), b""])])
        self.save(data)
        shown, losses = self.dump(), self.losses()
        self.assertEqual(self.ftr("convert", "x.dat", "y.dat").stderr, "")
        with open("y.dat", "rb") as file:
            written = file.read()
        for record in (secret, machine.switch(10, "worker", 12, "other one"), machine.function(0, SCHED + 5, IDLE + 5),
                       machine.bprint(11, IDLE + 5, PRINTK_ODD, machine.pack("ii", 7, 9)), machine.said(10, "a", 1),
                       machine.print(12, WORK + 5, "text of print\n")):
            self.assertIn(record, written)
        for text in (machine.events["sched"][0], machine.ftrace[0], machine.printk):
            self.assertIn(text.encode(), written)
        self.assertEqual(self.dump("y.dat"), shown)
        self.assertEqual(self.ftr("convert", "y.dat", "z.dat").stderr, "")
        with open("z.dat", "rb") as file:
            self.assertEqual(file.read(), written)
        os.rename("y.dat", "x.dat")
        self.assertEqual(self.losses(), losses)

    def test_trace_cmd_sees_the_same_in_what_was_kept(self):
        if shutil.which("trace-cmd") is None:
            self.skipTest("trace-cmd is not installed")
        for is_big, long_bytes in LAYOUTS:
            self.check_trace_cmd(made.Machine(is_big, long_bytes))

    def check_trace_cmd(self, machine):
        machine.cmdlines += "12 other one\n13 kid\n"      # ftr finds them in events, and writes them
        # What trace-cmd 3.1 does with a trace_printk that it cannot follow is not for this test.
        machine.printk = machine.printk.splitlines()[0] + "\n"
        first, second = story(machine)
        self.save(made.version6(machine, [first, second], (), [("net", [b"", self.one(machine, 500)])]))
        self.assertEqual(self.ftr("convert", "x.dat", "y.dat").stderr, "")
        reports = [self.run_program("trace-cmd", "report", "-t", "-N", name) for name in ("x.dat", "y.dat")]
        for run in reports:
            self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(reports[0].stdout, r"net:.*said: *a 1")
        self.assertEqual(reports[1].stdout, reports[0].stdout)

    def test_records_that_no_page_holds_become_texts(self):
        for is_big, long_bytes in LAYOUTS:
            self.check_long(made.Machine(is_big, long_bytes, 65536))

    def check_long(self, machine):
        pages = made.Pages(machine)
        pages.put(1000, machine.said(10, "x" * 3000, 1))
        pages.put(2000, machine.said(10, "y" * 5000, 1))
        self.save(made.version6(machine, [pages.data()]))
        self.assertIn("1 ends of long texts", self.ftr("convert", "x.dat", "y.dat").stderr)
        first, second = self.dump("y.dat").splitlines()
        self.assertEqual(first, f"10 1000 my:said {'x' * 3000} 1")
        self.assertRegex(second, "^10 2000 my:said y{4000,4090}$")
        os.rename("y.dat", "x.dat")
        self.assertEqual(self.ftr("convert", "x.dat", "y.dat").stderr, "")
        self.assertEqual(self.dump("y.dat").splitlines(), [first, second])

    def test_events_keep_their_processors(self):
        for is_big, long_bytes in LAYOUTS:
            machine = made.Machine(is_big, long_bytes)
            self.save(made.version6(machine, story(machine)))
            self.assertEqual(self.ftr("convert", "x.dat", "y.dat").stderr, "")
            self.assertEqual(self.dump("y.dat"), SHOWN)
            self.assertEqual(self.ftr("convert", "y.dat", "y.fxt").returncode, 0)
            run = self.run_program(sys.executable, os.path.join(SRCDIR, "tests/roundtrip/fxt_check.py"),
                                   "--tracepoints", "y.fxt")
            self.assertIn("1000020001 1 13 my:said", run.stdout)
            os.rename("y.dat", "x.dat")
            self.assertEqual(self.losses(), ["11 LOST 5 kernel events of CPU 1", "13 LOST kernel events of CPU 1"])

    def test_by_way_of_fxt(self):
        machine = made.Machine()
        self.save(made.version6(machine, story(machine)))
        self.assertEqual(self.ftr("convert", "x.dat", "y.fxt").returncode, 0)
        self.assertEqual(self.ftr("convert", "y.fxt", "z.dat").returncode, 0)
        self.assertEqual(sorted(self.dump("z.dat").splitlines()),
                         sorted(SHOWN.replace("ftrace:", "ftr:").splitlines()))

    def test_trace_cmd_reads_it(self):
        if shutil.which("trace-cmd") is None:
            self.skipTest("trace-cmd is not installed")
        self.write("d", "x.dat", "not in the output")
        run = self.run_program("trace-cmd", "report", "-t", "-N", "x.dat")
        self.assertEqual(run.returncode, 0, run.stderr)
        theirs, ours = [], []
        for line in run.stdout.splitlines():
            match = re.fullmatch(r"\s*(.*)-(\d+)\s+\[\d+\]\s+(\d+)\.(\d{9}): funcgraph_(entry|exit):\s+"
                                 r"(?:-->|<--) (\S+) \((\d+)\).*", line)
            if match is not None:
                _, tid, seconds, ns, kind, name, depth = match.groups()
                theirs.append((int(seconds) * SECOND + int(ns), int(tid), kind, name, int(depth)))
        run = self.ftr("dump", "--no-pager", "-d", "d")
        for line in run.stdout.splitlines():
            match = re.match(r"(\d+)\.(\d{9}) +(\d+): \[(entry|exit) *\] (\w+)\(\w+\) depth: (\d+)", line)
            if match is not None:
                seconds, ns, tid, kind, name, depth = match.groups()
                ours.append((int(seconds) * SECOND + int(ns), int(tid), kind, name, int(depth)))
        self.assertGreater(len(ours), 10)
        self.assertEqual(sorted(theirs), sorted(ours))
        folded = self.run_program("trace-cmd", "report", "x.dat").stdout
        self.assertRegex(folded, r"funcgraph_entry: .*\d us .*\| +\w+\(\);")
        self.assertRegex(folded, r"funcgraph_entry: .*\| +main\(\) \{")

    def test_system_calls(self):
        """Calls that keep their times, and in them events as the kernel's."""
        run = self.ftr("record", "--syscalls", "-d", "s", "cat", "/dev/null")
        if run.returncode != 0 or not os.path.exists("s/syscalls.etrace"):
            self.skipTest("system calls cannot be observed here: " + run.stderr)
        self.write("s", "x.dat", "not in the output")
        lines = [line.split(" ", 2)[2] for line in self.dump("x.dat").splitlines()]
        at = next(i for i, line in enumerate(lines) if line.startswith('syscalls:sys_enter_openat path="/dev/null"'))
        self.assertEqual(lines[at - 1], "> sys_openat")
        self.assertEqual(lines[at + 1:at + 3], ["syscalls:sys_exit_openat 3", "< sys_openat"])
        calls = [re.findall(r"\| (sys_\w+)\(", self.ftr("replay", "--no-pager", path).stdout) for path in ("s", "x.dat")]
        self.assertIn("sys_exit", calls[0])
        self.assertEqual(calls[1], calls[0])
        self.assertNotIn("sys_exit_exit", " ".join(lines))
        report = self.ftr("report", "--no-pager", "--by=event", "x.dat").stdout
        self.assertRegex(report, r"\d us .*syscalls: openat\n")
        self.write("x.dat", "y.dat")
        with open("x.dat", "rb") as x, open("y.dat", "rb") as y:
            self.assertEqual(x.read(), y.read())

    def test_names_with_blanks(self):
        machine = made.Machine()
        machine.kallsyms = "c0000010 T int\u00a0f<a,\u00a0b>\n"
        pages = made.Pages(machine)
        pages.put(1000, machine.call(10, WORK))
        pages.put(2000, machine.call(10, WORK, True))
        self.save(made.version6(machine, [pages.data()]))
        self.write("x.dat", "y.dat")
        self.assertEqual(self.dump("y.dat"), self.dump("x.dat"))


def corpus(directory):
    """Seeds for tests/fuzz: python3 -c 'import tracedat; tracedat.corpus(...)'."""
    for is_big, long_bytes in LAYOUTS:
        machine = made.Machine(is_big, long_bytes, 512)
        name = f"{'big' if is_big else 'little'}{8 * long_bytes}"
        cpus = story(machine)
        instances = [("net", [b"", cpus[0]])] if long_bytes == 8 else ()
        options = [(made.TRACECLOCK, b"[mono]\0"), (made.OFFSET, b"16\0"), (made.UNAME, b"Linux box 6 x\0"),
                   (made.TIME_SHIFT, machine.pack("QIIIQqQQ", 1, 0, 1, 1, 0, 5, 1, 0))]
        with open(os.path.join(directory, name + ".dat"), "wb") as file:
            file.write(made.version6(machine, cpus, options, instances))
    machine = made.Machine(page_bytes=512)
    with open(os.path.join(directory, "latency.dat"), "wb") as file:
        file.write(made.version6(machine, [], latency=Read.TEXT))
    for packer in ("none", "zlib"):
        seven = made.Version7(machine, packer)
        seven.metas()
        seven.buffer("", "mono", list(enumerate(story(machine))))
        seven.options.append((made.TSC2NSEC, machine.pack("IIQ", 1, 0, 0)))
        with open(os.path.join(directory, f"seven-{packer}.dat"), "wb") as file:
            file.write(seven.finish())


if __name__ == "__main__":
    harness.main()
