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
#include "utils/format/uftrace/read_data.h"
#include "utils/proto/record.h"
#include "utils/trace/event_kind.h"

#define CONTEXT_NONE 1			/* of a task without any session */
#define CONTEXT_SHIFT 48		/* addresses of programs have fewer bits */

static size_t offset_of(const struct uft_data *self, const uint8_t *p)
{
	return (size_t)(p - self->in->data);
}

static uint64_t record_time(const struct uft_data *self, const uint8_t *p)
{
	return ftr_get_u64(p, self->reader->is_big);
}

/* ... or, of an estimated one, when it can have been. */
static uint64_t record_true_time(struct uft_data *self)
{
	return self->estimate.back_ns == 0 ? record_time(self, self->p) :
	       uft_estimate_time(&self->estimate, self->p, self->end, self->reader->is_big);
}

static uint64_t record_word(const struct uft_data *self, const uint8_t *p)
{
	return ftr_get_u64(p + 8, self->reader->is_big);
}

static bool word_is_record(uint64_t word)
{
	return (word & FTR_RECORD_MAGIC_MASK) == FTR_RECORD_MAGIC;
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
	self->is_started = true;
	return uft_inherit(self->reader, self->data);
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
	return self->inherit_pos < self->data->inherited.nr && time_ns >= self->data->first_ns;
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

	if (self->inherit_pos < self->data->inherited.nr)
		return (ssize_t)nr;
	for (; nr < FTR_SOURCE_BATCH; nr++) {
		uint64_t time_ns, word;

		if ((size_t)(self->end - p) < UFT_RECORD_BYTES)
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
	return self->reader->is_big ? data_fast(self, nr, true) : data_fast(self, nr, false);
}

/* Could a record begin at @p, after one of last_ns? */
static bool record_is_plausible(const struct uft_data *self, const uint8_t *p)
{
	uint64_t word, time_ns;

	if ((size_t)(self->end - p) < UFT_RECORD_BYTES)
		return false;
	word = record_word(self, p);
	time_ns = record_time(self, p);
	if (!word_is_record(word) || ftr_record_type(word) == FTR_RECORD_LOST || time_ns == 0)
		return false;
	if (self->last_ns != 0)
		return time_ns - self->last_ns <= UFT_JUMP_NS;
	return (size_t)(self->end - p) < 2 * UFT_RECORD_BYTES ||
	       (word_is_record(record_word(self, p + UFT_RECORD_BYTES)) &&
		record_time(self, p + UFT_RECORD_BYTES) - time_ns <= UFT_JUMP_NS);
}

/* Go on at the next record that makes sense, not before @at. */
static void data_resync(struct uft_data *self, const uint8_t *at, const char *why)
{
	const uint8_t *from = self->p;

	self->p = at;
	while (self->p < self->end && !record_is_plausible(self, self->p))
		self->p += 8;		/* records and payloads are multiples of that */
	if (self->p > self->end || (size_t)(self->end - self->p) < UFT_RECORD_BYTES)
		self->p = self->end;
	ftr_diag_warn(self->diag, "%s+0x%zx: %s; skipped %zu bytes",
		      self->in->name, offset_of(self, from), why, (size_t)(self->p - from));
}

/* A time that steps far ahead, when the next record's does not, or back: mend it. */
static uint64_t time_mend(struct uft_data *self, uint64_t time_ns)
{
	const uint8_t *next = self->p + UFT_RECORD_BYTES;
	struct ftr_diag *diag = self->diag;
	uint64_t next_ns;

	if (time_ns < self->last_ns) {
		if (!self->is_back_reported)
			ftr_diag_warn(diag,
				      "%s+0x%zx: time goes backwards by %llu ns; clamped (further "
				      "occurrences not reported)",
				      self->in->name, offset_of(self, self->p),
				      (unsigned long long)(self->last_ns - time_ns));
		self->is_back_reported = true;
		return self->last_ns;
	}
	if ((size_t)(self->end - self->p) < 2 * UFT_RECORD_BYTES ||
	    (record_word(self, self->p) & FTR_RECORD_MORE) ||
	    !word_is_record(record_word(self, next)) ||
	    ftr_record_type(record_word(self, next)) == FTR_RECORD_LOST)
		return time_ns;
	next_ns = record_time(self, next);
	if (next_ns >= time_ns || next_ns < self->last_ns)
		return time_ns;
	ftr_diag_warn(diag, "%s+0x%zx: implausible timestamp; using the next record's",
		      self->in->name, offset_of(self, self->p));
	return next_ns;
}

static void event_side(struct uft_data *self, struct ftr_event *ev)
{
	const struct uft_side *side = &self->data->side.v[self->side_pos++];
	void *what = uft_side_what(self->data, side);

	uft_estimate_side(&self->estimate, self->data, self->side_pos - 1);
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
	size_t left = (size_t)(self->end - self->p);
	ssize_t bytes = -EBADMSG;

	if (spec != NULL)
		bytes = ftr_payload_measure(spec, self->p, left, self->reader->is_big);
	if (bytes < 0 || bytes > UINT16_MAX) {
		data_resync(self, self->p, spec == NULL ? "arguments of an unknown layout"
							: "damaged arguments");
		return;
	}
	event_payload(self, ev, 0, (size_t)bytes, (size_t)bytes);
	self->payloads[ev - self->evs].spec = spec;
}

static void point_payload(struct uft_data *self, struct ftr_event *ev)
{
	size_t left = (size_t)(self->end - self->p);
	size_t bytes = left < 2 ? SIZE_MAX : ftr_get_u16(self->p, self->reader->is_big);
	const struct ftr_event_kind *kind;

	if (left < 2 || ftr_align_up(bytes + 2, 8) > left) {
		ftr_diag_warn(self->diag, "%s+0x%zx: the file ends inside an event's data",
			      self->in->name, offset_of(self, self->p));
		self->p = self->end;
		return;
	}
	event_payload(self, ev, 2, bytes, ftr_align_up(bytes + 2, 8));
	kind = ftr_event_kind_by_id(ev->point.id);
	if (kind != NULL && kind->spec != NULL && ftr_event_kind_fits(kind, bytes))
		self->payloads[ev - self->evs].spec = kind->spec;
}

/* The record at p, whatever it is.  1, or 0 when it was no record, or -ENOMEM. */
static int data_record(struct uft_data *self, struct ftr_event *ev)
{
	uint64_t word = record_word(self, self->p);
	uint64_t time_ns = record_true_time(self);
	int ret = 0;

	if (!word_is_record(word)) {
		data_resync(self, self->p + 8, "no record");
		return 0;
	}
	if (ftr_record_type(word) == FTR_RECORD_LOST)	/* has no time of its own */
		time_ns = self->last_ns != 0 ? self->last_ns : self->data->first_ns;
	else if (self->estimate.is_on && time_ns < self->last_ns)
		time_ns = self->last_ns;	/* within the call that was moved */
	else if (time_ns - self->last_ns > UFT_JUMP_NS)
		time_ns = time_mend(self, time_ns);
	if (time_ns >= self->context_ns)
		context_update(self, time_ns);
	if (self->estimate.back_ns != 0 && record_time(self, self->p) >= self->estimate.back_ns) {
		self->estimate.back_ns = 0;
		special_update(self);
	}
	self->last_ns = time_ns;
	self->p += UFT_RECORD_BYTES;
	if (ftr_record_type(word) <= FTR_RECORD_EXIT) {
		ret = event_call(self, fast_of(self), ev, time_ns, word);
		if (ret == 0 && (word & FTR_RECORD_MORE))
			call_payload(self, ev);
		return ret < 0 ? ret : 1;
	}
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
	return ev->point.name == NULL ? -ENOMEM : 1;
}

/* One event off the fast path.  1, 0 at the end, or -ENOMEM. */
static int data_slow(struct uft_data *self, struct ftr_event *ev)
{
	int ret = 0;

	while (ret == 0) {
		size_t left = (size_t)(self->end - self->p);
		bool has_side = self->side_pos < self->data->side.nr;

		if (left > 0 && left < UFT_RECORD_BYTES) {
			ftr_diag_warn(self->diag, "%s+0x%zx: the file ends inside a record",
				      self->in->name, offset_of(self, self->p));
			self->p = self->end;
			continue;
		}
		if (left == 0 && !has_side)
			return 0;
		if (has_side && (left == 0 || (word_is_record(record_word(self, self->p)) &&
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

static ssize_t data_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct uft_data *self = (struct uft_data *)source;
	const uint8_t *from;
	size_t nr = 0;

	uft_runs_settle(self);
	from = self->p;
	if (!self->is_started && uft_data_start(self) < 0)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", self->in->name);
	if (!uft_runs_prevail(self))
		uft_window_move(self);
	while (nr < FTR_SOURCE_BATCH) {
		ssize_t ret = data_fast_any(self, nr);

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
		nr++;
		if (uft_runs_begin_at(self, self->p))
			break;
	}
	self->reader->trace->bytes_read += (uint64_t)(self->p - from);
	*evs = self->evs;
	return (ssize_t)nr;
}

static void data_free(struct ftr_source *source)
{
	uft_runs_free(((struct uft_data *)source)->runs);
	free(source);
}

static const struct ftr_source_ops data_ops = {
	.next = data_next,
	.run = uft_data_run,
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
	self->last_ns = 0;
	self->side_pos = 0;
	self->inherit_pos = 0;
	self->is_started = false;
	self->window_pos = 0;
	self->is_back_reported = false;
	self->runs = NULL;
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
