# SPDX-License-Identifier: MIT
"""script, and -S of record and live: what scripts are called with in each language, their failures, and the program's result."""
import json
import os
import re
import shutil
import subprocess

from recording import FTR, build, harness

DATA = harness.SRCDIR + "/tests/data"
SPEAKS = re.search(r"^  scripts +(.*)$", subprocess.run([FTR, "--version"], stdout=subprocess.PIPE, text=True,
                                                        check=True).stdout, re.M)[1]

# Each prints the context of each callback as an object of JSON, keys in order.
PYTHON = """
import json, sys
def show(kind, ctx):
    ctx["type"] = kind
    print(json.dumps(ctx, sort_keys=True))
def uftrace_begin(ctx):
    assert sys.argv[1:] == list(ctx["cmds"]) and __name__ == "show", sys.argv
    show("begin", ctx)
def uftrace_entry(ctx): show("entry", ctx)
def uftrace_exit(ctx): show("exit", ctx)
def uftrace_event(ctx): show("event", ctx)
def uftrace_end(): show("end", {})
"""
LUA = r"""
local function text(value)
    if type(value) == "number" then
        return value == math.floor(value) and string.format("%.0f", value) or string.format("%.17g", value)
    elseif type(value) == "string" then
        return '"' .. value:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
    elseif type(value) == "table" then
        local words = {}
        for i, word in ipairs(value) do words[i] = text(word) end
        return "[" .. table.concat(words, ",") .. "]"
    end
    return tostring(value)
end
local function show(kind, ctx)
    local members = { '"type":"' .. kind .. '"' }
    for key, value in pairs(ctx) do table.insert(members, '"' .. key .. '":' .. text(value)) end
    print("{" .. table.concat(members, ",") .. "}")
end
function uftrace_begin(ctx) assert(#arg == #ctx.cmds and arg[1] == ctx.cmds[1]) show("begin", ctx) end
function uftrace_entry(ctx) show("entry", ctx) end
function uftrace_exit(ctx) show("exit", ctx) end
function uftrace_event(ctx) show("event", ctx) end
function uftrace_end() show("end", {}) end
"""
SHOW = {"python": ("show.py", PYTHON), "lua": ("show.lua", LUA), "process": ("show", "#!/bin/cat\n")}
PEER = """
def uftrace_entry(ctx): print("entry", ctx)
def uftrace_exit(ctx): print("exit", ctx)
def uftrace_end(): print("end")
"""
PEER_LUA = """
local function show(kind, ctx)
    print(kind, ctx.tid, ctx.depth, string.format("%.0f", ctx.timestamp), string.format("%.0f", ctx.address), ctx.name,
          ctx.args and table.concat(ctx.args, "|"), ctx.retval)
end
function uftrace_entry(ctx) show("entry", ctx) end
function uftrace_exit(ctx) show("exit", ctx) end
"""


class Scripts(harness.Test):
    @classmethod
    def set_up_class(cls):
        build("victim.c", "victim", "-pg", "-O1")
        # What libpython does not free at its end is its own, for a ftr with sanitizers.
        with open("leaks", "w", encoding="ascii") as file:
            file.write("leak:libpython3\n")
        os.environ["LSAN_OPTIONS"] = f"print_suppressions=0:suppressions={cls.shared}/leaks"

    def write(self, name, text, mode=0o644):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, mode)
        return name

    def need(self, language):
        if f"no {language}:" in SPEAKS:
            self.skipTest(f"ftr was built without {language}")

    def languages(self):
        return [language for language in SHOW if f"no {language}:" not in SPEAKS]

    def script(self, *words, status=0, **options):
        run = self.ftr("script", *words, **options)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def shown(self, language, *words):
        name, text = SHOW[language]
        # cat would take an argument for a file.
        if language == "process":
            self.write(name, "#!/bin/sh\nexec cat\n", 0o755)
        else:
            self.write(name, text)
        contexts = [json.loads(line) for line in self.script("-S", name, *words).stdout.splitlines()]
        if language == "process":
            self.assertEqual({context.pop("v") for context in contexts}, {1})
        return contexts

    def test_version_names_the_engines(self):
        for language in SHOW:
            self.assertIn(language, SPEAKS)

    def test_engine_that_is_not_in(self):
        missing = [language for language in SHOW if language not in self.languages()]
        for language in missing:
            name, text = SHOW[language]
            err = self.script("-S", self.write(name, text), f"{DATA}/threads", status=1).stderr
            self.assertRegex(err, rf"^ftr: {name}: ftr was built without {language}; install it with \"apt-get")
        if not missing:
            self.skipTest("ftr was built with all engines")

    def test_languages_agree(self):
        for data in ("demo-args", "demo-trigger", "events", "lost", "values", "shapes", "demo-fork"):
            for words in ([], ["one", "two words"]):
                found = {language: self.shown(language, f"{DATA}/{data}", *words) for language in self.languages()}
                first = found["process"]
                self.assertEqual((first[0]["type"], first[-1]), ("begin", {"type": "end"}))
                self.assertEqual((first[0]["cmds"], first[0]["record"]), (words, False))
                for language, contexts in found.items():
                    self.assertEqual(contexts, first, f"{data}: {language}")

    def test_values(self):
        contexts = self.shown("process", f"{DATA}/demo-args")
        args = {context["name"]: context.get("args") for context in contexts if context["type"] == "entry"}
        self.assertEqual(args["scale"], [1.5, 2.0, "x"])
        self.assertEqual(args["middle"], [1, 'hello "you"\n'])
        self.assertEqual(args["call"][1], -5)
        self.assertIsNone(args["__monstartup"])
        results = {context["name"]: context.get("retval") for context in contexts if context["type"] == "exit"}
        self.assertEqual((results["middle"], results["call"], results["strlen"]), (17, -4, 12))
        structs = [context["args"] for context in self.shown("process", f"{DATA}/shapes") if "args" in context]
        self.assertIn("{.x = 5, .y = -6}", structs[0])

    def test_as_replay_has_it(self):
        """The same calls at the same times, but for those that had not returned."""
        for data in ("threads", "jumps", "quit", "lost", "kernel-calls"):
            lines = [json.loads(line) for line in self.ftr("replay", "--json", "-d", f"{DATA}/{data}").stdout.splitlines()]
            calls = [(line["type"], line["time_ns"], line["tid"], line["depth"], line["func"], line.get("duration_ns"))
                     for line in lines if line["type"] in ("entry", "exit") and not line.get("unfinished")]
            contexts = self.shown("process", f"{DATA}/{data}")
            self.assertEqual([(context["type"], context["timestamp"], context["tid"], context["depth"], context["name"],
                               context.get("duration")) for context in contexts if context["type"] in ("entry", "exit")],
                             calls, data)

    def test_events(self):
        events = [context for context in self.shown("process", f"{DATA}/demo-trigger") if context["type"] == "event"]
        self.assertEqual([(event["name"], event["args"], event["address"]) for event in events[:2]],
                         [("watch:cpu", "cpu=1", 100011),
                          ("read:proc/statm", "vmsize=15492KB vmrss=7508KB shared=5428KB", 100001)])
        lost = [context for context in self.shown("process", f"{DATA}/lost") if context.get("name") == "ftr:lost"]
        self.assertEqual([event["args"] for event in lost], ["LOST 3 records"])

    def test_beside_uftrace(self):
        uftrace = shutil.which("uftrace")
        speaks = subprocess.run([uftrace, "--version"], stdout=subprocess.PIPE, text=True,
                                check=True).stdout if uftrace else ""
        compared = 0
        for language, word, name, text in (("python", " python3 ", "peer.py", PEER), ("lua", " luajit ", "peer.lua", PEER_LUA)):
            if word not in speaks or language not in self.languages():
                continue
            self.write(name, text)
            for data in ("demo-plain", "demo-spec", "callback"):
                shutil.copytree(f"{DATA}/{data}", data, dirs_exist_ok=True)
                theirs = self.run_program(uftrace, "script", "-d", data, "-S", name)
                self.assertGreater(theirs.stdout.count("\n"), 10)
                self.assertEqual(self.script("-d", data, "-S", name).stdout, theirs.stdout, f"{data}: {language}")
                compared += 1
        if compared == 0:
            self.skipTest("no uftrace here that runs a script that ftr runs")

    def test_chosen_functions(self):
        scripts = {
            "python": ("f.py", "UFTRACE_FUNCS = ['leaf', '^mai']\ndef uftrace_entry(ctx): print(ctx['name'])\n"),
            "lua": ("f.lua", "UFTRACE_FUNCS = { 'leaf', '^mai' }\nfunction uftrace_entry(ctx) print(ctx.name) end\n"),
            "process": ("f", "#!/bin/sh\n# uftrace-funcs: leaf\n# uftrace-funcs: ^mai\n"
                             "sed -n 's/.*entry.*\"name\":\"\\(.*\\)\".*/\\1/p'\n"),
        }
        for language in self.languages():
            name, text = scripts[language]
            self.write(name, text, 0o755)
            self.assertEqual(self.script("-S", name, f"{DATA}/demo-plain").stdout.split(), ["main", "leaf", "leaf", "leaf"])
        if "python" in self.languages():
            self.write("f.py", scripts["python"][1].replace("^mai", "("))
            self.assertIn("ftr: f.py: UFTRACE_FUNCS: ", self.script("-S", "f.py", f"{DATA}/demo-plain", status=1).stderr)
            self.write("f.py", scripts["python"][1].replace("^mai", "m*n"))
            self.assertEqual(self.script("-S", "f.py", "--match=glob", f"{DATA}/demo-plain").stdout.split()[0], "main")

    def test_selection(self):
        contexts = self.shown("process", "-F", "middle", "-D", "1", "--no-event", f"{DATA}/threads")
        self.assertEqual({context.get("name") for context in contexts[1:-1]}, {"middle"})

    def failure(self, name, text, expected, status=1):
        self.write(name, text)
        run = self.script("-S", name, f"{DATA}/demo-plain", status=status)
        self.assertRegex(run.stderr, rf"^ftr: {expected}\n$")
        return run.stdout

    def test_failures_in_python(self):
        self.need("python")
        self.failure("e.py", "import sys\ndef f(:\n", r"e\.py:2: SyntaxError: .*")
        self.failure("e.py", "import nothing_of_this_name\n", r"e\.py:1: ModuleNotFoundError: .*")
        for callback in ("begin", "entry", "exit", "end"):
            argument = "" if callback == "end" else "ctx"
            self.failure("e.py", f"def g():\n    return {{}}['no']\ndef uftrace_{callback}({argument}):\n    g()\n",
                         r"e\.py:2: KeyError: 'no'")
        self.failure("e.py", "def uftrace_entry(): pass\n", r"e\.py: TypeError: .*")
        self.failure("e.py", "UFTRACE_FUNCS = 5\n", r"e\.py: UFTRACE_FUNCS is no list")
        self.failure("e.py", "import sys\ndef uftrace_entry(ctx): sys.exit(3)\n", r"e\.py:2: SystemExit: 3")
        # What was printed before is there, and there is no end.
        self.assertEqual(self.failure("e.py", "def uftrace_begin(ctx): print('begun')\ndef uftrace_entry(ctx): f()\n"
                                              "def uftrace_end(): print('ended')\n", r"e\.py:2: NameError: .*"), "begun\n")
        self.write("helper.py", "def fail():\n    raise ValueError('two\\nlines')\n")
        self.failure("e.py", "import helper\n\ndef uftrace_entry(ctx):\n    helper.fail()\n", r"e\.py:4: ValueError: two")

    def test_failures_in_lua(self):
        self.need("lua")
        self.failure("e.lua", "x = = 1\n", r"e\.lua:1: .*")
        for callback in ("begin", "entry", "exit", "end"):
            self.failure("e.lua", f"function uftrace_{callback}(ctx)\n  local t = nil\n  t.x = 1\nend\n", r"e\.lua:3: .*")
        self.failure("e.lua", "function uftrace_entry(ctx) error({}) end\n", r"e\.lua: an error that is no text")
        self.failure("e.lua", "function uftrace_entry(ctx) error('plain', 0) end\n", r"e\.lua: plain")

    def test_failures_of_processes(self):
        data = f"{DATA}/demo-plain"
        self.write("e", "#!/bin/sh\ncat >/dev/null\nexit 3\n", 0o755)
        self.assertEqual(self.script("-S", "e", data, status=1).stderr, "ftr: e: ended with exit status 3\n")
        self.write("e", "#!/bin/sh\ncat >/dev/null\nkill -9 $$\n", 0o755)
        self.assertIn("e: killed by signal 9 (Killed)", self.script("-S", "e", data, status=1).stderr)
        self.write("e", "#!/nowhere/at/all\n", 0o755)
        self.assertEqual(self.script("-S", "e", data, status=1).stderr, "ftr: e: the interpreter that its first line names is missing\n")
        self.write("e", "#!/bin/sh\n", 0o644)
        self.assertRegex(self.script("-S", "e", data, status=1).stderr, r"^ftr: e: neither .py nor .lua, and not executable; ")

    def test_no_script(self):
        data = f"{DATA}/demo-plain"
        self.assertEqual(self.script("-S", "no.py", data, status=1).stderr, "ftr: no.py: No such file or directory\n")
        self.assertEqual(self.script("-S", ".", data, status=1).stderr, "ftr: .: not a file\n")
        self.assertIn("ftr script -S FILE", self.script(status=2).stderr)
        self.assertIn("data: ", self.script("-S", "/bin/cat", "-d", "data", status=1).stderr)

    def test_enough(self):
        """A script that ends early, and well."""
        self.write("e", "#!/bin/sh\nread line\necho \"$line\" | cut -c1-21\n", 0o755)
        self.assertEqual(self.script("-S", "e", f"{DATA}/threads").stdout, '{"v":1,"type":"begin"\n')
        if "python" in self.languages():
            self.write("e.py", "import sys\ndef uftrace_entry(ctx):\n    print(ctx['name'])\n    sys.exit()\n")
            self.assertEqual(self.script("-S", "e.py", f"{DATA}/threads").stdout, "__monstartup\n")

    def test_full_disk(self):
        for language in self.languages():
            if language == "process":
                continue
            name, text = SHOW[language]
            self.write(name, text)
            with open("/dev/full", "w", encoding="ascii") as full:
                err = self.script("-S", name, f"{DATA}/threads", status=1, stdout=full).stderr
            self.assertIn("No space left on device", err)

    def test_from_a_pipe(self):
        with open("x.fxt", "wb") as file:
            file.write(self.ftr("dump", "--fxt", "-d", f"{DATA}/demo-plain", text=False).stdout)
        self.write("show", "#!/bin/sh\nexec cat\n", 0o755)
        with open("x.fxt", "rb") as file:
            lines = self.script("-S", "show", "-", stdin=file).stdout.splitlines()
        names = [json.loads(line).get("name") for line in lines]
        self.assertEqual(names.count("leaf"), 6)

    RECORDS = {
        "python": ("r.py", "def uftrace_begin(ctx): print(ctx['record'], ctx['cmds'][0])\n"
                           "def uftrace_entry(ctx):\n    if ctx['name'] == 'leaf': print(ctx['name'], ctx['args'])\n"),
        "lua": ("r.lua", "function uftrace_begin(ctx) print('True', ctx.cmds[1]) end\n"
                         "function uftrace_entry(ctx) if ctx.name == 'leaf' then print('leaf', #ctx.args) end end\n"),
    }

    def test_record(self):
        self.write("s", "#!/bin/sh\n# uftrace-option: -A leaf@arg1 --no-libcall\n"
                        "sed -n '1p; /entry.*leaf/p' >lines\n", 0o755)
        for words in (["record", "-d", "kept"], ["live", "-d", "kept"], ["script", "--record", "-d", "kept"]):
            run = self.ftr(*words, "-S", "s", "./victim", "work", "2")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, "3\n")
            with open("lines", encoding="utf-8") as file:
                begin, *calls = [json.loads(line) for line in file]
            self.assertEqual((begin["record"], begin["cmds"]), (True, ["./victim", "work", "2"]))
            self.assertEqual(len(calls), 2)
            for call in calls:
                self.assertEqual(len(call["args"]), 1)
            self.assertTrue(os.path.exists("kept/info"))
            shutil.rmtree("kept")
        self.assertEqual(self.ftr("-S", "s", "./victim", "work", "1").returncode, 0)
        self.assertFalse(os.path.exists("ftr.data"))

    def test_command_line_overrides_the_script(self):
        self.write("s", "#!/bin/sh\n# uftrace-option: -D 1\ngrep -c entry\n", 0o755)
        self.assertEqual(self.ftr("record", "-S", "s", "./victim", "work", "2").stdout.split()[-1], "1")
        self.assertGreater(int(self.ftr("record", "-D", "9", "-S", "s", "./victim", "work", "2").stdout.split()[-1]), 2)
        self.write("s", "#!/bin/sh\n# uftrace-option: --no-such-thing\n", 0o755)
        run = self.ftr("record", "-S", "s", "./victim", "work", "2")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertRegex(run.stderr, r"^ftr: s: .*no-such-thing")

    def test_the_programs_result_is_kept(self):
        self.write("good", "#!/bin/sh\ncat >/dev/null\n", 0o755)
        self.write("bad", "#!/bin/sh\nexit 7\n", 0o755)
        for command in ("record", "live"):
            for script, program, status in (("good", ("status", "5"), 5), ("bad", ("status", "5"), 5),
                                            ("bad", ("work", "1"), 125), ("good", ("work", "1"), 0)):
                run = self.ftr(command, "-S", script, "./victim", *program)
                self.assertEqual(run.returncode, status, run.stderr)
                self.assertEqual("bad: ended with exit status 7" in run.stderr, script == "bad")
        self.assertEqual(self.ftr("info", "-d", "ftr.data").returncode, 0)

    def test_nothing_runs_for_a_script_that_is_not_there(self):
        for command in ("record", "live"):
            run = self.ftr(command, "-S", "missing.py", "./victim", "work", "1")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertEqual(run.stderr, "ftr: missing.py: No such file or directory\n")
        self.assertFalse(os.path.exists("ftr.data"))

    def test_record_in_embedded_languages(self):
        for language in self.languages():
            if language not in self.RECORDS:
                continue
            name, text = self.RECORDS[language]
            self.write(name, text)
            run = self.ftr("record", "-A", "leaf@arg1", "-S", name, "./victim", "work", "2")
            self.assertEqual(run.returncode, 0, run.stderr)
            lines = run.stdout.splitlines()
            self.assertEqual(lines[:1] + [line.split()[0] for line in lines[2:]], ["3", "leaf", "leaf"])
            self.assertEqual(lines[1].split(), ["True", "./victim"])


harness.main()
