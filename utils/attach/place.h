/* SPDX-License-Identifier: MIT */
/*
 * Where threads stand: may one of them call the dynamic linker now, and is one in the runtime?  The
 * locks that the first needs must not be its own, and so it is nowhere in what takes them.
 */
#ifndef FTR_ATTACH_PLACE_H
#define FTR_ATTACH_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/attach/image.h"

struct ftr_steps_known;

struct ftr_place_range {
	uint64_t low, high;
};

struct ftr_place_known {
	uint64_t ip;
	struct ftr_place_range range;	/* that the information is of */
};

struct ftr_places {
	const struct ftr_image *image;	/* (borrowed) */
	FTR_VEC(struct ftr_place_range) locking;	/* functions that hold locks that we need */
	FTR_VEC(struct ftr_place_range) unwinding;	/* functions that unwind exceptions */
	const char *runtime;		/* (borrowed, nullable) the path of libmcount.so */
	struct ftr_place_range passing;	/* of the runtime, and needs nothing of it: syscall() */
	struct ftr_place_range stepping;	/* ... and what a borrowed thread is called to do */
	struct ftr_place_range cloning;	/* of libc, which may return to the runtime: clone() */
	uint64_t comeback;		/* where handlers return to */
	uint64_t entry;			/* where the program begins; 0 = not known */
	struct ftr_steps_known *steps;	/* (owned) */
	/* Where code is that call frame information was found for (callers.h). */
	FTR_VEC(struct ftr_place_known) known;
};

/* Is this code of the runtime, or of instructions that it has moved? */
bool ftr_place_is_ours(const struct ftr_places *places, uint64_t ip);

/* @runtime: nullable. */
int  ftr_places_init(struct ftr_places *places, const struct ftr_image *image, const char *runtime,
		     struct ftr_err *err);
void ftr_places_fini(struct ftr_places *places);

/*
 * Is the stopped thread @tid in the runtime, or has a handler interrupted it there, or where that
 * may have called?  Functions of the program whose returns it waits for do not count.  An unwinder
 * does, which may have read a return address that is ours, and asks the runtime for what it stands
 * for.
 */
bool ftr_place_is_in_runtime(const struct ftr_places *places, pid_t tid);

/* May the stopped thread @tid be made to call dlopen?  Else why not, in one of a few texts. */
const char *ftr_place_refusal(const struct ftr_places *places, pid_t tid);

#endif /* FTR_ATTACH_PLACE_H */
