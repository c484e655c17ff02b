/* SPDX-License-Identifier: MIT */
/* See temporary.h. */
#include "cmds/temporary.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds/apart.h"
#include "cmds/message.h"
#include "utils/format/uftrace/write.h"

/* The program gets the default action again at exec, which "ignore" would not give it. */
static void on_signal(int signo)
{
}

void ftr_signals_outlive(void)
{
	struct sigaction old, action = { .sa_handler = on_signal };
	size_t i;

	for (i = 0; i < FTR_ENDING_SIGNALS; i++) {
		if (sigaction(ftr_ending_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(ftr_ending_signals[i], &action, NULL);
	}
}

char *ftr_temporary_make(const char *what)
{
	const char *top = getenv("TMPDIR");
	char *dir = NULL;

	if (asprintf(&dir, "%s/ftr-%s-XXXXXX", top != NULL ? top : "/tmp", what) < 0)
		return NULL;
	if (mkdtemp(dir) != NULL)
		return dir;
	ftr_error("%s: %s; set TMPDIR to a writable directory", dir,
		      strerror(errno));
	free(dir);
	return NULL;
}

void ftr_temporary_remove(char *dir)
{
	if (access(dir, F_OK) == 0)
		ftr_uftrace_dir_remove(dir, NULL);
	free(dir);
}
