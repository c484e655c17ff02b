# SPDX-License-Identifier: MIT
"""load: each run counts once in the database, whole, whatever fails; the sums there are those of report."""
import collections
import http.server
import json
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time
import unittest
import urllib.request

from recording import FTR, TIMEOUT, Recording, harness

import clickhouse

DATA = harness.SRCDIR + "/tests/data"
TRACES = ("threads", "demo-fork", "jumps", "values")
HOSTS = int(os.environ.get("FTR_FLEET_HOSTS", 12))
RECORDS = int(os.environ.get("FTR_FLEET_RECORDS", 20000))      # of each host, half as many calls
MKDATA = harness.BUILDDIR + "/tests/bench/mkdata"


def has_libcurl():
    done = subprocess.run([FTR, "load", "--to=http://127.0.0.1:1/x"], stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "FTR_LOGIN": "no colon"}, timeout=TIMEOUT)
    return "libcurl" not in done.stderr


class Breaking(http.server.BaseHTTPRequestHandler):
    """A proxy between ftr and the server: every third INSERT into a table is carried out, but its answer is lost."""
    protocol_version = "HTTP/1.1"
    upstream = None
    inserts = collections.Counter()     # by table
    lock = threading.Lock()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = urllib.request.Request(self.upstream + self.path, body)
        if "Content-Encoding" in self.headers:
            request.add_header("Content-Encoding", self.headers["Content-Encoding"])
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            text = answer.read()
        table = re.search("query=INSERT%20INTO%20([^%]*)%20", self.path)
        with self.lock:
            if table:
                self.inserts[table[1]] += 1
            is_lost = table and self.inserts[table[1]] % 3 == 1
        if is_lost:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words):
        pass


@unittest.skipUnless(clickhouse.SERVER, "clickhouse-server is not installed")
@unittest.skipUnless(has_libcurl(), "ftr was built without libcurl")
class Load(Recording):
    def load(self, url, *words, status=0, **environment):
        done = subprocess.run([FTR, "load", "--to=" + url, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=TIMEOUT, check=False, env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def made(self, name, records):
        """A made-up trace: its sums are known, and its run has a name of its own."""
        subprocess.run(["make", "-s", "-C", harness.BUILDDIR, "tests/bench/mkdata"], check=True, timeout=TIMEOUT)
        subprocess.run([MKDATA, name, str(records), "2"], check=True, timeout=TIMEOUT, stdout=subprocess.DEVNULL)
        return name

    def report(self, data):
        """{function: [calls, total, self]} of one trace."""
        done = self.ftr("report", "--no-event", "--json", "-f", "call,total,self", "-d", data)
        return {line["func"]: [line["call"], line["total"], line["self"]]
                for line in map(json.loads, done.stdout.splitlines())}

    def graph(self, *words):
        """{line of callers: [calls, total, self]}, whatever its nodes are numbered by."""
        paths, numbers = {None: ()}, {}
        for line in map(json.loads, self.ftr("graph", "--json", *words).stdout.splitlines()):
            paths[line["id"]] = path = (*paths[line.get("parent")], line["func"])
            numbers[path] = [line["call"], line["total"], line["self"]]
        return numbers

    server = None

    def one_server(self):
        """All tests have the same one, in which nothing is loaded yet: it takes seconds to start."""
        if self.server is None:
            Load.server = clickhouse.Server(f"{self.top}/server", clickhouse.free_ports(3))
            Load.kept = {self.server.process.pid}
        self.server.ask("DROP DATABASE IF EXISTS f")
        return self.server

    def sums(self, server, run=None):
        where = f" WHERE run = '{run}'" if run else ""
        found = server.ask("SELECT function, count(), sum(bitAnd(flags, 8) ? 0 : duration), sum(self) "
                           f"FROM f.calls{where} GROUP BY function")
        added = server.ask("SELECT function, sum(calls), sum(total) - sum(nested), sum(self) "
                           f"FROM f.sums{where} GROUP BY function")
        self.assertEqual(sorted(found), sorted(added))
        return {row[0]: [int(word) for word in row[1:]] for row in found}

    def test_what_is_loaded(self):
        server = self.one_server()
        self.load(server.url("f"), *(f"{DATA}/{name}" for name in TRACES))
        for name in TRACES:
            with self.subTest(name):
                rows = [json.loads(line) for line in
                        self.ftr("dump", "--format=jsonl", "-d", f"{DATA}/{name}").stdout.splitlines()]
                there = server.ask(f"SELECT * FROM f.calls WHERE run = '{rows[0]['run']}' FORMAT JSONEachRow")
                there = [{key: int(value) if isinstance(rows[0][key], int) else value for key, value in row.items()}
                         for row in (json.loads("\t".join(row)) for row in there)]
                key = lambda row: (row["tid"], row["call"])       # noqa: E731
                self.assertEqual(sorted(there, key=key), sorted(rows, key=key))
                events = self.ftr("dump", "--format=jsonl", "--rows=events", "-d", f"{DATA}/{name}").stdout.splitlines()
                self.assertEqual(server.ask(f"SELECT count() FROM f.events WHERE run = '{rows[0]['run']}'"),
                                 [[str(len(events))]])
        self.assertEqual(self.sums(server, "5072edfb28849937")["main"][:1], self.report(f"{DATA}/threads")["main"][:1])

    def test_the_queries_of_the_documentation(self):
        server = self.one_server()
        self.load(server.url("f"), *(f"{DATA}/{name}" for name in TRACES))
        with open(harness.SRCDIR + "/doc/fleet.md", encoding="utf-8") as file:
            blocks = re.findall("```sql\n(.*?)```", file.read(), re.S)
        queries = [query.strip() for block in blocks for query in block.split(";") if query.strip()]
        self.assertGreaterEqual(len(queries), 12)
        for query in queries:
            with self.subTest(query):
                for table in ("calls", "events", "sums", "paths"):
                    query = re.sub(rf"FROM {table}\b", f"FROM f.{table}", query)
                server.ask(query.replace("handle_request", "main"))

    def test_report_is_that_of_the_trace(self):
        server = self.one_server()
        made = self.made("d", 30000)
        self.load(server.url("f"), made, *(f"{DATA}/{name}" for name in TRACES))
        for data in (made, *(f"{DATA}/{name}" for name in TRACES)):
            run, = {json.loads(line)["run"] for line in
                    self.ftr("dump", "--format=jsonl", "-d", data).stdout.splitlines()}
            for words in ([], ["--avg-total"], ["--avg-self", "-s", "func"], ["--format=csv"], ["--json"],
                          ["-f", "total,total-avg,total-min,total-max,total-stdv,self,self-stdv,call,self-percent,total-percent"],
                          ["-f", "self,call", "-s", "call,func"],
                          ["--json", "-f", "total-p50,total-p90,total-p99,self-p50,self-p90,self-p99", "-s", "total-p99,func"]):
                with self.subTest(data=data, words=words):
                    here = self.ftr("report", "--no-event", *words, "-d", data)
                    there = self.ftr("report", f"--from={server.url('f')}", f"--where=run={run}", *words)
                    self.assertEqual((there.returncode, there.stderr), (0, ""))
                    self.assertEqual(there.stdout, here.stdout)
        both = [self.ftr("report", "--no-event", "--diff", f"{DATA}/jumps", "-d", f"{DATA}/threads").stdout,
                self.ftr("report", f"--from={server.url('f')}", "--where=run=5072edfb28849937",
                         "--diff=run=70532d21374e8c05").stdout]
        self.assertEqual(*([line for line in text.splitlines() if not line.startswith("#")] for text in both))

    def test_summary(self):
        """What --summary kept is added up with other runs, and counts once."""
        server = self.one_server()
        self.load(server.url("f"), f"{DATA}/summary", f"{DATA}/threads")
        self.load(server.url("f"), f"{DATA}/summary")
        run, = {row[0] for row in server.ask("SELECT DISTINCT run FROM f.sums WHERE run != '5072edfb28849937'")}
        for words in ([], ["--json"], ["-f", "total,self-avg,call,self-percent", "-s", "func"]):
            with self.subTest(words=words):
                here = self.ftr("report", *words, "-d", f"{DATA}/summary")
                there = self.ftr("report", f"--from={server.url('f')}", f"--where=run={run}", *words)
                self.assertEqual((there.stderr, there.stdout), ("", here.stdout))
        self.assertEqual(server.ask(f"SELECT count() FROM f.calls WHERE run = '{run}'"), [["0"]])
        there = self.ftr("report", f"--from={server.url('f')}", "--avg-total")
        self.assertIn("15 calls were recorded with --summary, and are left out", there.stderr)

    def test_graph_is_that_of_the_trace(self):
        """But for the name of the session: one tree has all those of a program."""
        server = self.one_server()
        made = self.made("d", 30000)
        self.load(server.url("f"), made, *(f"{DATA}/{name}" for name in TRACES))
        for data in (made, *(f"{DATA}/{name}" for name in TRACES)):
            run, = {json.loads(line)["run"] for line in
                    self.ftr("dump", "--format=jsonl", "-d", data).stdout.splitlines()}
            self.assertEqual(self.graph("--no-event", "-d", data), self.graph(f"--from={server.url('f')}", f"--where=run={run}"))
            for words in ([], ["-s", "total,func"],
                          ["-f", "total,total-avg,total-min,total-max,self,self-avg,self-min,self-max"], ["main"], ["leaf"],
                          ["-D", "2", "main"], ["function_3"]):
                with self.subTest(data=data, words=words):
                    here = self.ftr("graph", "--no-event", "-d", data, *words)
                    there = self.ftr("graph", f"--from={server.url('f')}", f"--where=run={run}", *words)
                    self.assertEqual(there.returncode, here.returncode, there.stderr)
                    self.assertEqual(bool(there.stderr), bool(there.returncode))
                    self.assertEqual(there.stdout, re.sub(r" \(0x[0-9a-f]+\)$| \(session: .*\)$", "", here.stdout, flags=re.M))

    def test_graph_of_several_runs(self):
        """Trees of a program's runs are added up, those of programs stand one after the other."""
        server = self.one_server()
        data = self.made("d", 3000)
        for run in "one", "two":
            self.load(server.url("f"), f"--run={run}", data)
        self.load(server.url("f"), f"{DATA}/threads", f"{DATA}/jumps")
        url = f"--from={server.url('f')}"
        double = {path: [number * (1 if len(path) == 1 and not i else 2) for i, number in enumerate(numbers)]
                  for path, numbers in self.graph("--no-event", "-d", data).items()}
        self.assertEqual(self.graph(url, "--where=host=machine"), double)
        titles = re.findall("^# Function Call Graph for '(.*)'$", self.ftr("graph", url).stdout, re.M)
        self.assertEqual(sorted(titles[1:] if titles[0] not in ("threads", "jumps") else titles[:-1]), ["jumps", "threads"])
        build, = server.ask("SELECT any(program_build_id) FROM f.paths WHERE program = 'jumps'")[0]
        for where in (f"build={build}", "since=1970-01-01 01:23:00,host=host"):
            self.assertIn("# Function Call Graph for 'jumps'", self.ftr("graph", url, "--where=" + where).stdout)
        self.assertEqual(self.ftr("graph", url, "--where=build=none").returncode, 1)

    def test_graph_refuses(self):
        server = self.one_server()
        url = "--from=" + server.url("f")
        for words, said in ((["--where=function=main"], "one of host="), (["-f", "+addr"], "addr"), (["--task"], "need a trace"),
                            (["--srcline"], "need a trace"), (["-F", "main"], "--where"), (["-D", "3"], "--where"),
                            (["-d", f"{DATA}/jumps"], "not a trace"), (["-s", "nothing"], "nothing")):
            done = self.ftr("graph", url, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(said, done.stderr)
        self.assertEqual(self.ftr("graph", "--where=host=1", "-d", f"{DATA}/jumps").returncode, 2)
        self.load(server.url("f"), f"{DATA}/jumps")
        done = self.ftr("graph", url, "nosuch")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such calls of nosuch", done.stderr)

    def test_report_of_a_time(self):
        server = self.one_server()
        self.load(server.url("f"), self.made("d", 100))     # at 1000 s of a clock that counts from 1970 then
        for since, until, is_there in (("00:16", "00:18", True), ("00:17", "00:18", False), ("00:15", "00:16", False)):
            for words in ([], ["--avg-total"]):
                done = self.ftr("report", f"--from={server.url('f')}", "--json", *words,
                                f"--where=since=1970-01-01 {since}:00,until=1970-01-01 {until}:00,host=machine")
                self.assertEqual((done.returncode, bool(done.stdout)), (0, is_there), done.stderr)

    def test_report_refuses(self):
        server = self.one_server()
        url = "--from=" + server.url("f")
        for words, said in ((["--where=hst=1"], "one of host="), (["--where=host"], "one of host="), (["-F", "main"], "--where"),
                            (["-f", "+size"], '"size"'), (["-s", "total-cpu"], '"total-cpu"'), (["--task"], "need a trace"),
                            (["-d", f"{DATA}/jumps"], "not a trace"), (["--diff=run=1"], "give both")):
            done = self.ftr("report", url, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(said, done.stderr)
        self.assertEqual(self.ftr("report", "--where=host=1", "-d", f"{DATA}/jumps").returncode, 2)
        done = self.ftr("report", url)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the server answered", done.stderr)

    def test_twice_counts_once(self):
        server = self.one_server()
        self.load(server.url("f"), f"{DATA}/threads")
        once = self.sums(server)
        self.assertIn("is loaded already", self.load(server.url("f"), f"{DATA}/threads"))
        self.assertEqual(self.sums(server), once)

    def test_at_the_same_time_counts_once(self):
        server = self.one_server()
        data = self.made("d", 400000)
        both = [subprocess.Popen([FTR, "load", "--to=" + server.url("f"), data], stdout=subprocess.DEVNULL)
                for _ in range(2)]
        self.assertEqual([one.wait(TIMEOUT) for one in both], [0, 0])
        self.assertEqual(self.sums(server), self.report(data))

    def test_lost_answers(self):
        """Rows that arrived although the answer did not are sent again, and count once."""
        server = self.one_server()
        Breaking.upstream = f"http://127.0.0.1:{server.http}"
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Breaking)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        data = self.made("d", harness.times(2000000, short=600000))
        self.load(f"http://127.0.0.1:{proxy.server_port}/f", data)
        proxy.shutdown()
        proxy.server_close()
        self.assertEqual(self.sums(server), self.report(data))
        twice, = server.ask("SELECT uniqExact(load, block) FROM f.calls_data WHERE (load, block) NOT IN "
                            "(SELECT load, block FROM f.blocks_data)")
        self.assertGreater(int(twice[0]), 0)

    @harness.long
    def test_killed_in_between(self):
        """What a killed client sent is not seen, and its run can be loaded again."""
        server = self.one_server()
        data = self.made("d", 3000000)
        self.load(server.url("f"), "--make-tables")
        for how in (signal.SIGKILL, signal.SIGINT):
            client = subprocess.Popen([FTR, "load", "--to=" + server.url("f"), "-j1", data],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            before = server.ask("SELECT count() FROM f.calls_data")
            while client.poll() is None and server.ask("SELECT count() FROM f.calls_data") == before:
                time.sleep(0.01)
            client.send_signal(how)
            self.assertNotEqual(client.wait(TIMEOUT), 0, "ended before it was killed")
            self.assertEqual(server.ask("SELECT count() FROM f.calls"), [["0"]])
            self.assertEqual(server.ask("SELECT count() FROM f.sums"), [["0"]])
        self.load(server.url("f"), data)
        self.assertEqual(self.sums(server), self.report(data))

    @harness.long
    def test_cluster(self):
        """Two shards, many hosts; one shard is killed in between, and comes back."""
        shards = clickhouse.cluster("fleet", 2)
        for shard in shards:
            self.load(shard.url("f"), "--cluster=fleet", "--make-tables")
        data = self.made("d", RECORDS)
        expected = {name: [HOSTS * word for word in row] for name, row in self.report(data).items()}
        tree = self.graph("-d", data)
        for number in range(HOSTS):
            self.another_host(data, number)
        for number in range(HOSTS // 2):
            self.load(shards[number % 2].url("f"), "--cluster=fleet", f"host{number}")
        self.kill_a_shard_in_between(shards)
        for number in range(HOSTS):
            self.load(shards[1].url("f"), "--cluster=fleet", f"host{number}")
        for shard in shards:
            self.assertEqual(self.sums(shard), expected)
            done = self.ftr("report", "--from=" + shard.url("f"), "--json", "-f", "call,self")
            self.assertEqual({line["func"]: [line["call"], line["self"]] for line in map(json.loads, done.stdout.splitlines())},
                             {name: [row[0], row[2]] for name, row in expected.items()})
            for path, numbers in self.graph("--from=" + shard.url("f")).items():
                self.assertEqual(numbers, [(1 if len(path) == 1 and not i else HOSTS) * number for i, number in enumerate(tree[path])])
            percentiles = ["report", "--json", "-f", "total-p99,self-p50"]
            self.assertEqual(len(self.ftr(*percentiles, "--from=" + shard.url("f")).stdout.splitlines()), len(expected))
            self.assertEqual(self.ftr(*percentiles, "-s", "func", "--from=" + shard.url("f"), "--where=host=host01").stdout,
                             self.ftr(*percentiles, "-s", "func", "-d", data).stdout)
            self.assertEqual(len(shard.ask("SELECT host FROM f.calls GROUP BY host")), HOSTS)
            self.assertNotEqual(shard.ask("SELECT count() FROM f.calls_here"), [["0"]])

    def another_host(self, data, number):
        """The same trace from another machine."""
        shutil.copytree(data, f"host{number}", copy_function=os.link)
        with open(data + "/info", "rb") as file:
            info = file.read()
        os.unlink(f"host{number}/info")
        with open(f"host{number}/info", "wb") as file:
            file.write(info.replace(b"hostname=machine", b"hostname=host%02d" % number))

    def kill_a_shard_in_between(self, shards):
        """The one that the run is sent to, while it is: the run is not seen, then or later."""
        victim = int(shards[0].ask("SELECT cityHash64('machine', 'killed') % 2")[0][0])
        victim, other = shards[victim], shards[1 - victim]
        client = subprocess.Popen([FTR, "load", "--to=" + other.url("f"), "--cluster=fleet", "--run=killed", "-j1",
                                   self.made("big", 3000000)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        count = "SELECT count() FROM f.calls_data WHERE run = 'killed'"
        while client.poll() is None and victim.ask(count) == [["0"]]:
            time.sleep(0.01)
        victim.kill()
        said = client.communicate(timeout=TIMEOUT)[1]
        self.assertNotEqual(client.returncode, 0)
        self.assertIn("nothing of it was loaded", said)
        self.assertIn("ll connection tries failed", self.load(other.url("f"), "--cluster=fleet", f"host{HOSTS - 1}", status=1))
        victim.start()

    def test_passwords(self):
        server = self.one_server()
        with open("login", "w", encoding="ascii") as file:
            file.write("writer:secret\n")
        self.assertIn("chmod 600", self.load(server.url("f"), "--login=login", f"{DATA}/jumps", status=2))
        os.chmod("login", 0o600)
        self.load(server.url("f"), "--login=login", f"{DATA}/jumps")
        self.load(server.url("f"), f"{DATA}/values", FTR_LOGIN="writer:secret")
        said = self.load(server.url("f"), f"{DATA}/threads", status=1, FTR_LOGIN="writer:wrong")
        self.assertIn("assword", said)
        self.assertNotIn("writer:wrong", said)
        said = self.load(f"http://writer:secret@127.0.0.1:{server.http}/f", f"{DATA}/threads", status=2)
        self.assertNotIn("secret", said)

    def test_certificates_are_checked(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
                        "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, stderr=subprocess.DEVNULL, timeout=TIMEOUT)
        server = self.one_server()
        Breaking.upstream = f"http://127.0.0.1:{server.http}"
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Breaking)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("cert.pem", "key.pem")
        proxy.socket = context.wrap_socket(proxy.socket, server_side=True)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        url = f"https://127.0.0.1:{proxy.server_port}/f"
        self.assertIn("CURL_CA_BUNDLE", self.load(url, f"{DATA}/threads", status=1))
        self.load(url, f"{DATA}/threads", CURL_CA_BUNDLE=os.path.abspath("cert.pem"))
        proxy.shutdown()
        proxy.server_close()
        self.assertEqual(server.ask("SELECT count() FROM f.calls"), [["27"]])

    def test_wrong_words(self):
        for url in ("127.0.0.1/f", "ftp://127.0.0.1/f", "http:///f", "http://127.0.0.1:1", "http://127.0.0.1:1/f;DROP"):
            self.assertIn("expected http://HOST:PORT/DATABASE", self.load(url, f"{DATA}/threads", status=2))
        server = self.one_server()
        self.assertIn("no/such", self.load(server.url("f"), "no/such", status=1))
        with open("x.fxt", "wb") as file:
            file.write(b"\x10\0\x04\x46\x78\x54\x16\0")
        self.assertIn("--run", self.load(server.url("f"), "x.fxt", status=1))
        self.assertIn("--run names one run", self.load(server.url("f"), "--run=r", f"{DATA}/threads", f"{DATA}/jumps", status=2))
        self.assertIn("is no name", self.load(server.url("f"), "--cluster=a b", f"{DATA}/threads", status=2))
        self.assertIn("nosuch", self.load(server.url("f"), "--cluster=nosuch", f"{DATA}/threads", status=1))

    @unittest.skipIf(os.environ.get("SANITIZERS"), "sanitizers take memory of their own")
    @harness.long
    def test_memory_is_bounded(self):
        server = self.one_server()
        peaks = []
        for records in (1000000, 4000000):
            shutil.rmtree("d", ignore_errors=True)
            data = self.made("d", records)
            done = subprocess.run(["python3", "-c", "import resource, subprocess, sys; "
                                   "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
                                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                                   FTR, "load", "--to=" + server.url("f"), f"--run=r{records}", "-j2", data],
                                  stdout=subprocess.PIPE, text=True, check=True, timeout=TIMEOUT)
            peaks.append(int(done.stdout))
        self.assertLess(peaks[1], peaks[0] * 1.6)


if __name__ == "__main__":
    harness.main()
