/* SPDX-License-Identifier: MIT */
/*
 * Options in files: the user's own, --opt-file, and the default.opts that a recording may leave in
 * its data.
 */
#ifndef FTR_CMDS_OPT_FILE_H
#define FTR_CMDS_OPT_FILE_H

#include <stddef.h>

#include "utils/base/err.h"

/* Words as main gets them: argv[0] is the file. */
struct ftr_opt_file {
	char  *text;		/* (owned) where the words lie */
	char **argv;		/* (owned) */
	int    argc;
};

/*
 * Blanks and newlines part words, quotes (" or ') keep what is between them together, a # at a
 * word's start makes the rest of its line a comment.  -ENOENT: no such file.  -EINVAL: a quote has
 * no end.
 */
int  ftr_opt_file_load(struct ftr_opt_file *file, const char *path, struct ftr_err *err);
/* The same from a text; @name, which is kept, becomes argv[0]. */
int  ftr_opt_file_parse(struct ftr_opt_file *file, const char *name, const char *text, size_t len,
			struct ftr_err *err);
/*
 * Keep only what stands behind the words "[COMMAND]", "[COMMAND,COMMAND]" or "[all]" that name
 * @command, each up to the next.  -EINVAL: something stands before the first, or names no command.
 */
int  ftr_opt_file_choose(struct ftr_opt_file *file, const char *command, struct ftr_err *err);
void ftr_opt_file_fini(struct ftr_opt_file *file);	/* zeros are fine */

#endif /* FTR_CMDS_OPT_FILE_H */
