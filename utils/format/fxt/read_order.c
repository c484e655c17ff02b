/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: the order of time of a file that has another one;
 * doc/adr/0020-events-out-of-order.md.
 */
#include <errno.h>

#include "utils/format/fxt/read.h"
#include "utils/trace/source.h"

/*
 * Events that can be read go to the sorter, by their time; equal times keep the order of the file.
 */
static int order_take(struct fxt_reader *r, const struct fxt_record_at *at, struct ftr_err *err)
{
	unsigned type = fxt_record_type(at->header);
	struct fxt_decoded record;

	if (type != FXT_EVENT && type != FXT_SCHEDULING && type != FXT_LOG)
		return fxt_table_take(r, at) == -ENOMEM ?
			       ftr_err_set(err, ENOMEM, "out of memory") :
			       0;
	if (fxt_decode(r, at, &record))
		return ftr_sorter_put(r->order,
				      (struct ftr_sort_pair){ record.time_ns, at->offset }, err);
	r->damaged_nr++;
	return 0;
}

int fxt_order_build(struct fxt_reader *r, struct ftr_err *err)
{
	struct fxt_record_at at;
	uint64_t offset = 0;
	int ret = 0;

	r->order = ftr_sorter_new(&r->sort_sizes);
	if (r->order == NULL || fxt_walk_begin(r, true) < 0)
		r->is_failed = true;
	while (ret == 0 && !r->is_failed && fxt_record_next(r, &offset, &at, false)) {
		ret = order_take(r, &at, err);
		fxt_forget(r, offset);
	}
	if (ret == 0 && !r->is_failed)
		ret = ftr_sorter_finish(r->order, err);
	if (r->is_failed)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", r->in.name);
	if (ret < 0)
		ftr_err_prefix(err, "%s: events are out of order and must be sorted", r->in.name);
	return ret;
}

/* When the complete call that a pair stands for ends; 0 = it is none. */
static uint64_t complete_end(struct fxt_reader *r, uint64_t offset)
{
	struct fxt_record_at at;
	struct fxt_decoded record;

	if (!fxt_record_next(r, &offset, &at, false) || fxt_record_type(at.header) != FXT_EVENT ||
	    fxt_event_type(at.header) != FXT_DURATION_COMPLETE || !fxt_decode(r, &at, &record))
		return 0;
	return record.extra;
}

/*
 * Whoever writes calls when they end writes inner ones first.  Pairs that are no complete calls
 * stay where they are.
 */
void fxt_order_ties(struct fxt_reader *r, struct ftr_sort_pair *order, size_t nr)
{
	uint64_t ends[FTR_SOURCE_BATCH];
	size_t known_nr = 0;

	for (size_t i = 1; i < nr; i++) {
		struct ftr_sort_pair pair = order[i];
		uint64_t end;
		size_t at = i;

		if (pair.key != order[i - 1].key)
			continue;
		if (known_nr < i)
			ends[i - 1] = complete_end(r, order[i - 1].value);
		end = complete_end(r, pair.value);
		for (; at > 0 && order[at - 1].key == pair.key && ends[at - 1] != 0 &&
		       ends[at - 1] < end;
		     at--) {
			order[at] = order[at - 1];
			ends[at] = ends[at - 1];
		}
		order[at] = pair;
		ends[at] = end;
		known_nr = i + 1;
	}
}
