# SPDX-License-Identifier: MIT
"""What is done with sockets: record --probe=net, and what reads its events."""
import collections
import errno
import re
import shutil
import socket
import struct
import subprocess

from recording import FTR, TIMEOUT, AsNative, harness

import swap_made

Call = collections.namedtuple("Call", "kind first argument address caller result peer")


class NetTest(AsNative):
    def output(self, *words):
        done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def to_swap(self):
        """Forks and calls that a cancelled thread has left have no message, which is said."""
        done = self.ftr("dump", "--format=swap", "-o", "x.swap", "-d", "d")
        self.assertEqual(done.returncode, 0, done.stderr)

    def calls(self, path="d"):
        """All calls on sockets, each with its end, in the order of their ends; ports are 9 if they are any."""
        tid, found, begun = 0, [], collections.defaultdict(list)
        for line in self.output("dump", "-d", path).splitlines():
            start = re.match(r"[\d.]+ +(\d+): \[event\] net:", line)
            if start:
                tid = int(start.group(1))
            match = re.match(r"  net:([\w-]+?)(-done)?: (.*)", re.sub(r"127.0.0.1:[1-9]\d*", "127.0.0.1:9", line))
            if match is None:
                continue
            values = dict(re.findall(r'(\w+)=("[^"]*"|[^,]+)', match.group(3)))
            if match.group(2) is None:
                first, second = (list(values.values()) + ["", ""])[:2]
                begun[tid].append(Call(match.group(1), int(first), "" if "&" in second else second,
                                       values.get("address", "").strip('"'), re.sub(r"^&(\w+)\+.*", r"\1", values["caller"]), None, ""))
            else:
                call = begun[tid].pop()
                self.assertEqual((call.kind, call.first), (match.group(1), int(list(values.values())[0])))
                found.append(call._replace(result=int(values["result"]), peer=values.get("address", "").strip('"')))
        self.assertFalse(any(begun.values()), begun)
        return found

    SERVER = "127.0.0.1:9"
    # kind, descriptor or domain, argument, address, result, peer
    EACH = {
        "server": [("accept", 3, "0", "", 3, SERVER), ("receive", 3, "100", "", 100, ""), ("send", 3, "30", "", 30, ""),
                   ("close", 3, "", "", 0, ""), ("accept", 3, "0x80000", "", 3, SERVER), ("receive", 3, "100", "", 7, ""),
                   ("close", 3, "", "", 0, "")],
        "client": [("socket", 2, "0x1", "", 3, ""), ("connect", 3, "2", SERVER, 0, ""), ("send", 3, "100", "", 100, ""),
                   ("wait", -1, "1", "", 1, ""), ("receive", 3, "30", "", 30, ""), ("shutdown", 3, "2", "", 0, ""),
                   ("close", 3, "", "", 0, ""), ("socket", 2, "0x1", "", 3, ""), ("connect", 3, "2", SERVER, 0, ""),
                   ("dup", 3, "-1", "", 3, ""), ("close", 3, "", "", 0, ""), ("send", 3, "7", "", 7, ""), ("close", 3, "", "", 0, "")],
        "datagrams": [("socket", 1, "0x2", "", 4, ""), ("socket", 1, "0x2", "", 5, ""), ("bind", 4, "1", "unix:datagrams", 0, ""),
                      ("send-to", 5, "1", "unix:datagrams", 4, ""), ("receive-from", 4, "100", "", 4, ""),
                      ("connect", 5, "1", "unix:datagrams", 0, ""), ("send", 5, "5", "", 5, ""), ("receive", 4, "100", "", 5, ""),
                      ("close", 4, "", "", 0, ""), ("close", 5, "", "", 0, "")],
        "errors": [("socket", 2, "0x1", "", 4, ""), ("connect", 4, "0", "", -errno.EFAULT, ""),
                   ("connect", 4, "10", "[2001:db8::7]:9", -errno.EAFNOSUPPORT, ""), ("accept", 4, "0", "", -errno.EINVAL, ""),
                   ("send", 77, "1", "", -errno.EBADF, ""), ("socket", -1, "0x1", "", -errno.EAFNOSUPPORT, ""),
                   ("close", 4, "", "", 0, "")],
        # What the child between vfork and exec closed stands behind.
        "pairs": [("socket", 1, "0x1", "", 5, ""), ("send", 5, "3", "", 3, ""), ("wait", 4, "1", "", 1, ""),
                  ("receive", 6, "100", "", 3, ""), ("wait", -1, "0", "", 0, ""), *2 * [("close", 5, "", "", 0, ""), ("close", 6, "", "", 0, "")]],
        "cancelled_accept": [("accept", 3, "0", "", -errno.ECANCELED, "")],
    }

    def of_functions(self, calls):
        found = collections.defaultdict(list)
        for call in calls:
            if call.caller in ("client", "server") and call.first > 2:      # two threads make descriptors
                call = call._replace(first=3, result=3 if call.kind in ("accept", "dup") else call.result)
            elif call.caller == "client" and call.kind == "socket":
                call = call._replace(result=3)
            if call.caller in self.EACH:
                found[call.caller].append((call.kind, call.first, call.argument, call.address, call.result, call.peer))
        return dict(found)

    def test_each(self):
        self.maxDiff = None
        for flags in ([], ["-pg"], ["-O2", "-D_FORTIFY_SOURCE=2"], ["-finstrument-functions"]):
            self.compile("calls", "net_calls.c", "-pthread", "-w", *flags)
            for options in ([], ["--no-libcall"], ["--probe=sync,memory,file"]):
                with self.subTest(flags=flags, options=options):
                    self.same_as_native(["--no-event", "--probe=net", *options], "./calls")
                    self.assertEqual(self.of_functions(self.calls()), self.EACH)

    def sums(self, path="d"):
        rows = {}
        for line in self.output("report", "-d", path, "--no-pager", "--by=socket", "-f",
                                "call,error,read-bytes,written-bytes").splitlines()[2:]:
            *numbers, name = re.sub(r"127.0.0.1:[1-9]\d*", "127.0.0.1:9", line).split(None, 4)
            rows[name] = tuple(int(number) for number in numbers)
        return rows

    def test_by_socket(self):
        self.compile("calls", "net_calls.c", "-pthread", "-w")
        self.same_as_native(["--no-event", "--probe=net"], "./calls")
        rows = self.sums()
        self.assertEqual(rows[self.SERVER], (10, 0, 30, 107))
        self.assertEqual(rows["127.0.0.1:0 from 127.0.0.1"], (5, 0, 107, 30))
        self.assertEqual(rows["unix:datagrams"], (8, 0, 9, 9))
        self.assertEqual(rows["[2001:db8::7]:9"], (1, 1, 0, 0))
        self.same_as_native(["--no-event"], "./calls")
        done = self.ftr("report", "-d", "d", "--by=socket")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("record them with ftr record --probe=net", done.stderr)

    def test_converted(self):
        self.compile("calls", "net_calls.c", "-pthread", "-pg", "-w")
        self.same_as_native(["--no-event", "--probe=net"], "./calls")
        wanted, sums = self.calls(), self.sums()
        self.output("convert", "d", "x.fxt")
        self.to_swap()
        for source in ("d", "x.fxt", "x.swap"):
            with self.subTest(source=source):
                shutil.rmtree("other", ignore_errors=True)
                self.output("convert", source, "other")
                self.assertEqual(sorted(self.calls("other"), key=str), sorted(wanted, key=str))
                self.assertEqual(self.sums("other"), sums)

    # Of each kind: api_type of its message, or of that at its begin.
    ONCE = {"socket": 0, "close": 1, "bind": 6, "listen": 7, "connect": 8, "shutdown": 13, "dup": 13}
    TWICE = {"receive": 2, "receive-from": 2, "send": 4, "send-to": 4, "accept": 9, "wait": 11}

    def test_messages(self):
        """A call is one or two messages of SWAP, by the tables alone."""
        self.compile("calls", "net_calls.c", "-pthread", "-pg", "-w")
        self.same_as_native(["--no-event", "--probe=net"], "./calls")
        self.to_swap()
        with open("x.swap", "rb") as stream, open("x.swap.side", encoding="utf-8") as side:
            numbers = dict(line.split() for line in side if line.startswith(("cpus\t", "devices\t")))
            found = [values for ident, _, _, values in swap_made.messages(stream.read(), int(numbers["cpus"]), int(numbers["devices"]))
                     if ident == 0x0111]
        wanted = collections.Counter()
        for call in self.calls():
            result = (-1, -call.result) if call.result < 0 else (call.result, 0)
            if call.kind in self.ONCE:
                wanted[(self.ONCE[call.kind], *result)] += 1
            else:
                wanted[(self.TWICE[call.kind], 0, 0)] += 1
                wanted[(self.TWICE[call.kind] + 1, *result)] += 1
        self.assertEqual(collections.Counter((values["api_type"], values["return"][1], values["errno"]) for values in found), wanted)
        connected = {(values["ipv4"], values["port"] != 0) for values in found if values["api_type"] == 8 and values["errno"] == 0
                     and values["args"][0][1] == socket.AF_INET}
        self.assertEqual(connected, {(struct.unpack("=I", socket.inet_aton("127.0.0.1"))[0], True)})
        self.assertIn((100, 4), {(values["bytes"], values["api_type"]) for values in found})


if __name__ == "__main__":
    harness.main()
