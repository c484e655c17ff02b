# SPDX-License-Identifier: MIT
"""ftr view --serve: what it serves, to whom, and how it ends."""
import glob
import json
import os
import re
import signal
import subprocess
import threading
import unittest
import urllib.error
import urllib.request

from html import CHROMIUM, spans_of
from recording import TIMEOUT, Recording, harness

LIBRARY = "libmicrohttpd" in subprocess.run([harness.FTR, "--version"], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT,
                                            check=True).stdout


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body


def ask(url, method="GET", host=None):
    request = urllib.request.Request(url, method=method, headers={} if host is None else {"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return Answer(answer.status, answer.headers, answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read().decode())


def data_of(page):
    return json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.S)[1])


@unittest.skipUnless(LIBRARY, "ftr was built without libmicrohttpd")
class Serve(Recording):
    def serve(self, *words, option="--serve", **environment):
        """The URL that it prints; it is ended with the test."""
        others = {name: value for name, value in os.environ.items()
                  if name not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")}
        self.server = subprocess.Popen([harness.FTR, "view", option, *words], stdout=subprocess.PIPE, text=True,
                                       stderr=subprocess.PIPE, env={**others, **environment}, cwd=self.dir,
                                       start_new_session=True)
        self.addCleanup(self.end)
        return self.server.stdout.readline().strip()

    def end(self, by=signal.SIGINT):
        """Its exit status and what it said."""
        if self.server.returncode is None:
            self.server.send_signal(by)
        said = self.server.communicate(timeout=TIMEOUT)[1]
        return self.server.returncode, said

    def ask_json(self, url, status=200):
        answer = ask(url)
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.headers["Content-Type"], "application/json; charset=utf-8")
        return json.loads(answer.body)

    def test_the_page_and_its_end(self):
        self.record("./victim", "work", "3")
        before = sorted(os.listdir("."))
        url = self.serve("d")
        self.assertRegex(url, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        answer = ask(url)
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        self.assertIs(data_of(answer.body)["served"], True)
        self.assertEqual(self.end(), (0, f"ftr: {url}: there is no screen here; open it in a browser\n"))
        self.assertEqual(sorted(os.listdir(".")), before)
        with self.assertRaises(urllib.error.URLError):
            ask(url)

    def test_every_signal_ends_it(self):
        self.record("./victim", "work", "3")
        for by in (signal.SIGTERM, signal.SIGHUP):
            self.serve("d")
            self.assertEqual(self.end(by)[0], 0)

    def test_who_is_refused(self):
        self.record("./victim", "work", "3")
        url = self.serve("d")
        port, token = re.search(r":(\d+)/(\w+)/", url).groups()
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", "127.0.0.1"):
            self.assertEqual(ask(url, host=host).status, 403, host)
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
            self.assertEqual(ask(url, host=host).status, 200, host)
        for method in ("POST", "HEAD", "PUT", "DELETE"):
            answer = ask(url, method=method)
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, "GET"), method)
        start = f"http://127.0.0.1:{port}/"
        wrong = ("0" if token[0] != "0" else "1") + token[1:]
        for path in ("", "spans?from=0&to=1", token, f"{wrong}/", f"{token}/../d/info", f"{token}/x", f"{token[:-1]}/"):
            self.assertEqual(ask(start + path).status, 404, path)
        for words in ("", "?from=1", "?from=2&to=1", "?from=-1&to=2", "?from=1&to=99999999999999999999", "?from=a&to=b"):
            self.assertEqual(ask(url + "spans" + words).status, 400, words)
        for words in ("?from=1&to=2", "?from=1&to=2&tid=1", "?from=1&to=2&tid=4294967296&depth=0"):
            self.assertEqual(ask(url + "call" + words).status, 400, words)
        self.assertEqual(ask(url).status, 200)

    def test_only_loopback(self):
        self.record("./victim", "work", "3")
        port = int(re.search(r":(\d+)/", self.serve("d"))[1])
        listening = []
        for path in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(path, encoding="ascii") as file:
                rows = [line.split() for line in file.readlines()[1:]]
            listening += [row[1] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port]
        self.assertIn(f"0100007F:{port:04X}", listening)
        self.assertLessEqual(set(listening), {f"0100007F:{port:04X}", f"00000000000000000000000001000000:{port:04X}"})

    def spans(self, page, tasks, names=None, base=0):
        """(tid, depth, start, end, name) of calls."""
        for task in tasks:
            for span in spans_of(task, base):
                self.assertFalse(span.is_run)
                if span.func > 0:
                    name = names[str(span.func - 1)] if names else page["funcs"][span.func - 1][0]
                    yield task["tid"], span.depth, span.start, span.end, name

    def test_a_range_has_the_calls_that_were_merged(self):
        self.record("./victim", "threads", "300")
        self.assertEqual(self.ftr("dump", "--format=html", "-o", "x.html", "d").returncode, 0)
        with open("x.html", encoding="utf-8") as file:
            exact = data_of(file.read())
        url = self.serve("--html-calls=1000", "d")
        page = data_of(ask(url).body)
        self.assertGreater(page["grain"], 0)
        self.assertEqual(page["first"], exact["first"])
        calls, first = set(self.spans(exact, exact["tasks"])), int(exact["first"])
        for start, end in ((0, 1), (0, 0.3), (0.3, 0.6), (0.55, 0.56), (0.9, 1)):
            from_ns, to_ns = int(exact["ns"] * start), int(exact["ns"] * end)
            part = self.ask_json(f"{url}spans?from={first + from_ns}&to={first + to_ns}")
            got = set(self.spans(page, part["tasks"], part["names"], int(part["first"]) - first))
            self.assertEqual(got, {call for call in calls if call[2] >= from_ns and call[3] <= to_ns})
        self.assertEqual(self.end()[0], 0)

    def test_arguments_of_a_call(self):
        self.record("-A", "work@arg1", "-R", "leaf@retval", "./victim", "work", "3")
        url = self.serve("d")
        page = data_of(ask(url).body)
        first, found = int(page["first"]), {}
        for tid, depth, start, end, name in self.spans(page, page["tasks"]):
            call = self.ask_json(f"{url}call?from={first + start}&to={first + end}&tid={tid}&depth={depth}")
            found.setdefault(name, call)
        self.assertEqual((found["work"]["args"], found["work"]["retval"]), ("(3)", ""))
        self.assertRegex(found["leaf"]["retval"], r"^\d+$")
        self.assertEqual(found["main"], {"args": "", "retval": "", "place": found["main"]["place"]})

    def test_several_at_once(self):
        self.record("./victim", "work", "2000")
        url, answers = self.serve("d"), []

        def worker():
            answers.append(ask(url + "spans?from=0&to=18446744073709551615").status)

        threads = [threading.Thread(target=worker) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(answers), 20)
        self.assertLessEqual(set(answers), {200, 503})
        self.assertGreaterEqual(answers.count(200), 4)
        self.assertEqual(ask(url).status, 200)
        self.assertEqual(self.end()[0], 0)
        with self.assertRaises(ProcessLookupError):     # nor is a worker left
            os.killpg(self.server.pid, 0)

    def test_a_trace_that_goes_away(self):
        self.record("./victim", "work", "3")
        url = self.serve("d")
        for path in glob.glob("d/*.dat"):
            with open(path, "r+b") as file:
                file.truncate(os.path.getsize(path) // 2 + 3)
        part = self.ask_json(url + "spans?from=0&to=18446744073709551615")
        self.assertIn("the file ends inside a record", part["warning"])
        os.rename("d", "gone")
        answer = self.ask_json(url + "spans?from=0&to=18446744073709551615", 500)
        self.assertIn("No such file or directory", answer["error"])
        self.assertEqual(ask(url).status, 200)
        self.assertEqual(self.end()[0], 0)

    def test_refusals(self):
        self.record("./victim", "work", "3")
        for words, status, text in ((("-o", "x.html"), 2, "--serve writes no file"), (("-d", "-"), 2, "standard input"),
                                    (("--serve=70000",), 2, "is no port"), (("-d", "missing"), 1, "missing")):
            run = self.ftr("view", "--serve", *words, *(() if "-d" in words else ("d",)))
            self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
            self.assertIn(text, run.stderr)
        port = re.search(r":(\d+)/", self.serve("d"))[1]
        run = self.ftr("view", f"--serve={port}", "d")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("Address already in use", run.stderr)

    def test_a_browser_is_started(self):
        self.record("./victim", "work", "3")
        with open("browser", "w", encoding="ascii") as file:
            file.write('#!/bin/sh\necho "$1" >shown.new\nmv shown.new shown\n')
        os.chmod("browser", 0o755)
        url = self.serve("d", BROWSER="./browser")
        self.wait_for(lambda: os.path.exists("shown"))
        with open("shown", encoding="ascii") as file:
            self.assertEqual(file.read(), url + "\n")

    def dom(self, url):
        return subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                               "--disable-background-networking", "--disable-component-update", "--disable-sync",
                               "--user-data-dir=" + self.dir + "/profile", "--enable-logging=stderr", "--virtual-time-budget=8000",
                               "--dump-dom", url],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)

    def merged(self):
        """The URL of a page with runs, and a range of it that has some, wide enough to be looked into."""
        url = self.serve("--html-calls=1000", "d")
        page = data_of(ask(url).body)
        runs = sorted(span.start for task in page["tasks"] for span in spans_of(task) if span.is_run)
        start = runs[len(runs) // 2]
        return url, start, start + 100 * page["grain"]

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_a_failure_in_a_browser(self):
        self.record("./victim", "work", "3000")
        url, start, end = self.merged()
        os.rename("d", "gone")
        run = self.dom(f"{url}#{start}-{end}")
        note = re.search(r'<span id="note"[^>]*>([^<]*)', run.stdout)[1]
        self.assertRegex(note, "no more could be read: .*No such file or directory")
        self.assertIn("<td>main</td>", run.stdout)

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_in_a_browser(self):
        """Where calls were merged, the page gets them: the table of a range counts them exactly."""
        self.record("./victim", "work", "3000")
        data = data_of(ask(self.serve("d")).body)
        self.end()
        url, start, end = self.merged()
        wanted = {}
        for _, _, begin, stop, name in self.spans(data, data["tasks"]):
            if stop > start and begin < end:
                wanted[name] = wanted.get(name, 0) + 1
        self.assertGreater(wanted["leaf"], 10)
        run = self.dom(f"{url}#{start}-{end}")
        self.assertNotIn(":CONSOLE", run.stderr)
        rows = re.findall(r"<tr[^>]*>(?:<td>[^<]*</td>){2}<td>(\d+)</td>(?:<td>[^<]*</td>){2}<td>([^<]*)</td></tr>", run.stdout)
        self.assertEqual({name: int(calls) for calls, name in rows}, wanted)


if __name__ == "__main__":
    harness.main()
