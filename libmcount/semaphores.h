/* SPDX-License-Identifier: MIT */
/*
 * The counters of who wants to know of an event that a module declares (utils/proto/sdt.h): raised
 * where events are recorded.  In a program that was attached to they are noted, and lowered again.
 */
#ifndef FTR_LIBMCOUNT_SEMAPHORES_H
#define FTR_LIBMCOUNT_SEMAPHORES_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_SEMAPHORES_MAX 65536u

struct ftr_semaphore {
	uintptr_t at;
	bool is_doubted;	/* what lies there now may be another library's */
};

/* Those at @offsets from @base; each once, however often it is asked for. */
void ftr_semaphores_raise(uintptr_t base, const uint32_t *offsets, uint32_t nr)
	__attribute__((visibility("hidden")));

/*
 * Another library may have come to lie from @low on for @bytes: only what is raised there again is
 * lowered.  Under the dynamic linker's lock, as the others are.
 */
void ftr_semaphores_doubt(uintptr_t low, uintptr_t bytes) __attribute__((visibility("hidden")));

/* Lower what was raised in modules that are still there, and forget all. */
void ftr_semaphores_lower(void) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_SEMAPHORES_H */
