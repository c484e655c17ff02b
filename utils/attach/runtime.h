/* SPDX-License-Identifier: MIT */
/* A thread of a program that has been borrowed to call the runtime, or to load it. */
#ifndef FTR_ATTACH_RUNTIME_H
#define FTR_ATTACH_RUNTIME_H

#include "utils/attach/image.h"
#include "utils/attach/place.h"
#include "utils/attach/remote.h"
#include "utils/attach/tracee.h"
#include "utils/proto/attach.h"

struct ftr_runtime {
	const char *path;		/* (borrowed) of libmcount.so */
	struct ftr_image image;
	struct ftr_places places;
	struct ftr_tracees tracees;
	struct ftr_remote_libc libc;
	struct ftr_remote remote;
	uint64_t step_offset;		/* of its FTR_ATTACH_FUNCTION in the file */
	uint64_t step_at;		/* ... and in the program; 0 = it is not loaded */
	uint64_t scratch;		/* a stack of ours in the program, what is said above it */
	uint64_t borrowed_ns;		/* CLOCK_MONOTONIC, since when */
};

/*
 * Borrow a thread of @pid.  Only what all of them are at for long may keep it from this: then
 * -EBUSY, with the place of the last one.  To be given back in any case.
 */
int ftr_runtime_borrow(struct ftr_runtime *runtime, int32_t pid, const char *path,
		       struct ftr_err *err);

/* What is there, for what needs no thread.  To be given back in any case. */
int ftr_runtime_find(struct ftr_runtime *runtime, int32_t pid, const char *path,
		     struct ftr_err *err);

/* Look anew at what is mapped.  0 or -errno. */
int ftr_runtime_look(struct ftr_runtime *runtime, struct ftr_err *err);

/* Between one try, with all threads stopped, and the next, the @nr-th: longer ones later. */
void ftr_runtime_pause(unsigned nr);

/* Have it load the runtime, unless it is there. */
int ftr_runtime_load(struct ftr_runtime *runtime, struct ftr_err *err);

/*
 * Have it do @attach->step: what it answers is in @attach.  A thread that a killed helper had
 * borrowed may be in a step: that is waited for, for some seconds.
 */
int ftr_runtime_step(struct ftr_runtime *runtime, struct ftr_attach *attach, struct ftr_err *err);
/* ... or, while all threads are stopped, said: @attach->result is -EALREADY. */
int ftr_runtime_try_step(struct ftr_runtime *runtime, struct ftr_attach *attach,
			 struct ftr_err *err);

/* Say that the program has loaded a file that was at @path before.  A negative errno. */
int ftr_runtime_replaced(const char *path, struct ftr_err *err);

/* It goes on with what it did.  The time that this took, in nanoseconds. */
uint64_t ftr_runtime_give_back(struct ftr_runtime *runtime);

#endif /* FTR_ATTACH_RUNTIME_H */
