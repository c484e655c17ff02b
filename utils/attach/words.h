/* SPDX-License-Identifier: MIT */
/* Where a stopped thread may go on, sooner or later: what its stacks hold. */
#ifndef FTR_ATTACH_WORDS_H
#define FTR_ATTACH_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/attach/image.h"

struct ftr_words {
	const struct ftr_image *image;	/* (borrowed) */
	uint64_t comeback;		/* where handlers return to; 0 = not known */
	void (*take)(void *arg, uint64_t word);		/* (nullable) each of them */
	/* (nullable) A handler, whose frame has its words at @at, has begun where @ip is. */
	void (*interrupted)(void *arg, uint64_t at, uint64_t ip);
	void *arg;
};

/*
 * Show all words from @sp up to the end of its mapping: return addresses and handlers' frames are
 * among them, whoever made them.  Where a handler runs on a stack of its own, also those of the
 * stack that it has interrupted.  And the word below: a thread that is about to come back from a
 * handler has taken the address of that from its stack.  False: one of the stacks is not mapped, or
 * cannot be read.
 */
bool ftr_words_show(const struct ftr_words *words, uint64_t sp);

#endif /* FTR_ATTACH_WORDS_H */
