/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: events that are no calls: instants, counters, arrows, messages, context switches.
 */
#include <errno.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/format/fxt/read_source.h"

/* "category:name", as uftrace names events. */
static const struct fxt_point *point_make(struct fxt_reader *r, const struct fxt_text *category,
					  const struct fxt_text *name)
{
	size_t len = category->str->len;
	struct fxt_point *point = ftr_arena_alloc(&r->trace->arena, sizeof(*point));
	char *text = ftr_arena_alloc(&r->trace->arena, len + name->str->len + 2);

	if (point == NULL || text == NULL)
		return NULL;
	memcpy(text, category->str->s, len);
	if (len > 0)
		text[len++] = ':';
	memcpy(text + len, name->str->s, name->str->len);
	*point = (struct fxt_point){ text, ftr_event_kind_by_name(text) };
	return point;
}

/* Several categories may take turns at one name: each pair is made once. */
static const struct fxt_point *point_get(struct fxt_reader *r, const struct fxt_text *category,
					 struct fxt_text *name)
{
	uint64_t key = ftr_u64_of(category->str->id, name->str->id);
	const struct fxt_point *point;

	if (name->point != NULL && name->point_category == category)
		return name->point;
	point = ftr_hashmap_find(&r->points, key);
	if (point == NULL) {
		point = point_make(r, category, name);
		if (point == NULL || ftr_hashmap_set(&r->points, key, (void *)(uintptr_t)point) < 0)
			return NULL;
	}
	name->point = point;
	name->point_category = category;
	return point;
}

/* The number of that name that comes next in a payload. */
static bool number_take(const struct ftr_payload *payload, unsigned *nr, unsigned *pos,
			const struct fxt_text *name, uint64_t *number)
{
	unsigned next_nr = *nr, next_pos = *pos;
	struct ftr_value value;

	if (!ftr_payload_next(payload, &next_nr, &next_pos, &value) ||
	    value.arg->name != name->str->s || value.arg->format != FTR_ARG_UNSIGNED ||
	    value.arg->size != 4)
		return false;
	*nr = next_nr;
	*pos = next_pos;
	*number = value.u;
	return true;
}

/* Data of a known layout: words. */
static void point_words(struct fxt_source *self, struct ftr_event *ev,
			const struct ftr_event_kind *kind)
{
	struct ftr_payload *payload = &self->payloads[ev - self->evs];
	uint64_t words[FTR_EVENT_VALUES_MAX] = { 0 };
	struct ftr_value value;
	unsigned nr = 0, pos = 0, at = 0;

	while (nr < FTR_EVENT_VALUES_MAX && ftr_payload_next(payload, &nr, &pos, &value))
		words[at++] = value.u;
	if (at != kind->value_nr || payload->spec->nr != at)
		return;
	payload->len = (uint16_t)(8 * at);
	memcpy((uint8_t *)payload->data, words, payload->len);
	payload->spec = NULL;
	self->payload_used += sizeof(words);	/* may be more than was read */
}

/*
 * uftrace's own events have raw data; those that the kernel reported have their CPU in front.
 */
static void point_raw(struct fxt_source *self, struct ftr_event *ev,
		      const struct ftr_event_kind *kind)
{
	const struct fxt_reader *r = self->r;
	struct ftr_payload *payload = &self->payloads[ev - self->evs];
	uint64_t cpu = UINT64_MAX;
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	if (ev->payload == NULL)
		return;
	if (kind != NULL && kind->value_nr > 0) {
		point_words(self, ev, kind);
		return;
	}
	if (kind != NULL && number_take(payload, &nr, &pos, r->key_cpu, &cpu) &&
	    cpu < UINT16_MAX)
		ev->point.cpu_nr = (uint16_t)(cpu + 1);
	if (nr == payload->spec->nr) {
		ev->payload = NULL;
		return;
	}
	if (!ftr_payload_next(payload, &nr, &pos, &value) || nr != payload->spec->nr ||
	    value.arg->name == NULL)
		return;
	if ((value.arg->format == FTR_ARG_STRUCT &&
	     strcmp(value.arg->name, r->key_data->str->s) == 0) ||
	    (value.arg->format == FTR_ARG_STRING && kind != NULL &&
	     strcmp(value.arg->name, r->key_text->str->s) == 0)) {
		payload->len = value.str.len;
		payload->data = (const uint8_t *)value.str.s;
		payload->spec = NULL;
	} else if (value.arg->format == FTR_ARG_STRING &&
		   value.arg->name == r->key_hex->str->s &&
		   fxt_hex_decode(value.str.s, value.str.len, (uint8_t *)payload->data)) {
		payload->len = value.str.len / 2;	/* the digits behind are longer */
		payload->spec = NULL;
	}
}

/*
 * What ftr wrote of a tracepoint: its id, its CPU if known, its text if it has one, and nothing
 * else.
 */
static void point_tracepoint(struct fxt_source *self, struct ftr_event *ev)
{
	struct fxt_reader *r = self->r;
	struct ftr_payload *payload = &self->payloads[ev - self->evs];
	uint64_t id, cpu = UINT64_MAX;
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	if (ev->payload == NULL || !number_take(payload, &nr, &pos, r->key_tracepoint, &id) ||
	    id - 1 >= FTR_TRACEPOINT_ID_MAX)
		return;
	if (number_take(payload, &nr, &pos, r->key_cpu, &cpu) && cpu >= UINT16_MAX)
		return;
	if (nr == payload->spec->nr) {
		ev->payload = NULL;
	} else {
		if (!ftr_payload_next(payload, &nr, &pos, &value) || nr != payload->spec->nr ||
		    value.arg->name != r->key_text->str->s || value.arg->format != FTR_ARG_STRING)
			return;
		payload->len = value.str.len;
		payload->data = (const uint8_t *)value.str.s;
		payload->spec = NULL;
	}
	ev->point.id = id;
	ev->point.cpu_nr = (uint16_t)(cpu + 1);
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

/*
 * Operations are a process's own, arrows lead anywhere; both bear the same name and id from begin
 * to end.
 */
static uint64_t span_key(const struct fxt_source *self, const struct ftr_event *ev, bool is_flow)
{
	uint64_t owner = is_flow ? FTR_BIT64(63) : (uint32_t)ev->task->pid;

	return ftr_hash_u64(ev->point.id ^ ftr_hash_u64(owner)) ^ self->record.name->str->hash ^
	       2 * self->record.category->str->hash;
}

static int span_begin(struct fxt_source *self, uint64_t key, uint64_t time_ns)
{
	struct fxt_span *span = self->spare_spans;

	if (span != NULL)
		self->spare_spans = span->next;
	else
		span = ftr_arena_alloc(&self->r->trace->arena, sizeof(*span));
	if (span == NULL)
		return -ENOMEM;
	*span = (struct fxt_span){ time_ns, ftr_hashmap_find(&self->spans, key) };
	return ftr_hashmap_set(&self->spans, key, span);
}

/*
 * Ends know when the last one of their id began that did not end before.  What has ended takes no
 * memory.
 */
static int span_match(struct fxt_source *self, struct ftr_event *ev)
{
	enum ftr_point_kind kind = ev->point.kind;
	uint64_t key = span_key(self, ev, kind >= FTR_POINT_FLOW_BEGIN);
	struct fxt_span *span;
	int ret = 0;

	if (kind == FTR_POINT_ASYNC_BEGIN || kind == FTR_POINT_FLOW_BEGIN)
		return span_begin(self, key, ev->time_ns);
	if (kind != FTR_POINT_ASYNC_END && kind != FTR_POINT_FLOW_END)
		return 0;
	span = ftr_hashmap_take(&self->spans, key);
	if (span == NULL)
		return 0;
	ev->point.start_ns = span->begin_ns;
	if (span->next != NULL)
		ret = ftr_hashmap_set(&self->spans, key, span->next);
	span->next = self->spare_spans;
	self->spare_spans = span;
	return ret;
}

/*
 * One of uftrace's own events, with the data that it has there, or none; not another one of that
 * name.
 */
static bool is_of_kind(const struct ftr_event *ev, const struct ftr_event_kind *kind,
		       enum fxt_event type)
{
	if (kind == NULL)
		return false;
	if (ev->payload != NULL && ev->payload->spec != NULL)
		return kind->spec != NULL && type == FXT_INSTANT;
	return type == FXT_INSTANT ||
	       (type == FXT_COUNTER && kind->value_nr > 0 && ev->payload != NULL);
}

static int take_point(struct fxt_source *self, size_t nr, enum fxt_event type)
{
	struct ftr_event *ev = &self->evs[nr];
	const struct fxt_point *point = point_get(self->r, self->record.category,
						  self->record.name);
	const struct ftr_event_kind *kind;
	struct fxt_args_out out;

	if (point == NULL)
		return -ENOMEM;
	kind = point->kind;
	fxt_event_begin(self, ev, FTR_EVENT_POINT);
	ev->point.name = point->name;
	ev->point.kind = point_kinds[type];
	ev->point.id = type == FXT_INSTANT ? 0 : self->record.extra;
	fxt_event_args(self, ev, nr, &out);
	point_raw(self, ev, kind);
	if (is_of_kind(ev, kind, type)) {
		ev->point.kind = FTR_POINT_INSTANT;
		ev->point.id = kind->id;
	} else if (kind == NULL && type == FXT_INSTANT && out.is_tracepoint) {
		point_tracepoint(self, ev);
	}
	if (kind != NULL && type == FXT_INSTANT && ev->point.id == 0)
		fxt_syscall_set(self, ev);
	return span_match(self, ev) < 0 ? -ENOMEM : 1;
}

static int take_fork(struct fxt_source *self, size_t nr)
{
	struct ftr_event *ev = &self->evs[nr];
	struct fxt_args_out out;

	fxt_event_begin(self, ev, FTR_EVENT_FORK);
	fxt_event_args(self, ev, nr, &out);
	if (out.child == 0)	/* a flow that another tracer wrote */
		return take_point(self, nr, FXT_FLOW_BEGIN);
	ev->payload = NULL;
	ev->fork.peer = fxt_task_by_thread(self->r, out.child);
	if (ev->fork.peer == NULL)
		return -ENOMEM;
	if (ev->fork.peer->parent == NULL && ev->fork.peer != ev->task)
		ev->fork.peer->parent = ev->task;
	ev->fork.peer->is_forked = ev->fork.peer->pid != ev->task->pid;
	fxt_syscall_set(self, ev);
	return 1;
}

static int take_lost(struct fxt_source *self, size_t nr, enum ftr_lost_source source)
{
	struct ftr_event *ev = &self->evs[nr];
	struct fxt_args_out out;

	self->r->lost_nr += source == FTR_LOST_OF_TASK;
	fxt_event_begin(self, ev, FTR_EVENT_LOST);
	fxt_event_args(self, ev, nr, &out);
	ev->payload = NULL;
	ev->lost.nr = out.records;
	ev->lost.cpu_nr = out.cpu_nr;
	ev->lost.source = (uint8_t)source;
	return 1;
}

/* Our writer repeats it in the log, right after. */
static bool is_logged(const struct ftr_event *ev)
{
	return ev->type == FTR_EVENT_LOST ||
	       (ev->type == FTR_EVENT_POINT && ftr_event_id_is_stall(ftr_event_kind_id(ev)));
}

/* An instant of our own category that is no message. */
static int take_own_instant(struct fxt_source *self, size_t nr)
{
	const struct fxt_text *name = self->record.name;
	unsigned source = 0;
	int ret;

	while (source < FTR_LOST_SOURCES && name != self->r->name_lost[source])
		source++;
	ret = source < FTR_LOST_SOURCES ? take_lost(self, nr, source) :
					  take_point(self, nr, FXT_INSTANT);
	if (ret == 1 && is_logged(&self->evs[nr])) {
		self->was_shown = true;
		self->shown_ns = self->evs[nr].time_ns;
	}
	return ret;
}

/* Records of our own category: what viewers see, or what the format has no record for. */
static int take_own(struct fxt_source *self, size_t nr, enum fxt_event type)
{
	struct fxt_reader *r = self->r;
	const struct fxt_text *name = self->record.name;

	if (type == FXT_INSTANT && (name == r->name_message || name == r->name_more))
		return 0;	/* the log holds the message; the event before, the arguments */
	if ((type == FXT_FLOW_BEGIN || type == FXT_FLOW_END) && name == r->name_thread)
		return 0;	/* calls and tasks imply it */
	if (type == FXT_FLOW_END && name == r->name_fork)
		return 0;
	if (type == FXT_FLOW_BEGIN && name == r->name_fork)
		return take_fork(self, nr);
	return type == FXT_INSTANT ? take_own_instant(self, nr) : take_point(self, nr, type);
}

int fxt_take_other(struct fxt_source *self, size_t nr, enum fxt_event type)
{
	if (self->record.category == self->r->own)
		return take_own(self, nr, type);
	return take_point(self, nr, type);
}

int fxt_take_log(struct fxt_source *self, size_t nr)
{
	const char *text = (const char *)self->r->in.data + self->record.args;
	size_t len = self->record.arg_nr;
	char *copy = (char *)self->payload_bytes + self->payload_used;

	fxt_event_begin(self, &self->evs[nr], FTR_EVENT_MESSAGE);
	if (self->was_shown) {
		self->was_shown = false;
		if (self->evs[nr].time_ns == self->shown_ns)
			return 0;
	}
	memcpy(copy, text, len);
	copy[len] = '\0';
	self->payload_used += ftr_align_up(len + 1, 8);
	self->evs[nr].message.text = copy;
	self->evs[nr].message.caller_nr = 0;
	return 1;
}

/* ---- scheduling records, of which a context switch makes two events ---- */

/* A half of a context switch: the task leaves the CPU, or gets it. */
static int take_switch(struct fxt_source *self, size_t nr, struct ftr_task *task, bool is_out,
		       const unsigned cpu_state[2])
{
	struct ftr_event *ev = &self->evs[nr];
	bool is_preempted = is_out && cpu_state[1] <= FXT_STATE_RUNNING;

	fxt_event_begin(self, ev, FTR_EVENT_POINT);
	ev->task = task;
	ev->point.cpu_nr = (uint16_t)(cpu_state[0] < UINT16_MAX ? cpu_state[0] + 1 : 0);
	ev->flags = is_preempted ? FTR_EVENT_PREEMPTED : 0;
	ev->point.id = is_out ? ftr_sched_out_id(is_preempted) : FTR_EVENT_ID_SCHED_IN;
	ev->point.name = ftr_event_kind_by_id(ev->point.id)->name;
	return 1;
}

/* The task of a thread ref or of koids at *pos in a legacy record. */
static struct ftr_task *legacy_task(struct fxt_reader *r, const struct fxt_decoded *record,
				    bool is_out)
{
	uint64_t header = record->at.header, pos = record->at.offset + 16;
	unsigned out_ref = fxt_legacy_out_ref(header);
	unsigned ref = is_out ? out_ref : fxt_legacy_in_ref(header);

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

	if (fxt_sched_type(record->at.header) == FXT_SCHED_LEGACY)
		task = legacy_task(r, record, is_out);
	else if (record->at.bytes >= 32 && fxt_word(r, pos) != 0)
		task = fxt_task_by_thread(r, fxt_word(r, pos));
	return task == NULL || task->tid == 0 ? NULL : task;
}

static int take_wakeup(struct fxt_source *self, size_t nr)
{
	struct ftr_event *ev = &self->evs[nr];
	struct fxt_decoded *record = &self->record;
	uint64_t cpu = fxt_sched_cpu(record->at.header);
	struct fxt_args_out out;

	if (fxt_word(self->r, record->at.offset + 16) == 0)
		return 0;
	record->task = fxt_task_by_thread(self->r, fxt_word(self->r, record->at.offset + 16));
	if (record->task == NULL)
		return -ENOMEM;
	fxt_event_begin(self, ev, FTR_EVENT_POINT);
	ev->point.name = FXT_EVENT_WAKEUP;
	ev->point.cpu_nr = (uint16_t)(cpu < UINT16_MAX ? cpu + 1 : 0);
	fxt_event_args(self, ev, nr, &out);
	return 1;
}

int fxt_take_scheduling(struct fxt_source *self, size_t nr, unsigned step)
{
	uint64_t header = self->record.at.header;
	bool is_legacy = fxt_sched_type(header) == FXT_SCHED_LEGACY;
	const unsigned cpu_state[2] = {
		(unsigned)(is_legacy ? fxt_legacy_cpu(header) : fxt_sched_cpu(header)),
		(unsigned)(is_legacy ? fxt_legacy_state(header) : fxt_sched_state(header)),
	};
	struct ftr_task *task;

	if (fxt_sched_type(header) == FXT_SCHED_WAKEUP)
		return step == 0 ? take_wakeup(self, nr) : 0;
	if (fxt_sched_type(header) > FXT_SCHED_WAKEUP) {
		self->r->skipped_nr += step == 0;
		return 0;
	}
	task = switch_task(self->r, &self->record, step == 0);
	if (task == NULL)
		return self->r->is_failed ? -ENOMEM : 0;
	return take_switch(self, nr, task, step == 0, cpu_state);
}
