# SPDX-License-Identifier: MIT
"""Makes the picture of the page in README.md anew: tests/real/picture.py FTR OUT.png, with chromium and its chromedriver."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))
sys.dont_write_bytecode = True
import browser      # noqa: E402 (the path comes first)


def main():
    ftr, out = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        subprocess.run(["gcc", "-pg", "-g", "-O1", os.path.join(HERE, "../prog/crew.c"), "-o", "crew", "-lpthread"], check=True)
        os.symlink(ftr, "ftr")
        environ = dict(os.environ, PATH=work + ":" + os.environ["PATH"])
        subprocess.run(["ftr", "record", "--probe=memory,sync", "./crew"], env=environ, check=True)
        subprocess.run(["ftr", "view", "-o", "x.html"], env=environ, check=True)
        window = browser.Browser(work, 1100, 580)
        try:
            window.open(f"file://{work}/x.html")
            window.click_on("#show-flame")
            window.settle()
            window.screenshot(out)
            assert window.log() == []
        finally:
            window.close()


if __name__ == "__main__":
    main()
