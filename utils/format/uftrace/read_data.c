/* SPDX-License-Identifier: MIT */
/*
 * TID.dat of a uftrace directory: records of one task, in order of time, with what other files hold
 * about the task (perf events, forks, texts) put between them.  Layout: proto/record.h.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/user.h"
#include "utils/format/uftrace/read_data.h"
#include "utils/format/uftrace/system.h"
#include "utils/proto/record.h"
#include "utils/trace/event_kind.h"

#define CONTEXT_NONE 1			/* of a task without any session */
#define CONTEXT_SHIFT 48		/* addresses of programs have fewer bits */

/* ... or, of an estimated one, when it can have been. */
static uint64_t record_true_time(struct uft_data *self)
{
	bool is_big = self->reader->is_big;

	if (self->estimate.back_ns == 0)
		return uft_record_time(self, self->p);
	for (size_t bytes = 2 * UFT_RECORD_ROOM;
	     self->ready != self->end &&
	     uft_estimate_reach(self->p, self->ready, is_big) == self->ready; bytes *= 2) {
		if (uft_window_need(self, bytes) < 0)
			break;
	}
	return uft_estimate_time(&self->estimate, self->p, self->ready, is_big);
}

/* What comes first: a side event, or a change of the context. */
static void special_update(struct uft_data *self)
{
	self->special_ns = self->context_ns;
	if (self->side_pos < self->data->side.nr &&
	    self->data->side.v[self->side_pos].time_ns < self->special_ns)
		self->special_ns = self->data->side.v[self->side_pos].time_ns;
	if (self->estimate.back_ns != 0)
		self->special_ns = 0;
}

void uft_data_side_at(struct uft_data *self, size_t pos)
{
	self->side_pos = pos;
	special_update(self);
}

/* Which session, and which state of its map, holds at @time_ns? */
static void context_update(struct uft_data *self, uint64_t time_ns)
{
	const struct ftr_task *task = self->data->task;
	uint64_t next_ns = UINT64_MAX;

	self->session = NULL;
	self->context = CONTEXT_NONE;
	self->context_ns = UINT64_MAX;
	for (uint32_t i = 0; i < task->session_nr; i++) {
		if (i == 0 || task->sessions[i]->start_ns <= time_ns) {
			self->session = task->sessions[i];
		} else {
			self->context_ns = task->sessions[i]->start_ns;
			break;
		}
	}
	if (self->session != NULL)
		self->context = self->session->context_base +
				ftr_session_epoch(self->session, time_ns, &next_ns);
	if (next_ns < self->context_ns)
		self->context_ns = next_ns;
	special_update(self);
}

int uft_data_start(struct uft_data *self)
{
	int ret = uft_inherit(self->reader, self->data);

	self->is_started = true;
	self->inherit_nr = self->data->inherited.nr;
	return ret;
}

/* A child that was forked inside calls begins with them. */
static int event_inherited(struct uft_data *self, struct ftr_event *ev)
{
	uint64_t addr = self->data->inherited.v[self->inherit_pos];
	const struct ftr_func *func;

	func = ftr_trace_resolve(self->reader->trace, self->session, self->data->first_ns, addr);
	if (func == NULL)
		return -ENOMEM;
	*ev = (struct ftr_event){
		.time_ns = self->data->first_ns,
		.task = self->data->task,
		.depth = (uint32_t)self->inherit_pos++,
		.type = FTR_EVENT_ENTRY,
		.flags = FTR_EVENT_NO_ENTRY | FTR_EVENT_INFERRED,
	};
	ev->call.func = func;
	ev->call.addr = addr;
	return 1;
}

/* What comes before the first record that is not a side event. */
static bool has_inherited(const struct uft_data *self, uint64_t time_ns)
{
	return self->inherit_pos < self->inherit_nr && time_ns >= self->data->first_ns;
}

static const struct ftr_func *resolve_slow(struct uft_data *self, struct uft_slot *slot,
					   uint64_t time_ns, uint64_t addr)
{
	slot->func = ftr_trace_resolve(self->reader->trace, self->session, time_ns, addr);
	slot->addr = addr;
	slot->context = slot->func == NULL ? 0 : self->context;
	return slot->func;
}

static inline struct uft_slot *slot_of(struct uft_slot *slots, uint32_t context, uint64_t addr)
{
	uint64_t hash = (addr ^ (uint64_t)context << CONTEXT_SHIFT) * FTR_HASH_FACTOR;

	return &slots[ftr_high_bits(hash, UFT_SLOT_BITS)];
}

/* What the fast path keeps at hand. */
struct fast {
	struct ftr_task *task;
	struct uft_slot *slots;
	uint32_t context;
};

static inline struct fast fast_of(struct uft_data *self)
{
	return (struct fast){ self->data->task, self->reader->slots, self->context };
}

const struct ftr_func *uft_data_func(struct uft_data *self, uint64_t time_ns, uint64_t addr)
{
	struct uft_slot *slot = slot_of(self->reader->slots, self->context, addr);

	if (slot->addr == addr && slot->context == self->context)
		return slot->func;
	return resolve_slow(self, slot, time_ns, addr);
}

static inline int event_call(struct uft_data *self, struct fast fast, struct ftr_event *ev,
			     uint64_t time_ns, uint64_t word)
{
	uint64_t addr = ftr_record_addr(word);
	unsigned depth = ftr_record_depth(word);
	struct uft_slot *slot = slot_of(fast.slots, fast.context, addr);
	const struct ftr_func *func = slot->func;

	if (__builtin_expect((slot->addr != addr) | (slot->context != fast.context), 0)) {
		func = resolve_slow(self, slot, time_ns, addr);
		if (func == NULL)
			return -ENOMEM;
	}
	ev->time_ns = time_ns;
	ev->task = fast.task;
	ev->call.func = func;
	ev->call.addr = addr;
	ev->payload = NULL;
	ev->depth = depth == FTR_RECORD_DEPTH_MAX ? FTR_DEPTH_UNKNOWN : depth;
	ev->type = (uint8_t)(word & 1);
	ev->flags = 0;
	ev->color = 0;
	ev->verdict = 0;
	static_assert((int)FTR_RECORD_ENTRY == (int)FTR_EVENT_ENTRY &&
		      (int)FTR_RECORD_EXIT == (int)FTR_EVENT_EXIT,
		      "calls have the same numbers in records and events");
	return 0;
}

/* Plain calls until something special.  Returns how many events, or -ENOMEM. */
static inline ssize_t data_fast(struct uft_data *self, size_t nr, bool is_big)
{
	const uint64_t mask = FTR_RECORD_MAGIC_MASK | FTR_RECORD_MORE | 2;	/* 2: LOST, EVENT */
	struct fast fast = fast_of(self);
	uint64_t special_ns = self->special_ns;
	uint64_t last_ns = self->last_ns;
	const uint8_t *p = self->p;

	if (self->inherit_pos < self->inherit_nr)
		return (ssize_t)nr;
	for (; nr < FTR_SOURCE_BATCH; nr++) {
		uint64_t time_ns, word;

		if ((size_t)(self->ready - p) < UFT_RECORD_BYTES)
			break;
		time_ns = ftr_get_u64(p, is_big);
		word = ftr_get_u64(p + 8, is_big);
		if (__builtin_expect(((word & mask) != FTR_RECORD_MAGIC) |
				     (time_ns - last_ns > UFT_JUMP_NS) |
				     (time_ns >= special_ns), 0))
			break;
		if (event_call(self, fast, &self->evs[nr], time_ns, word) < 0)
			return -ENOMEM;
		last_ns = time_ns;
		p += UFT_RECORD_BYTES;
	}
	self->last_ns = last_ns;
	self->p = p;
	return (ssize_t)nr;
}

/* Each byte order has a loop of its own. */
static ssize_t data_fast_any(struct uft_data *self, size_t nr)
{
	uint64_t at = uft_offset_of(self, self->p);
	ssize_t ret;

	if (self->prefix != NULL)
		return (ssize_t)nr;
	ret = self->reader->is_big ? data_fast(self, nr, true) : data_fast(self, nr, false);
	if (self->offsets != NULL) {
		for (; (ssize_t)nr < ret; nr++, at += UFT_RECORD_BYTES)
			self->offsets[nr] = at;
	}
	return ret;
}

static void event_side(struct uft_data *self, struct ftr_event *ev)
{
	const struct uft_side *side = &self->data->side.v[self->side_pos];
	void *what = uft_side_what(self->data, side);

	uft_estimate_side(&self->estimate, self->data, self->side_pos);
	self->side_pos = self->prefix != NULL ? uft_prefix_side(self) : self->side_pos + 1;
	*ev = (struct ftr_event){ .time_ns = side->time_ns, .task = self->data->task };
	if (ev->time_ns < self->last_ns)
		ev->time_ns = self->last_ns;
	self->last_ns = ev->time_ns;
	if (side->kind == UFT_SIDE_FORK) {
		ev->type = FTR_EVENT_FORK;
		ev->fork.peer = what;
	} else if (side->kind == UFT_SIDE_MESSAGE) {
		ev->type = FTR_EVENT_MESSAGE;
		ev->message.text = what;
		ev->message.caller_nr = 0;
	} else if (side->kind == UFT_SIDE_LOST) {
		ev->type = FTR_EVENT_LOST;
		ev->lost.nr = *(const uint64_t *)what;
		ev->lost.cpu_nr = side->cpu_nr;
		ev->lost.source = FTR_LOST_OF_PERF;
	} else if (ftr_event_id_is_system(UFT_SIDE_POINT_BASE + (uint64_t)side->kind)) {
		uft_system_event(ev, what);
	} else {
		ev->type = FTR_EVENT_POINT;
		ev->point.id = UFT_SIDE_POINT_BASE + side->kind;
		ev->point.name = uft_event_name(self->reader, ev->point.id);
		ev->point.cpu_nr = side->cpu_nr;
		ev->payload = what;
	}
	special_update(self);
}

/* Take @bytes of payload over; @skip with its padding. */
static void event_payload(struct uft_data *self, struct ftr_event *ev, size_t head, size_t bytes,
			  size_t skip)
{
	struct ftr_payload *payload = &self->payloads[ev - self->evs];

	*payload = (struct ftr_payload){
		.data = self->p + head,
		.len = (uint16_t)bytes,
		.is_big_endian = self->reader->is_big,
	};
	ev->payload = payload;
	self->p += skip;
}

/*
 * The values behind an ENTRY or EXIT; self->p stands behind the record.  Only the spec defines how
 * long.
 */
static void call_payload(struct uft_data *self, struct ftr_event *ev)
{
	const struct ftr_argspec *spec = ev->type == FTR_EVENT_ENTRY ? ev->call.func->args
								      : ev->call.func->retval;
	size_t left = (size_t)(self->ready - self->p);	/* all, or UFT_RECORD_ROOM */
	ssize_t bytes = -EBADMSG;

	if (spec != NULL)
		bytes = ftr_payload_measure(spec, self->p, left, self->reader->is_big);
	if (bytes < 0 || bytes > UINT16_MAX) {
		uft_values_skip(self, spec == NULL);
		return;
	}
	event_payload(self, ev, 0, (size_t)bytes, (size_t)bytes);
	self->payloads[ev - self->evs].spec = spec;
}

/* Types, and the values behind them: proto/sdt.h. */
static void event_values(struct uft_data *self, struct ftr_payload *payload)
{
	const struct ftr_argspec *spec;

	spec = uft_event_spec(self->reader, ftr_get_u64(payload->data, self->reader->is_big));
	payload->data += sizeof(uint64_t);
	payload->len -= (uint16_t)sizeof(uint64_t);
	if (spec != NULL && ftr_payload_measure(spec, payload->data, payload->len,
						self->reader->is_big) >= 0)
		payload->spec = spec;
}

static void point_payload(struct uft_data *self, struct ftr_event *ev)
{
	size_t left = (size_t)(self->end - self->p);
	size_t bytes = left < 2 ? SIZE_MAX : ftr_get_u16(self->p, self->reader->is_big);
	const struct ftr_event_kind *kind;

	if (left < 2 || ftr_align_up(bytes + 2, 8) > left) {
		uft_data_cut(self, self->p, "an event's data");
		return;
	}
	event_payload(self, ev, 2, bytes, ftr_align_up(bytes + 2, 8));
	kind = ftr_event_kind_by_id(ev->point.id);
	if (kind != NULL && kind->spec != NULL && ftr_event_kind_fits(kind, bytes))
		self->payloads[ev - self->evs].spec = kind->spec;
	if (kind != NULL && kind->data == FTR_EVENT_DATA_SDT && ftr_event_kind_fits(kind, bytes))
		event_values(self, &self->payloads[ev - self->evs]);
}

/* An event that stands in TID.event with its data. */
static bool is_told_aside(const struct uft_data *self, uint64_t word)
{
	uint64_t id = ftr_record_addr(word);

	return ftr_record_type(word) == FTR_RECORD_EVENT &&
	       (id & FTR_RECORD_EVENT_SDT_BARE) != 0 && id >= FTR_RECORD_EVENT_SDT &&
	       id <= FTR_RECORD_EVENT_SDT_LAST && self->data->is_aside_open;
}

/* The record at p, whatever it is.  1, or 0 when it was no record, or -ENOMEM. */
static int data_record(struct uft_data *self, struct ftr_event *ev)
{
	uint64_t word = uft_record_word(self, self->p);
	uint64_t time_ns = record_true_time(self);
	int ret = 0;

	if (!uft_word_is_record(word)) {
		const uint8_t *from = self->p;
		size_t bytes = uft_data_resync(self, from + 8);

		ftr_diag_warn(self->diag, "%s+0x%zx: no record; skipped %zu bytes",
			      self->in->name, uft_offset_of(self, from), bytes);
		return 0;
	}
	if (ftr_record_type(word) == FTR_RECORD_LOST)	/* has no time of its own */
		time_ns = self->last_ns != 0 ? self->last_ns : self->data->first_ns;
	else if (self->estimate.is_on && time_ns < self->last_ns)
		time_ns = self->last_ns;	/* within the call that was moved */
	else if (time_ns - self->last_ns > UFT_JUMP_NS && self->prefix == NULL)
		time_ns = uft_time_mend(self, time_ns);
	if (time_ns >= self->context_ns)
		context_update(self, time_ns);
	if (self->estimate.back_ns != 0 &&
	    uft_record_time(self, self->p) >= self->estimate.back_ns) {
		self->estimate.back_ns = 0;
		special_update(self);
	}
	self->last_ns = time_ns;
	self->at = uft_offset_of(self, self->p);
	self->p += UFT_RECORD_BYTES;
	if (ftr_record_type(word) <= FTR_RECORD_EXIT) {
		ret = event_call(self, fast_of(self), ev, time_ns, word);
		if (ret == 0 && (word & FTR_RECORD_MORE))
			call_payload(self, ev);
		return ret < 0 ? ret : 1;
	}
	if (is_told_aside(self, word))
		return 0;
	*ev = (struct ftr_event){ .time_ns = time_ns, .task = self->data->task };
	if (ftr_record_type(word) == FTR_RECORD_LOST) {
		ev->type = FTR_EVENT_LOST;
		ev->lost.nr = ftr_record_addr(word);
		return 1;
	}
	ev->type = FTR_EVENT_POINT;
	ev->point.id = ftr_record_addr(word);
	ev->point.name = uft_event_name(self->reader, ev->point.id);
	if (word & FTR_RECORD_MORE)
		point_payload(self, ev);
	if (ev->payload != NULL && uft_user_event(&self->reader->user_names, ev,
						  &self->payloads[ev - self->evs]) < 0)
		return -ENOMEM;
	return ev->type == FTR_EVENT_POINT && ev->point.name == NULL ? -ENOMEM : 1;
}

/* Has a file that grows all of the record at p?  What is no record is damage, and not awaited. */
static bool record_is_whole(struct uft_data *self)
{
	size_t left = (size_t)(self->end - self->p) - UFT_RECORD_BYTES;
	const uint8_t *payload = self->p + UFT_RECORD_BYTES;
	const struct ftr_argspec *spec;
	const struct ftr_func *func;
	uint64_t word;

	if ((size_t)(self->end - self->p) < UFT_RECORD_BYTES)
		return false;
	word = uft_record_word(self, self->p);
	if (!uft_word_is_record(word) || !(word & FTR_RECORD_MORE))
		return true;
	if (ftr_record_type(word) > FTR_RECORD_EXIT)
		return left >= 2 &&
		       ftr_align_up(ftr_get_u16(payload, self->reader->is_big) + 2u, 8) <= left;
	func = uft_data_func(self, uft_record_time(self, self->p), ftr_record_addr(word));
	spec = func == NULL ? NULL :
	       ftr_record_type(word) == FTR_RECORD_ENTRY ? func->args : func->retval;
	return spec == NULL ||
	       ftr_payload_measure(spec, payload, left, self->reader->is_big) >= 0;
}

/* One event off the fast path.  1, 0 at the end, or -ENOMEM. */
static int data_slow(struct uft_data *self, struct ftr_event *ev)
{
	int ret = 0;

	self->at = UFT_NOWHERE;
	while (ret == 0) {
		size_t left = (size_t)(self->end - self->p);
		bool has_side = self->side_pos < self->data->side.nr;

		if (uft_window_need(self, UFT_RECORD_ROOM) < 0)
			return -ENOMEM;
		if (self->is_growing && left > 0 && !record_is_whole(self))
			left = 0;
		if (left > 0 && left < UFT_RECORD_BYTES) {
			uft_data_cut(self, self->p, "a record");
			continue;
		}
		if (left == 0 && !has_side)
			return 0;
		if (has_side && (left == 0 || (uft_word_is_record(uft_record_word(self, self->p)) &&
		    record_true_time(self) >= self->data->side.v[self->side_pos].time_ns))) {
			if (has_inherited(self, self->data->side.v[self->side_pos].time_ns))
				return event_inherited(self, ev);
			event_side(self, ev);
			return ev->type == FTR_EVENT_POINT && ev->point.name == NULL ? -ENOMEM : 1;
		}
		if (has_inherited(self, UINT64_MAX))
			return event_inherited(self, ev);
		ret = data_record(self, ev);
	}
	return ret;
}

static int data_begin(struct uft_data *self, struct ftr_err *err)
{
	if (uft_data_start(self) < 0)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", self->in->name);
	return uft_data_seek(self, err);
}

static ssize_t data_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct uft_data *self = (struct uft_data *)source;
	const uint8_t *from;
	size_t nr = 0;
	ssize_t ret;

	uft_runs_settle(self);
	from = self->p;
	if (!self->is_started && (ret = data_begin(self, err)) < 0)
		return ret;
	if (self->seek.to_ns != 0 && self->last_ns > self->seek.to_ns)
		return 0;
	if (uft_window_begin(self) < 0)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", self->in->name);
	if (!uft_runs_prevail(self) && self->prefix == NULL)
		uft_window_move(self);
	while (nr < FTR_SOURCE_BATCH) {
		ret = data_fast_any(self, nr);
		if (ret >= 0) {
			nr = (size_t)ret;
			if (nr == FTR_SOURCE_BATCH)
				break;
			ret = data_slow(self, &self->evs[nr]);
		}
		if (ret < 0)
			return ftr_err_set(err, ENOMEM, "%s: out of memory", self->in->name);
		if (ret == 0)
			break;
		if (self->offsets != NULL)
			self->offsets[nr] = self->at;
		nr++;
		if (self->prefix != NULL ? uft_prefix_step(self) : uft_runs_begin_at(self, self->p))
			break;
	}
	self->reader->trace->bytes_read += (uint64_t)(self->p - from);
	*evs = self->evs;
	return (ssize_t)nr;
}

void uft_data_grow(struct uft_data *self, size_t pos, bool is_final)
{
	self->p = self->in->data + pos;
	self->end = self->ready = self->in->data + self->in->size;
	self->is_growing = !is_final;
	context_update(self, self->last_ns != 0 ? self->last_ns : self->data->first_ns);
}

static void data_seek(struct ftr_source *source, const struct ftr_seek *seek)
{
	((struct uft_data *)source)->seek = *seek;
}

static void data_free(struct ftr_source *source)
{
	struct uft_data *self = (struct uft_data *)source;

	uft_runs_free(self->runs);
	uft_prefix_drop(self);
	uft_pins_release(&self->pins);
	free(self);
}

static const struct ftr_source_ops data_ops = {
	.next = data_next,
	.wish = uft_data_wish,
	.run = uft_data_run,
	.seek = data_seek,
	.free = data_free,
};

static const struct ftr_source_ops aside_ops = {
	.next = data_next,
	.free = data_free,
};

static struct uft_data *source_new(struct uft_reader *reader, struct uft_task *task,
				      const struct ftr_istream *in, struct ftr_diag *diag)
{
	struct uft_data *self = aligned_alloc(FTR_CACHE_LINE, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->base = (struct ftr_source){ .ops = &data_ops };
	self->reader = reader;
	self->data = task;
	self->in = in;
	self->estimate = (struct uft_estimate){ 0 };
	self->diag = diag;
	self->p = in->data;
	self->end = in->size == 0 ? self->p : self->p + in->size;
	self->pins = (struct uft_pins){
		.packed = in == &task->in ? task->packed : task->aside_packed,
		.diag = diag,
	};
	self->ready = self->pins.packed != NULL ? self->p : self->end;
	self->last_ns = 0;
	self->side_pos = 0;
	self->inherit_pos = self->inherit_nr = 0;
	self->is_started = false;
	self->window_pos = 0;
	self->is_back_reported = false;
	self->is_growing = false;
	self->runs = NULL;
	self->seek = (struct ftr_seek){ 0 };
	self->prefix = NULL;
	self->offsets = NULL;
	context_update(self, task->first_ns);
	return self;
}

struct ftr_source *uft_data_source(struct uft_reader *reader, struct uft_task *task,
				   struct ftr_diag *diag)
{
	struct uft_data *self = source_new(reader, task, &task->in, diag);

	if (self == NULL)
		return NULL;
	self->estimate.is_on =
		(reader->trace->info.feature_mask & FTR_FEATURE_ESTIMATE_RETURN) != 0;
	return &self->base;
}

struct ftr_source *uft_aside_source(struct uft_reader *reader, struct uft_task *task,
				    struct ftr_diag *diag)
{
	struct uft_data *self = source_new(reader, task, &task->aside, diag);

	if (self == NULL)
		return NULL;
	self->base.ops = &aside_ops;
	self->side_pos = self->inherit_pos = SIZE_MAX;	/* these are of TID.dat */
	self->is_started = true;
	special_update(self);
	return &self->base;
}
