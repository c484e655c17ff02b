/* SPDX-License-Identifier: MIT */
/* What happened to a task besides its records, in the order of time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/uftrace/read_data.h"

int uft_side_add(struct uft_task *task, struct uft_side side, void *what)
{
	struct uft_side_more more = { .order = (uint32_t)task->side.nr, .what = what };

	side.order = more.order;
	if (ftr_vec_push(&task->side, side) < 0)
		return -ENOMEM;
	return what == NULL ? 0 : ftr_vec_push(&task->side_more, more);
}

static int more_compare(const void *key, const void *element)
{
	uint32_t x = *(const uint32_t *)key, y = ((const struct uft_side_more *)element)->order;

	return x < y ? -1 : x > y;
}

void *uft_side_what(const struct uft_task *task, const struct uft_side *side)
{
	const struct uft_side_more *more = task->side_more.nr == 0 ?
						   NULL :
						   bsearch(&side->order, task->side_more.v,
							   task->side_more.nr, sizeof(*more),
							   more_compare);

	return more == NULL ? NULL : more->what;
}

/* ---- sorting: they come as ascending runs, of each CPU's file one ---- */

static int side_compare(const void *a, const void *b)
{
	const struct uft_side *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static size_t run_end(const struct uft_side *v, size_t from, size_t nr)
{
	size_t to = from + 1;

	while (to < nr && v[to - 1].time_ns <= v[to].time_ns)
		to++;
	return to < nr ? to : nr;
}

/* Two runs, which meet at @mid: of one time, the first one's come first.  @room: for the first. */
static void runs_merge(struct uft_side *v, size_t mid, size_t nr, struct uft_side *room)
{
	size_t i = 0, k = mid, to = 0;

	memcpy(room, v, mid * sizeof(*v));
	while (i < mid && k < nr)
		v[to++] = v[k].time_ns < room[i].time_ns ? v[k++] : room[i++];
	memcpy(v + to, room + i, (mid - i) * sizeof(*v));
}

void uft_sides_sort(struct uft_task *task, size_t from)
{
	struct uft_side *v = task->side.v + from, *room;
	size_t nr = task->side.nr - from;

	if (nr < 2 || run_end(v, 0, nr) == nr)
		return;
	room = malloc(nr * sizeof(*room));
	if (room == NULL) {
		qsort(v, nr, sizeof(*v), side_compare);
		return;
	}
	while (run_end(v, 0, nr) < nr) {
		for (size_t at = 0; at < nr;) {
			size_t mid = run_end(v, at, nr), end = mid;

			if (mid < nr) {
				end = run_end(v, mid, nr);
				runs_merge(v + at, mid - at, end - at, room);
			}
			at = end;
		}
	}
	free(room);
}

/* ---- passing over ---- */

int uft_sides_pass(const struct uft_task *task, uint64_t time_ns, struct uft_sides_kept *kept)
{
	bool has_kind[UINT8_MAX + 1] = { false };
	size_t low = 0, high = task->side.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (task->side.v[mid].time_ns < time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	kept->behind = low;
	for (size_t i = low; i-- > 0;) {
		uint8_t kind = task->side.v[i].kind;

		if (!has_kind[kind] && ftr_vec_push(kept, i) < 0)
			return -ENOMEM;
		has_kind[kind] = true;
	}
	return 0;
}

size_t uft_sides_next(struct uft_sides_kept *kept, size_t pos)
{
	if (kept->nr > 0)
		return kept->v[--kept->nr];
	return pos + 1 < kept->behind ? kept->behind : pos + 1;
}
