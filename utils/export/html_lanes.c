/* SPDX-License-Identifier: MIT */
/* See html_lanes.h: what is collected of the stream. */
#include "utils/export/html_lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/analysis/event_pairs.h"
#include "utils/base/bits.h"
#include "utils/export/html_lanes_data.h"
#include "utils/trace/counter.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/event_text.h"
#include "utils/trace/system.h"
#include "utils/trace/trace.h"

#define NEVER	  UINT64_MAX
#define DONE	  "-done"
#define SYSCALLS  "syscalls: "
#define MEMORY	  "memory in use"

static struct html_lane_task *task_get(struct ftr_html_lanes *self, const struct ftr_task *task)
{
	while (self->tasks.nr <= task->id) {
		if (ftr_vec_push(&self->tasks, ((struct html_lane_task){ .task = NULL })) < 0)
			return NULL;
	}
	self->tasks.v[task->id].task = task;
	return &self->tasks.v[task->id];
}

static int name_get(struct ftr_html_lanes *self, const char *s, size_t len, uint32_t *id)
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

static int item_add(struct ftr_html_lanes *self, struct html_lane_task *task, enum html_lane lane,
		    struct html_item item)
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

static int block_add(struct ftr_html_lanes *self, struct html_lane_task *task, uint64_t time_ns,
		     uint64_t bytes)
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

static int span_add(struct ftr_html_lanes *self, const struct ftr_event *ev, enum html_lane lane,
		    uint64_t start_ns, struct ftr_slice name)
{
	struct html_lane_task *task = task_get(self, ev->task);
	struct html_item item = { .at_ns = start_ns, .size = ev->time_ns - start_ns };

	if (task == NULL || name_get(self, name.s, name.len, &item.what) < 0)
		return -ENOMEM;
	return item_add(self, task, lane, item);
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

static int mark_add(struct ftr_html_lanes *self, const struct ftr_event *ev, const char *name)
{
	struct html_lane_task *task = task_get(self, ev->task);
	struct html_mark mark = { .time_ns = ev->time_ns };
	struct html_name *of;

	if (task == NULL || name_get(self, name, strlen(name), &mark.name) < 0)
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

static int value_add(struct ftr_html_lanes *self, struct html_values made, uint64_t time_ns,
		     double value)
{
	uint64_t owner = ftr_hash_u64((uint32_t)made.owner.pid) ^ (uint32_t)made.owner.tid;
	uint64_t key;
	size_t at;

	if (name_get(self, ftr_strbuf_str(&self->text), self->text.len, &made.name) < 0)
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

/* The number behind a name tells counters of one name from each other. */
static struct html_owner owner_of(const struct ftr_event *ev, bool *has_number)
{
	struct html_owner of_process = { ev->task->pid, 0 };
	struct ftr_system_sample sample;

	*has_number = ev->point.kind == FTR_POINT_COUNTER && ev->point.id != 0;
	if (!ftr_system_sample_get(ev, &sample)) {
		if (ev->point.kind == FTR_POINT_COUNTER ||
		    ftr_event_kind_id(ev) == FTR_EVENT_ID_READ_STATM)
			return of_process;
		return (struct html_owner){ ev->task->pid, ev->task->tid };
	}
	*has_number = false;
	if (sample.id == FTR_EVENT_ID_SYSTEM_PROCESS)
		return of_process;
	if (sample.id == FTR_EVENT_ID_SYSTEM_THREAD)
		return (struct html_owner){ ev->task->pid, (int32_t)sample.number };
	return (struct html_owner){ 0, 0 };
}

/* 1: it was a counter. */
static int counter_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(ftr_event_kind_id(ev));
	bool has_number;
	struct html_values made = { .owner = owner_of(ev, &has_number),
				    .unit = kind != NULL ? kind->unit : NULL };
	struct ftr_counter_pos at = { 0 };
	struct ftr_counter_value value;
	int was = 0;

	while (ftr_counter_next(ev, &at, &value)) {
		ftr_strbuf_clear(&self->text);
		ftr_strbuf_puts(&self->text, ev->point.name);
		if (has_number)
			ftr_strbuf_printf(&self->text, " #%llu", (unsigned long long)ev->point.id);
		ftr_strbuf_printf(&self->text, " %s", value.name);
		if (self->text.failed || value_add(self, made, ev->time_ns, value.value) < 0)
			return -ENOMEM;
		was = 1;
	}
	return was;
}

/* ---- memory ---- */

static void block_gone(void *arg, const struct ftr_memory_block *block)
{
	struct ftr_html_lanes *self = arg;

	self->live_bytes.v[block->owner] -= block->bytes;
}

static int process_get(struct ftr_html_lanes *self, int32_t pid, uint32_t *process)
{
	uintptr_t at = (uintptr_t)ftr_hashmap_find(&self->process_by_pid, (uint32_t)pid);

	if (at == 0) {
		if (ftr_vec_push(&self->live_bytes, 0) < 0)
			return -ENOMEM;
		at = self->live_bytes.nr;
		if (ftr_hashmap_set(&self->process_by_pid, (uint32_t)pid, (void *)at) < 0)
			return -ENOMEM;
	}
	*process = (uint32_t)(at - 1);
	return 0;
}

static int memory_take(struct ftr_html_lanes *self, const struct ftr_event *ev,
		       const struct ftr_memory_request *request)
{
	struct html_values made = { .owner.pid = ev->task->pid, .unit = "B" };
	struct html_lane_task *task = task_get(self, ev->task);
	uint32_t process;

	if (task == NULL || process_get(self, ev->task->pid, &process) < 0)
		return -ENOMEM;
	if (request->asks && request->address != 0) {
		self->live_bytes.v[process] += request->bytes;
		if (block_add(self, task, ev->time_ns, request->bytes) < 0)
			return -ENOMEM;
	}
	if (ftr_memory_blocks_take(&self->blocks, ev, request, process) < 0)
		return -ENOMEM;
	ftr_strbuf_clear(&self->text);
	ftr_strbuf_puts(&self->text, MEMORY);
	return value_add(self, made, ev->time_ns, (double)self->live_bytes.v[process]);
}

/* ---- scheduling ---- */

static int run_end(struct ftr_html_lanes *self, struct html_lane_task *task, uint64_t time_ns)
{
	struct html_item run = { task->run_ns, time_ns - task->run_ns, task->run_cpu };

	task->is_running = false;
	return item_add(self, task, HTML_LANE_RUNS, run);
}

static int sched_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	struct html_lane_task *task = task_get(self, ev->task);
	bool is_out = ftr_event_is_sched_out(ev);

	if (task == NULL)
		return -ENOMEM;
	if (is_out && !task->has_sched) {	/* it ran before that */
		task->run_ns = task->first_ns;
		task->run_cpu = ev->point.cpu_nr;
	}
	task->is_running |= is_out && !task->has_sched;
	task->has_sched = true;
	if (is_out)
		return task->is_running ? run_end(self, task, ev->time_ns) : 0;
	task->is_running = true;
	task->run_ns = ev->time_ns;
	task->run_cpu = ev->point.cpu_nr;
	return 0;
}

/* ---- pairs of the kernel's events ---- */

static int pair_begin(struct ftr_html_lanes *self, const struct ftr_event *ev, uint64_t key,
		      bool keeps_first)
{
	uintptr_t at = (uintptr_t)ftr_hashmap_find(&self->begun, key);

	if (at == 0)
		return ftr_vec_push(&self->kernel_begun, ev->time_ns) < 0 ?
			       -ENOMEM :
			       ftr_hashmap_set(&self->begun, key,
					       (void *)(uintptr_t)self->kernel_begun.nr);
	if (self->kernel_begun.v[at - 1] == NEVER || !keeps_first)
		self->kernel_begun.v[at - 1] = ev->time_ns;
	return 0;
}

static int pair_end(struct ftr_html_lanes *self, const struct ftr_event *ev,
		    const struct ftr_event_pair *pair, uint64_t key)
{
	uintptr_t at = (uintptr_t)ftr_hashmap_find(&self->begun, key);
	uint64_t start_ns = at == 0 ? NEVER : self->kernel_begun.v[at - 1];
	struct ftr_slice title;

	if (start_ns == NEVER)
		return 0;
	self->kernel_begun.v[at - 1] = NEVER;
	if (pair->half == FTR_EVENT_HALF_CANCEL)
		return 0;
	ftr_strbuf_clear(&self->text);
	ftr_event_pair_title(pair, ev->point.name, &self->text);
	if (self->text.failed)
		return -ENOMEM;
	title = ftr_slice_make(ftr_strbuf_str(&self->text), self->text.len);
	if (!ftr_slice_starts(title, SYSCALLS))
		return span_add(self, ev, HTML_LANE_KERNEL, start_ns, title);
	title = ftr_slice_make(title.s + strlen(SYSCALLS), title.len - strlen(SYSCALLS));
	return span_add(self, ev, HTML_LANE_SYSCALLS, start_ns, title);
}

static int pairs_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	struct ftr_event_pair pairs[FTR_EVENT_HALVES_MAX];
	unsigned nr = ftr_event_pairs_of(ev->point.name, pairs);
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < nr; i++) {
		uint64_t key;

		if (!ftr_event_pair_key(&pairs[i], ev, &key))
			continue;
		ret = pairs[i].half == FTR_EVENT_HALF_BEGIN ?
			      pair_begin(self, ev, key, pairs[i].keeps_first) :
			      pair_end(self, ev, &pairs[i], key);
	}
	return ret;
}

/* ---- events ---- */

/* A POINT that ends what another began, which is known. */
static int ended_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	struct ftr_slice name = ftr_slice_make(ev->point.name, strlen(ev->point.name));
	size_t done = strlen(DONE);

	if (ev->point.kind != FTR_POINT_INSTANT)
		return span_add(self, ev, HTML_LANE_SPANS, ev->point.start_ns, name);
	if (name.len > done && memcmp(name.s + name.len - done, DONE, done) == 0)
		name.len -= done;
	return span_add(self, ev, HTML_LANE_WAITS, ev->point.start_ns, name);
}

static int point_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	struct ftr_memory_request request;
	int ret;

	if (ftr_event_is_sched_in(ev) || ftr_event_is_sched_out(ev))
		return sched_take(self, ev);
	if (ftr_memory_request_read(&request, ev))
		return memory_take(self, ev, &request);
	if (ev->point.start_ns != 0)
		return ended_take(self, ev);
	ret = counter_take(self, ev);
	if (ret != 0)
		return ret < 0 ? ret : 0;
	if (ftr_event_is_tracepoint(ev) && pairs_take(self, ev) < 0)
		return -ENOMEM;
	return mark_add(self, ev, ev->point.name);
}

static int call_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	const struct ftr_func *func = ev->call.func;

	return func->sysid == 0 ? 0 :
				  span_add(self, ev, HTML_LANE_SYSCALLS, ev->call.start_ns,
					   ftr_slice_make(func->name, func->name_len));
}

static int event_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	char text[FTR_EVENT_LOST_TEXT_MAX];

	switch ((enum ftr_event_type)ev->type) {
	case FTR_EVENT_EXIT:
		return call_take(self, ev);
	case FTR_EVENT_POINT:
		return point_take(self, ev);
	case FTR_EVENT_LOST:
		ftr_event_lost_text(ev, text);
		return mark_add(self, ev, text);
	case FTR_EVENT_FORK:
		return mark_add(self, ev, "fork");
	case FTR_EVENT_MESSAGE:
		return mark_add(self, ev, ev->message.text);
	case FTR_EVENT_ENTRY:
	case FTR_EVENT_TYPES:
		break;
	}
	return 0;
}

int ftr_html_lanes_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	struct html_lane_task *task = task_get(self, ev->task);

	if (task == NULL)
		return -ENOMEM;
	if (!task->has_events)
		task->first_ns = ev->time_ns;
	task->has_events = true;
	task->last_ns = ev->time_ns;
	return event_take(self, ev);
}

/* Tasks that still run do so until the last of their events. */
int ftr_html_lanes_end(struct ftr_html_lanes *self)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < self->tasks.nr; i++) {
		struct html_lane_task *task = &self->tasks.v[i];

		if (task->is_running)
			ret = run_end(self, task, task->last_ns);
	}
	return ret;
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
