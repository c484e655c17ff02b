/* SPDX-License-Identifier: MIT */
/*
 * Sorts any number of (key, value) pairs in bounded memory: stable, ascending by key.
 *
 *	struct ftr_sorter *sorter = ftr_sorter_new(NULL);
 *	while (...) ret = ftr_sorter_put(sorter, (struct ftr_sort_pair){ key, value }, err);
 *	ret = ftr_sorter_finish(sorter, err);
 *	while ((nr = ftr_sorter_take(sorter, pairs, 256, err)) > 0) ...
 *	ftr_sorter_free(sorter);
 *
 * Pairs are collected in a chunk of 1 Mi (16 MiB).  If that holds all of them, it is sorted and
 * there is no file.  Else each full chunk is sorted and appended to a scratch file as a run; one
 * that begins where the run before it ends (input that is in order) lengthens that run.  At the end
 * the runs are merged while they are taken, up to 1024 at a time ("ways"), the chunk's memory now
 * being a buffer of 16 KiB for each.  Of more runs each 1024 neighbours are first merged into one,
 * in a second scratch file, as often as needed.
 *
 *	memory	16 MiB, and as much again while chunks are sorted; 16 bytes a run, 56 bytes a way
 *	disk	16 bytes a pair; 32 while there are more than 1024 runs
 *
 *	pairs, shuffled		runs	times written	memory		disk
 *	1 Mi			0	0		32 MiB		0
 *	1 Gi			1 Ki	1		32 MiB		16 GiB
 *	4 Gi (100 GB of FXT)	4 Ki	2		32.1 MiB	128 GiB
 *	1 Ti			1 Mi	2		48 MiB		32 TiB
 */
#ifndef FTR_BASE_SORTER_H
#define FTR_BASE_SORTER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"

struct ftr_sorter;

struct ftr_sort_pair { uint64_t key, value; };

/*
 * How much is done at a time; 0 = as above.  Small ones reach all passes with little input (tests).
 */
struct ftr_sort_sizes {
	size_t chunk_nr;	/* pairs that are sorted in memory */
	size_t ways;		/* runs that are merged at a time; 2..chunk_nr */
};

/* @sizes may be NULL; ways beyond their limits are moved to them.  NULL = out of memory. */
struct ftr_sorter *ftr_sorter_new(const struct ftr_sort_sizes *sizes);

/* 0 or -errno: -ENOMEM, or the scratch file's: then only freeing is left. */
int ftr_sorter_put(struct ftr_sorter *sorter, struct ftr_sort_pair pair, struct ftr_err *err);

/* All were put.  0 or -errno, as above. */
int ftr_sorter_finish(struct ftr_sorter *sorter, struct ftr_err *err);

/*
 * After finish: the next pairs, @nr at most (at least 1); equal keys in the order in which they
 * were put.  How many, 0 at the end (and ever after), or -errno when the scratch file cannot be
 * read.
 */
ssize_t ftr_sorter_take(struct ftr_sorter *sorter, struct ftr_sort_pair *pairs, size_t nr,
			struct ftr_err *err);

/* At any time, also before the end; NULL is fine. */
void ftr_sorter_free(struct ftr_sorter *sorter);

#endif /* FTR_BASE_SORTER_H */
