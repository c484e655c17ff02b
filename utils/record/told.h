/* SPDX-License-Identifier: MIT */
/*
 * What the readers of a recording know of values, where these may change while it is made.  A
 * payload has no description but the words in info and NAME.dbg, which are about the whole trace.
 * So these only grow, a function whose calls have values keeps their layout, and what is recorded
 * is always laid out by them, also where only a part of it was asked for again.
 */
#ifndef FTR_RECORD_TOLD_H
#define FTR_RECORD_TOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/record/choice.h"

struct ftr_modules;

struct ftr_told {
	struct ftr_record_choice choice;	/* its rules are these: */
	struct ftr_rules rules;			/* copies, whose patterns are borrowed */
	struct ftr_rules removed;		/* (owned) of rules that are followed no more */
};

/* From @choice, that of the start, on: 0 or -ENOMEM.  In any case finish it. */
int  ftr_told_init(struct ftr_told *told, const struct ftr_record_choice *choice);
void ftr_told_fini(struct ftr_told *told);

/*
 * Add the values that @choice, from its rule @first on, asks for, unless a function of @modules
 * would get another layout.  1: readers have to be told of it, 0: they know, -EINVAL with the
 * reason, or -ENOMEM: nothing is added.
 */
int ftr_told_add(struct ftr_told *told, const struct ftr_record_choice *choice, size_t first,
		 const struct ftr_modules *modules, struct ftr_err *err);

/* Remove @nr of @rules, at @first; what readers were told of stays there for them. */
void ftr_told_remove(struct ftr_told *told, struct ftr_rules *rules, size_t first, size_t nr);

#endif /* FTR_RECORD_TOLD_H */
