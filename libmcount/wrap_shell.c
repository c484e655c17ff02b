/* SPDX-License-Identifier: MIT */
/*
 * system and popen: libc starts the shell with the program's environment.  Where that has lost what
 * tracing needs (clearenv), it is replaced by a merged one for the call.  Its memory stays: a
 * thread that is cancelled in system does not come back here.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/environ.h"
#include "libmcount/hook.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

struct swap {
	char **theirs;
	char **ours;			/* NULL: nothing was replaced */
	size_t bytes;
};

static struct swap environ_swap(void)
{
	struct ftr_environ look = ftr_environ_look(environ);
	struct swap swap = { .theirs = environ };
	long mem;

	if (ftr_environ_is_whole(environ))
		return swap;
	swap.bytes = (look.nr + FTR_ENVIRON_EXTRA) * sizeof(*environ) + FTR_PRELOAD_MAX;
	mem = ftr_sys6(SYS_mmap, 0, swap.bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(mem))
		return swap;
	swap.ours = (char **)(mem + FTR_PRELOAD_MAX);
	ftr_environ_merge(environ, &look, swap.ours, (char *)mem);
	environ = swap.ours;
	return swap;
}

/* What another thread has made of it meanwhile stays. */
static void environ_swap_back(const struct swap *swap)
{
	if (swap->ours == NULL || environ != swap->ours)
		return;
	environ = swap->theirs;
	ftr_sys2(SYS_munmap, (char *)swap->ours - FTR_PRELOAD_MAX, swap->bytes);
}

FTR_EXPORT int system(const char *command)
{
	struct swap swap = environ_swap();
	int ret = REAL(system)(command);

	environ_swap_back(&swap);
	return ret;
}

FTR_EXPORT FILE *popen(const char *command, const char *type)
{
	struct swap swap = environ_swap();
	FILE *ret = REAL(popen)(command, type);

	environ_swap_back(&swap);
	return ret;
}
