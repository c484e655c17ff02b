#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Walk a Fuchsia trace and check every field and limit of every record.

Written from the format's specification alone; it shares nothing with the C code.  Prints counts per kind
of record; exits with 1 and a list of violations, each with its offset.  With --calls it also prints the
calls: one line "PID TID BEGIN END CATEGORY NAME" each, in the order of their begins.  With --tracepoints it prints
the instants that say that they are tracepoints of the kernel: "TIME CPU TID CATEGORY:NAME TEXT".
"""
import argparse
import collections
import struct
import sys

MAGIC = 0x0016547846040010
RECORDS = ["metadata", "initialization", "string", "thread", "event", "blob", "userspace object",
           "kernel object", "scheduling", "log"]
EVENTS = ["instant", "counter", "duration begin", "duration end", "duration complete", "async begin",
          "async instant", "async end", "flow begin", "flow step", "flow end"]
ARGS = ["null", "int32", "uint32", "int64", "uint64", "double", "string", "pointer", "koid", "bool",
        "blob"]
MAX_STRING = 32000


class Violation(Exception):
    pass


def bits(word, first, last):
    return word >> first & (1 << last - first + 1) - 1


class Cursor:
    """The words of one record that were not looked at yet."""

    def __init__(self, data, start, words, order):
        self.data, self.pos, self.end, self.order = data, start, start + 8 * words, order

    def word(self, what):
        if self.pos + 8 > self.end:
            raise Violation(f"{what} lies behind the end of the record")
        value, = struct.unpack_from(self.order + "Q", self.data, self.pos)
        self.pos += 8
        return value

    def stream(self, length, what):
        padded = (length + 7) // 8 * 8
        if self.pos + padded > self.end:
            raise Violation(f"{what} of {length} bytes lies behind the end of the record")
        value = self.data[self.pos:self.pos + length]
        if any(self.data[self.pos + length:self.pos + padded]):
            raise Violation(f"{what} is not padded with zeros")
        self.pos += padded
        return value

    def left(self):
        return self.end - self.pos


class Provider:
    def __init__(self):
        self.strings, self.threads, self.ticks, self.has_events = {}, {}, None, False


class Checker:
    def __init__(self, data):
        self.data = data
        self.violations = []
        self.counts = collections.Counter()
        self.providers = {}
        self.provider = Provider()
        self.strings_reassigned = self.threads_reassigned = 0
        self.last_time = None
        self.unordered = 0
        self.names = {}          # (object type, koid) -> name
        self.parents = {}        # thread koid -> process koid
        self.stacks = collections.defaultdict(list)
        self.calls = []
        self.tracepoints = []
        self.flows = {}          # id -> (thread, time) of those that have begun
        self.arrows = []         # (name, (thread, time), (thread, time))
        self.used_threads = set()
        self.blobs = collections.defaultdict(bytes)
        self.no_blobs = False    # as arguments

    def fail(self, at, text):
        self.violations.append(f"0x{at:x}: {text}")

    # -- parts of records ---------------------------------------------------------------------------

    def zero(self, word, first, last, what):
        if bits(word, first, last):
            raise Violation(f"reserved bits [{first}..{last}] of {what} are not zero")

    def text(self, data, what):
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Violation(f"{what} is not UTF-8: {error}") from None

    def string(self, ref, cursor, what):
        if ref == 0:
            return ""
        if ref & 0x8000:
            length = ref & 0x7fff
            if length > MAX_STRING:
                raise Violation(f"{what} is longer than {MAX_STRING} bytes")
            if length == 0:
                raise Violation(f"{what} is inline and empty")
            self.counts["inline strings"] += 1
            return self.text(cursor.stream(length, what), what)
        if ref not in self.provider.strings:
            raise Violation(f"{what} refers to string {ref}, which is not in the table")
        return self.provider.strings[ref]

    def thread(self, ref, cursor):
        if ref == 0:
            self.counts["inline threads"] += 1
            key = cursor.word("process id"), cursor.word("thread id")
        elif ref not in self.provider.threads:
            raise Violation(f"thread {ref} is not in the table")
        else:
            key = self.provider.threads[ref]
        self.used_threads.add(key)
        return key

    def time(self, cursor):
        ticks = cursor.word("timestamp")
        if ticks >= 1 << 63:
            raise Violation("timestamp beyond 2^63")
        if self.last_time is not None and ticks < self.last_time:
            self.unordered += 1
        self.last_time = ticks
        return ticks

    def argument(self, cursor):
        start = cursor.pos
        header = cursor.word("argument header")
        kind, words = bits(header, 0, 3), bits(header, 4, 15)
        if kind >= len(ARGS):
            raise Violation(f"argument type {kind}")
        if words == 0:
            raise Violation("argument of size 0")
        name = self.string(bits(header, 16, 31), cursor, "argument name")
        value = None
        if kind == 0:
            self.zero(header, 32, 63, "null argument")
        elif kind == 1:
            value, = struct.unpack("i", struct.pack("I", bits(header, 32, 63)))
        elif kind == 2:
            value = bits(header, 32, 63)
        elif kind == 6:
            self.zero(header, 48, 63, "string argument")
            value = self.string(bits(header, 32, 47), cursor, "argument value")
        elif kind == 9:
            self.zero(header, 33, 63, "bool argument")
            value = bool(bits(header, 32, 32))
        elif kind == 10 and self.no_blobs:
            raise Violation("blob argument, which the first versions of the format do not have")
        elif kind == 10:
            value = cursor.stream(bits(header, 32, 63), "blob argument")
        else:
            self.zero(header, 32, 63, ARGS[kind] + " argument")
            value = cursor.word("argument value")
            if kind == 3:
                value, = struct.unpack("q", struct.pack("Q", value))
            if kind == 5:
                value, = struct.unpack("d", struct.pack("Q", value))
        if cursor.pos - start != 8 * words:
            raise Violation(f"argument of {words} words, but its fields take "
                            f"{(cursor.pos - start) // 8}")
        self.counts["argument: " + ARGS[kind]] += 1
        return ARGS[kind], name, value

    def arguments(self, nr, cursor):
        return [self.argument(cursor) for _ in range(nr)]

    # -- records ------------------------------------------------------------------------------------

    def metadata(self, at, header, cursor):
        kind = bits(header, 16, 19)
        if kind == 4:
            if header != MAGIC:
                raise Violation("trace info that is not the magic number")
            if at != 0:
                raise Violation("magic number that is not at the start")
            return "magic"
        if kind not in (1, 2, 3):
            raise Violation(f"metadata type {kind}")
        ident = bits(header, 20, 51)
        if kind == 1:
            self.zero(header, 60, 63, "provider info")
            self.text(cursor.stream(bits(header, 52, 59), "provider name"), "provider name")
            self.provider = self.providers[ident] = Provider()
            return "provider info"
        if ident not in self.providers:
            raise Violation(f"provider {ident} was not introduced")
        if kind == 2:
            self.zero(header, 52, 63, "provider section")
            self.provider = self.providers[ident]
            return "provider section"
        self.zero(header, 56, 63, "provider event")
        if bits(header, 52, 55) != 0:
            raise Violation("provider event that is not known")
        return "provider event"

    def initialization(self, at, header, cursor):
        self.zero(header, 16, 63, "initialization")
        if self.provider.has_events:
            raise Violation("initialization after events")
        self.provider.ticks = cursor.word("ticks per second")
        if self.provider.ticks == 0:
            raise Violation("0 ticks per second")

    def string_record(self, at, header, cursor):
        self.zero(header, 31, 31, "string")
        self.zero(header, 47, 63, "string")
        index, length = bits(header, 16, 30), bits(header, 32, 46)
        if index == 0:
            raise Violation("string index 0")
        if length == 0:
            raise Violation("empty string in the table")
        if length > MAX_STRING:
            raise Violation(f"string of {length} bytes")
        value = self.text(cursor.stream(length, "string"), "string")
        if index in self.provider.strings:
            self.strings_reassigned += 1
            if self.provider.strings[index] == value:
                raise Violation("string index assigned to the value it has")
        self.provider.strings[index] = value

    def thread_record(self, at, header, cursor):
        self.zero(header, 24, 63, "thread")
        index = bits(header, 16, 23)
        if index == 0:
            raise Violation("thread index 0")
        if index in self.provider.threads:
            self.threads_reassigned += 1
        self.provider.threads[index] = cursor.word("process id"), cursor.word("thread id")

    def event(self, at, header, cursor):
        kind = bits(header, 16, 19)
        if kind >= len(EVENTS):
            raise Violation(f"event type {kind}")
        self.provider.has_events = True
        time = self.time(cursor)
        thread = self.thread(bits(header, 24, 31), cursor)
        category = self.string(bits(header, 32, 47), cursor, "category")
        name = self.string(bits(header, 48, 63), cursor, "name")
        args = self.arguments(bits(header, 20, 23), cursor)
        self.counts["event: " + EVENTS[kind]] += 1
        extra = cursor.word("last word") if kind in (1, 4) or kind >= 5 else None
        if kind == 1 and not args:
            raise Violation("counter without values")
        if kind != 3 and name == "":
            raise Violation("event without a name")
        if kind == 0 and args and args[0][:2] == ("uint32", "tracepoint"):
            values = {key: value for _, key, value in args}
            self.tracepoints.append((time, values.get("cpu", 0), thread[1], f"{category}:{name}",
                                     repr(values.get("text", ""))))
        stack = self.stacks[thread]     # of (index in calls, own end, least end of those around it)
        if kind == 4:
            if extra < time:
                raise Violation("call that ends before it begins")
            while stack and stack[-1][1] is not None and stack[-1][1] <= time:
                stack.pop()
            if stack and stack[-1][2] < extra:
                raise Violation("call that ends after the call around it")
            stack.append((len(self.calls), extra, extra))
            self.calls.append([thread, time, extra, category, name])
        elif kind == 2:
            while stack and stack[-1][1] is not None and stack[-1][1] <= time:
                stack.pop()
            stack.append((len(self.calls), None, stack[-1][2] if stack else 1 << 64))
            self.calls.append([thread, time, None, category, name])
        elif kind == 3:
            while stack and stack[-1][1] is not None and stack[-1][1] <= time:
                stack.pop()
            if not stack:
                raise Violation("duration end without begin")
            if stack[-1][1] is not None:
                raise Violation("duration end inside of a complete call")
            self.calls[stack.pop()[0]][2] = time
        elif kind == 8:
            if extra in self.flows:
                raise Violation(f"flow {extra} begins twice")
            self.flows[extra] = thread, time
        elif kind in (9, 10):
            if extra not in self.flows or self.flows[extra][1] > time:
                raise Violation(f"flow {extra} goes on before it begins")
            if kind == 10:
                self.arrows.append((name, self.flows.pop(extra), (thread, time)))

    def blob(self, at, header, cursor):
        self.zero(header, 47, 47, "blob")
        self.zero(header, 56, 63, "blob")
        name = self.string(bits(header, 16, 31), cursor, "blob name")
        if bits(header, 48, 55) not in (1, 2, 3):
            raise Violation("blob type")
        self.blobs[name] += bytes(cursor.stream(bits(header, 32, 46), "blob"))

    def user_object(self, at, header, cursor):
        self.zero(header, 44, 63, "userspace object")
        cursor.word("pointer")
        ref = bits(header, 16, 23)
        if ref == 0:
            cursor.word("process id")
        elif ref not in self.provider.threads:
            raise Violation(f"thread {ref} is not in the table")
        self.string(bits(header, 24, 39), cursor, "object name")
        self.arguments(bits(header, 40, 43), cursor)

    def kernel_object(self, at, header, cursor):
        self.zero(header, 44, 63, "kernel object")
        koid, kind = cursor.word("koid"), bits(header, 16, 23)
        name = self.string(bits(header, 24, 39), cursor, "object name")
        args = self.arguments(bits(header, 40, 43), cursor)
        self.names[kind, koid] = name
        if kind == 2:
            process = [value for what, key, value in args if key == "process" and what == "koid"]
            if not process:
                raise Violation("thread object without its process")
            self.parents[koid] = process[0]

    def scheduling(self, at, header, cursor):
        kind = bits(header, 60, 63)
        self.time(cursor)
        if kind == 0:
            for first, last in ((28, 35), (36, 43)):
                if bits(header, first, last) == 0:
                    cursor.word("process id")
                    cursor.word("thread id")
                elif bits(header, first, last) not in self.provider.threads:
                    raise Violation("thread that is not in the table")
            state = bits(header, 24, 27)
            self.counts["scheduling: legacy"] += 1
        elif kind == 1:
            self.zero(header, 40, 59, "context switch")
            outgoing, incoming = cursor.word("outgoing thread"), cursor.word("incoming thread")
            if outgoing == incoming:
                raise Violation("context switch from a thread to itself")
            self.arguments(bits(header, 16, 19), cursor)
            state = bits(header, 36, 39)
            self.counts["scheduling: switch"] += 1
        elif kind == 2:
            self.zero(header, 36, 59, "wakeup")
            cursor.word("waking thread")
            self.arguments(bits(header, 16, 19), cursor)
            state = 0
            self.counts["scheduling: wakeup"] += 1
        else:
            raise Violation(f"scheduling type {kind}")
        if state > 5 or state == 1:
            raise Violation(f"outgoing thread in state {state}")

    def log(self, at, header, cursor):
        self.zero(header, 31, 31, "log")
        self.zero(header, 40, 63, "log")
        self.time(cursor)
        self.thread(bits(header, 32, 39), cursor)
        self.text(cursor.stream(bits(header, 16, 30), "log message"), "log message")

    # -- the walk -----------------------------------------------------------------------------------

    def walk(self):
        if len(self.data) % 8:
            self.fail(len(self.data), "size is not a multiple of 8")
        if len(self.data) < 8:
            self.fail(0, "no magic number")
            return
        order = "<" if struct.unpack_from("<Q", self.data)[0] == MAGIC else ">"
        if struct.unpack_from(order + "Q", self.data)[0] != MAGIC:
            self.fail(0, "no magic number")
            return
        handlers = [self.metadata, self.initialization, self.string_record, self.thread_record,
                    self.event, self.blob, self.user_object, self.kernel_object, self.scheduling,
                    self.log]
        at = 0
        while at + 8 <= len(self.data):
            header, = struct.unpack_from(order + "Q", self.data, at)
            kind, words = bits(header, 0, 3), bits(header, 4, 15)
            if words == 0 or at + 8 * words > len(self.data):
                self.fail(at, f"record of {words} words")
                return
            if kind >= len(handlers):
                self.fail(at, f"record type {kind}")
            else:
                cursor = Cursor(self.data, at + 8, words - 1, order)
                try:
                    what = handlers[kind](at, header, cursor)
                    self.counts[what or RECORDS[kind]] += 1
                    if cursor.left():
                        raise Violation(f"{cursor.left()} bytes behind the last field")
                except Violation as error:
                    self.fail(at, f"{RECORDS[kind]}: {error}")
            at += 8 * words
        for process, thread in self.used_threads:
            if (2, thread) not in self.names or (1, process) not in self.names:
                self.fail(at, f"thread {thread} of process {process} has no name")
            elif self.parents[thread] != process:
                self.fail(at, f"thread {thread} belongs to {self.parents[thread]}, not {process}")

    def report(self, out):
        for what in sorted(self.counts):
            out.write(f"{self.counts[what]:10} {what}\n")
        open_calls = sum(1 for call in self.calls if call[2] is None)
        for number, what in ((len(self.calls), "calls"), (open_calls, "calls without end"),
                             (self.strings_reassigned, "strings re-assigned"),
                             (self.threads_reassigned, "threads re-assigned"),
                             (self.unordered, "times before that of the record before")):
            out.write(f"{number:10} {what}\n")


def check(path, options):
    with (sys.stdin.buffer if path == "-" else open(path, "rb")) as file:
        checker = Checker(file.read())
    checker.no_blobs = options.no_blobs
    checker.walk()
    if options.calls:
        for (process, thread), begin, end, category, name in checker.calls:
            print(process, thread, begin, "-" if end is None else end, category or "-", name)
    elif options.tracepoints:
        for point in checker.tracepoints:
            print(*point)
    elif options.blob:
        sys.stdout.buffer.write(checker.blobs[options.blob])
    else:
        checker.report(sys.stdout)
    for text in checker.violations[:50]:
        print(f"{path}: {text}", file=sys.stderr)
    return 1 if checker.violations else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", metavar="file", nargs="+")
    parser.add_argument("--calls", action="store_true", help="print the calls")
    parser.add_argument("--tracepoints", action="store_true", help="print the tracepoints")
    parser.add_argument("--blob", help="print the blob of this name")
    parser.add_argument("--no-blobs", action="store_true", help="refuse blobs as arguments")
    options = parser.parse_args()
    return max([check(file, options) for file in options.files])


if __name__ == "__main__":
    sys.exit(main())
