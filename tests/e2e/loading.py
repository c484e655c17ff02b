# SPDX-License-Identifier: MIT
"""Libraries that are loaded, unloaded, put before others, or in a namespace of their own: nothing changes."""
import ctypes.util
import os
import re
import subprocess

from recording import CXX, FTR, AsNative, harness

INTERPOSER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
static int calls;
pid_t getppid(void)
{
	pid_t (*next)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "getppid");

	calls++;
	return next != NULL && next != getppid ? next() : -1;
}
__attribute__((destructor)) static void end(void) { if (calls) fprintf(stderr, "%d calls\n", calls); }
"""
INTERPOSED = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	pid_t (*found)(void) = (pid_t (*)(void))dlsym(RTLD_DEFAULT, "getppid");

	printf("%d %d\n", getppid() > 0, getppid() == found());
	return 0;
}
"""
# What ftr interposes too: its wrappers must lead to these, not past them to libc.
WRAPPED = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef LIBRARY
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
static void count(const char *name)
{
	dprintf(1, "%s\n", name);
}
int system(const char *command) { count("system"); return NEXT(system)(command); }
FILE *popen(const char *command, const char *type) { count("popen"); return NEXT(popen)(command, type); }
int unshare(int flags) { count("unshare"); return NEXT(unshare)(flags); }
int setns(int fd, int type) { count("setns"); return NEXT(setns)(fd, type); }
int pthread_setname_np(pthread_t thread, const char *name)
{
	count("pthread_setname_np");
	return NEXT(pthread_setname_np)(thread, name);
}
int dlclose(void *handle) { count("dlclose"); return NEXT(dlclose)(handle); }
#else
int main(void)
{
	char line[16] = "";
	jmp_buf buf;
	FILE *pipe;

	pthread_setname_np(pthread_self(), "wrapped");
	if (system("exit 3") != 3 << 8)
		return 1;
	pipe = popen("echo deep", "r");
	if (pipe == NULL || fgets(line, sizeof(line), pipe) == NULL || pclose(pipe) != 0)
		return 2;
	printf("%d %d %s", unshare(0), setns(-1, 0), line);
	dlclose(dlopen(NULL, RTLD_NOW));
	if (setjmp(buf) == 0)
		longjmp(buf, 1);
	return 0;
}
#endif
"""
ALLOCATING = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NR 2000
static void *work(void *arg)
{
	static __thread char *blocks[NR];
	long sum = 0;

	for (int i = 0; i < NR; i++) {
		blocks[i] = malloc(i % 300 + 1);
		memset(blocks[i], i, i % 300 + 1);
	}
	for (int i = 0; i < NR; i += 2)
		blocks[i] = realloc(blocks[i], i % 700 + 301);
	for (int i = 0; i < NR; i++) {
		sum += (unsigned char)blocks[i][0];
		free(blocks[i]);
	}
	return (void *)sum;
}
int main(void)
{
	int (*control)(const char *, void *, size_t *, void *, size_t) =
		(int (*)(const char *, void *, size_t *, void *, size_t))dlsym(RTLD_DEFAULT, "mallctl");
	unsigned arenas = 0;
	size_t bytes = sizeof(arenas);
	pthread_t threads[4];
	void *sum;

	if (control != NULL)
		control("opt.narenas", &arenas, &bytes, NULL, 0);
	printf("arenas %u\n", arenas);		/* of MALLOC_CONF, which jemalloc reads at its first call */
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &sum);
		printf("%ld\n", (long)sum);
	}
	return 0;
}
"""
# Two libraries of the same size: one comes to where the other was.
PLUGIN = r"""
#include <unistd.h>
__attribute__((noinline)) int NAME_leaf(int n) { return n + (CALL() < 0xffffffff); }
__attribute__((constructor)) static void start(void) { NAME_leaf(0); }
int run(int n) { return NAME_leaf(n); }
"""
LOADER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
static struct link_map *last;
static int moved;
static int use(const char *path, int in_namespace)
{
	void *plugin = in_namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_LAZY);
	int (*run)(int) = plugin ? (int (*)(int))dlsym(plugin, "run") : NULL;
	struct link_map *map = NULL;
	int n = -1;

	if (run == NULL)
		puts(dlerror());
	else
		n = run(1);
	if (plugin && dlinfo(plugin, RTLD_DI_LINKMAP, &map) == 0 && !in_namespace) {
		static unsigned long base;

		moved += base != 0 && base != map->l_addr;
		base = map->l_addr;
	}
	if (plugin)
		dlclose(plugin);
	return n;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 4; i++)
		printf("%d\n", use(i % 2 ? "./libtwo.so" : "./libone.so", argc > 1));
	printf("moved %d times\n", moved);
	return 0;
}
"""
CONSTRUCTORS = r"""
#include <string>
#include <vector>
struct Item {
	std::string name;
	Item(const char *text);
	~Item();
};
Item::Item(const char *text) : name(text) { name += "!"; }
Item::~Item() { name.clear(); }
static Item first("first"), second("second");
static std::vector<Item *> items = { &first, &second };
extern "C" int run(int n) { return n + (int)items.size(); }
"""
# It gets between all calls through a PLT, and goes on behind the frames that it copies.
AUDITOR = r"""
#define _GNU_SOURCE
#include <link.h>
unsigned la_version(unsigned version) { return LAV_CURRENT; }
unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
uintptr_t la_symbind64(Elf64_Sym *sym, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
		       const char *name)
{
	return sym->st_value;
}
#ifdef FRAMES
Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *sym, unsigned index, uintptr_t *from, uintptr_t *to,
				  La_x86_64_regs *regs, unsigned *flags, const char *name, long *bytes)
{
	*bytes = FRAMES;
	return sym->st_value;
}
unsigned la_x86_64_gnu_pltexit(Elf64_Sym *sym, unsigned index, uintptr_t *from, uintptr_t *to,
			       const La_x86_64_regs *in, La_x86_64_retval *out, const char *name)
{
	return 0;
}
#endif
"""


OPENER = r"""
#include <dlfcn.h>
#include <stdio.h>
__attribute__((noinline)) static void open_one(const char *name)
{
	void *plug = dlopen(name, RTLD_NOW);
	int (*run)(void) = plug != NULL ? (int (*)(void))dlsym(plug, "run") : NULL;

	printf("%s: %d\n", name, run != NULL ? run() : -1);
	if (plug != NULL)
		dlclose(plug);
}
#ifdef LIBRARY
void open_all(void)
#else
int main(void)
#endif
{
	open_one("libplug.so");
	open_one("./sub/libplug.so");
	open_one("$ORIGIN/sub/libplug.so");
	open_one("./nowhere.so");
#ifndef LIBRARY
	return 0;
#endif
}
"""
PLUG = r"""
#include <unistd.h>
int dependency(void);
__attribute__((noinline)) void in_constructor(void) { usleep(20000); }
__attribute__((constructor)) static void start(void) { in_constructor(); }
int run(void) { return dependency(); }
"""


class LoadingTest(AsNative):
    def skip_with_sanitizer(self):
        with open(FTR, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("AddressSanitizer, in ftr itself, bears no auditor and no other allocator")

    def test_auditors(self):
        self.skip_with_sanitizer()
        self.library("one", PLUGIN.replace("NAME", "one").replace("CALL", "getuid"))
        self.library("two", PLUGIN.replace("NAME", "two").replace("CALL", "getgid"))
        self.compile("loader", LOADER, "-pg")
        for flags in ([], ["-DFRAMES=0"], ["-DFRAMES=256"]):
            self.library("audit", AUDITOR, *flags)
            for options in (["--force"], ["-l"], ["--nest-libcall"], ["--no-libcall", "-e"]):
                with self.subTest(flags=flags, options=options):
                    counts = self.same_as_native(options, "./loader", LD_AUDIT=self.dir + "/libaudit.so")
                    # clang calls mcount by the PLT: an auditor of PLT calls stands between.
                    if not flags or "clang" not in os.environ.get("CC", ""):
                        self.check(counts, {"main": 1})

    def test_the_next_one(self):
        self.library("inter", INTERPOSER)
        for flags in ([], ["-pg"], ["-no-pie"]):
            self.compile("interposed", INTERPOSED, *flags)
            for options in (["--force"], ["-l"], ["--force", "-e"]):
                with self.subTest(flags=flags, options=options):
                    counts = self.same_as_native(options, "./interposed", LD_PRELOAD=self.dir + "/libinter.so")
                    self.check(counts, {"getppid": 2, "dlsym": 4 if "-l" in options else 1})

    def test_wrappers_behind_ours(self):
        self.library("wrap", WRAPPED, "-DLIBRARY")
        behind = self.dir + "/libwrap.so"
        for flags in ([], ["-pg"]):
            self.compile("wrapped", WRAPPED, *flags)
            native = subprocess.run(["./wrapped"], stdout=subprocess.PIPE, text=True, check=True,
                                    env=dict(os.environ, LD_PRELOAD=behind)).stdout
            self.assertEqual(len(native.splitlines()), 7)
            for options in (["--force", "--no-libcall"], ["-l"]):
                with self.subTest(flags=flags, options=options):
                    self.same_as_native(options, "./wrapped", LD_PRELOAD=behind)

    def test_allocators(self):
        self.skip_with_sanitizer()
        found = 0
        for name in ("jemalloc", "tcmalloc_minimal"):
            path = ctypes.util.find_library(name)
            if path is None:
                continue
            found += 1
            for flags in ([], ["-pg"], ["-no-pie"]):
                self.compile("allocating", ALLOCATING, *flags)
                for options in (["--force"], ["-l"], ["--force", "-e"]):
                    with self.subTest(name, flags=flags, options=options):
                        counts = self.same_as_native(options, "./allocating", LD_PRELOAD=path,
                                                     MALLOC_CONF="narenas:3")
                        self.assertGreaterEqual(counts["malloc"], 8000)
                        self.check(counts, {"realloc": 4000})
        if found == 0:
            self.skipTest("no allocator is installed")

    def test_another_at_the_same_address(self):
        for flags in ([], ["-pg"], ["-finstrument-functions"]):
            for name, call in (("one", "getuid"), ("two", "getgid")):
                self.library(name, PLUGIN.replace("NAME", name).replace("CALL", call), *flags)
            self.compile("loader", LOADER, *flags)
            with self.subTest(flags=flags):
                counts = self.same_as_native(["-l"], "./loader")
                # As a library call, and as a function; but the calls of -finstrument-functions read the address.
                inner = 2 if "-pg" in flags else 1
                self.check(counts, {"getuid": 4, "getgid": 4, "one_leaf": 4 * inner, "two_leaf": 4 * inner})

    def test_namespaces(self):
        for flags in ([], ["-pg"], ["-finstrument-functions"]):
            for name, call in (("one", "getuid"), ("two", "getgid")):
                self.library(name, PLUGIN.replace("NAME", name).replace("CALL", call), *flags)
            self.compile("loader", LOADER, *flags)
            for options in (["-l"], ["--force"]):
                with self.subTest(flags=flags, options=options):
                    counts = self.same_as_native(options, "./loader", "dlmopen")
                    self.check(counts, {"dlmopen": 4, "dlsym": 4})

    def test_constructors_of_cxx(self):
        for flags in (["-pg"], ["-finstrument-functions"]):
            self.library("one", CONSTRUCTORS, *flags, compiler=CXX)
            self.library("two", CONSTRUCTORS, *flags, compiler=CXX)
            self.compile("loader", LOADER, *flags)
            for options in (["--no-libcall"], ["-e", "--no-libcall"]):
                with self.subTest(flags=flags, options=options):
                    counts = self.same_as_native(options, "./loader")
                    self.check(counts, {"Item::Item": 8, "Item::~Item": 8, "run": 4})

    def opened(self):
        """Functions that were called inside of dlopen, which took a while, in a replay."""
        replay = subprocess.run([FTR, "replay", "--no-pager", "-d", "d", "-f", "duration"], stdout=subprocess.PIPE,
                                text=True, check=True).stdout
        took = [float(ms) for ms in re.findall(r"([0-9.]+) ms \| +} /\* dlopen", replay)]
        self.assertEqual(len([ms for ms in took if ms >= 20]), 3, replay)
        nested = re.findall(r"\| ( *)dlopen\(\) {\n.*\| ( *)start\(\)", replay)
        self.assertTrue(all(len(outer) + 2 == len(inner) for outer, inner in nested), replay)
        return len(nested)

    def test_dlopen_lasts(self):
        """By its caller's search path, by that of its caller's loader, and where its caller does not matter."""
        os.mkdir("sub")
        self.compile("sub/libdep.so", "int dependency(void)\n{ return 7; }\n", "-shared", "-fPIC")
        for instrumented in ("-pg", "-finstrument-functions"):
            self.compile("sub/libplug.so", PLUG, "-shared", "-fPIC", instrumented, "-Lsub", "-ldep",
                         "-Wl,--disable-new-dtags")
            for tags, found in (("--enable-new-dtags", 0), ("--disable-new-dtags", 3)):
                paths = ["-Wl,-rpath,$ORIGIN/sub", "-Wl," + tags]
                self.compile("opener", OPENER, instrumented, *paths)
                self.library("opener", OPENER, "-DLIBRARY", instrumented, *paths)
                self.compile("opened", "void open_all(void);\nint main(void) { open_all(); return 0; }\n",
                             instrumented, "-lopener")
                for program, options in (("./opener", []), ("./opened", ["--nest-libcall"])):
                    for path in ("", self.dir + "/sub"):
                        with self.subTest(instrumented=instrumented, tags=tags, program=program, path=path):
                            self.same_as_native(["--no-event", *options], program, LD_LIBRARY_PATH=path)
                            if path or (found and program == "./opener"):
                                self.assertEqual(self.opened(), 3)


if __name__ == "__main__":
    harness.main()
