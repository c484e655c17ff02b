/* SPDX-License-Identifier: MIT */
/*
 * Libraries loaded while the program runs: calls in them, in their constructors too, have names,
 * also when another one comes to the same address later.
 *
 * again: --no-libcall --estimate-return
 * not: nop-O2-nopie
 * plugins: ONE TWO
 * cflags: -ldl
 * expect-calls: ONE_work 6
 * expect-calls: TWO_work 6
 * expect-calls: ONE_start 3
 * expect-calls: TWO_start 3
 */
#include <dlfcn.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#ifdef PLUGIN

NOINLINE int JOIN(PLUGIN, _work)(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE __attribute__((constructor)) void JOIN(PLUGIN, _start)(void)
{
	__asm__ volatile("");
}

int run(int n)
{
	return JOIN(PLUGIN, _work)(JOIN(PLUGIN, _work)(n));
}

#else

static int use(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	int (*run)(int) = plugin != NULL ? (int (*)(int))dlsym(plugin, "run") : NULL;
	int ret;

	if (run == NULL) {
		puts(dlerror());
		return -1;
	}
	ret = run(1);
	dlclose(plugin);
	return ret;
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		printf("%d %d\n", use("./ONE.so"), use("./TWO.so"));
	return 0;
}

#endif
