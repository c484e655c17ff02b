# SPDX-License-Identifier: MIT
"""values.py redis DATA | ninja DATA BUILD.NINJA: are the values of a real program's calls right?

redis: a text of _sdsnewlen(from, length, ...) has as many characters as that says.  ninja: the paths that
State::GetNode is given are those of the file that it reads, and each of them.
"""
import os
import re
import subprocess
import sys

TEXT_MAX, MEMBER_MAX = 98, 31   # characters kept of a text, of one that is a member


def calls_of(data, function):
    text = subprocess.run([os.environ["FTR"], "replay", "--no-pager", "--no-sched", "-f", "none", "-d", data,
                           "-F", f"^{function}$", "-D", "1"], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    return text.decode("latin-1").splitlines()


def characters(text):
    return re.sub(r"\\x..|\\.", "?", text)


def redis(data):
    """A NUL in a binary text ends what is shown of it: few are."""
    found = shorter = 0
    for line in calls_of(data, "_sdsnewlen"):
        call = re.match(r'\s*_sdsnewlen\(0x[0-9a-f]+, (\d+), \d+\) = "(.*)";$', line)
        if call is None:
            continue
        wanted, seen = min(int(call[1]), TEXT_MAX), len(characters(call[2]))
        if seen > wanted:
            return f"a text of {wanted} characters has {seen}: {line}"
        found += 1
        shorter += seen < wanted
    return "" if found > 500 and shorter * 50 < found else f"{found} texts, {shorter} of them too short"


def ninja(data, file):
    with open(file, encoding="ascii") as manifest:
        wanted = {word.strip(":$") for line in manifest if line.startswith("build ")
                  for word in line.split()[1:] if word[-1] == ":" or "/" in word}
    seen = set()
    for line in calls_of(data, "State::GetNode"):
        call = re.search(r'\.str_ = "(.*?)", \.len_ = (\d+)}', line)
        if call is None:
            return f"no path: {line}"
        seen.add(call[1][:min(int(call[2]), MEMBER_MAX)])
    return "" if seen == wanted else f"{sorted(seen ^ wanted)[:5]} are not in both"


if __name__ == "__main__":
    problem = {"redis": redis, "ninja": ninja}[sys.argv[1]](*sys.argv[2:])
    print(problem)
    sys.exit(problem != "")
