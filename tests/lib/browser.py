# SPDX-License-Identifier: MIT
"""A headless Chromium that pages are looked at in, with input as a person's: W3C WebDriver, which chromedriver speaks.

Only pictures and what a page shows are read; scripts are run to ask where something is, never to do what a user does.
"""
import base64
import json
import os
import re
import shutil
import struct
import subprocess
import urllib.error
import urllib.request
import zlib

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
IS_THERE = CHROMIUM is not None and DRIVER is not None
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Shift": "\ue008", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014",
        "Down": "\ue015", "Backspace": "\ue003", "PageUp": "\ue00e", "PageDown": "\ue00f"}
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
           "--force-device-scale-factor=1", "--in-process-gpu",        # and no processes for what may come
           "--disable-features=SpareRendererForSitePerProcess,BackForwardCache,ProactivelySwapBrowsingInstance"]


class Picture:
    """A PNG of 8 bits a channel without interlacing, as browsers make screenshots."""

    def __init__(self, png):
        at, packed = 8, b""
        while at < len(png):
            size, kind = struct.unpack_from(">I4s", png, at)
            body = png[at + 8:at + 8 + size]
            if kind == b"IHDR":
                self.width, self.height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", body)
                assert depth == 8 and colours in (2, 6) and not interlaced
                step = 3 if colours == 2 else 4
            elif kind == b"IDAT":
                packed += body
            at += size + 12
        data, width = zlib.decompress(packed), self.width * step
        self.step, self.lines, above = step, [], bytes(width)
        for y in range(self.height):
            start = y * (width + 1)
            above = self.unfiltered(data[start], data[start + 1:start + 1 + width], above)
            self.lines.append(above)

    def unfiltered(self, kind, line, above):
        line, step = bytearray(line), self.step
        if kind == 2:
            return bytes((a + b) & 255 for a, b in zip(line, above))
        for i in range(len(line) if kind else 0):
            left = line[i - step] if i >= step else 0
            if kind == 1:
                line[i] = (line[i] + left) & 255
            elif kind == 3:
                line[i] = (line[i] + (left + above[i]) // 2) & 255
            else:
                corner = above[i - step] if i >= step else 0
                near = min((abs(above[i] - corner), 0, left), (abs(left - corner), 1, above[i]),
                           (abs(left + above[i] - 2 * corner), 2, corner))
                line[i] = (line[i] + near[2]) & 255
        return bytes(line)

    def at(self, x, y):
        """Red, green and blue."""
        start = int(x) * self.step
        return tuple(self.lines[int(y)][start:start + 3])

    def colours(self, x, y, width, height):
        """How many pixels of each colour a rectangle has."""
        found = {}
        for row in range(int(y), int(y + height)):
            for column in range(int(x), int(x + width)):
                colour = self.at(column, row)
                found[colour] = found.get(colour, 0) + 1
        return found


class Browser:
    """One window.  What is wrong in a page's console is found by log()."""

    def __init__(self, directory, width=1200, height=800):
        self.mouse = (0, 0)
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                       env=dict(os.environ, HOME=directory))
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self.base = f"http://127.0.0.1:{found[1]}"
                break
        else:
            raise RuntimeError("chromedriver does not start")
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": {
            "binary": CHROMIUM, "args": [*OPTIONS, f"--user-data-dir={directory}/profile"]}}
        session = self.ask("POST", "/session", capabilities={"alwaysMatch": wanted})
        self.base += "/session/" + session["sessionId"]
        self.size(width, height)

    def ask(self, method, path, **body):
        data = json.dumps(body).encode() if method == "POST" else None
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=30)
            self.driver.stdout.close()

    def open(self, url):
        """A fragment alone changes no page: then as if it had been typed."""
        self.ask("POST", "/url", url=url)

    def back(self):
        self.ask("POST", "/back")

    def size(self, width, height):
        """Of the page itself."""
        self.ask("POST", "/goog/cdp/execute", cmd="Emulation.setDeviceMetricsOverride",
                 params={"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def scheme(self, name):
        """What the user's system prefers: "light" or "dark"."""
        self.ask("POST", "/goog/cdp/execute", cmd="Emulation.setEmulatedMedia",
                 params={"features": [{"name": "prefers-color-scheme", "value": name}]})

    def run(self, script, *args):
        return self.ask("POST", "/execute/sync", script=script, args=list(args))

    def settle(self):
        """Until all is drawn that was asked for: the page draws at the next frame, its sums 120 ms later."""
        self.ask("POST", "/execute/async", args=[], script="const done = arguments[0];"
                 "setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 200);")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def box(self, selector):
        """Left, top, width and height of an element."""
        return self.run("const b = document.querySelector(arguments[0]).getBoundingClientRect();"
                        "return [b.left, b.top, b.width, b.height]", selector)

    def actions(self, *sources):
        self.ask("POST", "/actions", actions=list(sources))

    def pointer(self, *steps):
        return {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": list(steps)}

    def move_step(self, x, y):
        self.mouse = (x, y)
        return {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}

    def move(self, x, y):
        self.actions(self.pointer(self.move_step(x, y)))

    def click(self, x, y, times=1):
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.actions(self.pointer(self.move_step(x, y), *press * times))

    def click_on(self, selector):
        left, top, width, height = self.box(selector)
        self.click(left + width / 2, top + height / 2)

    def choose(self, selector, nr):
        """One of a list of choices, from 0; the desktop draws the list, so that the pointer finds nothing there."""
        option = self.ask("POST", "/element", using="css selector", value=f"{selector} option:nth-child({nr + 1})")
        self.ask("POST", f"/element/{next(iter(option.values()))}/click")

    def drag(self, start, end, key=None):
        steps = [self.move_step(*start), {"type": "pointerDown", "button": 0}]
        for part in range(1, 5):
            steps.append(self.move_step(*(a + (b - a) * part / 4 for a, b in zip(start, end))))
        steps.append({"type": "pointerUp", "button": 0})
        if key is None:
            self.actions(self.pointer(*steps))
            return
        pauses = [{"type": "pause", "duration": 0}] * len(steps)
        self.actions({"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": KEYS[key]}, *pauses,
                                                               {"type": "keyUp", "value": KEYS[key]}]},
                     self.pointer({"type": "pause", "duration": 0}, *steps))

    def wheel(self, x, y, down, right=0):
        self.mouse = (x, y)
        self.actions({"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": round(x), "y": round(y), "deltaX": right, "deltaY": down, "duration": 0}]})

    def keys(self, *names):
        """Each pressed and let go: characters, or names of KEYS."""
        steps = []
        for name in names:
            value = KEYS.get(name, name)
            steps += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.actions({"type": "key", "id": "keys", "actions": steps})

    def screenshot(self, path=None):
        png = base64.b64decode(self.ask("GET", "/screenshot"))
        if path is not None:
            with open(path, "wb") as file:
                file.write(png)
        return Picture(png)

    def log(self):
        """What the console was told since the last time, and requests that failed."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", type="browser")
                if entry["level"] != "DEBUG"]
