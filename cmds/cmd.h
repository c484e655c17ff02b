/* SPDX-License-Identifier: MIT */
/* A command: one file that ends in one const struct, listed in commands.def. */
#ifndef FTR_CMDS_CMD_H
#define FTR_CMDS_CMD_H

struct ftr_option;

/* Exit statuses (DESIGN: errors). */
enum {
	FTR_EXIT_OK	  = 0,
	FTR_EXIT_FAILED	  = 1,		/* analysis commands: could not do it */
	FTR_EXIT_USAGE	  = 2,
	FTR_EXIT_FTR	  = 125,	/* record: ftr itself failed */
	FTR_EXIT_NOT_RUN  = 126,	/* record: found, cannot be run */
	FTR_EXIT_NOT_FOUND = 127,	/* record: no such program */
};

struct ftr_cmd {
	const char *name;
	const char *usage;		/* "[options] [FUNC]" */
	const char *summary;		/* one line */
	const struct ftr_option *options;	/* ends with a row of zeros */
	int (*run)(int argc, char **argv);	/* exit status; argv[0] is the command's name */
};

#endif /* FTR_CMDS_CMD_H */
