# SPDX-License-Identifier: MIT
"""tracefs in a mount namespace of the test's own: nothing of it is left when the test has ended."""
import ctypes
import os
import subprocess
import unittest

from harness import IS_ROOT, TIMEOUT

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000


def namespace_make():
    """False: not permitted."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(CLONE_NEWNS) == 0 and libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0


def others_unmount():
    """In the namespace alone: ftr takes what it finds, and a test says whether that can be written."""
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
        places = [line.split()[1] for line in file if line.split()[2] == "tracefs"]
    for place in reversed(places):
        subprocess.run(["umount", "-l", place], stderr=subprocess.DEVNULL, timeout=TIMEOUT, check=False)


def mount(path):
    """Make the directory and mount tracefs there, or skip the test with the reason."""
    if not IS_ROOT:
        raise unittest.SkipTest("tracefs is root's alone")
    if not namespace_make():
        raise unittest.SkipTest("no mount namespace is permitted here")
    others_unmount()
    os.mkdir(path)
    done = subprocess.run(["mount", "-t", "tracefs", "nodev", path], stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT, check=False)
    if done.returncode != 0:
        os.rmdir(path)
        raise unittest.SkipTest("tracefs cannot be mounted: " + done.stderr.strip())


def unmount(path):
    subprocess.run(["umount", path], timeout=TIMEOUT, check=True)
    os.rmdir(path)
