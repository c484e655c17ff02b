#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long pages of ftr view take to open in a browser: page.py FILE-OR-URL...  Needs chromedriver and chromium.

Prints the seconds from the request until the picture after the page's first one was drawn, least of three.
"""
import json
import os
import re
import subprocess
import sys
import time
import urllib.request

RUNS = 3


def ask(url, method, path, body=None):
    request = urllib.request.Request(url + path, method=method, data=None if body is None else json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["value"]


def open_once(url, page):
    options = {"args": ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1600,1000"]}
    session = "/session/" + ask(url, "POST", "/session", {"capabilities": {"alwaysMatch": {
        "browserName": "chrome", "goog:chromeOptions": options}}})["sessionId"]
    try:
        start = time.monotonic()
        ask(url, "POST", session + "/url", {"url": page})
        ask(url, "POST", session + "/execute/async",
            {"script": "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));", "args": []})
        return time.monotonic() - start
    finally:
        ask(url, "DELETE", session)


def main():
    with subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True) as driver:
        for line in driver.stdout:
            found = re.search(r"on port (\d+)\.", line)
            if found:
                break
        else:
            sys.exit("page.py: chromedriver did not start")
        url = "http://127.0.0.1:" + found[1]
        try:
            for page in sys.argv[1:]:
                name = page if "://" in page else "file://" + os.path.abspath(page)
                size = "" if "://" in page else f"{os.path.getsize(page) / 1e6:8.1f} MB"
                print(f"{min(open_once(url, name) for _ in range(RUNS)):6.2f} s {size}  {page}", flush=True)
        finally:
            driver.terminate()


main()
