# SPDX-License-Identifier: MIT
"""record --host and recv: what arrives is what was recorded, byte for byte, and the program never waits for it."""
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import threading

from recording import FTR, TIMEOUT, Recording, harness

DIR, DATA, KERNEL, PERF, INFO, META, END = range(101, 108)
NAMES = {DATA: "%d.dat", KERNEL: "kernel-cpu%d.dat", PERF: "perf-cpu%d.dat"}
UFTRACE = shutil.which("uftrace")


def message(kind, body):
    return struct.pack(">HHI", 0xface, kind, len(body)) + body


class Decoder(threading.Thread):
    """An independent receiver: it keeps the files of one sender, and then ends the connection as it is told to."""

    def __init__(self, accepts=True):
        super().__init__(daemon=True)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = str(self.server.getsockname()[1])
        self.accepts, self.files, self.name, self.kinds = accepts, {}, None, []
        self.start()

    def run(self):
        client = self.server.accept()[0]
        stream = client.makefile("rb")
        while True:
            magic, kind, length = struct.unpack(">HHI", stream.read(8))
            assert magic == 0xface
            body = stream.read(length)
            self.kinds.append(kind)
            if kind == END:
                break
            self.take(kind, body)
        if not self.accepts:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()
        client.close()
        self.server.close()

    def take(self, kind, body):
        if kind == DIR:
            self.name = body.decode()
        elif kind == INFO:
            head = bytearray(body[:40])
            for place, form in ((8, "I"), (12, "H"), (16, "Q"), (24, "Q"), (32, "H")):
                struct.pack_into("<" + form, head, place, *struct.unpack_from(">" + form, body, place))
            self.files["info"] = bytes(head) + body[40:]
        else:
            number, = struct.unpack_from(">i", body)
            start = 4 + number if kind == META else 4
            name = body[4:start].decode() if kind == META else NAMES[kind] % number
            self.files[name] = self.files.get(name, b"") + body[start:]


class Remote(Recording):
    has_damaged_data = True

    def receive(self, *words, bind="127.0.0.1", **options):
        """A receiver of ftr's at a port of its own choice, with the port."""
        child = self.start_program(FTR, "recv", "-d", "got", "--port=0", "--bind=" + bind, *words, **options)
        first = child.stderr.readline()
        return child, re.search(r"listening at \S+:(\d+) ", first).group(1)

    def finish(self, child):
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0, err)
        return out, err

    def send(self, port, *words, status=0, **options):
        run = self.ftr("record", *self.options, "--host=127.0.0.1", "--port=" + port, *words, **options)
        if "ptrace must be allowed" in run.stderr:
            self.skipTest("nothing may be traced here")
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def calls(self, data):
        run = self.ftr("report", "--no-pager", "-d", data, "-f", "call", "--no-sched")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return dict(reversed(line.split(None, 1)) for line in run.stdout.splitlines()[2:])

    def test_every_byte(self):
        """A receiver that does not take it leaves the sender's own data, to compare with."""
        decoder = Decoder(accepts=False)
        run = self.send(decoder.port, "--syscalls", "--probe=memory", "-a", "./victim", "threads", "5")
        decoder.join(TIMEOUT)
        self.assertRegex(run.stderr, r"sending to 127.0.0.1:\d+ failed: .*; the data stay in d\n$")
        wanted = {}
        for name in os.listdir("d"):
            with open("d/" + name, "rb") as file:
                wanted[name] = file.read()
        self.assertEqual(decoder.name, "d")
        self.assertEqual(sorted(decoder.files), sorted(wanted))
        self.assertEqual(decoder.files, wanted)
        self.assertGreater(len([name for name in wanted if name.endswith(".dat")]), 5)
        self.assertTrue(any(name.endswith(".event") for name in wanted))
        self.assertEqual((decoder.kinds[0], decoder.kinds[-2:]), (DIR, [INFO, END]))

    def test_recv(self):
        child, port = self.receive()
        self.record("--clock=counter", "--no-event", "./victim", "work", "300")
        shutil.move("d", "local")
        run = self.send(port, "--clock=counter", "--no-event", "./victim", "work", "300")
        self.assertEqual(run.stdout, "45150\n")
        self.assertRegex(run.stderr, r"^ftr: \d+ bytes sent to 127.0.0.1:\d+\n$")
        self.assertFalse(os.path.exists("d"))
        _, err = self.finish(child)
        self.assertRegex(err, r"^ftr: d: \d+ bytes from 127.0.0.1:\d+\n$")
        shown = [re.sub(r"\d+\]", "]", self.ftr("replay", "--no-pager", "-d", data).stdout)
                 for data in ("local", "got/d")]
        self.assertEqual(shown[0], shown[1])
        self.assertGreater(len(shown[0].splitlines()), 300)

    def test_grows_while_the_program_runs(self):
        child, port = self.receive()
        run = self.start_program(FTR, "record", *self.options, "--host=127.0.0.1", "--port=" + port, "-b", "4K",
                                 "--max-size=5M", "./victim", "loop", "1000")
        self.assertEqual(run.stdout.readline(), "ready\n")
        self.wait_for(lambda: any(name.endswith(".dat") and os.path.getsize("got/d/" + name) > 100_000
                                  for name in os.listdir("got/d")))
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=TIMEOUT)
        self.finish(child)
        self.assertGreater(int(self.calls("got/d")["leaf"]), 1000)

    def test_many_of_one_name(self):
        child, port = self.receive("--run-cmd=echo did $FTR_TRACE")
        for i in range(8):
            os.mkdir(str(i))
        senders = [self.start_program(FTR, "record", *self.options[:1], "-d", f"{i}/d", "--no-event",
                                      "--host=127.0.0.1", "--port=" + port, "./victim", "work", str(100 + i))
                   for i in range(8)]
        for sender in senders:
            _, err = sender.communicate(timeout=TIMEOUT)
            self.assertEqual(sender.returncode, 0, err)
        out, err = self.finish(child)
        names = re.findall(r"^ftr: (d\S*): ", err, re.M)
        self.assertEqual(len(names), 8, err)
        self.assertEqual(sorted(re.findall("did (.*)", out)), sorted(names))

    def test_programs_do_not_care(self):
        """The receiver dies in the middle, or was never there, or reads nothing."""
        child, port = self.receive()
        run = self.start_program(FTR, "record", *self.options, "--host=127.0.0.1", "--port=" + port, "./victim",
                                 "wait", "5000")
        self.assertEqual(run.stdout.readline(), "ready\n")
        self.wait_for(lambda: os.listdir("got/d"))
        child.kill()
        child.communicate()
        out, err = run.communicate("go on\n", timeout=TIMEOUT)
        self.assertEqual((run.returncode, out), (0, "12502500\n"))
        self.assertRegex(err, r"^ftr: warning: record: sending to .* failed: .*; the data stay in d\n$")
        self.assertEqual(self.calls("d")["leaf"], "5010")

        shutil.rmtree("d")
        self.refused(125, r"cannot connect to 127.0.0.1:1: .*; start .ftr recv", "--host=127.0.0.1", "--port=1",
                     "./victim")
        with socket.create_server(("127.0.0.1", 0)) as server:
            run = self.start_program(FTR, "record", *self.options, "-b", "4K", "--host=127.0.0.1",
                                     "--port=%d" % server.getsockname()[1], "./victim", "work", "50000")
            self.assertEqual(run.stdout.readline(), "1250025000\n")
            run.send_signal(signal.SIGKILL)
        run.communicate(timeout=TIMEOUT)        # the sender's process, too, sees the receiver go

    def test_sender_dies(self):
        child, port = self.receive()
        run = self.start_program(FTR, "record", *self.options, "--host=127.0.0.1", "--port=" + port, "./victim",
                                 "wait")
        self.assertEqual(run.stdout.readline(), "ready\n")
        self.wait_for(lambda: os.listdir("got/d"))
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        self.assertRegex(child.stderr.readline(),
                         r"recv: 127.0.0.1:\d+: d: the sender ended before it was done; what had arrived is in d")
        self.finish(child)
        self.assertEqual(self.ftr("info", "-d", "got/d").returncode, 0)
        self.assertEqual(self.ftr("replay", "--no-pager", "-d", "got/d").returncode, 0)

    def test_nothing_recorded(self):
        child, port = self.receive()
        run = self.send(port, "./nothing", status=127)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.finish(child)
        self.assertEqual(os.listdir("got"), [])

    def test_hostile_clients(self):
        child, port = self.receive()
        address = ("127.0.0.1", int(port))
        silent = [socket.create_connection(address) for _ in range(100)]
        for rubbish in (b"GET / HTTP/1.1\r\n\r\n", message(DIR, b"up/.."), message(DATA, b"\0\0\0\1abc"),
                        message(DIR, b"x") + message(META, struct.pack(">i", 8) + b"../../up" + b"text"),
                        message(DIR, b"y") + message(END, b"") + b"more", os.urandom(100000)):
            with socket.create_connection(address, TIMEOUT) as client:
                client.sendall(rubbish)
                try:
                    while client.recv(100):
                        pass
                except ConnectionResetError:
                    pass
        run = self.send(port, "./victim", "work", "10")
        self.assertEqual(run.stdout, "55\n")
        for client in silent:
            client.close()
        _, err = self.finish(child)
        self.assertIn("the directory's name is no name", err)
        self.assertEqual(sorted(os.listdir("got")), ["d", "x", "y"])
        self.assertFalse(os.path.exists("up") or os.path.exists("got/up"))
        self.assertIn("leaf", self.calls("got/d"))

    def test_receiver_is_full(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))
        child, port = self.receive(preexec_fn=limit)
        run = self.send(port, "./victim", "work", "50000")
        self.assertEqual(run.stdout, "1250025000\n")
        self.assertIn("the data stay in d", run.stderr)
        _, err = self.finish(child)
        self.assertRegex(err, r"recv: .*: d: d/\d+.dat: File too large; the sender keeps its data")
        self.assertEqual(self.calls("d")["leaf"], "50000")

    def test_who_may_send(self):
        child, _ = self.receive(bind="0.0.0.0")
        self.assertRegex(child.stderr.readline(), "warning: recv: whoever reaches that address .*; use it in networks")
        self.finish(child)
        child, port = self.receive()
        self.assertEqual(self.finish(child)[1], "")
        with socket.create_server(("127.0.0.1", 0)) as server:
            run = self.ftr("recv", "--port=%d" % server.getsockname()[1])
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"^ftr: recv: cannot listen: .*in use; choose another --port or --bind\n$")
        self.refused(2, "--port is that of a receiver; name it with --host", "--port=" + port, "./victim")
        self.assertEqual(self.ftr("recv", "x").returncode, 2)

    @harness.unittest.skipUnless(UFTRACE, "needs uftrace")
    def test_uftrace_sends(self):
        child, port = self.receive()
        run = self.run_program(UFTRACE, "record", "--host=127.0.0.1", "--port=" + port, "-d", "d", "./victim", "work",
                               "30")
        self.assertEqual(run.stdout, "465\n", run.stderr)
        self.finish(child)
        self.assertEqual(self.calls("got/d")["leaf"], "30")
        self.assertIn("leaf", self.run_program(UFTRACE, "replay", "--no-pager", "-d", "got/d").stdout)

    @harness.unittest.skipUnless(UFTRACE, "needs uftrace")
    def test_uftrace_receives(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = str(server.getsockname()[1])
        child = self.start_program(UFTRACE, "recv", "-d", "got", "--port=" + port)
        self.wait_for(lambda: subprocess.run(["grep", "-q", ":%04X 00000000:0000 0A" % int(port), "/proc/net/tcp"],
                                             check=False).returncode == 0)
        run = self.send(port, "./victim", "work", "30")
        self.assertEqual(run.stdout, "465\n")
        self.assertIn("bytes sent", run.stderr)
        child.kill()
        child.communicate()
        self.assertIn("leaf", self.run_program(UFTRACE, "replay", "--no-pager", "-d", "got/d").stdout)
        self.assertEqual(self.calls("got/d")["leaf"], "30")


if __name__ == "__main__":
    harness.main()
