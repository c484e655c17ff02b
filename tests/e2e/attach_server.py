#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record -p of a server under load, begun and ended again and again: each answer is right, and nothing piles up in it."""
import os
import random
import shutil
import signal
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import attaching
import harness
from attaching import mappings
from harness import FTR

SERVER = shutil.which("redis-server")
CYCLES = int(os.environ.get("FTR_CYCLES", harness.times(12, short=4)))
CLIENTS = 2
OPTIONS = ([], ["-P", "."], ["--no-libcall"], ["-P", "^call", "-P", "^process"])


class Client(threading.Thread):
    """Asks and compares until it is told to stop; wrong: the first answer that was not right."""

    def __init__(self, path, number):
        super().__init__(daemon=True)
        self.path, self.number = path, number
        self.answers, self.wrong, self.is_over = 0, None, False

    def run(self):
        name = self.number
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(harness.TIMEOUT)
            connection.connect(self.path)
            stream = connection.makefile("rwb")
            while not self.is_over and self.wrong is None:
                n = self.answers + 1
                stream.write(b"SET k%d v%d\r\nGET k%d\r\nINCR c%d\r\nRPUSH l%d x y\r\nLPOP l%d 2\r\n" % (name, n, name, name, name, name))
                stream.flush()
                value = b"v%d" % n
                wanted = b"+OK\r\n$%d\r\n%s\r\n:%d\r\n:2\r\n*2\r\n$1\r\nx\r\n$1\r\ny\r\n" % (len(value), value, n)
                found = stream.read(len(wanted))
                if found != wanted:
                    self.wrong = (wanted, found)
                self.answers = n


def held(pid):
    """What it has of the system."""
    return {"mappings": len(mappings(pid)), "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            "threads": len(os.listdir(f"/proc/{pid}/task"))}


def is_served(path):
    """It may be there already, and refuse who comes."""
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(path) == 0


@unittest.skipUnless(SERVER, "redis-server is not installed")
class AttachServer(attaching.Test):
    def cycle(self, pid, signo, data="data"):
        shutil.rmtree(data, ignore_errors=True)
        recorder = self.start_program(FTR, "record", "-p", str(pid), "-d", data, "--max-size=20M", *random.choice(OPTIONS))
        time.sleep(random.uniform(0, 0.4))
        recorder.send_signal(signo)
        _, errors = recorder.communicate(timeout=harness.TIMEOUT)
        self.assertNotIn("cannot be left", errors)

    def test_cycles(self):
        path = "socket"         # a longer one may be too long for the kernel
        server = self.start_program(SERVER, "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no")
        threading.Thread(target=server.stdout.read, daemon=True).start()
        self.wait_for(lambda: is_served(path))
        clients = [Client(path, number) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        self.leave(self.attach(server.pid, data="first"))       # what stays of the runtime is there now
        before = held(server.pid)
        for i in range(CYCLES):
            self.cycle(server.pid, signal.SIGKILL if i % 4 == 3 else signal.SIGINT)
            self.assertIsNone(server.poll(), i)
        self.leave(self.attach(server.pid, data="last"))        # behind one that was killed
        after = held(server.pid)
        for client in clients:
            client.is_over = True
        for client in clients:
            client.join(harness.TIMEOUT)
            self.assertIsNone(client.wrong)
            self.assertGreater(client.answers, 0)
        self.assertEqual((after["descriptors"], after["threads"]), (before["descriptors"], before["threads"]))
        self.assertLessEqual(after["mappings"], before["mappings"] + 8)         # the server's own grow, too
        print(f"{CYCLES} cycles, {sum(client.answers for client in clients)} rounds of 5 requests, {before} -> {after}", file=sys.stderr)
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=harness.TIMEOUT)
        self.assertEqual(server.returncode, 0)


harness.main()
