/* SPDX-License-Identifier: MIT */
/*
 * The relation of two clocks: marks near the start vote for differences, those near the end for how
 * the clocks drifted apart since.
 */
#include "utils/trace/clocks.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/bits.h"

#define TRIED_NR     16u		/* marks in a row: so near that no drift shows */
#define WITHIN_NS    20000		/* of each other are differences of marks that fit */
#define DRIFT_SHARE  1000		/* clocks drift less than this part of the time */
#define MATCHES_MIN  3u
#define PLACES_MAX   64u
#define PAIRS_MAX    FTR_BIT(23)

/* ours less theirs, of one pair */
struct pair {
	int64_t diff_ns;
	uint64_t theirs_ns;
};

struct pairs {
	FTR_VEC(struct pair) all;
};

static int compare_marks(const void *a, const void *b)
{
	const struct ftr_clock_mark *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int compare_times(const void *a, const void *b)
{
	const struct ftr_clock_mark *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->diff_ns < y->diff_ns ? -1 : x->diff_ns > y->diff_ns;
}

uint64_t ftr_clock_convert(const struct ftr_clock_relation *relation, uint64_t theirs_ns)
{
	double since, drift = 0;

	if (relation->over_ns > 0) {
		since = theirs_ns >= relation->from_ns ? (double)(theirs_ns - relation->from_ns) :
							 -(double)(relation->from_ns - theirs_ns);
		drift = since * (double)relation->drift_ns / (double)relation->over_ns;
	}
	return theirs_ns + (uint64_t)relation->offset_ns + (uint64_t)(int64_t)drift;
}

static size_t first_of(const struct ftr_clock_marks *marks, int32_t tid)
{
	size_t from = 0, to = marks->all.nr;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (marks->all.v[mid].tid < tid)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* The mark with each of the other side's that may be the same, by @min..@max of difference. */
static int pairs_add(struct pairs *pairs, const struct ftr_clock_mark *mark,
		     const struct ftr_clock_marks *theirs, int64_t min, int64_t max)
{
	for (size_t i = first_of(theirs, mark->tid);
	     i < theirs->all.nr && theirs->all.v[i].tid == mark->tid &&
	     pairs->all.nr < PAIRS_MAX; i++) {
		const struct pair pair = {
			.diff_ns = (int64_t)(mark->time_ns - theirs->all.v[i].time_ns),
			.theirs_ns = theirs->all.v[i].time_ns,
		};

		if (pair.diff_ns >= min && pair.diff_ns <= max &&
		    ftr_vec_push(&pairs->all, pair) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* How many of the sorted pairs lie within, the most; *at: the first of them. */
static size_t densest(const struct pairs *pairs, size_t *at)
{
	size_t most = 0;

	for (size_t from = 0, to = 0; to < pairs->all.nr; to++) {
		while (pairs->all.v[to].diff_ns - pairs->all.v[from].diff_ns > WITHIN_NS)
			from++;
		if (to - from + 1 > most) {
			most = to - from + 1;
			*at = from;
		}
	}
	return most;
}

/* The same beside the marks that won: what chance brings together. */
static size_t densest_else(const struct pairs *pairs, size_t at, size_t nr)
{
	struct pairs before = { .all = { .v = pairs->all.v, .nr = at } };
	struct pairs after = { .all = { .v = pairs->all.v + at + nr,
					.nr = pairs->all.nr - at - nr } };
	size_t pos, first = densest(&before, &pos), second = densest(&after, &pos);

	return first > second ? first : second;
}

struct found {
	struct pair pair;		/* the middle one of those that fit */
	uint32_t match_nr, of_nr;
};

/* Where most of the marks from @from on fit.  1, 0: nowhere for sure, -ENOMEM. */
static int place_find(const struct ftr_clock_mark *from, size_t nr,
		      const struct ftr_clock_marks *theirs, int64_t min, int64_t max,
		      struct found *found)
{
	struct pairs pairs = { .all = { .nr = 0 } };
	size_t at = 0, most;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = pairs_add(&pairs, &from[i], theirs, min, max);
	if (ret == 0 && pairs.all.nr > 0) {
		qsort(pairs.all.v, pairs.all.nr, sizeof(pairs.all.v[0]), compare_pairs);
		most = densest(&pairs, &at);
		if (most >= MATCHES_MIN && 2 * most > nr &&
		    most > 2 * densest_else(&pairs, at, most)) {
			*found = (struct found){ pairs.all.v[at + most / 2], (uint32_t)most,
						 (uint32_t)nr };
			ret = 1;
		}
	}
	ftr_vec_fini(&pairs.all);
	return ret;
}

/* The first or last part of our marks that fits: theirs may begin later, and end before. */
static int place_search(const struct ftr_clock_marks *ours, const struct ftr_clock_marks *theirs,
			bool from_end, const struct found *near, struct found *found)
{
	size_t nr = ours->all.nr < TRIED_NR ? ours->all.nr : TRIED_NR;
	size_t places = nr == 0 ? 0 : (ours->all.nr + nr - 1) / nr;
	int ret = 0;

	if (places > PLACES_MAX)
		places = PLACES_MAX;
	for (size_t i = 0; ret == 0 && i < places; i++) {
		size_t at = i * nr < ours->all.nr - nr ? i * nr : ours->all.nr - nr;
		const struct ftr_clock_mark *from;
		int64_t min = INT64_MIN, max = INT64_MAX;

		from = &ours->all.v[from_end ? ours->all.nr - nr - at : at];
		if (near != NULL) {
			int64_t gone = (int64_t)(from[nr - 1].time_ns - near->pair.theirs_ns) -
				       near->pair.diff_ns;
			int64_t drift = WITHIN_NS + (gone < 0 ? -gone : gone) / DRIFT_SHARE;

			min = near->pair.diff_ns - drift;
			max = near->pair.diff_ns + drift;
		}
		ret = place_find(from, nr, theirs, min, max, found);
	}
	return ret;
}

static void drift_find(const struct ftr_clock_marks *ours, const struct ftr_clock_marks *theirs,
		       const struct found *first, struct ftr_clock_relation *relation)
{
	struct found last;

	if (place_search(ours, theirs, true, first, &last) != 1 ||
	    last.pair.theirs_ns <= first->pair.theirs_ns)
		return;
	relation->drift_ns = last.pair.diff_ns - first->pair.diff_ns;
	relation->over_ns = last.pair.theirs_ns - first->pair.theirs_ns;
}

int ftr_clock_relate(struct ftr_clock_marks *ours, struct ftr_clock_marks *theirs,
		     struct ftr_clock_relation *relation)
{
	struct found first;
	int ret;

	*relation = (struct ftr_clock_relation){ .offset_ns = 0 };
	if (ours->all.nr == 0 || theirs->all.nr == 0)
		return 0;
	qsort(ours->all.v, ours->all.nr, sizeof(ours->all.v[0]), compare_times);
	qsort(theirs->all.v, theirs->all.nr, sizeof(theirs->all.v[0]), compare_marks);
	ret = place_search(ours, theirs, false, NULL, &first);
	if (ret != 1)
		return ret;
	relation->offset_ns = first.pair.diff_ns;
	relation->from_ns = first.pair.theirs_ns;
	relation->match_nr = first.match_nr;
	relation->of_nr = first.of_nr;
	drift_find(ours, theirs, &first, relation);
	return 1;
}
