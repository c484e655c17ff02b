/* SPDX-License-Identifier: MIT */
/* A command: one file that ends in one const struct, listed in commands.def. */
#ifndef FTR_CMDS_CMD_H
#define FTR_CMDS_CMD_H

#include <stdbool.h>
#include <stddef.h>

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

/* Whether an operand may name the trace to read, as --data does. */
enum ftr_cmd_trace {
	FTR_CMD_TRACE_NONE,
	FTR_CMD_TRACE_OPERAND, /* the first does, unless --data stands there */
	FTR_CMD_TRACE_FIRST,   /* the first does where there is a trace; others are arguments */
	FTR_CMD_TRACE_FOUND,   /* the first where there is a trace; others are the command's own */
};

struct ftr_cmd {
	const char *name;
	const char *usage;		/* "[OPTION...] [FUNC]" */
	const char *summary;		/* one line */
	const struct ftr_option *options;	/* ends with a row of zeros */
	size_t values_bytes; /* of the struct that the options fill; begins with ftr_common */
	const void *defaults;		/* (nullable: zeros) of that struct */
	bool stops_at_operand;		/* what follows the first operand belongs to the program */
	enum ftr_cmd_trace trace; /* an operand that names the trace goes into ftr_common.data */
	bool writes;			/* its own operand is not to be read */
	unsigned operand_nr;      /* of a command with a trace: how many more it takes at most */

	/* (nullable: never) The command to run in its place, with the same words. */
	const struct ftr_cmd *(*instead)(const void *values);
	/* (nullable: none) A script, whose comments may hold options: NULL = none is given. */
	const char *(*script)(const void *values);
	/* (nullable: always) Does what @values ask for take the options of default.opts? */
	bool (*takes_defaults)(const void *values);

	/*
	 * @values are parsed, argv[0..argc-1] are the (other) operands, argv[argc] is NULL.  Exit
	 * status.
	 */
	int (*run)(void *values, int argc, char **argv);
};

/* Iterate over commands.def: *pos starts at 0; NULL at the end. */
const struct ftr_cmd *ftr_cmd_next(size_t *pos);
const struct ftr_cmd *ftr_cmd_find(const char *name);

/* "ftr.data", or "uftrace.data" when ftr is run under that name. */
const char *ftr_cmd_data_dir(void);

#endif /* FTR_CMDS_CMD_H */
