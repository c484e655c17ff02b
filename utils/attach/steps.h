/* SPDX-License-Identifier: MIT */
/*
 * From frame to frame of a stopped thread, the innermost first, by libunwind.  Where that ends at a
 * return stub of the runtime (on 64-bit Arm it knows no register whose value is an expression) it
 * begins once more where the stub's call returns to, with the registers that it has found so far.
 * Nothing of the thread is changed.
 */
#ifndef FTR_ATTACH_STEPS_H
#define FTR_ATTACH_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/attach/place.h"

struct ftr_steps_known;
struct ftr_steps;

/* What is known of a process for all steps in it; NULL: out of memory. */
struct ftr_steps_known *ftr_steps_known_new(void);
void ftr_steps_known_free(struct ftr_steps_known *known);

/* Something else is mapped now. */
void ftr_steps_known_forget(struct ftr_steps_known *known);

/* Begin at where the stopped thread @tid is, with places->steps; NULL: out of memory. */
struct ftr_steps *ftr_steps_new(const struct ftr_places *places, pid_t tid);
void ftr_steps_free(struct ftr_steps *steps);

/* Where this frame is, and its stack pointer; *@ip is 0 behind the last frame. */
bool ftr_steps_position(struct ftr_steps *steps, uint64_t *ip, uint64_t *sp);

/* Does this frame come back from a handler? */
bool ftr_steps_is_handler(struct ftr_steps *steps);

/* The code that this frame's call frame information is for, if there is some. */
bool ftr_steps_range(struct ftr_steps *steps, struct ftr_place_range *range);

/* 1: this is the caller's frame now; 0: there is none; -1: it is not known. */
int ftr_steps_next(struct ftr_steps *steps);

#endif /* FTR_ATTACH_STEPS_H */
