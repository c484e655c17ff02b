#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Walk the kernel's files of a uftrace directory: kernel_header, kallsyms, kernel-cpuN.dat.

Written from the layouts of the kernel's ring buffer and of its event formats alone; it shares nothing with the
C code.  Prints one line "TIME CPU PID WHAT" for each record, by CPU: "> FUNCTION", "< FUNCTION", or
"SYSTEM:NAME TEXT", or "LOST N".  Exits with 1 and a list of violations, each with its place.
"""
import glob
import os
import re
import sys

PAGE = 4096
HEAD = 16
violations = []


def fail(place, text):
    violations.append(f"{place}: {text}")


class Format:
    """One event's format: its fields by name, as (offset, size, is it signed, is it __data_loc)."""

    def __init__(self, path, text):
        self.name = ":".join(path.split("/")[1:3])
        self.id = int(re.search(r"^ID: (\d+)$", text, re.M).group(1))
        self.fields = {}
        for what, offset, size, signed in re.findall(
                r"\tfield:([^;]*);\toffset:(\d+);\tsize:(\d+);\tsigned:([01]);", text):
            name = what.split()[-1]
            self.fields[name] = int(offset), int(size), signed == "1", what.startswith("__data_loc ")
        self.print_format = text[text.index("print fmt: "):].rstrip("\n")

    def number(self, data, name, order):
        offset, size, signed, _ = self.fields[name]
        return int.from_bytes(data[offset:offset + size], order, signed=signed)

    def text(self, data, name, order):
        where = self.number(data, name, order)
        offset, length = where & 0xffff, where >> 16
        if offset + length > len(data) or length == 0 or data[offset + length - 1] != 0:
            raise ValueError(f"text at {offset}, {length} bytes, of a record of {len(data)}")
        return data[offset:offset + length - 1].decode("utf-8")


class Directory:
    def __init__(self, path):
        self.path, self.formats, self.symbols, self.order = path, {}, {}, "little"
        self.header()
        with open(os.path.join(path, "kallsyms"), encoding="utf-8") as file:
            last = 0
            for line in file.read().splitlines():
                if line.startswith("#"):
                    continue
                address, kind, name = line.split(" ", 2)
                if len(address) != 16 or kind not in "tT" or int(address, 16) <= last:
                    fail("kallsyms", line)
                last = int(address, 16)
                self.symbols[last] = name

    def header(self):
        with open(os.path.join(self.path, "kernel_header"), "rb") as file:
            data = file.read()
        at = 0
        while at < len(data):
            end = data.index(b"\n", at)
            line = data[at:end].decode()
            at = end + 1
            if not line.startswith("TRACEFS: "):
                key, value = line.split(": ")
                if {"PAGE_SIZE": "4096", "LONG_SIZE": "8"}.get(key, value) != value:
                    fail("kernel_header", line)
                if key == "ENDIAN":
                    self.order = {"LE": "little", "BE": "big"}[value]
                continue
            path, size = line[len("TRACEFS: "):].rsplit(": ", 1)
            text = data[at:at + int(size)].decode()
            if len(text) != int(size) or int(size) > 4096:
                fail("kernel_header", f"{path} of {size} bytes")
            at += int(size)
            if path.endswith("/format"):
                made = Format(path, text)
                if made.id in self.formats:
                    fail("kernel_header", f"{path}: id {made.id} is taken")
                self.formats[made.id] = made
            elif path != "events/header_page":
                fail("kernel_header", path)

    def word(self, data, at, size=4):
        return int.from_bytes(data[at:at + size], self.order)

    def record(self, place, time, cpu, data):
        kind = self.formats.get(self.word(data, 0, 2))
        if kind is None:
            fail(place, "record of no format")
            return
        pid = kind.number(data, "common_pid", self.order)
        if kind.name.startswith("ftrace:funcgraph_"):
            func = kind.number(data, "func", self.order)
            if func not in self.symbols:
                fail(place, f"function {func:x} has no symbol")
            if kind.name.endswith("_exit") and kind.number(data, "rettime", self.order) != time:
                fail(place, "rettime is not the record's time")
            mark = ">" if kind.name.endswith("_entry") else "<"
            depth = kind.number(data, "depth", self.order)
            print(time, cpu, pid, mark, depth, self.symbols.get(func), f"{func:x}")
        elif kind.print_format != 'print fmt: "%s", __get_str(text)':
            fail(place, f"{kind.name}: {kind.print_format}")
        else:
            print(time, cpu, pid, kind.name, repr(kind.text(data, "text", self.order)))

    def page(self, place, cpu, page, last):
        time, commit = self.word(page, 0, 8), self.word(page, 8, 8)
        used, at, is_first = commit & (1 << 27) - 1, 0, True
        has_lost = commit >> 31 & 1
        if time < last:
            fail(place, f"time {time} is before {last}")
        if commit & ~(3 << 30 | (1 << 27) - 1) or used > PAGE - HEAD or used % 4:
            fail(place, f"commit {commit:x}")
            return time
        if has_lost:
            is_counted = commit >> 30 & 1
            print(time, cpu, "-", "LOST", self.word(page, HEAD + used, 8) if is_counted else "?")
        if any(page[HEAD + used + 8 * has_lost:]):
            fail(place, "something lies behind the data")
        while at < used:
            head = self.word(page, HEAD + at)
            kind, delta = (head & 31, head >> 5) if self.order == "little" else (head >> 27, head & (1 << 27) - 1)
            if is_first and delta and not has_lost:
                fail(place, "time passes before the first record")
            is_first = False
            at += 4
            if kind == 30:
                time += delta + (self.word(page, HEAD + at) << 27)
                at += 4
                continue
            if kind > 28:
                fail(place, f"type {kind}")
                return time
            length = 4 * kind
            if kind == 0:
                length = self.word(page, HEAD + at) - 4
                at += 4
                if length <= 112:
                    fail(place, f"a record of {length} bytes as a long one")
            if at + length > used:
                fail(place, f"a record of {length} bytes at {at} of {used}")
                return time
            time += delta
            self.record(f"{place}, {at}", time, cpu, page[HEAD + at:HEAD + at + length])
            at += length
        return time

    def walk(self):
        pages = 0
        for path in sorted(glob.glob(os.path.join(self.path, "kernel-cpu*.dat"))):
            name = os.path.basename(path)
            cpu = int(name[len("kernel-cpu"):-len(".dat")])
            with open(path, "rb") as file:
                data = file.read()
            if len(data) % PAGE or not data:
                fail(name, f"{len(data)} bytes")
            last = 0
            for at in range(0, len(data) - PAGE + 1, PAGE):
                last = self.page(f"{name}+0x{at:x}", cpu, data[at:at + PAGE], last)
                pages += 1
        print(f"{pages} pages", file=sys.stderr)


def main():
    directory = Directory(sys.argv[1])
    directory.walk()
    for text in violations[:50]:
        print(text, file=sys.stderr)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
