/* SPDX-License-Identifier: MIT */
/* FXT reader: the order of time of a file that has another one; doc/adr/0021-events-out-of-order.md. */
#include <errno.h>

#include "utils/format/fxt_read.h"

/* Events that can be read go to the sorter, by their time; equal times keep the order of the file. */
static int order_take(struct fxt_reader *r, const struct fxt_record_at *at, struct ftr_err *err)
{
	unsigned type = fxt_bits(at->header, 0, 4);
	struct fxt_decoded record;

	if (type != FXT_EVENT && type != FXT_SCHEDULING && type != FXT_LOG)
		return fxt_table_take(r, at) == -ENOMEM ? ftr_err_set(err, ENOMEM, "out of memory") : 0;
	if (fxt_decode(r, at, &record))
		return ftr_sorter_put(r->order, (struct ftr_sort_pair){ record.time_ns, at->offset },
				      err);
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
