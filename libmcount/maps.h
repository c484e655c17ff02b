/* SPDX-License-Identifier: MIT */
/* /proc/self/maps, read without libc: what is mapped at an address. */
#ifndef FTR_LIBMCOUNT_MAPS_H
#define FTR_LIBMCOUNT_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_MAPS_PATH_MAX 4000

/* The mapping of an address; for a file, of all its neighbouring parts together. */
struct ftr_mapping {
	uintptr_t low, high;		/* 0, 0: not known */
	uintptr_t below;		/* end of what lies below it */
	uint64_t  inode;		/* 0 = no file */
	uint32_t  path_bytes;
	char      path[FTR_MAPS_PATH_MAX];	/* no NUL */
};

/* False when nothing is mapped there, or /proc cannot be read. */
bool ftr_maps_find(uintptr_t address, struct ftr_mapping *mapping);

/*
 * The stack that a thread was born on; the main thread's counts down to the mapping below it, since
 * it grows.
 *
 * @here	where the thread is now, perhaps on another stack
 * @main_top	an address in the upper end of the process's first stack, for its main
 *		thread; 0 for others
 * @thread	the thread control block
 *
 * 0, 0 when it cannot be known.
 */
void ftr_maps_find_stack(const void *here, uintptr_t main_top, uintptr_t thread, uintptr_t *low,
			 uintptr_t *high);

#endif /* FTR_LIBMCOUNT_MAPS_H */
