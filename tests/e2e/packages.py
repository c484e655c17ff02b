# SPDX-License-Identifier: MIT
"""./quickstart and ./check install what is missing: what they say and ask before, by whom it is done, and without rights."""
import os
import pty
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
sys.dont_write_bytecode = True
import harness      # noqa: E402 (the path comes first)
from harness import SRCDIR, TIMEOUT     # noqa: E402

# Everything is installed but what the file "missing" names; what is done is a line of "done".
FAKES = {
    "dpkg-query": 'for last; do :; done\ngrep -qx "$last" "$FAKES/missing" && exit 1\necho installed',
    "apt-get": 'case " $* " in\n'
               '*" --print-uris "*) echo "\'http://x/a.deb\' libdw-dev_0.188_amd64.deb 12345678" ;;\n'
               '*" update "*) echo "Get:1 http://x bookworm InRelease [151 kB]" ;;\n'
               '*) echo "${AS:-nobody}: apt-get $*" >>"$FAKES/done"\n'
               '   echo "Get:1 http://x bookworm/main amd64 libdw-dev amd64 0.188 [12.3 MB]"\n'
               '   echo "Setting up libdw-dev:amd64 (0.188) ..."; exit "$(cat "$FAKES/status")" ;;\n'
               'esac',
    "apt-cache": "echo Installed-Size: 45678",
    "sudo": 'AS=sudo exec "$@"',
    "id": 'cat "$FAKES/uid"',
}


class Packages(harness.Test):
    @classmethod
    def set_up_class(cls):
        os.makedirs("tests/lib")
        os.mkdir("fakes")
        for name in ("quickstart", "check", "tests/packages.txt", "tests/lib/packages.sh", "tests/lib/tree.sh"):
            shutil.copy(os.path.join(SRCDIR, name), name)
        for name, script in FAKES.items():
            with open("fakes/" + name, "w", encoding="ascii") as file:
                file.write("#!/bin/bash\n" + script + "\n")
            os.chmod("fakes/" + name, 0o755)

    def setUp(self):
        super().setUp()
        self.env = dict(os.environ, FAKES=self.dir, PATH=self.dir + "/fakes:/usr/bin:/bin")
        self.state(missing="libdw-dev", status="0", uid="1000")

    def state(self, **values):
        for name, value in values.items():
            with open(name, "w", encoding="ascii") as file:
                file.write(value + "\n")

    def done(self):
        if not os.path.exists("done"):
            return ""
        with open("done", encoding="ascii") as file:
            return file.read()

    def at_terminal(self, answer, *words):
        """(status, output) of a command at a terminal whose user types @answer."""
        main, end = pty.openpty()
        with subprocess.Popen(words, stdin=end, stdout=end, stderr=end, env=self.env, start_new_session=True) as running:
            os.close(end)
            os.write(main, answer.encode())
            text = b""
            while True:
                try:
                    piece = os.read(main, 4096)
                except OSError:
                    break
                if not piece:
                    break
                text += piece
            os.close(main)
            return running.wait(TIMEOUT), text.decode()

    def test_the_size_comes_before_the_question(self):
        status, text = self.at_terminal("n\n", "./quickstart")
        self.assertEqual((status, self.done()), (1, ""))
        self.assertLess(text.index("13 MB to download, 46 MB on disk"), text.index("Install them with apt-get?"))
        self.assertIn("these packages are missing; run as root: apt-get install libdw-dev", text)

    def test_sudo_and_progress(self):
        status, text = self.at_terminal("y\n", "./quickstart")
        self.assertEqual(self.done(), "sudo: apt-get install -y -q --no-install-recommends libdw-dev\n")
        for step in ("fetching the list of bookworm", "fetching libdw-dev [12.3 MB]", "setting up libdw-dev"):
            self.assertIn(step, text)
        self.assertNotEqual(status, 0)      # there is nothing to build here
        self.assertIn("=== building", text)

    def test_root_needs_no_sudo(self):
        self.state(uid="0")
        self.at_terminal("y\n", "./quickstart")
        self.assertEqual(self.done(), "nobody: apt-get install -y -q --no-install-recommends libdw-dev\n")

    def test_apt_fails(self):
        self.state(status="100")
        status, text = self.at_terminal("y\n", "./quickstart")
        self.assertEqual(status, 1)
        self.assertIn("apt-get could not install them; its whole output: ", text)

    def test_no_lists_no_size(self):
        os.unlink("fakes/apt-get")
        self.state(missing="libdw-dev")
        text = self.at_terminal("n\n", "./quickstart")[1]
        self.assertIn("at most ", text)

    def run_check(self):
        done = subprocess.run(["./check", "--quick"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=self.env, stdin=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
        return done.stdout

    def test_check_installs_by_sudo(self):
        text = self.run_check()
        self.assertIn("sudo: apt-get install", self.done())
        self.assertRegex(text, r"packages +1 installed")

    def test_check_without_rights_needs_what_ftr_is_built_with(self):
        os.unlink("fakes/sudo")
        self.env["PATH"] = self.without_sudo()
        text = self.run_check()
        self.assertIn("these packages are missing; run as root: apt-get install libdw-dev", text)
        self.assertTrue(text.endswith("0 passed, 1 failed, 0 skipped\n"), text)

    def test_check_without_rights_skips_tests(self):
        os.unlink("fakes/sudo")
        self.state(missing="mold")
        self.env["PATH"] = self.without_sudo()
        text = self.run_check()
        self.assertIn("without these packages some tests are skipped; run as root: apt-get install mold", text)
        self.assertRegex(text, r"autoreconf +FAILED")      # there is nothing to build here
        self.assertTrue(text.endswith(" passed, 1 failed, 1 skipped\n"), text)

    def without_sudo(self):
        """A path of links to everything but sudo."""
        os.mkdir("tools")
        for directory in ("/usr/bin", "/bin"):
            for name in os.listdir(directory):
                if name != "sudo" and not os.path.lexists("tools/" + name):
                    os.symlink(os.path.join(directory, name), "tools/" + name)
        return self.dir + "/fakes:" + self.dir + "/tools"


if __name__ == "__main__":
    harness.main()
