/* SPDX-License-Identifier: MIT */
/* Marks, and what is open at them. */
#include "utils/format/uftrace/read_index.h"

#include <assert.h>
#include <stdlib.h>

#include "utils/trace/session.h"
#include "utils/trace/trace.h"

void uft_index_fini(struct uft_index *index)
{
	ftr_vec_fini(&index->marks);
	ftr_vec_fini(&index->places);
	ftr_vec_fini(&index->called);
	*index = (struct uft_index){ 0 };
}

const struct uft_mark *uft_index_find(const struct uft_index *index, uint64_t from_ns)
{
	size_t low = 0, high = index->marks.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (index->marks.v[mid].time_ns < from_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 ? &index->marks.v[low - 1] : NULL;
}

size_t uft_mark_place_nr(const struct uft_mark *mark)
{
	return (size_t)mark->open_nr + mark->half_nr + 1;
}

static int place_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void uft_index_places(const struct uft_index *index, const struct uft_mark *mark,
		      uint64_t *places)
{
	size_t left = mark->open_nr, own_nr = mark->open_nr - mark->kept_nr;
	size_t nr = uft_mark_place_nr(mark);

	for (size_t i = 0; i < mark->half_nr; i++)
		places[mark->open_nr + i] = index->places.v[mark->own_at + own_nr + i];
	places[nr - 1] = mark->at;
	/* The outermost calls are of marks before. */
	for (const struct uft_mark *of = mark; left > 0; of--) {
		assert(of >= index->marks.v);
		for (; left > of->kept_nr; left--)
			places[left - 1] = index->places.v[of->own_at + left - 1 - of->kept_nr];
	}
	if (mark->half_nr > 0)
		qsort(places, nr, sizeof(*places), place_compare);
}

const struct ftr_func *uft_called_func(const struct uft_called *called, struct uft_reader *reader,
				       const struct uft_task *task)
{
	return ftr_trace_resolve(reader->trace, ftr_task_session_at(task->task, called->time_ns),
				 called->time_ns, called->addr);
}
