/* SPDX-License-Identifier: MIT */
/* /proc/self/maps, read without libc: what is mapped at an address. */
#ifndef FTR_LIBMCOUNT_MAPS_H
#define FTR_LIBMCOUNT_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

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

/* @fn of each mapping, from low to high; false when /proc cannot be read. */
bool ftr_maps_each(void (*fn)(void *arg, uint64_t low, uint64_t high), void *arg);

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

/*
 * Linux 6.11, <linux/fs.h>: one mapping without the text of all, of which a program with many
 * threads has many.
 */
struct ftr_maps_query {
	uint64_t bytes, flags, address;
	uint64_t low, high, vma_flags, page_bytes, offset, inode;
	uint32_t dev_major, dev_minor, name_bytes, build_id_bytes;
	uint64_t name, build_id;
};
#define FTR_MAPS_QUERY _IOWR('f', 17, struct ftr_maps_query) /* PROCMAP_QUERY */

#endif /* FTR_LIBMCOUNT_MAPS_H */
