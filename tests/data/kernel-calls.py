#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kernel-calls.py DIR [CALLS]: a uftrace directory with kernel functions, made up byte by byte.

How tests/data/kernel-calls was made.  A program that calls read() and write() on one CPU, then on another; the
kernel's functions are inside, before and after them, and once events were lost.  With CALLS: so many kernel
calls instead, to measure readers with.
"""
import os
import struct
import sys

PAGE = 4096
ENTRY, EXIT, SWITCH = 11, 10, 314
PID = 42
MAIN, READ, WRITE = 0x401100, 0x401200, 0x401300
SYS_READ, VFS_READ, SYS_WRITE, VFS_WRITE = (0xffffffff81000000 + 0x1000 * i for i in range(1, 5))
COMMON = '''	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

'''
FILES = {
    'events/header_page': '''	field: u64 timestamp;	offset:0;	size:8;	signed:0;
	field: local_t commit;	offset:8;	size:8;	signed:1;
	field: int overwrite;	offset:8;	size:1;	signed:1;
	field: char data;	offset:16;	size:4080;	signed:0;
''',
    'events/ftrace/funcgraph_entry/format': 'name: funcgraph_entry\nID: 11\nformat:\n' + COMMON +
    '''	field:unsigned long func;	offset:8;	size:8;	signed:0;
	field:int depth;	offset:16;	size:4;	signed:1;

print fmt: "--> %ps (%d)", (void *)REC->func, REC->depth
''',
    'events/ftrace/funcgraph_exit/format': 'name: funcgraph_exit\nID: 10\nformat:\n' + COMMON +
    '''	field:unsigned long func;	offset:8;	size:8;	signed:0;
	field:int depth;	offset:16;	size:4;	signed:1;
	field:unsigned int overrun;	offset:20;	size:4;	signed:0;
	field:unsigned long long calltime;	offset:24;	size:8;	signed:0;
	field:unsigned long long rettime;	offset:32;	size:8;	signed:0;

print fmt: "<-- %ps (%d) (start: %llx  end: %llx) over: %d", (void *)REC->func, REC->depth, REC->calltime, REC->rettime, REC->depth
''',
    'events/sched/sched_switch/format': 'name: sched_switch\nID: 314\nformat:\n' + COMMON +
    '''	field:pid_t prev_pid;	offset:8;	size:4;	signed:1;
	field:pid_t next_pid;	offset:12;	size:4;	signed:1;

print fmt: "prev_pid=%d ==> next_pid=%d", REC->prev_pid, REC->next_pid
''',
}


class Pages:
    """One CPU's pages; a new one begins when the last has no room."""

    def __init__(self, path):
        self.out = open(path, 'wb')
        self.data = b''
        self.lost = 0

    def event(self, time, data):
        if len(self.data) + 4 + len(data) > PAGE - 16:
            self.flush()
        if not self.data:
            self.first = self.last = time
        self.data += struct.pack('<I', (time - self.last) << 5 | len(data) // 4) + data
        self.last = time

    def flush(self):
        commit = len(self.data)
        if self.lost:
            commit |= 0xffffffffc0000000
            self.data += struct.pack('<Q', self.lost)
        self.out.write((struct.pack('<QQ', self.first, commit) + self.data).ljust(PAGE, b'\0'))
        self.data = b''
        self.lost = 0

    def entry(self, time, func, depth):
        self.event(time, struct.pack('<HBBiQii', ENTRY, 0, 0, PID, func, depth, 0))

    def exit(self, time, func, depth):
        self.event(time, struct.pack('<HBBiQiIQQ', EXIT, 0, 0, PID, func, depth, 0, 0, time))

    def call(self, time, outer, inner):
        self.entry(time, outer, 0)
        self.entry(time + 10, inner, 1)
        self.exit(time + 110, inner, 1)
        self.exit(time + 120, outer, 0)

    def switch(self, time, prev, following):
        self.event(time, struct.pack('<HBBiii', SWITCH, 0, 0, prev, prev, following))


def record(time, kind, depth, addr):
    return struct.pack('<QQ', time, addr << 16 | depth << 6 | 5 << 3 | kind)


def story(path):
    first, second = Pages(path + '/kernel-cpu0.dat'), Pages(path + '/kernel-cpu1.dat')
    first.call(500, SYS_READ, VFS_READ)             # before anything of the program's
    first.call(1250, SYS_READ, VFS_READ)
    first.entry(1550, SYS_WRITE, 0)
    first.entry(1560, VFS_WRITE, 1)
    first.switch(1570, PID, 7)
    first.flush()
    second.switch(1700, 7, PID)
    second.exit(1800, VFS_WRITE, 1)
    second.exit(1810, SYS_WRITE, 0)
    second.flush()
    second.lost = 3
    second.exit(2120, VFS_READ, 1)                  # its entry is among them
    second.exit(2130, SYS_READ, 0)
    second.call(5000, SYS_WRITE, VFS_WRITE)         # after it
    second.flush()
    return (record(1000, 0, 0, MAIN) +
            record(1200, 0, 1, READ) + record(1400, 1, 1, READ) +
            record(1500, 0, 1, WRITE) + record(1900, 1, 1, WRITE) +
            record(2000, 0, 1, READ) + record(2200, 1, 1, READ) +
            record(3000, 1, 0, MAIN))


def many(path, calls):
    pages = Pages(path + '/kernel-cpu0.dat')
    for i in range(calls // 2):
        pages.call(2000 + 200 * i, SYS_READ, VFS_READ)
    pages.flush()
    return record(1000, 0, 0, MAIN) + record(3000 + 100 * calls, 1, 0, MAIN)


def put(path, name, data):
    with open(f'{path}/{name}', 'wb') as out:
        out.write(data if isinstance(data, bytes) else data.encode())


def main(path, calls=0):
    os.mkdir(path)
    put(path, f'{PID}.dat', many(path, calls) if calls else story(path))
    put(path, 'info', b'Ftrace!\0' + struct.pack('<IHBBQQHHI', 4, 40, 1, 2, 0x20 | 2, 1 << 7, 1024, 0, 0) +
        b'taskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=42\n')
    put(path, 'task.txt', f'SESS timestamp=0.000000100 pid={PID} sid=00000000000000aa exename="/bin/prog"\n'
        f'TASK timestamp=0.000000200 tid={PID} pid={PID}\n')
    put(path, 'sid-00000000000000aa.map', '00400000-00402000 r-xp 00000000 08:01 1 /bin/prog\n'
        '7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n')
    put(path, 'prog.sym', ''.join(f'{addr - 0x400000:016x} T {name}\n' for addr, name in
                                  ((MAIN, 'main'), (READ, 'read'), (WRITE, 'write'), (0x401400, '__sym_end'))))
    put(path, 'kallsyms', ''.join(f'{addr:016x} {kind} {name}\n' for addr, kind, name in
                                  ((SYS_READ, 'T', '__x64_sys_read'), (VFS_READ, 'T', 'vfs_read'),
                                   (SYS_WRITE, 'T', '__x64_sys_write'), (VFS_WRITE, 't', 'vfs_write\t[mod]'),
                                   (VFS_WRITE + 0x100, 'T', 'next'))))
    put(path, 'kernel_header', 'PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\n' +
        ''.join(f'TRACEFS: {name}: {len(text)}\n{text}' for name, text in FILES.items()))


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
