# SPDX-License-Identifier: MIT
"""perfetto_check.py says each thing that goes wrong, and nothing of a file where all is well."""
import os
import sys
import unittest

SRCDIR = os.environ.get("srcdir", ".")
sys.path[:0] = [os.path.join(SRCDIR, "tests/lib"), os.path.join(SRCDIR, "tests/roundtrip")]
sys.dont_write_bytecode = True
from fxt_made import Made               # noqa: E402 (the paths come first)
from perfetto_check import ASYNC_BEGIN, ASYNC_END, BEGIN, COMPLETE, COUNTER, END, FLOW_BEGIN, FLOW_END, \
    Importer   # noqa: E402

MAIN = (10, 10)
INT32, STRING, KOID = 1, 6, 8


def event(kind, time, extra=None, thread=MAIN, args=()):
    return lambda made: made.event(kind, thread, "c", "n", time, [made.arg(*arg) for arg in args], extra)


def switch(outgoing, incoming, weights=()):
    def put(made):
        args = [made.arg(INT32, *weight) for weight in weights]
        made.record(8, len(args) << 16 | 3 << 36 | 1 << 60, made.pack(50, outgoing, incoming) + b"".join(args))
    return put


def provider(made):
    made.word(2 << 4 | 1 << 16 | 1 << 20 | 1 << 52, ord("p"))


IDLE = [("incoming_weight", -1 << 31)]
GOOD = [
    event(COMPLETE, 10, 100), event(COMPLETE, 10, 50), event(BEGIN, 60), event(BEGIN, 60), event(END, 60),
    event(FLOW_BEGIN, 60, 7), event(END, 70), event(COMPLETE, 100, 120),
    event(BEGIN, 10, thread=(10, 11)), event(FLOW_END, 65, 7, thread=(10, 11)),
    event(COUNTER, 60, 7, args=[(INT32, "x", 1)]), event(ASYNC_BEGIN, 1, 9), event(ASYNC_END, 5, 9),
    switch(10, 0, IDLE), switch(0, 11, [("outgoing_weight", -1 << 31)]), switch(10, 11),
]
BAD = [
    ("closes the complete call", [event(COMPLETE, 10, 100), event(END, 50)]),
    ("end of nothing", [event(COMPLETE, 10, 20), event(END, 20)]),
    ("behind the one around it", [event(COMPLETE, 10, 100), event(COMPLETE, 50, 150)]),
    ("stands behind what is in it", [event(COMPLETE, 10, 50), event(COMPLETE, 10, 100)]),
    ("complete call of no time", [event(COMPLETE, 10, 10)]),
    ("begin without end, in a call that ends", [event(COMPLETE, 10, 100), event(BEGIN, 50),
                                                event(COMPLETE, 200, 300)]),
    ("the end of a call", [event(COMPLETE, 10, 5)]),
    ("timestamp beyond", [event(BEGIN, 1 << 63)]),
    ("outside of all calls", [event(FLOW_BEGIN, 60, 7), event(FLOW_END, 61, 7)]),
    ("begins twice", [event(BEGIN, 10), event(FLOW_BEGIN, 60, 7), event(FLOW_BEGIN, 61, 7)]),
    ("goes on before it begins", [event(BEGIN, 10), event(FLOW_END, 60, 7)]),
    ("two processes", [event(BEGIN, 10), event(FLOW_BEGIN, 60, 7), event(BEGIN, 10, thread=(20, 20)),
                       event(FLOW_END, 61, 7, thread=(20, 20)), event(FLOW_BEGIN, 62, 7, thread=(20, 20))]),
    ("async end of nothing", [event(ASYNC_BEGIN, 1, 9), event(ASYNC_END, 5, 8)]),
    ("must be numbers", [event(COUNTER, 1, 9, args=[(STRING, "x", "y")])]),
    ("must be numbers", [event(COUNTER, 1, 9)]),
    ("scheduled before it is named", [switch(10, 77)]),
    ("do not agree", [switch(10, 0)]),
    ("do not agree", [switch(10, 11, IDLE)]),
    ("cut to 32 bits", [event(BEGIN, 1, thread=(1 << 32, 1))]),
    ("which are forgotten", [provider]),
    ("not in the table", [lambda made: made.event(BEGIN, MAIN, 5, "n", 1)]),
    ("not in the table", [lambda made: made.event(BEGIN, 5, "c", "n", 1)]),
    ("an argument without a name", [event(BEGIN, 1, args=[(INT32, "", 1)])]),
    ("times are rounded", [lambda made: made.init(1000)]),
    ("without its process", [lambda made: made.kernel_object(2, 12, "t")]),
]


class RulesTest(unittest.TestCase):
    def violations(self, puts):
        made = Made()
        made.init(10 ** 9)
        for process, threads in ((10, (10, 11)), (20, (20,))):
            made.kernel_object(1, process, "p")
            for thread in threads:
                made.kernel_object(2, thread, "t", [made.arg(KOID, "process", process)])
        for put in puts:
            put(made)
        return Importer(bytes(made.data), True).imported().violations

    def test_nothing_is_wrong(self):
        self.assertEqual(self.violations(GOOD), [])

    def test_what_is_wrong(self):
        for text, puts in BAD:
            with self.subTest(text=text):
                said = self.violations(puts)
                self.assertTrue(any(text in line for line in said), (text, said))


if __name__ == "__main__":
    unittest.main()
