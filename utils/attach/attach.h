/* SPDX-License-Identifier: MIT */
/*
 * Attaching to a program that runs, and leaving it (doc/adr/0085).  Each of these stops threads,
 * waits for them, and asks the recorder for nothing: it is called in a process of its own beside a
 * recorder that answers the program meanwhile.
 */
#ifndef FTR_ATTACH_ATTACH_H
#define FTR_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

/* What became of the changes of code. */
struct ftr_attach_code_report {
	unsigned made_nr;	/* functions that were patched */
	unsigned in_use_nr;	/* left: a thread was in the midst of their first instructions */
	unsigned crossing_nr;	/* left: these lie on two pages */
	unsigned changed_nr;	/* left: they are not what the file has */
	unsigned unstopped_nr;	/* left: its threads could not be stopped, or looked at */
	unsigned failed_nr;	/* left: the kernel did not let us write */
	unsigned thread_nr;	/* that were stopped at once */
	unsigned stop_nr;	/* how often they were */
	uint64_t stopped_ns;	/* how long, at the longest */
	uint64_t work_ns;	/* ... of it, between the last one's stop and the first one's end */
};

struct ftr_attach_report {
	unsigned hooked_nr;	/* slots of global offset tables */
	struct ftr_attach_code_report code;
	unsigned thread_nr;	/* that were stopped at once, when it was left */
	uint64_t borrowed_ns;	/* how long one thread was kept from what it did */
	uint64_t stopped_ns;	/* how long all of them were, at the longest */
	bool	 is_partly_left;	/* calls that are open still return through the runtime */
	uint64_t codes, code_nr;	/* where the list of changes is in the program */
	unsigned kept_nr;	/* functions that stay patched: a thread was in them all the time */
};

/* A list of changes in the program. */
struct ftr_attach_codes {
	const char *runtime;	/* as it was attached with */
	uint64_t addr, nr;
	/* By address: those functions that are to be patched.  All others are put back. */
	const uint64_t *chosen;	/* (borrowed) NULL: those that are not for later */
	size_t chosen_nr;
};

/* Is this built with what attaching needs? */
bool ftr_attach_is_possible(void);

/*
 * May @pid be attached to?  0; or -errno, with why not and what to do about it: -ESRCH there is no
 * such process, -EPERM it may not be traced by this user, -ENOTSUP it cannot be.
 */
int ftr_attach_check(int32_t pid, struct ftr_err *err);

/* May its threads be stopped?  0; or -errno, with why not and what to do about it. */
int ftr_attach_may_stop(int32_t pid, struct ftr_err *err);

/*
 * Load @runtime, a path that means the same to the program, into @pid, and have it report to the
 * recorder at @address.  What another recorder has left there is taken away first.
 */
int ftr_attach(int32_t pid, const char *runtime, const char *address,
	       struct ftr_attach_report *report, struct ftr_err *err);

/*
 * Make the changes of code that the runtime in @pid has listed, @nr of struct ftr_attach_code from
 * @addr on: those of libraries that were loaded after attaching, or of what was chosen since.  What
 * was made before counts again in @report.
 */
int ftr_attach_code(int32_t pid, const struct ftr_attach_codes *codes,
		    struct ftr_attach_report *report, struct ftr_err *err);

/*
 * Put everything back as it was before.  The recorder still reads.  0 also when the process has
 * ended, or has become another program.
 */
int ftr_attach_leave(int32_t pid, const char *runtime, struct ftr_attach_report *report,
		     struct ftr_err *err);

#endif /* FTR_ATTACH_ATTACH_H */
