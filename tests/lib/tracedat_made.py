# SPDX-License-Identifier: MIT
"""trace.dat files for tests, put together byte by byte: versions 6 and 7, both byte orders, longs of 4 and 8 bytes."""
import struct
import zlib

MAGIC = b"\x17\x08\x44tracing"
DATE, CPUSTAT, BUFFER, TRACECLOCK, UNAME, HOOK, OFFSET, CPUCOUNT, VERSION = range(1, 10)
PROCMAPS, TRACEID, TIME_SHIFT, GUEST, TSC2NSEC = range(10, 15)
HEADER_INFO, FTRACE_EVENTS, EVENT_FORMATS, KALLSYMS, PRINTK, CMDLINES, BUFFER_TEXT = range(16, 23)
DELTA_END = 1 << 27
LOST, LOST_STORED = 1 << 31, 1 << 30
HEADER_EVENT = ("# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
                "\tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n"
                "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n")


class Machine:
    """How it lays out its numbers, and what it knows of its events."""

    def __init__(self, is_big=False, long_bytes=8, page_bytes=4096):
        self.order = ">" if is_big else "<"
        self.is_big, self.long_bytes, self.page_bytes = is_big, long_bytes, page_bytes
        self.ftrace, self.events = [], {}       # formats: texts, and system -> texts
        self.kallsyms = "c0000010 T do_work\nc0000100 T do_idle\nc0000200 T sched_it\n"
        self.printk = '0xc0001000 : "%s is %d\\n"\n0xc0001010 : "%*d\\n"\n'
        self.cmdlines = "10 worker\n11 my task-1\n"
        number = self.long_bytes
        self.format("ftrace", "function", 1, [("unsigned long", "ip", number), ("unsigned long", "parent_ip", number)],
                    '" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip')
        self.format("ftrace", "print", 5, [("unsigned long", "ip", number), ("char", "buf[]", 0)],
                    '"%ps: %s", (void *)REC->ip, REC->buf')
        self.format("ftrace", "bprint", 6, [("unsigned long", "ip", number), ("const char *", "fmt", number),
                                            ("u32", "buf[]", 0)], '"%ps: %s", (void *)REC->ip, REC->fmt')
        self.format("ftrace", "funcgraph_exit", 10,
                    [("unsigned long", "func", number), ("int", "depth", 4), ("unsigned int", "overrun", 4),
                     ("unsigned long long", "calltime", 8), ("unsigned long long", "rettime", 8)],
                    '"<-- %ps (%d)", (void *)REC->func, REC->depth')
        self.format("ftrace", "funcgraph_entry", 11, [("unsigned long", "func", number), ("int", "depth", 4)],
                    '"--> %ps (%d)", (void *)REC->func, REC->depth')
        self.format("sched", "sched_switch", 300,
                    [("char", "prev_comm[16]", 16), ("pid_t", "prev_pid", 4), ("char", "next_comm[16]", 16),
                     ("pid_t", "next_pid", 4)],
                    '"%s:%d ==> %s:%d", REC->prev_comm, REC->prev_pid, REC->next_comm, REC->next_pid')
        self.format("task", "task_newtask", 301,
                    [("pid_t", "pid", 4), ("char", "comm[16]", 16), ("unsigned long", "clone_flags", number)],
                    '"pid=%d comm=%s flags=%lx", REC->pid, REC->comm, REC->clone_flags')
        self.format("my", "said", 302, [("__data_loc char[]", "text", 4), ("int", "number", 4)],
                    '"%s %d", __get_str(text), REC->number')

    def pack(self, codes, *values):
        return struct.pack(self.order + codes, *values)

    def long(self, value):
        return self.pack("Q" if self.long_bytes == 8 else "I", value)

    def format(self, system, name, number, fields, print_format):
        lines = [f"name: {name}", f"ID: {number}", "format:"]
        common = [("unsigned short", "common_type", 2), ("unsigned char", "common_flags", 1),
                  ("unsigned char", "common_preempt_count", 1), ("int", "common_pid", 4)]
        offset = 0
        for kind, field, size in common + fields:
            align = min(size, 8) if "[" not in field else 1
            if align > 1:
                offset = (offset + align - 1) // align * align
            lines.append(f"\tfield:{kind} {field};\toffset:{offset};\tsize:{size};\tsigned:{int('int' == kind)};")
            offset += size
            if field == "common_pid":
                lines.append("")
        text = "\n".join(lines) + f"\n\nprint fmt: {print_format}\n"
        if system == "ftrace":
            self.ftrace.append(text)
        else:
            self.events.setdefault(system, []).append(text)

    # Data of records.

    def common(self, number, pid):
        return self.pack("HBBi", number, 0, 0, pid)

    def call(self, pid, func, is_exit=False):
        data = self.common(10 if is_exit else 11, pid) + self.long(func) + self.pack("i", 0)
        return data + (self.pack("I", 0) + bytes(-(len(data) + 4) % 8) + self.pack("QQ", 1, 2) if is_exit else b"")

    def function(self, pid, func, caller):
        return self.common(1, pid) + self.long(func) + self.long(caller)

    def switch(self, prev, prev_comm, after, after_comm):
        return (self.common(300, prev) + prev_comm.encode().ljust(16, b"\0") + self.pack("i", prev) +
                after_comm.encode().ljust(16, b"\0") + self.pack("i", after))

    def newtask(self, parent, pid, comm, flags):
        data = self.common(301, parent) + self.pack("i", pid) + comm.encode().ljust(16, b"\0")
        return data + bytes(-len(data) % self.long_bytes) + self.long(flags)

    def said(self, pid, text, number):
        data = text.encode() + b"\0"
        return self.common(302, pid) + self.pack("Ii", len(data) << 16 | 16, number) + data

    def print(self, pid, ip, text):
        return self.common(5, pid) + self.long(ip) + text.encode() + b"\0"

    def bprint(self, pid, ip, where, args):
        return self.common(6, pid) + self.long(ip) + self.long(where) + args

    # The file's parts.

    def headers(self):
        size = self.long_bytes
        page = ("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                f"\tfield: local_t commit;\toffset:8;\tsize:{size};\tsigned:1;\n"
                "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                f"\tfield: char data;\toffset:{8 + size};\tsize:{self.page_bytes - 8 - size};\tsigned:1;\n")
        return (b"header_page\0" + self.text("Q", page) + b"header_event\0" + self.text("Q", HEADER_EVENT))

    def text(self, code, text):
        data = text if isinstance(text, bytes) else text.encode()
        return self.pack(code, len(data)) + data

    def ftrace_formats(self):
        return self.pack("I", len(self.ftrace)) + b"".join(self.text("Q", text) for text in self.ftrace)

    def event_formats(self):
        data = self.pack("I", len(self.events))
        for system, texts in self.events.items():
            data += system.encode() + b"\0" + self.pack("I", len(texts))
            data += b"".join(self.text("Q", text) for text in texts)
        return data

    def metas(self):
        return [self.headers(), self.ftrace_formats(), self.event_formats(), self.text("I", self.kallsyms),
                self.text("I", self.printk), self.text("Q", self.cmdlines)]


def switches_machine():
    """Its sched_switch reads as the kernel's does."""
    machine = Machine()
    machine.events["sched"].clear()
    machine.format("sched", "sched_switch", 300, [("char", "prev_comm[16]", 16), ("pid_t", "prev_pid", 4),
                                                  ("char", "next_comm[16]", 16), ("pid_t", "next_pid", 4)],
                   '"prev_comm=%s prev_pid=%d ==> next_comm=%s next_pid=%d", '
                   'REC->prev_comm, REC->prev_pid, REC->next_comm, REC->next_pid')
    return machine


class Pages:
    """One CPU's pages."""

    def __init__(self, machine):
        self.machine, self.pages, self.events, self.last = machine, [], b"", None
        self.start, self.flags, self.lost = 0, 0, 0

    def head(self, kind, delta):
        return self.machine.pack("I", kind << 27 | delta if self.machine.is_big else kind | delta << 5)

    def begin(self, time, lost=None):
        """@lost: how many events before the page, 0: some."""
        self.end()
        self.start = self.last = time
        self.events, self.lost = b"", lost or 0
        self.flags = 0 if lost is None else LOST | (LOST_STORED if lost else 0)

    def room(self):
        return self.machine.page_bytes - 8 - self.machine.long_bytes

    def raw(self, data):
        self.events += data

    def put(self, time, data, is_long=False):
        data += bytes(-len(data) % 4)
        if self.last is None or len(self.events) + len(data) + 24 > self.room():
            self.begin(time)
        delta = time - self.last
        if delta >= DELTA_END:
            self.raw(self.head(30, delta % DELTA_END) + self.machine.pack("I", delta // DELTA_END))
            delta = 0
        if is_long or len(data) > 112:
            self.raw(self.head(0, delta) + self.machine.pack("I", len(data) + 4) + data)
        else:
            self.raw(self.head(len(data) // 4, delta) + data)
        self.last = time

    def stamp(self, time):
        """An absolute time."""
        if self.last is None:
            self.begin(time)
        low = time & (1 << 59) - 1
        self.raw(self.head(31, low % DELTA_END) + self.machine.pack("I", low // DELTA_END))
        self.last = time

    def pad(self, time, nr):
        """A discarded event of @nr bytes behind its head."""
        self.raw(self.head(29, time - self.last) + self.machine.pack("I", nr) + bytes(nr - 4))
        self.last = time

    def end(self):
        if self.last is None:
            return
        commit = len(self.events) | self.flags
        if commit & LOST and self.machine.long_bytes == 8:
            commit |= 0xffffffff << 32              # sign-extended
        data = self.machine.pack("Q", self.start) + self.machine.long(commit) + self.events
        if self.flags & LOST_STORED:
            data += self.machine.long(self.lost)
        self.pages.append(data.ljust(self.machine.page_bytes, b"\0"))
        self.last = None

    def data(self):
        self.end()
        return b"".join(self.pages)


def align(data, size):
    return data + bytes(-len(data) % size)


def version6(machine, cpus, options=(), instances=(), user_long=None, version=b"6", cpu_nr=None, latency=None):
    """@cpus: a list of bytes; @options: (id, data); @instances: (name, cpus).  @latency: a text instead of pages."""
    m = machine
    data = MAGIC + version + b"\0" + bytes([int(m.is_big), user_long or m.long_bytes]) + m.pack("I", m.page_bytes)
    data += b"".join(m.metas()) + m.pack("I", len(cpus) if cpu_nr is None else cpu_nr)
    places = []             # where offsets of instances are to be written
    if options or instances:
        data += b"options  \0"
        for number, value in options:
            data += m.pack("HI", number, len(value)) + value
        for name, _ in instances:
            data += m.pack("HI", BUFFER, 8 + len(name) + 1)
            places.append(len(data))
            data += bytes(8) + name.encode() + b"\0"
        data += m.pack("H", 0)
    if latency is not None:
        return data + b"latency  \0" + latency.encode()
    data = bytearray(pages6(m, data, cpus))
    for place, (_, buffers) in zip(places, instances):
        data[place:place + 8] = m.pack("Q", len(data))
        data = bytearray(pages6(m, bytes(data), buffers))
    return bytes(data)


def pages6(machine, data, cpus):
    data += b"flyrecord\0"
    offset = len(data) + 16 * len(cpus)
    offset += -offset % machine.page_bytes
    for pages in cpus:
        data += machine.pack("QQ", offset, len(pages))
        offset += len(pages)
    return align(data, machine.page_bytes) + b"".join(cpus)


class Version7:
    """Sections in the order in which they are added; the options last, in two parts."""

    def __init__(self, machine, packer="none", is_magicless=False):
        self.machine, self.packer, self.options = machine, packer, []
        m = machine
        self.data = bytearray(MAGIC + b"7\0" + bytes([int(m.is_big), m.long_bytes]) + m.pack("I", m.page_bytes) +
                              packer.encode() + b"\0" + b"1\0")
        self.first = len(self.data)
        self.data += bytes(8)

    def chunk(self, data):
        packed = zlib.compress(data) if self.packer == "zlib" else data
        return self.machine.pack("II", len(packed), len(data)) + packed

    def section(self, number, data, is_packed=None):
        """Its offset."""
        offset = len(self.data)
        if is_packed is None:
            is_packed = self.packer != "none"
        data = self.chunk(data) if is_packed else data
        self.data += self.machine.pack("HHIQ", number, int(is_packed), 0, len(data)) + data
        return offset

    def metas(self, order=range(6)):
        metas = self.machine.metas()
        for i in order:
            self.options.append((HEADER_INFO + i, self.machine.pack("Q", self.section(HEADER_INFO + i, metas[i]))))

    def buffer(self, name, clock, cpus, chunk_pages=1):
        """@cpus: (number, bytes)."""
        m, places = self.machine, b""
        section = len(self.data)
        self.data += m.pack("HHIQ", BUFFER, int(self.packer != "none"), 0, 0)
        for number, pages in cpus:
            self.data += bytes(-len(self.data) % m.page_bytes)
            offset, size = len(self.data), len(pages)
            if self.packer != "none":
                step = chunk_pages * m.page_bytes
                chunks = [self.chunk(pages[i:i + step]) for i in range(0, len(pages), step)]
                size = sum(map(len, chunks))
                self.data += m.pack("I", len(chunks)) + b"".join(chunks)
            else:
                self.data += pages
            places += m.pack("IQQ", number, offset, size)
        self.options.append((BUFFER, m.pack("Q", section) + name.encode() + b"\0" + clock.encode() + b"\0" +
                             m.pack("II", m.page_bytes, len(cpus)) + places))

    def option_section(self, options, after):
        data = b"".join(self.machine.pack("HI", number, len(value)) + value for number, value in options)
        return self.section(0, data + self.machine.pack("HIQ", 0, 8, after), False)

    def finish(self):
        half = len(self.options) // 2
        after = self.option_section(self.options[half:], 0)
        first = self.option_section(self.options[:half], after)
        self.data[self.first:self.first + 8] = self.machine.pack("Q", first)
        return bytes(self.data)
