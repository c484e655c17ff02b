# SPDX-License-Identifier: MIT
"""Each command's manual has examples, and mandoc formats every page without a complaint."""
import os
import re
import shutil
import subprocess

import tree


def complaints(page):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", os.path.join(tree.SRC, page)],
                          stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.splitlines()


def main():
    problems = []
    pages = list(tree.files(".1", ".5", ".7", rooms=("doc",)))
    for page in pages:
        text = tree.read(page)
        if page.endswith(".1") and not re.search(r"^\.SH EXAMPLES?$", text, re.M):
            problems.append(f"{page}: has no examples")
        if shutil.which("mandoc") is not None:
            problems += complaints(page)
    tree.finish(problems, f"manuals: {len(pages)} pages")


main()
