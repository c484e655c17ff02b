/* SPDX-License-Identifier: MIT */
/* What record and live share with script. */
#ifndef FTR_CMDS_SCRIPT_H
#define FTR_CMDS_SCRIPT_H

#include <stdbool.h>

#include "utils/cli/common.h"

struct ftr_script_run {
	const char *path;		/* of the script */
	char **args;			/* what uftrace_begin gets */
	int arg_nr;
	bool is_record;			/* the data were recorded for it */
	struct ftr_common common;	/* data: the trace */
	struct ftr_selection selection;
};

/* Before a program is run for it: can there be such a script?  An exit status. */
int ftr_script_check(const char *path);

/* Run it over the trace; an exit status. */
int ftr_script_show(const struct ftr_script_run *run);

/*
 * The same in a process of its own, after a recording that ended with @status.  The exit status:
 * @status, unless only the script failed.
 */
int ftr_script_show_after(const struct ftr_script_run *run, int status);

#endif /* FTR_CMDS_SCRIPT_H */
