/* SPDX-License-Identifier: MIT */
/* See html_lanes.h: what is kept, and what has to go when there is too much. */
#include "utils/export/html_lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/export/html_lanes_data.h"
#include "utils/trace/event_text.h"
#include "utils/trace/task.h"

struct html_lane_task *html_lane_task_get(struct ftr_html_lanes *self, const struct ftr_task *task)
{
	if (ftr_vec_reach(&self->tasks, task->id) < 0)
		return NULL;
	self->tasks.v[task->id].task = task;
	return &self->tasks.v[task->id];
}

int html_lane_name_get(struct ftr_html_lanes *self, const char *s, size_t len, uint32_t *id)
{
	const struct ftr_str *name = ftr_strpool_get(&self->name_pool, s, len);

	if (name == NULL)
		return -ENOMEM;
	*id = name->id;
	if (name->id < self->names.nr)
		return 0;
	return ftr_vec_push(&self->names, ((struct html_name){ .every = 1 })) < 0 ||
			       ftr_vec_push(&self->name_texts, name->s) < 0 ?
		       -ENOMEM :
		       0;
}

static void extend(struct ftr_html_lanes *self, uint64_t start_ns, uint64_t end_ns)
{
	if (self->first_ns > start_ns)
		self->first_ns = start_ns;
	if (self->last_ns < end_ns)
		self->last_ns = end_ns;
}

/* ---- what has a size ---- */

static int compare_sizes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The size in the middle of a lane's items. */
static int middle_of(const struct ftr_html_lanes *self, enum html_lane lane, uint64_t *middle)
{
	uint64_t *sizes = malloc(self->lanes[lane].nr * sizeof(*sizes));
	size_t nr = 0;

	if (sizes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < self->tasks.nr; i++) {
		for (size_t k = 0; k < self->tasks.v[i].lanes[lane].nr; k++)
			sizes[nr++] = self->tasks.v[i].lanes[lane].v[k].size;
	}
	qsort(sizes, nr, sizeof(*sizes), compare_sizes);
	*middle = sizes[nr / 2];
	free(sizes);
	return 0;
}

/* Of those as large as the least that is kept, which may be most, every second one goes, too. */
static void drop_small(struct html_lane_state *state, struct html_lane_task *task,
		       enum html_lane lane)
{
	size_t kept = 0;

	for (size_t i = 0; i < task->lanes[lane].nr; i++) {
		const struct html_item *item = &task->lanes[lane].v[i];

		if (item->size > state->least ||
		    (item->size == state->least && state->least_nr++ % 2 == 0))
			task->lanes[lane].v[kept++] = *item;
	}
	state->left_out += task->lanes[lane].nr - kept;
	state->nr -= task->lanes[lane].nr - kept;
	task->lanes[lane].nr = kept;
}

static int make_room(struct ftr_html_lanes *self, enum html_lane lane)
{
	if (middle_of(self, lane, &self->lanes[lane].least) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < self->tasks.nr; i++)
		drop_small(&self->lanes[lane], &self->tasks.v[i], lane);
	return 0;
}

int html_lane_item_add(struct ftr_html_lanes *self, struct html_lane_task *task,
		       enum html_lane lane, struct html_item item)
{
	struct html_lane_state *state = &self->lanes[lane];

	extend(self, item.at_ns, item.at_ns + item.size);
	if (item.size < state->least) {
		state->left_out++;
		return 0;
	}
	if (ftr_vec_push(&task->lanes[lane], item) < 0)
		return -ENOMEM;
	return ++state->nr > self->nr_max ? make_room(self, lane) : 0;
}

/* ---- blocks of memory ---- */

/*
 * A block stands for the bytes of those that came before it in its task, too, since the last that
 * is kept: none of them had so many bytes as each block that is kept has.  So sums are right, and
 * who asked for much is seen.
 */
static void block_sample(struct html_lane_task *task, uint64_t grain)
{
	uint64_t carried = 0, behind = task->carried_bytes;
	size_t kept = 0;

	for (size_t i = 0; i < task->lanes[HTML_LANE_BLOCKS].nr; i++) {
		struct html_item block = task->lanes[HTML_LANE_BLOCKS].v[i];

		carried += block.size;
		if (carried < grain)
			continue;
		block.size = carried;
		carried = 0;
		task->lanes[HTML_LANE_BLOCKS].v[kept++] = block;
	}
	task->lanes[HTML_LANE_BLOCKS].nr = kept;
	task->carried_bytes = carried + behind;
}

/* Each block that stays has twice as many bytes as they have now on average. */
static void blocks_make_room(struct ftr_html_lanes *self)
{
	struct html_lane_state *state = &self->lanes[HTML_LANE_BLOCKS];
	uint64_t sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < self->tasks.nr; i++) {
		for (size_t k = 0; k < self->tasks.v[i].lanes[HTML_LANE_BLOCKS].nr; k++)
			sum += self->tasks.v[i].lanes[HTML_LANE_BLOCKS].v[k].size;
	}
	state->least = 2 * (sum / state->nr) + 1;
	for (size_t i = 0; i < self->tasks.nr; i++) {
		struct html_lane_task *task = &self->tasks.v[i];

		block_sample(task, state->least);
		nr += task->lanes[HTML_LANE_BLOCKS].nr;
	}
	state->nr = nr;
}

int html_lane_block_add(struct ftr_html_lanes *self, struct html_lane_task *task,
			uint64_t time_ns, uint64_t bytes)
{
	struct html_lane_state *state = &self->lanes[HTML_LANE_BLOCKS];
	struct html_item block = { time_ns, task->carried_bytes + bytes, 0 };

	self->block_nr++;
	extend(self, time_ns, time_ns);
	if (block.size < state->least) {
		task->carried_bytes = block.size;
		return 0;
	}
	task->carried_bytes = 0;
	if (ftr_vec_push(&task->lanes[HTML_LANE_BLOCKS], block) < 0)
		return -ENOMEM;
	if (++state->nr > self->nr_max)
		blocks_make_room(self);
	return 0;
}

/* ---- marks ---- */

/* Of the name that has most of the marks every second one goes. */
static void thin_marks(struct ftr_html_lanes *self)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < self->names.nr; i++) {
		if (self->names.v[i].kept > self->names.v[most].kept)
			most = i;
	}
	self->names.v[most].every *= 2;
	for (size_t i = 0; i < self->tasks.nr; i++) {
		struct html_lane_task *task = &self->tasks.v[i];
		size_t kept = 0;

		for (size_t k = 0; k < task->marks.nr; k++) {
			struct html_mark *mark = &task->marks.v[k];

			if (mark->name == most && mark->nr % self->names.v[most].every != 0) {
				free(mark->text);
				self->names.v[most].kept--;
			} else {
				task->marks.v[kept++] = *mark;
			}
		}
		self->mark_nr -= task->marks.nr - kept;
		task->marks.nr = kept;
	}
}

/* What else is known of the event, into self->text. */
static void mark_text(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	ftr_strbuf_clear(&self->text);
	if (ev->type == FTR_EVENT_FORK)
		ftr_strbuf_printf(&self->text, "%s %d", ev->fork.peer->name, ev->fork.peer->tid);
	if (ev->type != FTR_EVENT_POINT)
		return;
	if (ev->point.kind > FTR_POINT_COUNTER) {
		ftr_event_title(ev, &self->text);
		ftr_strbuf_putc(&self->text, ' ');
	}
	ftr_event_data_text(ev, self->trace, true, &self->text);
}

int html_lane_mark_add(struct ftr_html_lanes *self, const struct ftr_event *ev, const char *name)
{
	struct html_lane_task *task = html_lane_task_get(self, ev->task);
	struct html_mark mark = { .time_ns = ev->time_ns };
	struct html_name *of;

	if (task == NULL || html_lane_name_get(self, name, strlen(name), &mark.name) < 0)
		return -ENOMEM;
	extend(self, ev->time_ns, ev->time_ns);
	of = &self->names.v[mark.name];
	mark.nr = of->seen++;
	if (mark.nr % of->every != 0)
		return 0;
	mark_text(self, ev);
	if (self->text.len > 0) {
		mark.text = strdup(ftr_strbuf_str(&self->text));
		if (mark.text == NULL)
			return -ENOMEM;
	}
	if (self->text.failed || ftr_vec_push(&task->marks, mark) < 0) {
		free(mark.text);
		return -ENOMEM;
	}
	of->kept++;
	if (++self->mark_nr > self->nr_max)
		thin_marks(self);
	return 0;
}

/* ---- values over time ---- */

int html_lane_value_add(struct ftr_html_lanes *self, struct html_values made, uint64_t time_ns,
			double value)
{
	uint64_t owner = ftr_hash_u64((uint32_t)made.owner.pid) ^ (uint32_t)made.owner.tid;
	uint64_t key;
	size_t at;

	if (html_lane_name_get(self, ftr_strbuf_str(&self->text), self->text.len, &made.name) < 0)
		return -ENOMEM;
	key = ftr_hash_u64(owner) ^ made.name;
	at = (size_t)(uintptr_t)ftr_hashmap_find(&self->values_by_key, key);
	if (at == 0) {
		if (ftr_vec_push(&self->values, made) < 0)
			return -ENOMEM;
		at = self->values.nr;
		if (ftr_hashmap_set(&self->values_by_key, key, (void *)(uintptr_t)at) < 0)
			return -ENOMEM;
	}
	extend(self, time_ns, time_ns);
	return ftr_html_series_add(&self->values.v[at - 1].series, time_ns, value);
}

/* ---- all of it ---- */

static void block_gone(void *arg, const struct ftr_memory_block *block)
{
	struct ftr_html_lanes *self = arg;

	self->live_bytes.v[block->owner] -= block->bytes;
}

void ftr_html_lanes_extend(const struct ftr_html_lanes *self, uint64_t *first_ns,
			   uint64_t *last_ns)
{
	if (*first_ns > self->first_ns)
		*first_ns = self->first_ns;
	if (*last_ns < self->last_ns)
		*last_ns = self->last_ns;
}

struct ftr_html_lanes *ftr_html_lanes_new(const struct ftr_trace *trace, size_t nr_max)
{
	struct ftr_html_lanes *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->trace = trace;
	self->nr_max = nr_max;
	self->first_ns = UINT64_MAX;
	ftr_strpool_init(&self->name_pool);
	ftr_hashmap_init(&self->values_by_key);
	ftr_hashmap_init(&self->process_by_pid);
	ftr_hashmap_init(&self->begun);
	ftr_memory_blocks_init(&self->blocks, block_gone, self);
	ftr_strbuf_init(&self->text);
	return self;
}

static void task_fini(struct html_lane_task *task)
{
	for (size_t i = 0; i < HTML_LANES; i++)
		ftr_vec_fini(&task->lanes[i]);
	for (size_t i = 0; i < task->marks.nr; i++)
		free(task->marks.v[i].text);
	ftr_vec_fini(&task->marks);
}

void ftr_html_lanes_free(struct ftr_html_lanes *self)
{
	if (self == NULL)
		return;
	for (size_t i = 0; i < self->tasks.nr; i++)
		task_fini(&self->tasks.v[i]);
	for (size_t i = 0; i < self->values.nr; i++)
		ftr_vec_fini(&self->values.v[i].series.points);
	ftr_vec_fini(&self->tasks);
	ftr_vec_fini(&self->cpus);
	ftr_vec_fini(&self->values);
	ftr_vec_fini(&self->names);
	ftr_vec_fini(&self->name_texts);
	ftr_vec_fini(&self->live_bytes);
	ftr_vec_fini(&self->kernel_begun);
	ftr_strpool_fini(&self->name_pool);
	ftr_hashmap_fini(&self->values_by_key);
	ftr_hashmap_fini(&self->process_by_pid);
	ftr_hashmap_fini(&self->begun);
	ftr_memory_blocks_fini(&self->blocks);
	ftr_strbuf_fini(&self->text);
	free(self);
}
