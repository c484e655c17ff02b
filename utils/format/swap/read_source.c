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
#define BATCH 128u		/* messages; each is an event, and one for what is missing before */

struct swap_source {
	struct ftr_source base;
	struct swap_reader *r;
	struct swap_task_places *of;
	size_t pos;
	size_t nr;
	struct ftr_strbuf bytes;	/* of the payloads */
	struct ftr_event evs[2 * BATCH];
	struct ftr_payload payloads[2 * BATCH];
	size_t starts[2 * BATCH];	/* of payloads in bytes */
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

static void switch_event(struct swap_source *self, struct ftr_event *ev, uint64_t id)
{
	uint64_t cpu = swap_number(&self->r->values, "cpu");

	ev->type = FTR_EVENT_POINT;
	ev->point.id = id;
	ev->point.name = ftr_event_kind_by_id(id)->name;
	ev->point.cpu_nr = cpu < UINT16_MAX ? (uint16_t)(cpu + 1) : 0;
}

/* The @nr-th of a message's arguments, from 1 on; behind them is what the function returned. */
static uint64_t arg_value(const struct swap_values *values, unsigned nr)
{
	for (size_t i = 0; i < values->all.nr; i++) {
		if (values->all.v[i].type != '\0' && --nr == 0)
			return values->all.v[i].u;
	}
	return 0;
}

/* The value @name of an event's spec; a wait has no arguments. */
static uint64_t probe_value(const struct swap_values *values, const struct swap_api *api,
			    const char *name)
{
	if (strcmp(name, "from") == 0 || strcmp(name, "result") == 0)
		return arg_value(values, 1);
	if (strcmp(name, "from_bytes") == 0)
		return arg_value(values, 2);
	if (api->message == SWAP_MSG_PROBE_THREAD && strcmp(name, "object") == 0)
		name = "pthread";
	return swap_number(values, name);
}

/* The kind that a message of a probe is of; NULL: of none that ftr knows. */
static const struct ftr_event_kind *probe_kind(const struct swap_source *self, uint32_t message,
					       const struct swap_api **api)
{
	uint64_t nr = swap_number(&self->r->values, "api"), step;

	if (nr == 0 || nr > SWAP_API_NR || !self->r->side.is_there)
		return NULL;
	*api = &swap_apis[nr - 1];
	if ((*api)->message != message)
		return NULL;
	if (message == SWAP_MSG_PROBE_MEMORY)
		return ftr_event_kind_by_id((*api)->kind);
	step = swap_number(&self->r->values, "api_type") - (*api)->api_type;
	return step > 1 ? NULL : ftr_event_kind_by_id((*api)->kind + step);
}

/* False: it is not of an API that ftr knows. */
static bool probe_event(struct swap_source *self, struct ftr_event *ev, uint32_t message)
{
	struct ftr_payload *payload = &self->payloads[self->nr];
	const struct swap_api *api;
	const struct ftr_event_kind *kind = probe_kind(self, message, &api);

	if (kind == NULL)
		return false;
	ev->type = FTR_EVENT_POINT;
	ev->point.id = kind->id;
	ev->point.name = kind->name;
	self->starts[self->nr] = self->bytes.len;
	for (unsigned i = 0; i < kind->spec->nr; i++) {
		uint64_t value = probe_value(&self->r->values, api, kind->spec->args[i].name);

		ftr_strbuf_put(&self->bytes, &value, sizeof(value));
	}
	*payload = (struct ftr_payload){ .spec = kind->spec, .is_big_endian = FTR_HOST_IS_BIG,
					 .len = (uint16_t)(kind->spec->nr * sizeof(uint64_t)) };
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

/* 1: there is an event; 0: the message makes none. */
static int message_event(struct swap_source *self, struct ftr_event *ev,
			 const struct swap_place *place)
{
	const uint8_t *p = self->r->in.data + place->offset;
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
	case SWAP_MSG_ERROR:
		error_event(self, ev);
		break;
	case SWAP_MSG_SYSTEM:
		if (swap_is_empty_system(&self->r->values))
			return 0;
		ret = shown_event(self, ev, message, p + SWAP_HEADER_BYTES, header.len);
		break;
	default:
		if (message == NULL || !probe_event(self, ev, message->id))
			ret = shown_event(self, ev, message, p + SWAP_HEADER_BYTES, header.len);
		break;
	}
	return ret < 0 ? ret : 1;
}

static int place_add(struct swap_source *self, const struct swap_place *place)
{
	const struct ftr_event plain = { .task = self->of->task, .time_ns = place->time_ns };
	int ret;

	if (place->lost_nr > 0) {
		self->evs[self->nr] = plain;
		self->evs[self->nr].type = FTR_EVENT_LOST;
		self->evs[self->nr].lost.nr = place->lost_nr;
		self->nr++;
	}
	self->evs[self->nr] = plain;
	ret = message_event(self, &self->evs[self->nr], place);
	self->nr += ret > 0;
	return ret < 0 ? ret : 0;
}

static ssize_t swap_source_next(struct ftr_source *source, struct ftr_event **evs,
				struct ftr_err *err)
{
	struct swap_source *self = (struct swap_source *)source;
	int ret = 0;

	self->nr = 0;
	ftr_strbuf_clear(&self->bytes);
	while (ret == 0 && self->pos < self->of->places.nr && self->nr + 2 <= 2 * BATCH)
		ret = place_add(self, &self->of->places.v[self->pos++]);
	if (ret < 0 || self->bytes.failed)
		return ftr_err_set(err, ENOMEM, "swap: out of memory");
	for (size_t i = 0; i < self->nr; i++) {
		if (self->evs[i].payload != NULL)
			self->payloads[i].data = (const uint8_t *)ftr_strbuf_str(&self->bytes) +
						 self->starts[i];
	}
	*evs = self->evs;
	return (ssize_t)self->nr;
}

static void swap_source_free(struct ftr_source *source)
{
	struct swap_source *self = (struct swap_source *)source;

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
	self->base.is_of_one_task = true;
	self->r = r;
	self->of = of;
	return &self->base;
}
