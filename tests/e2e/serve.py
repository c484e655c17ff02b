# SPDX-License-Identifier: MIT
"""serve and its clients: what arrives is what was recorded, and nobody holds the program up.  All over loopback."""
import collections
import os
import random
import re
import select
import signal
import socket
import struct
import subprocess
import threading

from recording import FTR, TIMEOUT, AsNative, harness

import swap_made

ENTRY, EXIT, PROCESS_INFO, TERMINATE, ERROR = 0x0008, 0x0009, 0x0001, 0x0002, 0x0003


class Client(threading.Thread):
    """Reads a stream to its end; until(predicate) waits for what has come."""

    def __init__(self, port, said=b""):
        super().__init__(daemon=True)
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        self.socket.sendall(said)
        self.data, self.changed, self.is_done = b"", threading.Condition(), False
        self.start()

    def run(self):
        while True:
            try:
                more = self.socket.recv(65536)
            except OSError:         # it was reset, or we have closed it
                more = b""
            with self.changed:
                self.data += more
                self.is_done = not more
                self.changed.notify_all()
            if not more:
                return

    def whole(self):
        """The messages that have come whole."""
        at = 0
        while at + 20 <= len(self.data):
            size, = struct.unpack_from("<I", self.data, at + 16)
            if at + 20 + size > len(self.data):
                break
            at += 20 + size
        return self.data[:at]

    def count(self, ident):
        return sum(found[0] == ident for found in swap_made.messages(self.whole(), os.cpu_count()))

    def until(self, predicate):
        with self.changed:
            assert self.changed.wait_for(predicate, TIMEOUT)

    def end(self):
        self.join(TIMEOUT)
        assert self.is_done
        self.socket.close()
        return self.data


class Control:
    """A host's control channel."""
    def __init__(self, port, said=b""):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        self.socket.sendall(said)

    def take(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            assert more, "the control channel was closed"
            data += more
        return data

    def reply(self):
        ident, size = struct.unpack("<II", self.take(8))
        return ident, self.take(size)

    def ask(self, ident, payload=b""):
        self.socket.sendall(struct.pack("<II", ident, len(payload)) + payload)
        return self.reply()


class Serve(AsNative):
    has_damaged_data = True

    def serve(self, *words, **options):
        """ftr serve, and the port that it says."""
        child = self.start_program(FTR, "serve", "--port=0", *words, stdin=subprocess.PIPE, **options)
        return child, int(re.search(r"serving at 127.0.0.1:(\d+);", child.stderr.readline()).group(1))

    def finish(self, child, text="", status=7):
        out, err = child.communicate(text, timeout=TIMEOUT)
        self.assertEqual(child.returncode, status, err)
        return out, err

    def check_stream(self, data):
        """By the tables alone: numbers follow each other, calls are nested.  {function's address: calls}"""
        found, stacks, calls = list(swap_made.messages(data, os.cpu_count())), {}, collections.Counter()
        self.assertEqual([sequence for _, sequence, _, _ in found], list(range(len(found))))
        known = set()
        for ident, _, time, values in found:
            self.assertLess(time[1], 10**9)
            if ident == PROCESS_INFO:
                known.add(values["pid"])
            elif ident == ENTRY:
                self.assertIn(values["pid"], known)
                stacks.setdefault(values["tid"], []).append(values["pc"])
                calls[values["pc"]] += 1
            elif ident == EXIT:
                self.assertEqual(stacks[values["tid"]].pop(), values["pc"])
        return calls

    def report(self, *words):
        done = subprocess.run([FTR, "report", "--no-pager", "--no-sched", "-f", "call", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return sorted(done.stdout.splitlines()[2:])

    def test_every_call(self):
        """To several at a time, from the first call to the last."""
        self.compile("steps", "steps.c", "-pg", "-O1")
        child, port = self.serve("-d", "d", "--wait", "--no-event", "--no-libcall", "./steps")
        first = Client(port)
        self.assertEqual(self.finish(child, "5\n7\n")[0], "43\n")
        data = first.end()
        calls = self.check_stream(data)
        self.assertEqual(sorted(calls.values()), [1, 12, 12])
        self.assertEqual(sum(ident == TERMINATE for ident, *_ in swap_made.messages(data, os.cpu_count())), 1)
        with open("x.swap", "wb") as file:
            file.write(data)
        self.assertEqual(self.report("x.swap"), self.report("-d", "d"))

    def test_late(self):
        """Who comes later, or again, gets what explains the rest."""
        self.compile("steps", "steps.c", "-pg", "-O1")
        child, port = self.serve("--wait", "--no-event", "--no-libcall", "./steps")
        first, gone = Client(port), Client(port)
        child.stdin.write("5\n")
        child.stdin.flush()
        first.until(lambda: first.count(ENTRY) == 11)
        gone.socket.close()
        late = Client(port)
        late.until(lambda: late.count(PROCESS_INFO) == 1)
        self.finish(child, "7\n")
        self.assertEqual(sorted(self.check_stream(first.end()).values()), [1, 12, 12])
        found = list(swap_made.messages(late.end(), os.cpu_count()))
        self.assertEqual(found[0][0], PROCESS_INFO)
        self.assertEqual([sequence for _, sequence, _, _ in found], list(range(len(found))))
        self.assertEqual(sum(ident == ENTRY for ident, *_ in found), 14)

    def test_recv(self):
        """Kept, and shown as it comes; both are what the same recording shows."""
        self.compile("steps", "steps.c", "-pg", "-O1")
        child, port = self.serve("--wait", "--no-event", "--no-libcall", "./steps")
        first = Client(port)
        child.stdin.write("2\n")
        child.stdin.flush()
        first.until(lambda: first.count(ENTRY) == 5)
        shown = self.start_program(FTR, "recv", f"127.0.0.1:{port}", "--no-pager")
        while not select.select([shown.stdout], [], [], 0.1)[0]:    # it is not connected yet
            child.stdin.write("1\n")
            child.stdin.flush()
        lines = [shown.stdout.readline() for _ in range(4)]
        self.assertIn("FUNCTION", lines[0])
        self.assertRegex("".join(lines), r"step\(\) \{\n.*leaf\(\);\n.*\} /\* step \*/\n")   # while the program runs
        kept = self.start_program(FTR, "recv", f"127.0.0.1:{port}", "-o", "x.swap")
        while not os.path.exists("x.swap") or os.path.getsize("x.swap") == 0:
            self.assertIsNone(kept.poll())
        child.stdin.write("3\n")
        child.stdin.flush()
        self.finish(child)
        out, err = shown.communicate(timeout=TIMEOUT)
        self.assertEqual((shown.returncode, err), (0, ""))
        self.assertGreaterEqual(out.count("leaf();"), 3)
        _, err = kept.communicate(timeout=TIMEOUT)
        self.assertRegex(err, r"^ftr: x.swap: \d+ bytes from 127.0.0.1:\d+\n$")
        counts = {line.split()[1]: int(line.split()[0]) for line in self.report("x.swap")}
        self.assertGreaterEqual(counts["leaf"], 3)
        self.assertEqual(counts["leaf"], counts["step"])

    def test_processes(self):
        """Children, threads and programs that they become, and what probes see."""
        self.compile("samples", "samples.c", "-pg")
        child, port = self.serve("--wait", "--probe=memory", "--sample=1ms", "-d", "d", "sh", "-c", "./samples 3 & ./samples 3; wait")
        first = Client(port)
        self.finish(child, status=0)
        data = first.end()
        calls = self.check_stream(data)
        self.assertEqual(sum(nr == 3 for nr in calls.values()), 2)          # spin() in either process
        idents = collections.Counter(ident for ident, *_ in swap_made.messages(data, os.cpu_count()))
        self.assertGreaterEqual(idents[PROCESS_INFO], 2)
        self.assertGreater(idents[0x0101], 0)
        leaks = [(values["status"], values["message"]) for ident, _, _, values in swap_made.messages(data, os.cpu_count())
                 if ident == 0x0022]
        self.assertIn((4, "leaks are looked for"), leaks)
        self.assertTrue(any(status == 1 and re.match(r"\d+ bytes in \d+ blocks? not given back", text) for status, text in leaks), leaks)
        with open("x.swap", "wb") as file:
            file.write(data)
        self.assertEqual(self.report("x.swap"), self.report("-d", "d"))

    def test_does_not_read(self):
        """Neither the program nor the others notice; who reads no byte for 10 s at the end is left alone."""
        self.compile("steps", "steps.c", "-pg", "-O1")
        child, port = self.serve("--wait", "--no-event", "--no-libcall", "./steps")
        idle = socket.create_connection(("127.0.0.1", port))
        idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        other = Client(port)
        child.stdin.write("20000\n")
        child.stdin.close()
        self.assertRegex(child.stdout.read(), r"^-?\d+\n$")
        calls = self.check_stream(other.end())
        self.assertEqual(sorted(calls.values())[-2:], [20000, 20000])
        self.assertEqual(child.wait(TIMEOUT), 7)
        idle.close()

    def test_garbage_and_hundreds(self):
        self.compile("steps", "steps.c", "-pg", "-O1")
        child, port = self.serve("--wait", "--no-event", "--no-libcall", "./steps")
        first = Client(port)
        noise = random.Random(1)
        for i in range(300):
            with socket.create_connection(("127.0.0.1", port)) as guest:
                guest.sendall(noise.randbytes(noise.randrange(2000)))
                if i % 3 == 0:
                    guest.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        crowd = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        for guest in crowd[::2]:
            guest.close()
        self.finish(child, "5\n7\n")
        self.assertEqual(sorted(self.check_stream(first.end()).values()), [1, 12, 12])
        for guest in crowd[1::2]:
            guest.close()

    def test_token(self):
        self.compile("steps", "steps.c", "-pg", "-O1")
        child, port = self.serve("--wait", "--token=open sesame", "--no-event", "--no-libcall", "./steps")
        wrong = [Client(port, said) for said in (b"open\n", b"open sesame!\n", b"\n", b"x" * 1000)]
        self.assertEqual({client.end() for client in wrong}, {b""})
        silent, half = Client(port), Client(port, b"open ses")
        stranger = subprocess.run([FTR, "recv", f"127.0.0.1:{port}", "--token=no", "-o", "-"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual((stranger.returncode, stranger.stdout), (1, ""))
        known = self.start_program(FTR, "recv", f"127.0.0.1:{port}", "--token=open sesame", "-o", "x.swap")
        self.finish(child, "5\n7\n")
        known.communicate(timeout=TIMEOUT)
        self.assertEqual(known.returncode, 0)
        with open("x.swap", "rb") as file:
            self.assertEqual(sorted(self.check_stream(file.read()).values()), [1, 12, 12])
        self.assertEqual((silent.end(), half.end()), (b"", b""))

    def control(self, *words):
        self.compile("steps", "steps.c", "-pg", "-O1")
        return self.serve("--control", *words, "--no-event", "--no-libcall", "./steps")

    VERSION, START, STOP, CONFIG, TARGET_INFO, KEEP_ALIVE = 1, 2, 3, 4, 7, 15
    OK, FORMAT, TYPE = (struct.pack("<i", code) for code in (0, -201, -202))

    def test_control(self):
        """Each request, whole and in bytes; the program begins with START."""
        child, port = self.control()
        host = Control(port)
        self.assertRegex(host.ask(self.VERSION)[1], rb"^\0\0\0\0ftr \d+\.\d+\.\d+\0$")
        self.assertEqual(host.ask(self.KEEP_ALIVE), (0x100f, self.OK))
        ident, info = host.ask(self.TARGET_INFO)
        memory, disk, *phone, network, screen, cpus, devices = struct.unpack_from("<4xQQ4IcIII", info)
        self.assertEqual((ident, info[:4], phone, network, screen, cpus), (0x1007, self.OK, [0] * 4, b"\0", 0, os.cpu_count()))
        self.assertEqual(memory, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        self.assertEqual(disk, os.statvfs("/").f_blocks * os.statvfs("/").f_frsize)
        self.assertEqual((devices, info[struct.calcsize("<4xQQ4IcIII"):]), (3, b"FLASH\0CPU\0LCD\0"))
        self.assertEqual(host.ask(self.CONFIG, b"x" * 70), (0x1004, self.TYPE))
        self.assertEqual(host.ask(0xffffffff), (0xfff, self.TYPE))
        self.assertEqual(host.ask(self.KEEP_ALIVE, b"x"), (0x100f, self.FORMAT))
        for byte in struct.pack("<II", self.CONFIG, 3) + b"abc" + struct.pack("<II", self.KEEP_ALIVE, 0):
            host.socket.sendall(bytes([byte]))
        self.assertEqual((host.reply(), host.reply()), ((0x1004, self.TYPE), (0x100f, self.OK)))
        first = Client(port)
        child.stdin.write("5\n")
        child.stdin.flush()
        self.assertEqual(first.data, b"")           # it does not run
        self.assertEqual(host.ask(self.START, b"as old hosts say it"), (0x1002, self.OK))
        first.until(lambda: first.count(ENTRY) == 11)
        self.assertEqual(host.ask(self.START), (0x1002, self.OK))      # it runs already
        self.assertEqual(self.finish(child, "7\n")[0], "43\n")
        self.assertEqual(sorted(self.check_stream(first.end()).values()), [1, 12, 12])
        self.assertEqual(host.socket.recv(1), b"")

    def test_control_stops(self):
        """The streams end where they are, for everybody; the program goes on, and who comes then is served."""
        child, port = self.control()
        host = Control(port)
        clients = [Client(port), Client(port)]
        self.assertEqual(host.ask(self.START), (0x1002, self.OK))
        child.stdin.write("5\n")
        child.stdin.flush()
        for client in clients:
            client.until(lambda client=client: client.count(ENTRY) == 11)
        self.assertEqual(host.ask(self.STOP), (0x1003, self.OK))
        for client in clients:
            self.assertEqual(sorted(self.check_stream(client.end()).values()), [1, 5, 5])
        self.assertEqual(host.ask(self.STOP), (0x1003, self.OK))
        late = Client(port)
        late.until(lambda: late.count(PROCESS_INFO) == 1)
        host.socket.close()
        self.assertEqual(self.finish(child, "7\n")[0], "43\n")
        found = list(swap_made.messages(late.end(), os.cpu_count()))
        self.assertEqual(sum(ident == ENTRY for ident, *_ in found), 14)

    def test_control_and_token(self):
        """Who does not know it is no control channel; what follows it is heard."""
        child, port = self.control("--token=open sesame")
        strangers = [Client(port, said + struct.pack("<II", self.START, 0)) for said in (b"", b"open\n", b"x" * 500)]
        host = Control(port, b"open sesame\n" + struct.pack("<II", self.KEEP_ALIVE, 0))
        self.assertEqual(host.reply(), (0x100f, self.OK))
        first = Client(port, b"open sesame\n")
        stranger = Client(port, b"open\n")
        self.assertEqual(stranger.end(), b"")
        self.assertEqual(host.ask(self.START), (0x1002, self.OK))
        first.until(lambda: first.count(PROCESS_INFO) == 1)
        self.finish(child, "5\n7\n")
        self.assertEqual(sorted(self.check_stream(first.end()).values()), [1, 12, 12])
        self.assertEqual({client.end() for client in strangers}, {b""})

    def test_control_and_hostile_hosts(self):
        """Garbage, half messages, lengths without end, replies that nobody reads; the next host is heard."""
        child, port = self.control()
        noise = random.Random(2)
        request = struct.pack("<II", self.TARGET_INFO, 0)
        for i in range(300):
            with socket.create_connection(("127.0.0.1", port)) as guest:
                said = request[:i % 9] if i < 30 else noise.randbytes(noise.randrange(2000))
                if said[:4] == struct.pack("<I", self.START):
                    continue
                guest.sendall(said)
                if i % 3 == 0:
                    guest.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        endless = socket.create_connection(("127.0.0.1", port))
        endless.sendall(struct.pack("<II", self.CONFIG, 0xffffffff) + b"x" * 100000)
        endless.close()
        greedy = self.control_of(port).socket
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with self.assertRaises((ConnectionError, TimeoutError)):
            while True:
                greedy.sendall(request * 1000)
        greedy.close()
        crowd = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        for guest in crowd:
            guest.close()
        host = self.control_of(port)
        first = Client(port)
        self.assertEqual(host.ask(self.START), (0x1002, self.OK))
        self.finish(child, "5\n7\n")
        self.assertEqual(sorted(self.check_stream(first.end()).values()), [1, 12, 12])

    def control_of(self, port):
        """The control channel, once those before it are known to have gone."""
        while True:
            host = Control(port)
            host.socket.sendall(struct.pack("<II", self.KEEP_ALIVE, 0))
            if select.select([host.socket], [], [], 0.2)[0]:
                self.assertEqual(host.reply(), (0x100f, self.OK))
                return host
            host.socket.close()

    def test_nobody(self):
        """Without clients the program runs as ever, and nothing is left behind."""
        self.compile("steps", "steps.c", "-pg", "-O1")
        os.mkdir("tmp")
        child, _ = self.serve("./steps", env={**os.environ, "TMPDIR": os.path.abspath("tmp")})
        self.assertEqual(self.finish(child, "5\n")[0], "15\n")
        self.assertEqual(os.listdir("tmp"), [])
        child, _ = self.serve("--wait", "./steps", env={**os.environ, "TMPDIR": os.path.abspath("tmp")})
        child.send_signal(signal.SIGTERM)
        _, err = child.communicate(timeout=TIMEOUT)
        self.assertNotEqual(child.returncode, 0)
        self.assertEqual(os.listdir("tmp"), [], err)

    def test_follow(self):
        """replay --follow of a directory that is being recorded."""
        self.compile("steps", "steps.c", "-pg", "-O1")
        child = self.start_program(FTR, "record", "-d", "d", "--no-event", "--no-libcall", "./steps", stdin=subprocess.PIPE)
        while not os.path.exists("d/task.txt") or os.path.getsize("d/task.txt") == 0:
            self.assertIsNone(child.poll())
        follower = self.start_program(FTR, "replay", "--no-pager", "--follow", "-d", "d")
        child.stdin.write("2\n")
        child.stdin.flush()
        lines = [follower.stdout.readline() for _ in range(8)]
        self.assertIn("FUNCTION", lines[0])
        self.finish(child, "3\n")
        out, err = follower.communicate(timeout=TIMEOUT)
        self.assertEqual((follower.returncode, err), (0, ""))
        done = subprocess.run([FTR, "replay", "--no-pager", "-d", "d"], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT,
                              check=True)
        self.assertEqual("".join(lines) + out, done.stdout)

    def test_refusals(self):
        self.compile("steps", "steps.c", "-pg", "-O1")
        for words, text in ((["--syscalls"], "--syscalls is not known"), (["--overwrite=1M"], "keeps what clients"), (["--keep-pid"], "leave nobody"),
                            (["-p", "1"], "what runs already is not served"),
                            (["--token="], "--token is a line"), (["-E", "sched:*@kernel"], "of the kernel")):
            done = subprocess.run([FTR, "serve", *words, "./steps"], stderr=subprocess.PIPE, text=True, timeout=TIMEOUT,
                                  check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)
        for words in (["nowhere"], ["127.0.0.1:1", "-d", "d"], ["-o", "x"]):
            done = subprocess.run([FTR, "recv", *words], stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
        done = subprocess.run([FTR, "serve", "--bind=0.0.0.0", "--port=0", "./steps"], stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 7)
        self.assertIn("nothing is encrypted", done.stderr)


if __name__ == "__main__":
    harness.main()
