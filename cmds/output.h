/* SPDX-License-Identifier: MIT */
/* Where a command's result goes: a file, standard output, a pager on a terminal, or a page. */
#ifndef FTR_CMDS_OUTPUT_H
#define FTR_CMDS_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/ostream.h"

struct ftr_common;
struct ftr_err;

struct ftr_output {
	struct ftr_ostream out;
	pid_t reader;		/* a pager, or who makes a page of it; 0 = none */
	bool  is_page;
	bool  use_color;
	bool  is_quiet_end;	/* after closing: the reader went away, which is no failure */
};

/* Would writing @path (nullable) destroy @data, which is being read?  Reports it. */
bool ftr_output_is_input(const char *data, const char *path);

/*
 * @path NULL is that of -o, where the command has it.  None, and "-", is standard output, with a
 * pager when it is a terminal.  From here on a reader that goes away ends the output quietly.  0,
 * or -errno after reporting the failure.
 */
int ftr_output_open(struct ftr_output *output, const struct ftr_common *common, const char *path);

/*
 * Flush, and wait until the pager is left, or the page is there.  FTR_EXIT_OK, or FTR_EXIT_FAILED
 * after reporting it.
 */
int ftr_output_close(struct ftr_output *output);

/*
 * Close, with @ret of what wrote into it: the exit status, after reporting @err for a failure.
 * -EINVAL is the user's.
 */
int ftr_output_end(struct ftr_output *output, int ret, const struct ftr_err *err);

/* The reader went away: stop producing. */
static inline bool ftr_output_is_closed(const struct ftr_output *output)
{
	return output->out.code != 0;
}

#endif /* FTR_CMDS_OUTPUT_H */
