/* SPDX-License-Identifier: MIT */
/*
 * A child that calls nothing until its parent has ended, or runs another program; then it loads a
 * library: "fork_orphan LIBRARY [PROGRAM [ARG...]]".  Compiled with -DLIBRARY it is that.
 */
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define NAP_NS 50000000

#ifdef LIBRARY

void of_library(void);
NOINLINE void of_library(void)
{
	__asm__ volatile("");
}

#else

NOINLINE void of_child(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (library != NULL)
		((void (*)(void))dlsym(library, "of_library"))();
}

NOINLINE void of_parent(char **argv)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	if (fork() != 0) {
		if (argv[2] != NULL)
			execv(argv[2], argv + 2);
		_exit(0);
	}
	nanosleep(&nap, NULL);
	of_child(argv[1]);
	_exit(0);
}

int main(int argc, char **argv)
{
	/* Whose parent ends becomes ours. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (fork() == 0)
		of_parent(argv);
	while (wait(NULL) > 0)
		;
	return argc < 2;
}

#endif
