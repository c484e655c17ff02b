/* SPDX-License-Identifier: MIT */
/*
 * system, popen and wordexp: libc starts the shell with the program's environment, which is
 * replaced by a merged one for the call.  A thread that is cancelled in system does not come back
 * here, so the memory of that one must stay.
 *
 * Not where the recorder may leave before the program ends (FTR_CHANNEL_ASKS_EXEC): what other
 * threads start meanwhile would get ours.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wordexp.h>

#include "libmcount/environ.h"
#include "libmcount/hook.h"
#include "libmcount/state.h"

struct swap {
	char **theirs;
	char **ours;			/* the same: nothing was replaced */
};

static struct swap environ_swap(void)
{
	struct swap swap = { environ, environ };

	if (!ftr_state.asks_exec)
		swap.ours = (char **)ftr_environ_new(environ, 0);
	environ = swap.ours;
	return swap;
}

/* What another thread has made of it meanwhile stays. */
static void environ_swap_back(const struct swap *swap)
{
	if (swap->ours == swap->theirs || environ != swap->ours)
		return;
	environ = swap->theirs;
	ftr_environ_free(swap->ours, swap->theirs);
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

FTR_EXPORT int wordexp(const char *words, wordexp_t *list, int flags)
{
	struct swap swap = environ_swap();
	int ret = REAL(wordexp)(words, list, flags);

	environ_swap_back(&swap);
	return ret;
}
