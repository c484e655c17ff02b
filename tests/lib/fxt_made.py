# SPDX-License-Identifier: MIT
"""FXT files for tests, put together word by word as the specification draws them."""
import struct

MAGIC = 0x0016547846040010


def stream(text):
    data = text if isinstance(text, bytes) else text.encode()
    return data + bytes(-len(data) % 8)


class Made:
    """A file in the making.  Strings: an index of the table, or a text that stands inline; threads: an
    index, or (process, thread)."""

    def __init__(self, order="<"):
        self.order, self.data = order, bytearray()
        self.word(MAGIC)

    def pack(self, *words):
        return b"".join(struct.pack(self.order + "Q", word & (1 << 64) - 1) for word in words)

    def word(self, *words):
        self.data += self.pack(*words)

    def ref(self, text):
        """The ref, and what stands inline for it."""
        if isinstance(text, int) or text == "":
            return text or 0, b""
        return 0x8000 | len(text.encode()), stream(text)

    def record(self, kind, upper, body):
        self.word(kind | (1 + len(body) // 8) << 4 | upper)
        self.data += body

    def init(self, ticks, *more):
        self.record(1, 0, self.pack(ticks, *more))

    def string(self, index, text):
        self.record(2, index << 16 | len(text.encode()) << 32, stream(text))

    def thread(self, index, process, thread):
        self.record(3, index << 16, self.pack(process, thread))

    def arg(self, kind, name, value=None):
        ref, inline = self.ref(name)
        upper, body = 0, b""
        if kind in (1, 2, 9):
            upper = int(value) & 0xffffffff
        elif kind in (3, 4, 7, 8):
            body = self.pack(value)
        elif kind == 5:
            body = struct.pack(self.order + "d", value)
        elif kind == 6:
            upper, body = self.ref(value)
        elif kind == 10:
            upper, body = len(value), stream(value)
        words = 1 + (len(inline) + len(body)) // 8
        return self.pack(kind | words << 4 | ref << 16 | upper << 32) + inline + body

    def event(self, kind, thread, category, name, time, args=(), extra=None):
        is_inline = isinstance(thread, tuple)
        category_ref, category = self.ref(category)
        name_ref, name = self.ref(name)
        body = self.pack(time) + (self.pack(*thread) if is_inline else b"") + category + name
        body += b"".join(args) + (b"" if extra is None else self.pack(extra))
        self.record(4, kind << 16 | len(args) << 20 | (0 if is_inline else thread) << 24 |
                    category_ref << 32 | name_ref << 48, body)

    def complete(self, thread, name, begin, end, args=(), category="cat"):
        self.event(4, thread, category, name, begin, args, end)

    def kernel_object(self, kind, koid, name, args=()):
        ref, inline = self.ref(name)
        self.record(7, kind << 16 | ref << 24 | len(args) << 40, self.pack(koid) + inline + b"".join(args))

    def wakeup(self, cpu, time, thread, args=()):
        self.record(8, len(args) << 16 | cpu << 20 | 2 << 60, self.pack(time, thread) + b"".join(args))

    def switch(self, cpu, time, outgoing, incoming, state=3):
        """From one thread to another; 0 is the idle one.  State 0: it was pre-empted, 3: it waits."""
        weights = [self.arg(1, "outgoing_weight" if outgoing == 0 else "incoming_weight", -1 << 31)]
        self.record(8, len(weights) << 16 | cpu << 20 | state << 36 | 1 << 60,
                    self.pack(time, outgoing, incoming) + b"".join(weights))

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.data)
