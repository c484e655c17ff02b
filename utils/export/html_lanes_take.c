/* SPDX-License-Identifier: MIT */
/* See html_lanes.h: what events come to. */
#include "utils/export/html_lanes.h"

#include <errno.h>
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

static int span_add(struct ftr_html_lanes *self, const struct ftr_event *ev, enum html_lane lane,
		    uint64_t start_ns, struct ftr_slice name)
{
	struct html_lane_task *task = html_lane_task_get(self, ev->task);
	struct html_item item = { .at_ns = start_ns, .size = ev->time_ns - start_ns };

	if (task == NULL || html_lane_name_get(self, name.s, name.len, &item.what) < 0)
		return -ENOMEM;
	return html_lane_item_add(self, task, lane, item);
}

/* ---- values over time ---- */

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
		if (self->text.failed ||
		    html_lane_value_add(self, made, ev->time_ns, value.value) < 0)
			return -ENOMEM;
		was = 1;
	}
	return was;
}

/* ---- memory ---- */

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
	struct html_lane_task *task = html_lane_task_get(self, ev->task);
	uint32_t process;

	if (task == NULL || process_get(self, ev->task->pid, &process) < 0)
		return -ENOMEM;
	if (request->asks && request->address != 0) {
		self->live_bytes.v[process] += request->bytes;
		if (html_lane_block_add(self, task, ev->time_ns, request->bytes) < 0)
			return -ENOMEM;
	}
	if (ftr_memory_blocks_take(&self->blocks, ev, request, process) < 0)
		return -ENOMEM;
	ftr_strbuf_clear(&self->text);
	ftr_strbuf_puts(&self->text, MEMORY);
	return html_lane_value_add(self, made, ev->time_ns, (double)self->live_bytes.v[process]);
}

/* ---- scheduling ---- */

static int sched_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	struct html_lane_task *task = html_lane_task_get(self, ev->task);
	bool is_out = ftr_event_is_sched_out(ev);

	if (task == NULL)
		return -ENOMEM;
	if (!self->has_sched)
		html_lane_switches_drop(self);
	if (is_out && !task->has_sched) {	/* it ran before that */
		task->run_ns = task->first_ns;
		task->run_cpu = ev->point.cpu_nr;
	}
	task->is_running |= is_out && !task->has_sched;
	task->has_sched = true;
	if (is_out)
		return task->is_running ? html_lane_run_end(self, task, ev->time_ns) : 0;
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

	if (ev->point.cpu_nr != 0 &&
	    html_lane_cpu_see(self, ev->point.cpu_nr, ev->time_ns) < 0)
		return -ENOMEM;
	if (ftr_event_is_sched_in(ev) || ftr_event_is_sched_out(ev))
		return sched_take(self, ev);
	if (ftr_memory_request_read(&request, ev))
		return memory_take(self, ev, &request);
	if (ev->point.start_ns != 0)
		return ended_take(self, ev);
	ret = counter_take(self, ev);
	if (ret != 0)
		return ret < 0 ? ret : 0;
	if (ftr_event_is_tracepoint(ev) &&
	    (pairs_take(self, ev) < 0 || html_lane_switch_take(self, ev) < 0))
		return -ENOMEM;
	return html_lane_mark_add(self, ev, ev->point.name);
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
		return html_lane_mark_add(self, ev, text);
	case FTR_EVENT_FORK:
		return html_lane_mark_add(self, ev, "fork");
	case FTR_EVENT_MESSAGE:
		return html_lane_mark_add(self, ev, ev->message.text);
	case FTR_EVENT_ENTRY:
	case FTR_EVENT_TYPES:
		break;
	}
	return 0;
}

int ftr_html_lanes_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	struct html_lane_task *task = html_lane_task_get(self, ev->task);

	if (task == NULL)
		return -ENOMEM;
	if (!task->has_events)
		task->first_ns = ev->time_ns;
	task->has_events = true;
	if (event_take(self, ev) < 0)
		return -ENOMEM;
	self->tasks.v[ev->task->id].last_ns = ev->time_ns;	/* until now of the one before */
	if (self->end_ns < ev->time_ns)
		self->end_ns = ev->time_ns;
	return 0;
}

/* Tasks that still run do so until the last of their events. */
int ftr_html_lanes_end(struct ftr_html_lanes *self)
{
	int ret = 0;

	if (!self->has_sched)
		return html_lane_switches_end(self);
	for (size_t i = 0; ret == 0 && i < self->tasks.nr; i++) {
		struct html_lane_task *task = &self->tasks.v[i];

		if (task->is_running)
			ret = html_lane_run_end(self, task, task->last_ns);
	}
	return ret;
}
