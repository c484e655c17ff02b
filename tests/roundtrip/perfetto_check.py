#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the Perfetto UI would drop, or show otherwise than it is meant, of a Fuchsia trace.

It does as the importer is known to do: records become events while tables are filled, events are sorted
by time (those of one time stay in the order of the file), and then make slices, thread by thread.  Prints
counts; exits with 1 and a list of what goes wrong, each with its offset.
"""
import argparse
import collections
import struct
import sys

sys.dont_write_bytecode = True
from fxt_check import ARGS, EVENTS, RECORDS, Checker, Violation, bits   # noqa: E402 (after the flag)

DEPTH_MAX = 512
IDLE_WEIGHT = -1 << 31
PROCESS, THREAD = 1, 2
NUMERIC = {"int32", "uint32", "int64", "uint64", "double"}
(INSTANT, COUNTER, BEGIN, END, COMPLETE, ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END, FLOW_BEGIN, FLOW_STEP,
 FLOW_END) = range(len(EVENTS))

Event = collections.namedtuple("Event", "at kind thread category name time args extra")
Slice = collections.namedtuple("Slice", "at end over")  # end: None, where an End record tells; over: latest
NEVER = 1 << 63


class Importer(Checker):
    def __init__(self, data, is_strict):
        super().__init__(data)
        self.is_strict = is_strict
        self.events = []
        self.objects = set()         # thread koids that were named with their process
        self.is_filled = False       # strings, threads or ticks came before a provider
        self.tracks = collections.defaultdict(list)
        self.arrows, self.arrow_owners, self.operations = {}, {}, collections.Counter()
        self.deep = 0

    def given(self, at, text):
        """What is like that in the trace, and no fault of the file."""
        self.counts["given: " + text] += 1
        if self.is_strict:
            self.fail(at, text)

    # -- the first pass: what a record refers to ----------------------------------------------------

    def metadata(self, at, header, cursor):
        if bits(header, 16, 19) == 1 and self.is_filled:
            self.fail(at, "a provider is introduced behind records of its context, which are forgotten")
        return super().metadata(at, header, cursor)

    def initialization(self, at, header, cursor):
        self.is_filled = True
        super().initialization(at, header, cursor)
        if self.provider.ticks != 10 ** 9:
            self.fail(at, "ticks that are no nanoseconds: times are rounded")

    def string_record(self, at, header, cursor):
        self.is_filled = True
        super().string_record(at, header, cursor)

    def thread_record(self, at, header, cursor):
        self.is_filled = True
        super().thread_record(at, header, cursor)

    def kernel_object(self, at, header, cursor):
        super().kernel_object(at, header, cursor)
        kind, koid = bits(header, 16, 23), struct.unpack_from(cursor.order + "Q", self.data, at + 8)[0]
        if koid >> 32:
            self.fail(at, f"the koid {koid} is cut to 32 bits")
        if kind == THREAD:
            self.objects.add(koid)
        elif kind != PROCESS:
            self.fail(at, f"objects of type {kind} are not shown")

    def event(self, at, header, cursor):
        kind = bits(header, 16, 19)
        if kind >= len(EVENTS):
            raise Violation(f"event type {kind}")
        time = self.time(cursor)
        thread = self.thread(bits(header, 24, 31), cursor)
        category = self.string(bits(header, 32, 47), cursor, "category")
        name = self.string(bits(header, 48, 63), cursor, "name")
        args = self.arguments(bits(header, 20, 23), cursor)
        extra = cursor.word("last word") if kind in (COUNTER, COMPLETE) or kind >= ASYNC_BEGIN else None
        if max(thread) >> 32:
            raise Violation(f"ids {thread} are cut to 32 bits")
        if extra is not None and kind == COMPLETE and not time <= extra < 1 << 63:
            raise Violation("the end of a call is dropped with it")
        if any(name == "" for _, name, _ in args):
            raise Violation("an argument without a name")
        self.events.append(Event(at, kind, thread, category, name, time, args, extra))

    def scheduling(self, at, header, cursor):
        kind = bits(header, 60, 63)
        if kind not in (1, 2):
            raise Violation(f"scheduling type {kind}")
        self.time(cursor)
        threads = [cursor.word("thread") for _ in range(3 - kind)]
        weights = {name: value for _, name, value in self.arguments(bits(header, 16, 19), cursor)}
        for thread, name in zip(threads, ("outgoing_weight", "incoming_weight")):
            is_idle = kind == 1 and weights.get(name) == IDLE_WEIGHT
            if is_idle != (thread == 0):
                raise Violation(f"thread {thread} and its {name} do not agree on whether it is the idle one")
            if not is_idle and thread not in self.objects:
                raise Violation(f"thread {thread} is scheduled before it is named: it becomes two")

    # -- the second pass: events in order of time ---------------------------------------------------

    def close(self, stack, time):
        """Slices that are over by then; what began in them and did not end would end with them."""
        while stack and stack[-1].over <= time:
            one = stack.pop()
            if one.end is None:
                self.fail(one.at, "a begin without end, in a call that ends")

    def push(self, event, stack, end):
        around = stack[-1].over if stack else NEVER
        if end is not None and end > around:
            self.fail(event.at, "a call that ends behind the one around it, or stands behind what is in it")
        if end == event.time:
            self.fail(event.at, "a complete call of no time: what follows at this time nests in it")
        self.deep += len(stack) >= DEPTH_MAX
        stack.append(Slice(event.at, end, around if end is None else min(end, around)))

    def take_slice(self, event, stack):
        if event.kind == COMPLETE:
            self.push(event, stack, event.extra)
        elif event.kind == BEGIN:
            self.push(event, stack, None)
        elif not stack:
            self.fail(event.at, "an end of nothing")
        elif stack[-1].end is not None:
            self.fail(event.at, f"an end that closes the complete call at 0x{stack[-1].at:x}")
        else:
            stack.pop()

    def take_arrow(self, event, stack):
        pid, ident = event.thread[0], event.extra
        if not stack and event.kind == FLOW_BEGIN:      # a program may fork where no call is recorded
            self.counts["arrows from outside of all calls, which are not shown"] += 1
        elif not stack:
            self.given(event.at, f"{EVENTS[event.kind]} outside of all calls")
        if event.kind == FLOW_BEGIN:
            if self.arrow_owners.setdefault(ident, pid) != pid:
                self.fail(event.at, f"flow {ident} belongs to two processes")
            if ident in self.arrows:
                self.fail(event.at, f"flow {ident} begins twice")
            self.arrows[ident] = event.time
        elif ident not in self.arrows:
            self.fail(event.at, f"flow {ident} goes on before it begins")
        elif event.kind == FLOW_END:
            del self.arrows[ident]

    def take_operation(self, event):
        key = event.thread[0], event.category, event.name, event.extra
        if event.kind == ASYNC_BEGIN:
            self.operations[key] += 1
        elif self.operations[key] == 0:
            self.given(event.at, f"{EVENTS[event.kind]} of nothing")
        elif event.kind == ASYNC_END:
            self.operations[key] -= 1

    def take(self, event):
        stack = self.tracks[event.thread]
        self.close(stack, event.time)
        if event.kind in (BEGIN, END, COMPLETE):
            self.take_slice(event, stack)
        elif event.kind >= FLOW_BEGIN:
            self.take_arrow(event, stack)
        elif event.kind >= ASYNC_BEGIN:
            self.take_operation(event)
        elif event.kind == COUNTER and not (event.args and all(what in NUMERIC for what, _, _ in event.args)):
            self.given(event.at, "a counter's values must be numbers")

    def imported(self):
        self.walk()
        for event in sorted(self.events, key=lambda event: event.time):
            self.take(event)
        return self


assert ARGS.index("koid") == 8 and RECORDS.index("scheduling") == 8


def check(path, is_strict):
    with open(path, "rb") as file:
        importer = Importer(file.read(), is_strict).imported()
    importer.counts[f"calls deeper than {DEPTH_MAX}"] = importer.deep
    for what in sorted(importer.counts):
        print(f"{importer.counts[what]:10} {what}")
    for text in importer.violations[:50]:
        print(f"{path}: {text}", file=sys.stderr)
    return 1 if importer.violations else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", metavar="file", nargs="+")
    parser.add_argument("--strict", action="store_true",
                        help="arrows that lead to no call, ends of nothing, and counters of texts are wrong, too")
    options = parser.parse_args()
    return max([check(file, options.strict) for file in options.files])


if __name__ == "__main__":
    sys.exit(main())
