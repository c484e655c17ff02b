/* SPDX-License-Identifier: MIT */
/*
 * FXT reader, second walk: records become events of one stream in order of time.
 *
 * Complete records hold two events: their ends wait on the task's stack, and the tasks in a heap by the end
 * that comes next.  An end comes before whatever begins at the same time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/fxt_read.h"
#include "utils/format/fxt_read_stack.h"

#define PAYLOAD_ROOM ((size_t)1 << 20)	/* of the payloads of a batch */

struct fxt_source {
	struct ftr_source base;
	struct fxt_reader *r;
	struct fxt_stacks stacks;
	struct ftr_hashmap async;	/* begins by (name, id): uint64_t time, in the trace's arena */
	uint64_t offset;		/* of the record that comes next in the file */
	size_t order_pos;
	bool has_record;
	unsigned step;			/* of a record that makes several events */
	struct fxt_decoded record;
	uint8_t *payload_bytes;		/* (owned) */
	size_t payload_used;
	_Alignas(FTR_CACHE_LINE) struct ftr_event evs[FTR_SOURCE_BATCH];
	struct ftr_payload payloads[FTR_SOURCE_BATCH];
};

/* Is there a record?  It stays until record_done(). */
static bool record_fetch(struct fxt_source *self)
{
	struct fxt_reader *r = self->r;
	struct fxt_record_at at;

	while (!self->has_record) {
		unsigned type;

		if (r->is_unordered) {
			if (self->order_pos == r->order.nr)
				return false;
			self->offset = r->order.v[self->order_pos++].offset;
		}
		if (!fxt_record_next(r, &self->offset, &at, false))
			return false;
		if (!r->is_unordered)
			fxt_forget(r, self->offset);
		type = fxt_bits(at.header, 0, 4);
		if (type != FXT_EVENT && type != FXT_SCHEDULING && type != FXT_LOG)
			continue;
		self->has_record = fxt_decode(r, &at, &self->record);
		r->damaged_nr += !self->has_record;
		self->step = 0;
	}
	return true;
}

static void record_done(struct fxt_source *self)
{
	self->has_record = false;
}

static struct ftr_func *func_get(struct fxt_reader *r, struct fxt_text *category,
				 struct fxt_text *name)
{
	if (__builtin_expect(name->func != NULL && name->func_category == category, 1))
		return name->func;
	if (category->module == NULL && category->str->len > 0)
		category->module = ftr_trace_module_get(r->trace, category->str->s, NULL);
	name->func = ftr_trace_func_by_name(r->trace, category->module, name->str->s,
					    name->str->len);
	name->func_category = category;
	if (name->func == NULL)
		r->is_failed = true;
	return name->func;
}

/* "category:name", as uftrace names events. */
static bool point_name(struct fxt_reader *r, struct fxt_text *category, struct fxt_text *name)
{
	size_t len = category->str->len;
	char *text;

	if (name->point_name != NULL && name->point_category == category)
		return true;
	text = ftr_arena_alloc(&r->trace->arena, len + name->str->len + 2);
	if (text == NULL) {
		r->is_failed = true;
		return false;
	}
	memcpy(text, category->str->s, len);
	if (len > 0)
		text[len++] = ':';
	memcpy(text + len, name->str->s, name->str->len);
	name->point_name = text;
	name->point_category = category;
	name->builtin = fxt_builtin_by_name(text);
	return true;
}

static void func_set_loc(struct fxt_reader *r, struct ftr_func *func, const struct fxt_text *loc)
{
	const char *colon = strrchr(loc->str->s, ':');

	if (func->src_file != NULL || colon == NULL)
		return;
	func->src_file = ftr_arena_strndup(&r->trace->arena, loc->str->s,
					   (size_t)(colon - loc->str->s));
	func->src_line = (uint32_t)strtoul(colon + 1, NULL, 10);
}

/* Attach the record's arguments to @ev, the event at index @nr of the batch. */
static void event_args(struct fxt_source *self, struct ftr_event *ev, size_t nr,
		       struct fxt_args_out *out)
{
	*out = (struct fxt_args_out){ .payload = &self->payloads[nr],
				      .bytes = self->payload_bytes + self->payload_used };
	if (self->record.arg_nr == 0 || !fxt_args_read(self->r, &self->record, out))
		return;
	self->payload_used += out->payload->len;
	ev->payload = out->payload;
}

static void event_begin(struct fxt_source *self, struct ftr_event *ev, enum ftr_event_type type)
{
	memset(ev, 0, sizeof(*ev));
	ev->time_ns = self->record.time_ns;
	ev->task = self->record.task;
	ev->type = (uint8_t)type;
}

/* An exit of the task's innermost call. */
static void exit_make(struct fxt_source *self, struct ftr_event *ev, struct ftr_task *task,
		      uint64_t time_ns)
{
	struct fxt_stack *stack = fxt_stack_of(&self->stacks, task);
	const struct fxt_frame *frame = &stack->frames.v[stack->frames.nr - 1];

	memset(ev, 0, sizeof(*ev));
	ev->time_ns = time_ns;
	ev->task = task;
	ev->type = FTR_EVENT_EXIT;
	ev->call.func = frame->func;
	ev->depth = (uint32_t)stack->frames.nr - 1;
	fxt_stack_pop(&self->stacks, stack);
}

static int take_entry(struct fxt_source *self, size_t nr, bool is_complete)
{
	struct ftr_event *ev = &self->evs[nr];
	const struct fxt_decoded *record = &self->record;
	struct ftr_func *func = func_get(self->r, record->category, record->name);
	struct fxt_stack *stack = fxt_stack_of(&self->stacks, record->task);
	uint64_t end_ns = is_complete ? record->extra : FXT_END_OPEN;

	if (func == NULL || stack == NULL)
		return -ENOMEM;
	if (__builtin_expect(end_ns < record->time_ns, 0)) {
		self->r->damaged_nr++;
		return 0;
	}
	event_begin(self, ev, FTR_EVENT_ENTRY);
	ev->call.func = func;
	ev->depth = (uint32_t)stack->frames.nr;
	if (__builtin_expect(record->arg_nr != 0, 0)) {
		struct fxt_args_out out;

		event_args(self, ev, nr, &out);
		ev->flags = out.flags;
		if (out.loc != NULL)
			func_set_loc(self->r, func, out.loc);
	}
	if (fxt_stack_push(&self->stacks, stack, func, end_ns, &self->r->overlap_nr) < 0)
		return -ENOMEM;
	return 1;
}

/* Closes the innermost call that has no end of its own; those inside of it end with it. */
static int take_end(struct fxt_source *self, size_t nr)
{
	struct fxt_stack *stack = fxt_stack_of(&self->stacks, self->record.task);
	struct fxt_args_out out;

	if (stack == NULL)
		return -ENOMEM;
	if (!fxt_stack_has_open(stack)) {
		self->r->stray_nr++;
		return 0;
	}
	exit_make(self, &self->evs[nr], self->record.task, self->record.time_ns);
	event_args(self, &self->evs[nr], nr, &out);
	self->evs[nr].flags = out.flags;
	return 1;
}

/* An end that comes while a complete call inside lasts longer: that one is cut, and ends first. */
static bool end_waits(struct fxt_source *self)
{
	const struct fxt_decoded *record = &self->record;
	struct fxt_stack *stack;

	if (fxt_bits(record->at.header, 0, 4) != FXT_EVENT ||
	    fxt_bits(record->at.header, 16, 4) != FXT_DURATION_END)
		return false;
	stack = fxt_stack_of(&self->stacks, record->task);
	if (stack == NULL || !fxt_stack_has_open(stack) || fxt_stack_top_is_open(stack))
		return false;
	self->r->overlap_nr++;
	fxt_stack_cut(&self->stacks, stack, record->time_ns);
	return true;
}

/* uftrace's own events have raw data of known layouts. */
static void point_raw(struct fxt_source *self, struct ftr_event *ev, const struct fxt_builtin *builtin)
{
	const struct fxt_reader *r = self->r;
	struct ftr_payload *payload = &self->payloads[ev - self->evs];
	const struct ftr_argspec *spec = payload->spec;
	uint8_t *bytes = (uint8_t *)payload->data;
	struct ftr_value value;
	unsigned nr = 0, pos = 0, at = 0;

	if (ev->payload == NULL)
		return;
	if (builtin != NULL && builtin->field_nr > 0) {
		uint64_t words[FXT_FIELDS_MAX] = { 0 };

		while (nr < FXT_FIELDS_MAX && ftr_payload_next(payload, &nr, &pos, &value))
			words[at++] = value.u;
		if (at != builtin->field_nr || spec->nr != at)
			return;
		payload->len = (uint16_t)(8 * at);
		memcpy(bytes, words, payload->len);
		payload->spec = NULL;
		self->payload_used += sizeof(words);	/* may be more than was read */
		return;
	}
	if (spec->nr != 1 || !ftr_payload_next(payload, &nr, &pos, &value) ||
	    value.arg->name == NULL)
		return;
	if ((value.arg->format == FTR_ARG_STRUCT && strcmp(value.arg->name, r->key_data->str->s) == 0) ||
	    (value.arg->format == FTR_ARG_STRING && builtin != NULL &&
	     strcmp(value.arg->name, r->key_text->str->s) == 0)) {
		payload->len = value.str.len;
		payload->data = (const uint8_t *)value.str.s;
		payload->spec = NULL;
	}
}

static const uint8_t point_kinds[FXT_EVENT_TYPES] = {
	[FXT_INSTANT]	    = FTR_POINT_INSTANT,
	[FXT_COUNTER]	    = FTR_POINT_COUNTER,
	[FXT_ASYNC_BEGIN]   = FTR_POINT_ASYNC_BEGIN,
	[FXT_ASYNC_INSTANT] = FTR_POINT_ASYNC_INSTANT,
	[FXT_ASYNC_END]	    = FTR_POINT_ASYNC_END,
	[FXT_FLOW_BEGIN]    = FTR_POINT_FLOW_BEGIN,
	[FXT_FLOW_STEP]	    = FTR_POINT_FLOW_STEP,
	[FXT_FLOW_END]	    = FTR_POINT_FLOW_END,
};

/* When the operation began that ends here: both bear the same name and id. */
static int async_match(struct fxt_source *self, struct ftr_event *ev)
{
	uint64_t key = ftr_hash_u64(ev->point.id) ^ self->record.name->str->hash ^
		       (uint64_t)(uint32_t)ev->task->pid << 32;
	uint64_t *begin_ns = ftr_hashmap_find(&self->async, key);

	if (ev->point.kind == FTR_POINT_ASYNC_END && begin_ns != NULL)
		ev->point.start_ns = *begin_ns;
	if (ev->point.kind != FTR_POINT_ASYNC_BEGIN)
		return 0;
	if (begin_ns == NULL) {
		begin_ns = ftr_arena_alloc(&self->r->trace->arena, sizeof(*begin_ns));
		if (begin_ns == NULL || ftr_hashmap_set(&self->async, key, begin_ns) < 0)
			return -ENOMEM;
	}
	*begin_ns = ev->time_ns;
	return 0;
}

static int take_point(struct fxt_source *self, size_t nr, enum fxt_event type)
{
	struct ftr_event *ev = &self->evs[nr];
	const struct fxt_builtin *builtin;
	struct fxt_args_out out;

	if (!point_name(self->r, self->record.category, self->record.name))
		return -ENOMEM;
	builtin = self->record.name->builtin;
	event_begin(self, ev, FTR_EVENT_POINT);
	ev->point.name = self->record.name->point_name;
	ev->point.kind = point_kinds[type];
	ev->point.id = type == FXT_INSTANT ? 0 : self->record.extra;
	if (builtin != NULL && (type == FXT_INSTANT || type == FXT_COUNTER))
		ev->point.id = builtin->id;
	event_args(self, ev, nr, &out);
	point_raw(self, ev, builtin);
	return async_match(self, ev) < 0 ? -ENOMEM : 1;
}

static int take_fork(struct fxt_source *self, size_t nr)
{
	struct ftr_event *ev = &self->evs[nr];
	struct fxt_args_out out;

	event_begin(self, ev, FTR_EVENT_FORK);
	event_args(self, ev, nr, &out);
	if ((out.child & INT32_MAX) == 0)	/* an arrow of somebody else's */
		return take_point(self, nr, FXT_FLOW_BEGIN);
	ev->payload = NULL;
	ev->fork.peer = fxt_task_by_thread(self->r, out.child);
	if (ev->fork.peer == NULL)
		return -ENOMEM;
	if (ev->fork.peer->parent == NULL && ev->fork.peer != ev->task)
		ev->fork.peer->parent = ev->task;
	ev->fork.peer->is_forked = ev->fork.peer->pid != ev->task->pid;
	return 1;
}

/* Records of our own category: what viewers see, or what the format has no record for. */
static int take_own(struct fxt_source *self, size_t nr, enum fxt_event type)
{
	struct fxt_reader *r = self->r;
	const struct fxt_text *name = self->record.name;
	struct ftr_event *ev = &self->evs[nr];
	struct fxt_args_out out;

	if (type == FXT_INSTANT && (name == r->name_message || name == r->name_more))
		return 0;	/* the log holds the message; the event before, the arguments */
	if (type == FXT_FLOW_END && name == r->name_fork)
		return 0;
	if (type == FXT_FLOW_BEGIN && name == r->name_fork)
		return take_fork(self, nr);
	if (type != FXT_INSTANT || name != r->name_lost)
		return take_point(self, nr, type);
	r->lost_nr++;
	event_begin(self, ev, FTR_EVENT_LOST);
	event_args(self, ev, nr, &out);
	ev->payload = NULL;
	ev->lost.nr = out.records;
	return 1;
}

static int take_event(struct fxt_source *self, size_t nr)
{
	enum fxt_event type = (enum fxt_event)fxt_bits(self->record.at.header, 16, 4);

	switch (type) {
	case FXT_DURATION_COMPLETE:
		return take_entry(self, nr, true);
	case FXT_DURATION_BEGIN:
		return take_entry(self, nr, false);
	case FXT_DURATION_END:
		return take_end(self, nr);
	default:
		if (self->record.category == self->r->own)
			return take_own(self, nr, type);
		return take_point(self, nr, type);
	}
}

static int take_log(struct fxt_source *self, size_t nr)
{
	const char *text = (const char *)self->r->in.data + self->record.args;
	size_t len = self->record.arg_nr;
	char *copy = (char *)self->payload_bytes + self->payload_used;

	if (len >= strlen(FXT_LOG_LOST) && memcmp(text, FXT_LOG_LOST, strlen(FXT_LOG_LOST)) == 0)
		return 0;	/* goes with an instant that says the same */
	event_begin(self, &self->evs[nr], FTR_EVENT_MESSAGE);
	memcpy(copy, text, len);
	copy[len] = '\0';
	self->payload_used += ftr_align_up(len + 1, 8);
	self->evs[nr].message.text = copy;
	return 1;
}

/* A half of a context switch: the task leaves the CPU, or gets it. */
static int take_switch(struct fxt_source *self, size_t nr, struct ftr_task *task, bool is_out,
		       const unsigned cpu_state[2])
{
	struct ftr_event *ev = &self->evs[nr];
	bool is_preempted = is_out && cpu_state[1] <= FXT_STATE_RUNNING;

	event_begin(self, ev, FTR_EVENT_POINT);
	ev->task = task;
	ev->point.cpu_nr = (uint16_t)(cpu_state[0] < UINT16_MAX ? cpu_state[0] + 1 : 0);
	ev->flags = is_preempted ? FTR_EVENT_PREEMPTED : 0;
	if (!is_out)
		ev->point.id = FTR_EVENT_ID_SCHED_IN;
	else
		ev->point.id = is_preempted ? FTR_EVENT_ID_SCHED_OUT_PREEMPTED :
					      FTR_EVENT_ID_SCHED_OUT;
	ev->point.name = is_out ? "linux:sched-out" : "linux:sched-in";
	if (is_preempted)
		ev->point.name = "linux:sched-out (pre-empted)";
	return 1;
}

/* The task of a thread ref or of koids at *pos in a legacy record. */
static struct ftr_task *legacy_task(struct fxt_reader *r, const struct fxt_decoded *record, bool is_out)
{
	uint64_t header = record->at.header, pos = record->at.offset + 16;
	unsigned out_ref = fxt_bits(header, 28, 8);
	unsigned ref = is_out ? out_ref : fxt_bits(header, 36, 8);

	if (ref != 0)
		return fxt_slot_find(&fxt_provider_at(r, record->at.offset)->threads[ref],
				     record->at.offset);
	if (!is_out && out_ref == 0)
		pos += 16;
	if (pos + 16 > record->at.offset + record->at.bytes)
		return NULL;
	return fxt_task_of(r, fxt_word(r, pos), fxt_word(r, pos + 8));
}

/* Who leaves (@is_out) or gets the CPU in the record; NULL = the idle thread (0), or damage. */
static struct ftr_task *switch_task(struct fxt_reader *r, const struct fxt_decoded *record,
				    bool is_out)
{
	uint64_t pos = record->at.offset + (is_out ? 16 : 24);
	struct ftr_task *task = NULL;

	if (fxt_bits(record->at.header, 60, 4) == FXT_SCHED_LEGACY)
		task = legacy_task(r, record, is_out);
	else if (record->at.bytes >= 32)
		task = fxt_task_by_thread(r, fxt_word(r, pos));
	return task == NULL || task->tid == 0 ? NULL : task;
}

static int take_wakeup(struct fxt_source *self, size_t nr)
{
	struct ftr_event *ev = &self->evs[nr];
	struct fxt_decoded *record = &self->record;
	uint64_t cpu = fxt_bits(record->at.header, 20, 16);

	if (record->at.bytes < 24 ||
	    (fxt_word(self->r, record->at.offset + 16) & INT32_MAX) == 0)
		return 0;
	record->task = fxt_task_by_thread(self->r, fxt_word(self->r, record->at.offset + 16));
	if (record->task == NULL)
		return -ENOMEM;
	event_begin(self, ev, FTR_EVENT_POINT);
	ev->point.name = "linux:sched-wakeup";
	ev->point.cpu_nr = (uint16_t)(cpu < UINT16_MAX ? cpu + 1 : 0);
	return 1;
}

/* @step 0: the task that leaves; 1: the one that comes. */
static int take_scheduling(struct fxt_source *self, size_t nr, unsigned step)
{
	uint64_t header = self->record.at.header;
	bool is_legacy = fxt_bits(header, 60, 4) == FXT_SCHED_LEGACY;
	const unsigned cpu_state[2] = {
		(unsigned)(is_legacy ? fxt_bits(header, 16, 8) : fxt_bits(header, 20, 16)),
		(unsigned)(is_legacy ? fxt_bits(header, 24, 4) : fxt_bits(header, 36, 4)),
	};
	struct ftr_task *task;

	if (fxt_bits(header, 60, 4) == FXT_SCHED_WAKEUP)
		return step == 0 ? take_wakeup(self, nr) : 0;
	if (fxt_bits(header, 60, 4) > FXT_SCHED_WAKEUP) {
		self->r->skipped_nr += step == 0;
		return 0;
	}
	task = switch_task(self->r, &self->record, step == 0);
	if (task == NULL)
		return self->r->is_failed ? -ENOMEM : 0;
	return take_switch(self, nr, task, step == 0, cpu_state);
}

/* Make the next event of the record: 1 = made, 0 = none, or -ENOMEM. */
static int record_take(struct fxt_source *self, size_t nr)
{
	int ret;

	switch (fxt_bits(self->record.at.header, 0, 4)) {
	case FXT_EVENT:
		ret = take_event(self, nr);
		break;
	case FXT_LOG:
		ret = take_log(self, nr);
		break;
	default:
		ret = take_scheduling(self, nr, self->step);
		if (ret >= 0 && self->step++ == 0)
			return ret;
		break;
	}
	record_done(self);
	return ret;
}

static ssize_t fxt_source_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct fxt_source *self = (struct fxt_source *)source;
	size_t nr = 0;

	self->payload_used = 0;
	while (nr < FTR_SOURCE_BATCH && PAYLOAD_ROOM - self->payload_used >= 2 * FXT_PAYLOAD_MAX) {
		bool has_record = self->has_record || record_fetch(self);
		struct ftr_task *task;
		uint64_t end_ns = fxt_stacks_next_end(&self->stacks, &task);
		int ret;

		if (end_ns != FXT_END_OPEN && (!has_record || end_ns <= self->record.time_ns)) {
			exit_make(self, &self->evs[nr++], task, end_ns);
			continue;
		}
		if (!has_record)
			break;
		if (__builtin_expect(end_waits(self), 0))
			continue;
		ret = record_take(self, nr);
		if (ret < 0 || self->r->is_failed)
			return ftr_err_set(err, ENOMEM, "%s: out of memory", self->r->in.name);
		nr += (size_t)ret;
	}
	*evs = self->evs;
	return (ssize_t)nr;
}

static void fxt_source_free(struct ftr_source *source)
{
	struct fxt_source *self = (struct fxt_source *)source;

	fxt_stacks_fini(&self->stacks);
	ftr_hashmap_fini(&self->async);
	free(self->payload_bytes);
	free(self);
}

static const struct ftr_source_ops fxt_source_ops = {
	.next = fxt_source_next,
	.free = fxt_source_free,
};

struct ftr_source *fxt_source_new(struct fxt_reader *r)
{
	struct fxt_source *self = aligned_alloc(FTR_CACHE_LINE, sizeof(*self));

	if (self == NULL)
		return NULL;
	memset(self, 0, sizeof(*self));
	self->base.ops = &fxt_source_ops;
	self->r = r;
	self->payload_bytes = malloc(PAYLOAD_ROOM);
	if (self->payload_bytes == NULL) {
		free(self);
		return NULL;
	}
	return &self->base;
}
