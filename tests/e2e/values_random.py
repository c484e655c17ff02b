# SPDX-License-Identifier: MIT
"""Random functions, optimised or not: what record -a shows of their calls is what their callers passed and got."""
import os
import random
import re
import shutil
import subprocess

from recording import TIMEOUT, Recording, build, harness

# Type, its format, and the range of its values.
INTEGERS = (("signed char", "hhd", -128, 127), ("unsigned char", "hhu", 0, 255), ("short", "hd", -2**15, 2**15 - 1),
            ("unsigned short", "hu", 0, 2**16 - 1), ("int", "d", 1 - 2**31, 2**31 - 1), ("unsigned", "u", 0, 2**32 - 1),
            ("long", "ld", 1 - 2**63, 2**63 - 1), ("unsigned long", "lu", 0, 2**64 - 1))
TYPES = INTEGERS + (("float", "f", 0, 0), ("double", "f", 0, 0), ("char *", "s", 0, 0), ("_Bool", "d", 0, 1))
SUFFIX = {"unsigned": "u", "long": "L", "unsigned long": "UL"}
FUNCTIONS, CALLS = 8, 3
WAYS = (("gcc", "-O0"), ("gcc", "-O2"), ("gcc", "-O3", "-pg"), ("clang", "-O0"), ("clang", "-O1"), ("clang", "-O2"),
        ("clang", "-O2", "-pg"), ("clang", "-O3"))
GONE = "optimized_out"


class Program:
    """Functions of random types that use some of their parameters, and calls with constants and other values."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = [self.function(f"f{i}") for i in range(FUNCTIONS)]

    def literal(self, kind):
        name, _, low, high = kind
        if name == "char *":
            return '"%s"' % "".join(self.random.choice("abcxyz") for _ in range(self.random.randint(1, 8)))
        if name in ("float", "double"):
            return str(self.random.randint(-1000, 1000) / 4)
        return f"{self.random.randint(low, high)}{SUFFIX.get(name, '')}"

    def function(self, name):
        kinds = [self.random.choice(TYPES) for _ in range(self.random.randint(0, 9))]
        retval = self.random.choice((None, *TYPES))
        used = [i for i in range(len(kinds)) if self.random.random() < 0.7]
        body = "".join(f"sink += (long)strlen(a{i}); " if kinds[i][0] == "char *" else f"sink += (long)a{i}; " for i in used)
        same = [i for i in used if kinds[i] == retval]
        if retval:
            body += f"BARRIER; return {f'a{self.random.choice(same)}' if same else self.literal(retval)};"
        parameters = ", ".join(f"{kind[0]} a{i}" for i, kind in enumerate(kinds)) or "void"
        linkage = self.random.choice(("static ", "static ", ""))
        self.constants = [self.literal(kind) for kind in kinds]
        is_used = self.random.random() < 0.5
        text = f"{linkage}__attribute__((noinline)) {retval[0] if retval else 'void'} {name}({parameters})\n{{ {body} }}\n"
        return text, "".join(self.call(name, kinds, retval if is_used else None) for _ in range(CALLS))

    def call(self, name, kinds, retval):
        """One, and what it prints itself: "f0(1, "text") = 2"."""
        values = [constant if self.random.random() < 0.3 else self.literal(kind)
                  for kind, constant in zip(kinds, self.constants)]
        names = [f"v{i}" for i in range(len(kinds))]
        text = "\t{ " + "".join(f"{kind[0]} {name_} = {value}; " for kind, name_, value in zip(kinds, names, values))
        text += f"{retval[0]} r = " if retval else ""
        text += f"{name}({', '.join(names)});\n\tprintf(\"{name}("
        formats = ['\\"%s\\"' if kind[0] == "char *" else "%" + kind[1] for kind in kinds]
        text += ", ".join(formats) + ")" + (f" = {self.of_result(retval)}" if retval else "") + '\\n"'
        return text + "".join(f", {name_}" for name_ in names + (["r"] if retval else [])) + "); }\n"

    @staticmethod
    def of_result(kind):
        return '\\"%s\\"' if kind[0] == "char *" else "%" + kind[1]

    def __str__(self):
        return ("#include <stdio.h>\n#include <string.h>\n#define BARRIER __asm__ volatile(\"\" ::: \"memory\")\n"
                "volatile long sink;\n" + "".join(function for function, _ in self.functions) +
                "int main(void)\n{\n" + "".join(calls for _, calls in self.functions) + "\treturn 0;\n}\n")


def number_of(text):
    """Of each way to write one; a text stays."""
    if text in ("true", "false"):
        return int(text == "true")
    if re.fullmatch(r"'.*'", text):
        return ord(text[1:-1].encode("latin-1").decode("unicode_escape"))
    for kind in (int, lambda word: int(word, 16), float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def is_same(shown, said):
    """Integers may be shown in another signedness."""
    a, b = number_of(shown), number_of(said)
    return a == b or (isinstance(a, int) and isinstance(b, int) and (a - b) % 2**64 == 0)


class Random(Recording):
    def shown(self):
        text = self.ftr("replay", "-d", "d", "-f", "none", "--no-event", "-F", "^f[0-9]", "-D", "1").stdout
        calls = {}
        for name, arguments, value in re.findall(r"^ *(f\d)[.\w]*\((.*)\)(?: = (.*?))?;$", text, re.M):
            calls.setdefault(name, []).append((arguments.split(", ") if arguments else [], value))
        return calls

    def compare(self, said, shown, how):
        """Calls that were merged or left out are not compared.  Returns how many were."""
        compared = 0
        for name in shown:
            own = [re.fullmatch(rf"{name}\((.*)\)(?: = (.*))?", line) for line in said if line.startswith(name + "(")]
            if len(own) != len(shown[name]):
                continue
            for call, (arguments, value) in zip(own, shown[name]):
                wanted = call[1].split(", ") if call[1] else []
                for one, other in zip(arguments, wanted):
                    self.assertTrue(one == GONE or is_same(one, other), f"{how}: {call[0]}: {arguments}")
                if value and call[2] is not None:
                    self.assertTrue(is_same(value, call[2]), f"{how}: {call[0]}: {value}")
                compared += 1
        return compared

    def test_values_are_those_of_the_program(self):
        for seed in harness.few(range(12), 6):
            with open("random.c", "w", encoding="ascii") as file:
                file.write(str(Program(seed)))
            for compiler, *flags in WAYS:
                if not shutil.which(compiler):
                    continue
                how = f"seed {seed}, {compiler} {' '.join(flags)}"
                build(os.path.abspath("random.c"), "random", "-w", "-g", *flags, compiler=[compiler])
                said = subprocess.run(["./random"], stdout=subprocess.PIPE, text=True, check=True, timeout=TIMEOUT).stdout
                self.record("-a", "--no-libcall", "./random")
                self.assertGreater(self.compare(said.splitlines(), self.shown(), how), FUNCTIONS, how)
                shutil.rmtree("d")


if __name__ == "__main__":
    harness.main()
