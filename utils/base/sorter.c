/* SPDX-License-Identifier: MIT */
/* Sorting in bounded memory: sorted runs in a scratch file, then merges of many of them. */
#include "utils/base/sorter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/scratch.h"
#include "utils/base/vec.h"

#define CHUNK_NR   ((size_t)1 << 20)
#define WAYS	   1024u
#define WRITTEN_NR 4096u		/* pairs that a merge into a file writes at a time */

#define DIGIT_BITS 8u
#define DIGITS	   (64u / DIGIT_BITS)
#define DIGIT_NR   (1u << DIGIT_BITS)

/* A sorted part of the scratch file; in pairs. */
struct run { uint64_t start, nr; };

/* A run that is being merged. */
struct way {
	struct ftr_sort_pair *pairs;	/* (borrowed) its part of the chunk */
	size_t pos, nr;			/* in pairs */
	struct run left;		/* in the file */
};

/* The next pair of a way, in the heap. */
struct head {
	uint64_t key;
	size_t way; /* runs have the order of the input: the first of equal keys */
};

struct ftr_sorter {
	struct ftr_sort_sizes sizes;
	FTR_VEC(struct ftr_sort_pair) chunk;
	size_t taken_nr;		/* of the chunk, when there are no runs */
	struct ftr_sort_pair *spare; /* (owned, nullable) as large as the chunk: sorting needs it */
	size_t spare_nr;
	struct ftr_scratch file;
	FTR_VEC(struct run) runs;
	uint64_t last_key;		/* of the last run */
	struct way *ways;		/* (owned) of the merge at hand */
	struct head *heads;		/* (owned) heap, smallest first */
	size_t head_nr;
};

static int no_memory(struct ftr_err *err)
{
	return ftr_err_set(err, ENOMEM, "out of memory");
}

static bool is_sorted(const struct ftr_sort_pair *pairs, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (pairs[i].key < pairs[i - 1].key)
			return false;
	}
	return true;
}

static unsigned digit_of(uint64_t key, unsigned digit)
{
	return (unsigned)(key >> digit * DIGIT_BITS) & (DIGIT_NR - 1);
}

/* Where the pairs of each value of a digit begin; false when all have the same value. */
static bool digit_places(size_t *counts, size_t nr)
{
	size_t sum = 0;

	for (size_t i = 0; i < DIGIT_NR; i++) {
		size_t count = counts[i];

		if (count == nr)
			return false;
		counts[i] = sum;
		sum += count;
	}
	return true;
}

/*
 * By digits, the lowest first.  Keys are counted from the least of them, so that a stretch of time
 * needs as many passes as it is long, whenever it was.  Returns the array that holds the result.
 */
static struct ftr_sort_pair *digits_sort(struct ftr_sort_pair *from, struct ftr_sort_pair *to,
					 size_t nr)
{
	size_t counts[DIGITS][DIGIT_NR] = { { 0 } };
	uint64_t least = from[0].key, most = from[0].key;
	unsigned digits = 1;

	for (size_t i = 1; i < nr; i++) {
		least = from[i].key < least ? from[i].key : least;
		most = from[i].key > most ? from[i].key : most;
	}
	while (digits < DIGITS && (most - least) >> digits * DIGIT_BITS != 0)
		digits++;
	for (size_t i = 0; i < nr; i++) {
		for (unsigned digit = 0; digit < digits; digit++)
			counts[digit][digit_of(from[i].key - least, digit)]++;
	}
	for (unsigned digit = 0; digit < digits; digit++) {
		struct ftr_sort_pair *swap = from;

		if (!digit_places(counts[digit], nr))
			continue;
		for (size_t i = 0; i < nr; i++)
			to[counts[digit][digit_of(from[i].key - least, digit)]++] = from[i];
		from = to;
		to = swap;
	}
	return from;
}

static int chunk_sort(struct ftr_sorter *self, struct ftr_err *err)
{
	struct ftr_sort_pair *sorted;

	if (is_sorted(self->chunk.v, self->chunk.nr))
		return 0;
	if (self->spare_nr < self->chunk.cap) {
		free(self->spare);
		self->spare_nr = self->chunk.cap;
		self->spare = malloc(self->spare_nr * sizeof(*self->spare));
		if (self->spare == NULL)
			return no_memory(err);
	}
	sorted = digits_sort(self->chunk.v, self->spare, self->chunk.nr);
	if (sorted == self->spare) {
		size_t cap = self->spare_nr;

		self->spare = self->chunk.v;
		self->spare_nr = self->chunk.cap;
		self->chunk.v = sorted;
		self->chunk.cap = cap;
	}
	return 0;
}

/* The chunk becomes a run of the file, or lengthens the last one. */
static int chunk_spill(struct ftr_sorter *self, struct ftr_err *err)
{
	const struct ftr_sort_pair *pairs = self->chunk.v;
	size_t nr = self->chunk.nr;
	uint64_t start = self->file.bytes / sizeof(*pairs);
	int ret = chunk_sort(self, err);

	if (ret == 0 && self->file.fd < 0)
		ret = ftr_scratch_open(&self->file, err);
	pairs = self->chunk.v;
	if (ret == 0)
		ret = ftr_scratch_append(&self->file, pairs, nr * sizeof(*pairs), err);
	if (ret < 0)
		return ret;
	if (self->runs.nr > 0 && pairs[0].key >= self->last_key)
		self->runs.v[self->runs.nr - 1].nr += nr;
	else if (ftr_vec_push(&self->runs, ((struct run){ start, nr })) < 0)
		return no_memory(err);
	self->last_key = pairs[nr - 1].key;
	self->chunk.nr = 0;
	return 0;
}

/* 1, 0 = the run has ended, or -errno. */
static int way_fill(struct ftr_sorter *self, struct way *way, struct ftr_err *err)
{
	size_t room = self->sizes.chunk_nr / self->sizes.ways;
	int ret;

	if (way->pos < way->nr)
		return 1;
	way->pos = 0;
	way->nr = way->left.nr < room ? (size_t)way->left.nr : room;
	if (way->nr == 0)
		return 0;
	ret = ftr_scratch_read(&self->file, way->left.start * sizeof(*way->pairs), way->pairs,
			       way->nr * sizeof(*way->pairs), err);
	way->left.start += way->nr;
	way->left.nr -= way->nr;
	return ret < 0 ? ret : 1;
}

static inline bool is_before(const struct head *a, const struct head *b)
{
	return a->key < b->key || (a->key == b->key && a->way < b->way);
}

static void heads_up(struct head *heads, size_t pos)
{
	struct head moved = heads[pos];

	for (; pos > 0 && is_before(&moved, &heads[(pos - 1) / 2]); pos = (pos - 1) / 2)
		heads[pos] = heads[(pos - 1) / 2];
	heads[pos] = moved;
}

static void heads_down(struct head *heads, size_t nr)
{
	struct head moved = heads[0];
	size_t pos = 0;

	for (;;) {
		size_t child = 2 * pos + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && is_before(&heads[child + 1], &heads[child]))
			child++;
		if (!is_before(&heads[child], &moved))
			break;
		heads[pos] = heads[child];
		pos = child;
	}
	heads[pos] = moved;
}

/* Merge these runs, at most as many as there are ways. */
static int merge_begin(struct ftr_sorter *self, const struct run *runs, size_t nr,
		       struct ftr_err *err)
{
	size_t room = self->sizes.chunk_nr / self->sizes.ways;

	self->head_nr = 0;
	for (size_t i = 0; i < nr; i++) {
		struct way *way = &self->ways[i];
		int ret;

		*way = (struct way){ .pairs = self->chunk.v + i * room, .left = runs[i] };
		ret = way_fill(self, way, err);
		if (ret < 0)
			return ret;
		self->heads[self->head_nr] = (struct head){ way->pairs[0].key, i };
		heads_up(self->heads, self->head_nr++);
	}
	return 0;
}

static ssize_t merge_take(struct ftr_sorter *self, struct ftr_sort_pair *pairs, size_t nr,
			  struct ftr_err *err)
{
	size_t taken = 0;

	while (taken < nr && self->head_nr > 0) {
		struct way *way = &self->ways[self->heads[0].way];
		int ret;

		pairs[taken++] = way->pairs[way->pos++];
		ret = way_fill(self, way, err);
		if (ret < 0)
			return ret;
		if (ret == 0)
			self->heads[0] = self->heads[--self->head_nr];
		else
			self->heads[0].key = way->pairs[way->pos].key;
		heads_down(self->heads, self->head_nr);
	}
	return (ssize_t)taken;
}

/* Neighbouring runs, as many as there are ways, become one at the end of @to. */
static int merge_into(struct ftr_sorter *self, size_t first, struct ftr_scratch *to,
		      struct ftr_err *err)
{
	struct ftr_sort_pair *pairs = malloc(WRITTEN_NR * sizeof(*pairs));
	size_t left = self->runs.nr - first;
	ssize_t nr;
	int ret;

	if (pairs == NULL)
		return no_memory(err);
	ret = merge_begin(self, self->runs.v + first,
			  left < self->sizes.ways ? left : self->sizes.ways, err);
	while (ret == 0 && (nr = merge_take(self, pairs, WRITTEN_NR, err)) != 0)
		ret = nr < 0 ? (int)nr :
			       ftr_scratch_append(to, pairs, (size_t)nr * sizeof(*pairs), err);
	free(pairs);
	return ret;
}

/* Fewer runs, in another file. */
static int merge_pass(struct ftr_sorter *self, struct ftr_err *err)
{
	struct ftr_scratch to;
	size_t run_nr = 0;
	int ret = ftr_scratch_open(&to, err);

	for (size_t i = 0; ret == 0 && i < self->runs.nr; i += self->sizes.ways) {
		uint64_t start = to.bytes / sizeof(struct ftr_sort_pair);

		ret = merge_into(self, i, &to, err);
		self->runs.v[run_nr++] = (struct run){
			start, to.bytes / sizeof(struct ftr_sort_pair) - start,
		};
	}
	if (ret < 0) {
		ftr_scratch_close(&to);
		return ret;
	}
	self->runs.nr = run_nr;
	ftr_scratch_close(&self->file);
	self->file = to;
	return 0;
}

struct ftr_sorter *ftr_sorter_new(const struct ftr_sort_sizes *sizes)
{
	struct ftr_sorter *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	if (sizes != NULL)
		self->sizes = *sizes;
	if (self->sizes.chunk_nr == 0)
		self->sizes.chunk_nr = CHUNK_NR;
	if (self->sizes.chunk_nr < 2)
		self->sizes.chunk_nr = 2;
	if (self->sizes.ways == 0)
		self->sizes.ways = WAYS;
	if (self->sizes.ways < 2)
		self->sizes.ways = 2;
	if (self->sizes.ways > self->sizes.chunk_nr)
		self->sizes.ways = self->sizes.chunk_nr;
	self->file = FTR_SCRATCH_CLOSED;
	return self;
}

int ftr_sorter_put(struct ftr_sorter *sorter, struct ftr_sort_pair pair, struct ftr_err *err)
{
	if (__builtin_expect(sorter->chunk.nr == sorter->sizes.chunk_nr, 0)) {
		int ret = chunk_spill(sorter, err);

		if (ret < 0)
			return ret;
	}
	return ftr_vec_push(&sorter->chunk, pair) < 0 ? no_memory(err) : 0;
}

int ftr_sorter_finish(struct ftr_sorter *sorter, struct ftr_err *err)
{
	int ret = sorter->runs.nr == 0 ? chunk_sort(sorter, err) : chunk_spill(sorter, err);

	free(sorter->spare);
	sorter->spare = NULL;
	sorter->spare_nr = 0;
	if (ret < 0 || sorter->runs.nr == 0)
		return ret;
	sorter->ways = calloc(sorter->sizes.ways, sizeof(*sorter->ways));
	sorter->heads = calloc(sorter->sizes.ways, sizeof(*sorter->heads));
	if (sorter->ways == NULL || sorter->heads == NULL)
		return no_memory(err);
	while (ret == 0 && sorter->runs.nr > sorter->sizes.ways)
		ret = merge_pass(sorter, err);
	return ret < 0 ? ret : merge_begin(sorter, sorter->runs.v, sorter->runs.nr, err);
}

ssize_t ftr_sorter_take(struct ftr_sorter *sorter, struct ftr_sort_pair *pairs, size_t nr,
			struct ftr_err *err)
{
	size_t left = sorter->chunk.nr - sorter->taken_nr;

	if (sorter->runs.nr > 0)
		return merge_take(sorter, pairs, nr, err);
	nr = nr < left ? nr : left;
	if (nr > 0)
		memcpy(pairs, sorter->chunk.v + sorter->taken_nr, nr * sizeof(*pairs));
	sorter->taken_nr += nr;
	return (ssize_t)nr;
}

void ftr_sorter_free(struct ftr_sorter *sorter)
{
	if (sorter == NULL)
		return;
	ftr_vec_fini(&sorter->chunk);
	free(sorter->spare);
	ftr_vec_fini(&sorter->runs);
	free(sorter->ways);
	free(sorter->heads);
	ftr_scratch_close(&sorter->file);
	free(sorter);
}
