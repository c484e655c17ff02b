/* SPDX-License-Identifier: MIT */
/* Option rows that several commands share: each a table and the struct that it fills. */
#ifndef FTR_CLI_COMMON_H
#define FTR_CLI_COMMON_H

#include "utils/base/option.h"
#include "utils/cli/rules.h"

/* Every command. */
enum ftr_color {
	FTR_COLOR_AUTO,
	FTR_COLOR_YES,
	FTR_COLOR_NO,
};

struct ftr_common {
	const char *data;	/* -d (nullable: ftr_cmd_data_dir) */
	const char *kernel;	/* a trace.dat to show with it (nullable): an operand */
	const char *logfile;	/* (nullable) */
	const char *opt_file;	/* (nullable) */
	enum ftr_color color;
	bool     no_pager;
	const char *output;	/* -o: where what is printed goes (nullable: standard output) */
	bool	 is_html;	/* what is printed is to be a page: --format=html */
	unsigned verbose;	/* how many -v */
};

extern const struct ftr_option ftr_common_options[];
/* output: of commands whose text is a result to keep. */
extern const struct ftr_option ftr_output_options[];
/* is_html: of commands whose text may be a page, and that write no other format. */
extern const struct ftr_option ftr_html_options[];
/* By the values of enum ftr_demangle. */
extern const char *const ftr_demangle_words[];

/* Commands that show the calls of a trace. */
struct ftr_selection {
	const char *tids;		/* --tid "A,B" (nullable) */
	const char *time_range;		/* -r "A~B" (nullable) */
	bool no_index;
	uint64_t    seen_from_ns, seen_to_ns;	/* as in ftr_pipeline_options; by no option */
	uint64_t    depth;		/* -D, 0 = no limit */
	uint64_t    time_ns;		/* -t: calls that take less are left out */
	int         demangle;		/* enum ftr_demangle */
	const char *symbol_dir;		/* --with-syms (nullable) */
	const char *clock_offset;	/* of common->kernel (nullable: found) */
	bool        libname;
	bool        no_libcall;
	bool        no_event;
	bool        no_sched;
	bool        no_sched_preempt;
	bool        event_full;
	bool        kernel_full;
	bool        kernel_only;
	struct ftr_filter_opts filter;	/* a group of its own: record has it, too */
	bool        subtract;
	bool shows_stack_calls;	/* --stack, or always: calls of the stacks of system calls */
	bool no_callsite;	/* an option of replay and live alone */
	bool shows_backtraces;	/* no option: of the command that does, where rules ask for it */
};

extern const struct ftr_option ftr_selection_options[];
/* subtract: for those commands that only show durations. */
extern const struct ftr_option ftr_subtract_options[];

#endif /* FTR_CLI_COMMON_H */
