# SPDX-License-Identifier: MIT
"""What a Python program does, without the time or a process number in its output."""
import ctypes
import hashlib
import json
import re
import signal
import socket
import subprocess
import sys
import threading


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def numbers(limit):
    yield from range(limit)


def raising(n):
    try:
        return 1 // n
    except ZeroDivisionError as error:
        return str(error)
    finally:
        gathered.append(n)


def in_thread(i):
    with lock:
        gathered.append(sum(numbers(1000)) + i)


def by_socket():
    here, there = socket.socketpair()
    thread = threading.Thread(target=lambda: there.sendall(b"x" * 100000) or there.close())
    thread.start()
    total = 0
    while chunk := here.recv(4096):
        total += len(chunk)
    thread.join()
    here.close()
    return total


def on_alarm(*_):
    raise TimeoutError("alarm")


gathered, lock = [], threading.Lock()
print(hashlib.sha256(json.dumps(list(numbers(20000))).encode()).hexdigest())
print(len(re.findall(r"(\d)(?=\1)", "".join(map(str, numbers(20000))))), deep(500))
print(raising(0), raising(2))
threads = [threading.Thread(target=in_thread, args=(i,)) for i in range(50)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(gathered), by_socket())
for command in (["echo", "hello"], ["sh", "-c", "exit 3"], ["/bin/false"], ["cat", "/no/such"]):
    done = subprocess.run(command, capture_output=True, check=False)
    print(command[0], done.returncode, done.stdout, done.stderr)
print(ctypes.CDLL(None).strlen(b"seven__"))
signal.signal(signal.SIGALRM, on_alarm)
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    while True:
        deep(20)
except TimeoutError as error:
    print(error)
sys.exit(4)
