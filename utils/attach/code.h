/* SPDX-License-Identifier: MIT */
/* Changing code of a program that runs: while all of its threads are stopped outside of it. */
#ifndef FTR_ATTACH_CODE_H
#define FTR_ATTACH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/attach/attach.h"
#include "utils/attach/runtime.h"

/* Which changes are made: those of functions that are chosen, and of what nobody can choose. */
struct ftr_code_choice {
	bool is_back;			/* take back those that were made */
	const uint64_t *chosen;		/* by address; NULL: that is not for later */
	size_t chosen_nr;
	bool are_others;		/* of functions that are not chosen */
	bool are_all;
};

/*
 * Make the changes that @attach lists, or take them back.  A function that a thread is in the midst
 * of the first bytes of is tried again, while the program runs in between; then it is left as it
 * is, and counted in @report.  One that cannot be taken back makes it is_partly_left.  Killed
 * anywhere, each function is as it was or as it shall be.
 * 0; or -errno: the threads cannot be stopped.
 */
int ftr_runtime_code(struct ftr_runtime *runtime, const struct ftr_attach *attach,
		     const struct ftr_code_choice *choice, struct ftr_attach_report *report,
		     struct ftr_err *err);

#endif /* FTR_ATTACH_CODE_H */
