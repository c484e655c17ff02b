/* SPDX-License-Identifier: MIT */
/* Which functions are patched, where that may change while the program runs (ftr ctl). */
#ifndef FTR_RECORD_PATCH_NOW_H
#define FTR_RECORD_PATCH_NOW_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/record/patch_choice.h"

struct ftr_modules;
struct ftr_option_values;

struct ftr_patch_now {
	struct ftr_patch_values values;		/* arguments (owned) */
	const struct ftr_patch_values *start;	/* (borrowed, nullable) */
	uint32_t change_nr;			/* how often they were changed */
};

/* As the options say. */
void ftr_patch_now_init(struct ftr_patch_now *now, const struct ftr_option_values *given);
void ftr_patch_now_fini(struct ftr_patch_now *now);

/* Add pairs of option and argument, which are checked; back to the start first, or alone. */
int  ftr_patch_now_add(struct ftr_patch_now *now, const struct ftr_opt_list *pairs,
		       struct ftr_err *err);
void ftr_patch_now_reset(struct ftr_patch_now *now);

/*
 * May each rule of @pairs concern something in the process @pid: what is not planned at the start,
 * or when it is loaded, can be no more.  0, or -EINVAL with the reason, or -ENOMEM.
 */
int ftr_patch_now_check(const struct ftr_patch_now *now, const struct ftr_opt_list *pairs,
			int32_t pid, struct ftr_modules *modules, struct ftr_err *err);

/* The places of the chosen functions of a process, in its memory, by address. */
struct ftr_patch_chosen {
	FTR_VEC(uint64_t) addrs;
};
/* By the sections of what it has mapped.  0 or -errno; release addrs in any case. */
int ftr_patch_chosen_load(struct ftr_patch_chosen *chosen, int32_t pid,
			  struct ftr_modules *modules, struct ftr_err *err);

#endif /* FTR_RECORD_PATCH_NOW_H */
