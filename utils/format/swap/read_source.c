/* SPDX-License-Identifier: MIT */
/* SWAP reader: messages of one task to events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/swap/probe.h"
#include "utils/format/swap/read.h"
#include "utils/trace/args.h"

#define KERNEL_BASE ((uint64_t)INT64_MAX + 1)	/* where its half of all addresses begins */
#define EVENTS_OF_ONE 3u	/* of a message: two, and one for what is missing before */

struct swap_source {
	struct ftr_source base;
	struct swap_reader *r;
	struct swap_task_places *of;
	size_t pos;
	size_t nr;
	struct ftr_strbuf bytes;	/* of the payloads */
	struct ftr_event evs[FTR_SOURCE_BATCH];
	struct ftr_payload payloads[FTR_SOURCE_BATCH];
	size_t starts[FTR_SOURCE_BATCH];	/* of payloads in bytes */
};

/* ---- arguments ---- */

static struct ftr_arg arg_of(char type)
{
	switch (type) {
	case 'c':
		return (struct ftr_arg){ .format = FTR_ARG_CHAR, .size = 1 };
	case 'b':
		return (struct ftr_arg){ .format = FTR_ARG_BOOL, .size = 1 };
	case 'd':
		return (struct ftr_arg){ .format = FTR_ARG_SIGNED, .size = 4 };
	case 'x':
		return (struct ftr_arg){ .format = FTR_ARG_AUTO, .size = 8 };
	case 'p':
		return (struct ftr_arg){ .format = FTR_ARG_POINTER, .size = 8 };
	case 'f':
		return (struct ftr_arg){ .format = FTR_ARG_FLOAT, .size = 4 };
	case 'w':
		return (struct ftr_arg){ .format = FTR_ARG_FLOAT, .size = 8 };
	case 's':
		return (struct ftr_arg){ .format = FTR_ARG_STRING };
	default:	/* an array: the pointer to it */
		return (struct ftr_arg){ .format = FTR_ARG_POINTER, .size = 8 };
	}
}

/* The layout of arguments of these types, made once. */
static const struct ftr_argspec *spec_get(struct swap_reader *r, const char *types, size_t nr)
{
	uint64_t key = ftr_hash_bytes(types, nr);
	struct ftr_argspec *spec = ftr_hashmap_find(&r->specs, key);

	if (spec != NULL && spec->nr == nr)
		return spec;
	spec = ftr_arena_alloc(&r->trace->arena, sizeof(*spec) + nr * sizeof(spec->args[0]));
	if (spec == NULL)
		return NULL;
	spec->nr = (uint16_t)nr;
	for (size_t i = 0; i < nr; i++) {
		spec->args[i] = arg_of(types[i]);
		spec->args[i].index = (uint8_t)(i + 1);
	}
	return ftr_hashmap_set(&r->specs, key, spec) < 0 ? NULL : spec;
}

#define PAYLOAD_MAX 60000u	/* with the strings of its arguments */

static void bytes_pad(struct ftr_strbuf *bytes, size_t start, size_t align)
{
	while ((bytes->len - start) % align != 0)
		ftr_strbuf_putc(bytes, '\0');
}

static void put_arg(struct ftr_strbuf *bytes, const struct swap_value *value, size_t start)
{
	uint8_t raw[8];
	uint16_t len = value->len > PAYLOAD_MAX / 2 ? PAYLOAD_MAX / 2 : (uint16_t)value->len;
	int size = swap_arg_bytes(value->type);

	if (value->type == 's') {
		ftr_put_u16(raw, len, false);
		ftr_strbuf_put(bytes, raw, sizeof(len));
		ftr_strbuf_put(bytes, value->s, len);
	} else if (size < 0) {
		ftr_strbuf_put(bytes, value->s, sizeof(raw));	/* the pointer to it */
	} else {
		ftr_put_u64(raw, value->u, false);	/* its low bytes */
		ftr_strbuf_put(bytes, raw, (size_t)size);
	}
	bytes_pad(bytes, start, 4);
}

/* Those of the decoded values: a call's arguments, or what it returned. */
static int set_args(struct swap_source *self, struct ftr_event *ev)
{
	const struct swap_values *values = &self->r->values;
	size_t start = self->bytes.len, nr = 0;
	struct ftr_payload *payload = &self->payloads[self->nr];

	ftr_strbuf_clear(&self->r->types);
	for (size_t i = 0; i < values->all.nr && nr < UINT8_MAX; i++) {
		const struct swap_value *value = &values->all.v[i];

		if (value->type == '\0' || swap_arg_bytes(value->type) == 0 ||
		    self->bytes.len - start > PAYLOAD_MAX / 2)
			continue;
		ftr_strbuf_putc(&self->r->types, value->type);
		put_arg(&self->bytes, value, start);
		nr++;
	}
	if (nr == 0)
		return 0;
	bytes_pad(&self->bytes, start, 8);
	*payload = (struct ftr_payload){ .len = (uint16_t)(self->bytes.len - start) };
	payload->spec = spec_get(self->r, ftr_strbuf_str(&self->r->types), nr);
	self->starts[self->nr] = start;
	ev->payload = payload;
	return payload->spec == NULL || self->bytes.failed ? -ENOMEM : 0;
}

/* ---- kinds of messages ---- */

static int call_event(struct swap_source *self, struct ftr_event *ev, bool is_entry)
{
	struct ftr_trace *trace = self->r->trace;
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);

	ev->type = is_entry ? FTR_EVENT_ENTRY : FTR_EVENT_EXIT;
	ev->depth = FTR_DEPTH_UNKNOWN;
	ev->call.addr = swap_number(&self->r->values, "pc");
	ev->call.func = self->r->kernel != NULL && ev->call.addr >= KERNEL_BASE ?
			ftr_trace_resolve_module(trace, self->r->kernel, ev->call.addr, 'K') :
			ftr_trace_resolve(trace, session, ev->time_ns, ev->call.addr);
	return ev->call.func == NULL ? -ENOMEM : set_args(self, ev);
}

/* A kind of event that has a CPU. */
static void switch_event(struct swap_source *self, struct ftr_event *ev, uint64_t id)
{
	uint64_t cpu = swap_number(&self->r->values, "cpu");

	ev->type = FTR_EVENT_POINT;
	ev->point.id = id;
	ev->point.name = ftr_event_kind_by_id(id)->name;
	ev->point.cpu_nr = cpu < UINT16_MAX ? (uint16_t)(cpu + 1) : 0;
}

static void sample_event(struct swap_source *self, struct ftr_event *ev)
{
	struct ftr_payload *payload = &self->payloads[self->nr];
	uint64_t pc = swap_number(&self->r->values, "pc");

	switch_event(self, ev, FTR_EVENT_ID_SAMPLE_CPU);
	self->starts[self->nr] = self->bytes.len;
	ftr_strbuf_put(&self->bytes, &pc, sizeof(pc));
	*payload = (struct ftr_payload){ .len = sizeof(pc), .is_big_endian = FTR_HOST_IS_BIG };
	ev->payload = payload;
}

/* Of a message of a probe: one, or a begin and an end.  0: it is not of an API that ftr knows. */
static int probe_events(struct swap_source *self, struct ftr_event *ev, uint32_t message)
{
	const struct ftr_event plain = *ev;
	struct swap_probe probe;

	if (!self->r->side.is_there || !swap_probe_find(&self->r->values, message, &probe))
		return 0;
	for (unsigned i = 0; i < probe.nr; i++) {
		struct ftr_payload *payload = &self->payloads[self->nr + i];

		ev[i] = plain;
		ev[i].type = FTR_EVENT_POINT;
		ev[i].point.id = probe.kinds[i]->id;
		ev[i].point.name = probe.kinds[i]->name;
		ev[i].payload = payload;
		self->starts[self->nr + i] = self->bytes.len;
		swap_probe_values(&self->r->values, &probe, probe.kinds[i], &self->bytes);
		*payload = (struct ftr_payload){ .spec = probe.kinds[i]->spec,
						 .is_big_endian = FTR_HOST_IS_BIG };
		payload->len = (uint16_t)(self->bytes.len - self->starts[self->nr + i]);
	}
	return (int)probe.nr;
}

/* A value of a series: a counter.  False: it is how the series is drawn, or has no name. */
static bool series_event(struct swap_source *self, struct ftr_event *ev)
{
	static const struct ftr_argspec spec = {
		.nr = 1, .args = { { .name = "value", .format = FTR_ARG_FLOAT, .size = 8 } },
	};
	uint64_t handle = swap_number(&self->r->values, "handle");
	uint64_t value = swap_number(&self->r->values, "value");
	const char *name = ftr_hashmap_find(&self->r->series, handle);
	struct ftr_payload *payload = &self->payloads[self->nr];

	if (name == NULL || !self->r->side.is_there ||
	    swap_number(&self->r->values, "api") != SWAP_API_COUNTER)
		return false;
	ev->type = FTR_EVENT_POINT;
	ev->point.kind = FTR_POINT_COUNTER;
	ev->point.name = name;
	self->starts[self->nr] = self->bytes.len;
	ftr_strbuf_put(&self->bytes, &value, sizeof(value));
	*payload = (struct ftr_payload){ .spec = &spec, .len = sizeof(value),
					 .is_big_endian = FTR_HOST_IS_BIG };
	ev->payload = payload;
	return true;
}

bool swap_error_task(const char *s, int32_t *pid, int32_t *tid, const char **text)
{
	struct ftr_slice rest = ftr_slice_make(s, strcspn(s, ":")), word;
	uint64_t process, thread;

	*text = s;
	if (strncmp(s + rest.len, ": ", 2) != 0 || !ftr_slice_split(&rest, ' ', &word) ||
	    !ftr_slice_eq(word, "task") || !ftr_slice_split(&rest, '/', &word) ||
	    ftr_parse_u64(word, 10, &process) < 0 || ftr_parse_u64(rest, 10, &thread) < 0 ||
	    process > INT32_MAX || thread > INT32_MAX || thread == 0)
		return false;
	*pid = (int32_t)process;
	*tid = (int32_t)thread;
	*text = s + strcspn(s, ":") + 2;
	return true;
}

/* "LOST 7 records": what ftr_event_lost_text writes. */
static bool lost_event(struct ftr_event *ev, const char *text)
{
	char same[FTR_EVENT_LOST_TEXT_MAX];
	struct ftr_event made = { .type = FTR_EVENT_LOST };
	struct ftr_slice rest = ftr_slice_make(text, strlen(text)), word;

	ftr_slice_split(&rest, ' ', &word);
	if (!ftr_slice_eq(word, "LOST") || !ftr_slice_split(&rest, ' ', &word) ||
	    ftr_parse_u64(word, 10, &made.lost.nr) < 0)
		return false;
	ftr_event_lost_text(&made, same);
	if (strcmp(same, text) != 0)
		return false;
	ev->type = FTR_EVENT_LOST;
	ev->lost.nr = made.lost.nr;
	return true;
}

static void error_event(struct swap_source *self, struct ftr_event *ev)
{
	const char *s = self->r->values.all.v[0].s, *text;
	int32_t pid, tid;

	if (!swap_error_task(s, &pid, &tid, &text) || tid != ev->task->tid)
		text = s;
	if (lost_event(ev, text))
		return;
	ev->type = FTR_EVENT_MESSAGE;
	ev->message.text = text;
}

/* Any message, as text. */
static int shown_event(struct swap_source *self, struct ftr_event *ev,
		       const struct swap_message *message, const uint8_t *p, uint32_t len)
{
	struct ftr_payload *payload = &self->payloads[self->nr];
	size_t start = self->bytes.len;
	struct swap_value raw = { .s = (const char *)p, .len = len };
	struct swap_value id = { .u = ftr_get_u32(p - SWAP_HEADER_BYTES, false) };

	if (message == NULL) {
		message = &swap_message_unknown;
		self->r->values.all.nr = 0;
		id.field = message->fields;
		raw.field = message->fields + 1;
		raw.len = len < PAYLOAD_MAX / 2 ? len : PAYLOAD_MAX / 2;
		if (ftr_vec_push(&self->r->values.all, id) < 0 ||
		    ftr_vec_push(&self->r->values.all, raw) < 0)
			return -ENOMEM;
	}
	swap_format(message, &self->r->values, &self->bytes);
	ev->type = FTR_EVENT_POINT;
	ev->point.name = message->event_name;
	*payload = (struct ftr_payload){ 0 };
	payload->len = self->bytes.len - start > UINT16_MAX ? UINT16_MAX :
							       (uint16_t)(self->bytes.len - start);
	self->starts[self->nr] = start;
	ev->payload = payload;
	return self->bytes.failed ? -ENOMEM : 0;
}

bool swap_is_empty_system(const struct swap_values *values)
{
	for (size_t i = 0; i < values->all.nr; i++) {
		const struct swap_value *value = &values->all.v[i];
		bool is_count = (value->field->kind == SWAP_PER_CPU ||
				 value->field->kind == SWAP_PER_DEVICE) &&
				(i == 0 || value[-1].field != value->field);

		if (value->u != 0 && !is_count)
			return false;
	}
	return true;
}

/* How many events the message makes. */
static int message_event(struct swap_source *self, struct ftr_event *ev, const uint8_t *p)
{
	const struct swap_header header = swap_header_get(p, self->r);
	const struct swap_message *message = swap_message_decode(self->r, p, &header);
	int ret = 0;

	switch (message == NULL ? 0 : message->id) {
	case SWAP_MSG_PROCESS_INFO:
	case SWAP_MSG_PROCESS_MAP:
	case SWAP_MSG_TERMINATE:
		return 0;
	case SWAP_MSG_FUNCTION_ENTRY:
	case SWAP_MSG_SYSCALL_ENTRY:
		ret = call_event(self, ev, true);
		break;
	case SWAP_MSG_FUNCTION_EXIT:
	case SWAP_MSG_SYSCALL_EXIT:
		ret = call_event(self, ev, false);
		break;
	case SWAP_MSG_CONTEXT_SWITCH_ENTRY:
		switch_event(self, ev, FTR_EVENT_ID_SCHED_IN);
		break;
	case SWAP_MSG_CONTEXT_SWITCH_EXIT:
		switch_event(self, ev, FTR_EVENT_ID_SCHED_OUT);
		break;
	case SWAP_MSG_SAMPLE:
		sample_event(self, ev);
		break;
	case SWAP_MSG_ERROR:
		error_event(self, ev);
		break;
	case SWAP_MSG_LSAN:
		if (self->r->side.is_there &&
		    ftr_hashmap_find(&self->r->side.leaks, (uint32_t)ev->task->pid) != NULL)
			return 0;	/* who writes the requests finds that out again */
		ret = shown_event(self, ev, message, p + SWAP_HEADER_BYTES, header.len);
		break;
	case SWAP_MSG_SYSTEM:
		if (swap_is_empty_system(&self->r->values))
			return 0;
		ret = shown_event(self, ev, message, p + SWAP_HEADER_BYTES, header.len);
		break;
	case SWAP_MSG_PROBE_CUSTOM:
		if (series_event(self, ev))
			return 1;
		/* fall through */
	default:
		ret = message == NULL ? 0 : probe_events(self, ev, message->id);
		if (ret > 0)
			return ret;
		ret = shown_event(self, ev, message, p + SWAP_HEADER_BYTES, header.len);
		break;
	}
	return ret < 0 ? ret : 1;
}

void swap_source_begin(struct swap_source *self)
{
	self->nr = 0;
	ftr_strbuf_clear(&self->bytes);
}

bool swap_source_is_full(const struct swap_source *self)
{
	return self->nr + EVENTS_OF_ONE > FTR_SOURCE_BATCH;
}

int swap_source_add(struct swap_source *self, struct ftr_task *task, const uint8_t *p,
		    uint32_t lost_nr)
{
	const struct ftr_event plain = { .task = task,
					 .time_ns = swap_header_get(p, self->r).time_ns };
	int ret;

	if (lost_nr > 0) {
		self->evs[self->nr] = plain;
		self->evs[self->nr].type = FTR_EVENT_LOST;
		self->evs[self->nr].lost.nr = lost_nr;
		self->nr++;
	}
	self->evs[self->nr] = plain;
	ret = message_event(self, &self->evs[self->nr], p);
	self->nr += ret > 0 ? (unsigned)ret : 0;
	return ret < 0 ? ret : 0;
}

ssize_t swap_source_end(struct swap_source *self, struct ftr_event **evs)
{
	if (self->bytes.failed)
		return -ENOMEM;
	for (size_t i = 0; i < self->nr; i++) {
		if (self->evs[i].payload != NULL)
			self->payloads[i].data = (const uint8_t *)ftr_strbuf_str(&self->bytes) +
						 self->starts[i];
	}
	*evs = self->evs;
	return (ssize_t)self->nr;
}

static void add_sample(struct swap_source *self, const struct swap_place *place)
{
	struct ftr_event *ev = &self->evs[self->nr];

	*ev = (struct ftr_event){ .task = self->of->task, .time_ns = place->time_ns };
	self->starts[self->nr] = self->bytes.len;
	swap_sample_event(place->sample, ev, &self->payloads[self->nr], &self->bytes);
	self->nr++;
}

static ssize_t swap_source_next(struct ftr_source *source, struct ftr_event **evs,
				struct ftr_err *err)
{
	struct swap_source *self = (struct swap_source *)source;
	ssize_t ret = 0;

	swap_source_begin(self);
	while (ret == 0 && self->pos < self->of->places.nr && !swap_source_is_full(self)) {
		const struct swap_place *place = &self->of->places.v[self->pos++];

		if (place->sample != NULL)
			add_sample(self, place);
		else
			ret = swap_source_add(self, self->of->task,
					      self->r->in.data + place->offset, place->lost_nr);
	}
	if (ret == 0)
		ret = swap_source_end(self, evs);
	return ret < 0 ? ftr_err_set(err, ENOMEM, "swap: out of memory") : ret;
}

void swap_source_free(struct ftr_source *source)
{
	struct swap_source *self = (struct swap_source *)source;

	if (self == NULL)
		return;
	ftr_strbuf_fini(&self->bytes);
	free(self);
}

static const struct ftr_source_ops swap_source_ops = {
	.next = swap_source_next,
	.free = swap_source_free,
};

struct ftr_source *swap_source_new(struct swap_reader *r, struct swap_task_places *of)
{
	struct swap_source *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->base.ops = &swap_source_ops;
	if (of != NULL)		/* else the calls of all tasks, as they come */
		self->base.task = of->task;
	self->r = r;
	self->of = of;
	return &self->base;
}
