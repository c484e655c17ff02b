#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write prototypes.def from the C library's headers as $CC reads them.

What a function takes and gives are the words of specs (uftrace's grammar).  A const char pointer
is a string; one that is not const is where the function writes, so it is shown as a pointer.  What
has no words (structs by value, variable arguments) ends the arguments.
"""
import os
import re
import subprocess
import sys
import tempfile

HEADERS = """arpa/inet ctype dirent dlfcn errno fcntl fnmatch getopt glob grp iconv langinfo libgen
locale math netdb poll pthread pwd regex sched semaphore setjmp signal spawn stdio stdlib string
strings sys/epoll sys/eventfd sys/file sys/inotify sys/ioctl sys/mman sys/mount sys/prctl
sys/random sys/resource sys/select sys/sendfile sys/signalfd sys/socket sys/stat sys/statvfs
sys/time sys/timerfd sys/times sys/types sys/uio sys/un sys/utsname sys/wait sys/xattr syslog
termios time unistd utime wchar""".split()

# Of three mathematical functions of each kind, the one of double; no internal names, no old ones.
COLUMNS = 100
LEFT_OUT = re.compile(r"^_|_r_l$|_l$|sourcefilter$|^(re_|wcs|wmem|mbs|wc|f?[gpu]+w|lcong|"
                      r"[sg]etstate|init_?state|random_r|srandom_r|.*rand48_r?$|[efq]cvt|q.cvt)")
MATH = """acos asin atan atan2 cbrt ceil cos cosh exp exp2 fabs floor fmax fmin fmod hypot ldexp log
log10 log2 lround modf nearbyint pow remainder rint round sin sinh sqrt tan tanh trunc""".split()

WORDS = {
    "char": "c", "signed char": "i8", "unsigned char": "u8", "short int": "i16",
    "short unsigned int": "u16", "int": "i32", "unsigned int": "u32", "long int": "i64",
    "long unsigned int": "u64", "long long int": "i64", "long long unsigned int": "u64",
    "size_t": "u64", "ssize_t": "i64", "off_t": "i64", "off64_t": "i64", "mode_t": "x32",
    "pid_t": "i32", "uid_t": "u32", "gid_t": "u32", "id_t": "u32", "useconds_t": "u32",
    "time_t": "i64", "clock_t": "i64", "clockid_t": "i32", "socklen_t": "u32", "dev_t": "u64",
    "pthread_t": "x64", "pthread_key_t": "u32", "pthread_once_t": "i32", "timer_t": "p",
    "in_addr_t": "x32", "in_port_t": "u16", "uint16_t": "u16", "uint32_t": "u32",
    "uint64_t": "u64", "int32_t": "i32", "int64_t": "i64", "nfds_t": "u64", "idtype_t": "i32",
    "intptr_t": "i64", "wint_t": "u32", "wchar_t": "i32", "iconv_t": "p", "nl_item": "i32",
    "locale_t": "p", "speed_t": "u32", "eventfd_t": "u64", "rlim_t": "u64",
    "sighandler_t": "p", "compar_fn_t": "p", "compar_d_fn_t": "p", "va_list": "p",
    "__gnuc_va_list": "p", "__socket_type": "i32", "sem_t": None, "tcflag_t": "u32",
    "regoff_t": "i32", "suseconds_t": "i64", "rlimit_resource_t": "i32", "key_t": "i32",
    "rusage_who_t": "i32", "itimer_which_t": "i32", "priority_which_t": "i32",
}
FLOATS = {"float": "32", "double": "64", "long double": "80"}

# C++'s own allocation, which no header of C declares.  uftrace 0.13 looks prototypes up by demangled
# names, so both forms of a delete have to have the same arguments: it reads no further otherwise.
OPERATORS = {
    "_Znwm": ("arg1/u64", "retval/p"), "_Znam": ("arg1/u64", "retval/p"), "_ZdlPv": ("arg1/p", ""),
    "_ZdaPv": ("arg1/p", ""), "_ZdlPvm": ("arg1/p", ""), "_ZdaPvm": ("arg1/p", ""),
}

# Enumerations: their names in the headers, and which argument of which functions has them.
ENUMS = {
    "whence": "SEEK_SET SEEK_CUR SEEK_END SEEK_DATA SEEK_HOLE",
    "open": "O_RDONLY O_WRONLY O_RDWR O_CREAT O_EXCL O_NOCTTY O_TRUNC O_APPEND O_NONBLOCK O_DSYNC "
            "O_ASYNC O_DIRECT O_DIRECTORY O_NOFOLLOW O_NOATIME O_CLOEXEC O_SYNC O_TMPFILE O_PATH",
    "access": "F_OK X_OK W_OK R_OK",
    "prot": "PROT_NONE PROT_READ PROT_WRITE PROT_EXEC",
    "map": "MAP_SHARED MAP_PRIVATE MAP_FIXED MAP_ANONYMOUS MAP_GROWSDOWN MAP_DENYWRITE MAP_LOCKED "
           "MAP_NORESERVE MAP_POPULATE MAP_NONBLOCK MAP_STACK MAP_HUGETLB",
    "madvise": "MADV_NORMAL MADV_RANDOM MADV_SEQUENTIAL MADV_WILLNEED MADV_DONTNEED MADV_FREE "
               "MADV_REMOVE MADV_DONTFORK MADV_DOFORK MADV_HUGEPAGE MADV_NOHUGEPAGE",
    "signal": "SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV "
              "SIGUSR2 SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN "
              "SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS",
    "sigmask": "SIG_BLOCK SIG_UNBLOCK SIG_SETMASK",
    "domain": "AF_UNSPEC AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_PACKET",
    "socket": "SOCK_STREAM SOCK_DGRAM SOCK_RAW SOCK_SEQPACKET SOCK_NONBLOCK SOCK_CLOEXEC",
    "shutdown": "SHUT_RD SHUT_WR SHUT_RDWR",
    "clock": "CLOCK_REALTIME CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID CLOCK_THREAD_CPUTIME_ID "
             "CLOCK_MONOTONIC_RAW CLOCK_REALTIME_COARSE CLOCK_MONOTONIC_COARSE CLOCK_BOOTTIME",
    "fcntl": "F_DUPFD F_GETFD F_SETFD F_GETFL F_SETFL F_GETLK F_SETLK F_SETLKW F_SETOWN F_GETOWN "
             "F_DUPFD_CLOEXEC F_SETPIPE_SZ F_GETPIPE_SZ F_ADD_SEALS F_GET_SEALS",
    "wait": "WNOHANG WUNTRACED WEXITED WCONTINUED WNOWAIT",
    "dlopen": "RTLD_LAZY RTLD_NOW RTLD_NOLOAD RTLD_DEEPBIND RTLD_GLOBAL RTLD_NODELETE",
    "locale": "LC_CTYPE LC_NUMERIC LC_TIME LC_COLLATE LC_MONETARY LC_MESSAGES LC_ALL",
    "epoll": "EPOLL_CTL_ADD EPOLL_CTL_DEL EPOLL_CTL_MOD",
    "flock": "LOCK_SH LOCK_EX LOCK_NB LOCK_UN",
    "rlimit": "RLIMIT_CPU RLIMIT_FSIZE RLIMIT_DATA RLIMIT_STACK RLIMIT_CORE RLIMIT_RSS "
              "RLIMIT_NPROC RLIMIT_NOFILE RLIMIT_MEMLOCK RLIMIT_AS",
}
USES = """open:2:open open64:2:open openat:3:open openat64:3:open pipe2:2:open dup3:3:open
lseek:3:whence lseek64:3:whence fseek:3:whence fseeko:3:whence access:2:access faccessat:3:access
mmap:3:prot mmap:4:map mmap64:3:prot mmap64:4:map mprotect:3:prot madvise:3:madvise
posix_madvise:3:madvise signal:1:signal sigaction:1:signal kill:2:signal raise:1:signal
killpg:2:signal pthread_kill:2:signal sigaddset:2:signal sigdelset:2:signal sigismember:2:signal
strsignal:1:signal psignal:1:signal siginterrupt:1:signal sigprocmask:1:sigmask
pthread_sigmask:1:sigmask socket:1:domain socket:2:socket socketpair:1:domain socketpair:2:socket
accept4:4:socket shutdown:2:shutdown inet_pton:1:domain inet_ntop:1:domain
clock_gettime:1:clock clock_settime:1:clock clock_getres:1:clock clock_nanosleep:1:clock
timerfd_create:1:clock fcntl:2:fcntl fcntl64:2:fcntl waitpid:3:wait wait3:2:wait wait4:3:wait
waitid:4:wait dlopen:2:dlopen setlocale:1:locale epoll_ctl:2:epoll flock:2:flock
getrlimit:1:rlimit setrlimit:1:rlimit getrlimit64:1:rlimit setrlimit64:1:rlimit
prlimit:2:rlimit""".split()


def run(cc, source, *flags):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "headers.c")
        with open(path, "w") as f:
            f.write(source)
        subprocess.run([*cc, *flags, "-o", os.path.join(d, "out"), path], cwd=d, check=True)
        for name in ("aux", "out"):
            out = os.path.join(d, name)
            if name == "aux" and os.path.exists(out):
                with open(out) as f:
                    return f.read()
        return subprocess.run([os.path.join(d, "out")], check=True, text=True,
                              stdout=subprocess.PIPE).stdout


def includes():
    return "#define _GNU_SOURCE\n" + "".join(f"#include <{h}.h>\n" for h in HEADERS)


def split(text):
    """The parameters between commas that stand in no parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in parts + [text[start:]]]


def word(kind):
    """The letter and size of a C type; None: it has none."""
    if "(*" in kind or kind.endswith("[]") or kind.endswith("]"):
        return "p"
    if kind.endswith("*") or kind.endswith("*restrict"):
        return "s" if kind.replace("restrict", "").replace(" ", "") == "constchar*" else "p"
    kind = re.sub(r"^(const |enum )+", "", kind).replace("restrict", "").strip()
    if kind in WORDS:
        return WORDS[kind]
    return WORDS.get(re.sub(r"^_+|^__", "", kind))


def specs(name, params, enums):
    words, integers, floats, stack = [], 0, 0, 0
    for i, kind in enumerate(params):
        if kind in ("void", "..."):
            break
        if kind in FLOATS:
            floats += 1
            place = ""
            if kind == "long double":
                place = f"%stack+{stack + 1}"
                stack += 2
            words.append(f"fparg{floats}/{FLOATS[kind]}{place}")
            continue
        letter = word(kind)
        if letter is None:
            break
        integers += 1
        if (name, i + 1) in enums:
            letter = f"e:uft_{enums[name, i + 1]}"
        words.append(f"arg{integers}/{letter}")
    return ",".join(words)


def retval(kind):
    if kind in FLOATS:
        return f"retval/f{FLOATS[kind]}"
    if kind.replace(" ", "") in ("char*", "constchar*"):
        return "retval/s"
    letter = None if kind == "void" else word(kind)
    return "" if letter is None else f"retval/{letter}"


LINE = re.compile(r"^/\* (\S+):\d+:NC \*/ extern (.*?)\s?(\w+) \((.*)\);$")


def prototypes(cc):
    enums = {(u.split(":")[0], int(u.split(":")[1])): u.split(":")[2] for u in USES}
    rows = dict(OPERATORS)
    for line in run(cc, includes(), "-c", "-aux-info", "aux").splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        path, kind, name, params = match.groups()
        if LEFT_OUT.search(name) or ("math" in path and name not in MATH):
            continue
        row = specs(name, split(params), enums), retval(kind.strip())
        if row != ("", ""):
            rows[name] = row
    return rows


def enumerations(cc):
    lines = [includes(), "int main(void)\n{\n"]
    for name, values in ENUMS.items():
        lines.append(f'printf("enum uft_{name} {{");\n')
        for i, value in enumerate(values.split()):
            lines.append(f'printf("{"," if i else ""}{value}=%d", (int){value});\n')
        lines.append('printf("}\\n");\n')
    lines.append("return 0;\n}\n")
    return run(cc, "".join(lines)).splitlines()


def main():
    cc = os.environ.get("CC", "gcc").split()
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Written by prototypes.py from the headers of the C library. */")
    for line in enumerations(cc):
        head, _, values = line.partition("{")
        print(f'FTR_PROTOTYPE_ENUM("{head}{{"')
        parts = values.rstrip("}").split(",")
        for i in range(0, len(parts), 4):
            end = "," if i + 4 < len(parts) else "}"
            print(f'\t"{",".join(parts[i:i + 4])}{end}"')
        print(")")
    for name, (args, value) in sorted(prototypes(cc).items()):
        row = f'FTR_PROTOTYPE({name}, "{args}", "{value}")'
        if len(row) > COLUMNS:
            row = f'FTR_PROTOTYPE({name},\n\t"{args}",\n\t"{value}")'
        print(row)


if __name__ == "__main__":
    sys.exit(main())
