/* SPDX-License-Identifier: MIT */
/* Any trace as a uftrace directory: events, of the perf files and of the tasks' own. */
#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/text.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/format/uftrace/export.h"
#include "utils/format/uftrace/system.h"
#include "utils/format/uftrace/user.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/sample.h"

#define EVENT_ID_FIRST 1000100u /* of events that are no kind of ours: from here on */

static_assert((int)FTR_EVENT_ID_STALL_BEGIN == (int)FTR_RECORD_EVENT_STALL_BEGIN &&
	      (int)FTR_EVENT_ID_STALL_END == (int)FTR_RECORD_EVENT_STALL_END,
	      "the runtime's ids are those of its records");
#define EVENT_DATA_MAX 1000u

/* A record of a perf file, in which sample_id stands behind the body. */
struct perf_record {
	uint32_t type;
	uint16_t misc;
	uint16_t cpu_nr;	/* as in events: plus 1, 0 = not known */
	const void *body;
	size_t len;
	struct { uint32_t pid, tid; uint64_t time; } sample_id;
};

static struct perf_record perf_of(const struct ftr_task *task, uint64_t time_ns, uint32_t type)
{
	return (struct perf_record){
		.type = type, .sample_id = { (uint32_t)task->pid, (uint32_t)task->tid, time_ns },
	};
}

static int perf_put(struct ufx *x, const struct perf_record *record)
{
	const struct perf_event_header header = {
		.type = record->type, .misc = record->misc,
		.size = (uint16_t)(sizeof(header) + record->len + sizeof(record->sample_id)),
	};
	size_t cpu = record->cpu_nr == 0 ? 0 : record->cpu_nr - 1u;
	struct ufx_perf *perf;
	uint8_t *p;

	assert(record->len % 8 == 0);
	assert(header.size == sizeof(header) + record->len + sizeof(record->sample_id));
	if (ftr_vec_reach(&x->perf, cpu) < 0)
		return ufx_no_memory(x);
	perf = &x->perf.v[cpu];
	if (ftr_vec_reserve(&perf->bytes, perf->bytes.nr + header.size) < 0)
		return ufx_no_memory(x);
	p = perf->bytes.v + perf->bytes.nr;
	memcpy(p, &header, sizeof(header));
	if (record->len > 0)
		memcpy(p + sizeof(header), record->body, record->len);
	memcpy(p + sizeof(header) + record->len, &record->sample_id, sizeof(record->sample_id));
	perf->bytes.nr += header.size;
	x->has_perf = true;
	return 0;
}

int ufx_perf_comm(struct ufx *x, const struct ftr_task *task, uint64_t time_ns,
		  struct ftr_slice name, uint16_t cpu_nr)
{
	struct perf_record record = perf_of(task, time_ns, PERF_RECORD_COMM);
	struct {
		uint32_t pid, tid;
		char comm[16];
	} body = { .pid = record.sample_id.pid, .tid = record.sample_id.tid };

	memcpy(body.comm, name.s, name.len < sizeof(body.comm) ? name.len : sizeof(body.comm) - 1);
	record.cpu_nr = cpu_nr;
	record.body = &body;
	record.len = sizeof(body);
	return perf_put(x, &record);
}

static int perf_task(struct ufx *x, const struct ftr_event *ev, uint32_t type)
{
	struct perf_record record = perf_of(ev->task, ev->time_ns, type);
	const struct ftr_task *task = ev->task;
	const struct ftr_task *maker = task->maker;	/* whose name it has at first */
	struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} body = { record.sample_id.pid, record.sample_id.pid, record.sample_id.tid,
		   record.sample_id.pid, ev->time_ns };

	if (maker == NULL && task->parent != NULL && task->parent->pid != task->pid)
		maker = task->parent;
	if (maker != NULL) {
		body.ppid = (uint32_t)maker->pid;
		body.ptid = (uint32_t)maker->tid;
	}
	record.cpu_nr = ev->point.cpu_nr;
	record.body = &body;
	record.len = sizeof(body);
	return perf_put(x, &record);
}

static int perf_switch(struct ufx *x, const struct ftr_event *ev)
{
	struct perf_record record = perf_of(ev->task, ev->time_ns, PERF_RECORD_SWITCH);

	record.cpu_nr = ev->point.cpu_nr;
	if (ftr_event_is_sched_out(ev)) {
		record.misc = PERF_RECORD_MISC_SWITCH_OUT;
		if (ev->flags & FTR_EVENT_PREEMPTED ||
		    ev->point.id == FTR_EVENT_ID_SCHED_OUT_PREEMPTED)
			record.misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	}
	return perf_put(x, &record);
}

/* A line of extern.dat: "SEC.NNN TEXT". */
static int extern_line(struct ufx *x, uint64_t time_ns, const char *text, size_t len)
{
	size_t at;

	ftr_strbuf_printf(&x->extern_text, "%" PRIu64 ".%09" PRIu64 " ", time_ns / 1000000000,
			  time_ns % 1000000000);
	at = x->extern_text.len;
	ftr_strbuf_put(&x->extern_text, text, len);
	ftr_strbuf_putc(&x->extern_text, '\n');
	if (x->extern_text.failed)
		return ufx_no_memory(x);
	for (; at + 1 < x->extern_text.len; at++) {
		if (x->extern_text.s[at] == '\n' || x->extern_text.s[at] == '\0')
			x->extern_text.s[at] = ' ';
	}
	return 0;
}

int ufx_perf_lost(struct ufx *x, const struct ftr_event *ev)
{
	struct perf_record record = perf_of(ev->task, ev->time_ns, PERF_RECORD_LOST);
	const uint64_t body[] = { 0, ev->lost.nr };

	record.cpu_nr = ev->lost.cpu_nr;
	record.body = body;
	record.len = sizeof(body);
	return perf_put(x, &record);
}

/* A line of extern.dat, with or without what the reader put before it. */
int ufx_message(struct ufx *x, const struct ftr_event *ev)
{
	const char *text = ev->message.text;

	if (ufx_task_get(x, ev->task, ev->time_ns) == NULL)
		return -ENOMEM;
	if (strncmp(text, FTR_UFTRACE_EXTERN_PREFIX, strlen(FTR_UFTRACE_EXTERN_PREFIX)) == 0)
		text += strlen(FTR_UFTRACE_EXTERN_PREFIX);
	return extern_line(x, ev->time_ns, text, strlen(text));
}

/* The id of an event that uftrace does not know, and that is named in events.txt. */
static int event_id(struct ufx *x, const char *name, bool has_values, uint64_t *id)
{
	uint64_t key = ftr_hash_bytes(name, strlen(name)) + has_values;
	uintptr_t known = (uintptr_t)ftr_hashmap_find(&x->events, key);
	int ret;

	if (known == 0) {
		const struct ftr_event_kind *kind = ftr_event_kind_by_name(name);

		known = has_values ? FTR_RECORD_EVENT_SDT + 2 * x->valued_nr++ :
			kind != NULL ? kind->id : EVENT_ID_FIRST + x->event_nr++;
		ret = ftr_uftrace_dir_event(x->dir, (uint32_t)known, name);
		if (ret == 0 && has_values)
			ret = ftr_uftrace_dir_event(x->dir, (uint32_t)known |
						    FTR_RECORD_EVENT_SDT_BARE, name);
		if (ret < 0)
			return ftr_err_set(x->base.err, -ret, "events.txt: %s", strerror(-ret));
		if (ftr_hashmap_set(&x->events, key, (void *)known) < 0)
			return ufx_no_memory(x);
	}
	*id = known;
	return 0;
}

/* The bytes of a number, as this machine has them. */
static void put_number(uint8_t *to, const struct ftr_payload *from, size_t at, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t j = from->is_big_endian == FTR_HOST_IS_BIG ? i : len - 1 - i;

		to[i] = from->data[at + j];
	}
}

/* An address of 4 or 8 bytes is one of 8. */
static void put_address(struct ufx *x, const struct ftr_event *ev, size_t len, uint8_t *to)
{
	const struct ftr_payload *from = ev->payload;
	uint64_t addr = len == 8 ? ftr_get_u64(from->data, from->is_big_endian) :
				   ftr_get_u32(from->data, from->is_big_endian);

	addr = ufx_address(x, ev, addr);
	memcpy(to, &addr, sizeof(addr));
}

/* The data of an event whose layout is known by its kind; how long they are. */
static size_t event_data(struct ufx *x, const struct ftr_event *ev, enum ftr_event_data layout,
			 uint8_t *to)
{
	const struct ftr_payload *from = ev->payload;
	size_t addr_bytes = x->trace->info.elf_class == ELFCLASS32 ? 4 : 8;
	size_t len = from->len, number = layout == FTR_EVENT_DATA_CPU ? 4 : 8;

	switch (layout) {
	case FTR_EVENT_DATA_VALUES:
	case FTR_EVENT_DATA_DIFFERENCES:
	case FTR_EVENT_DATA_CPU:
		for (size_t at = 0; at + number <= len; at += number)
			put_number(to + at, from, at, number);
		return len / number * number;
	case FTR_EVENT_DATA_VARIABLE:
		if (len < addr_bytes)
			return 0;
		put_address(x, ev, addr_bytes, to);
		put_number(to + 8, from, addr_bytes, len - addr_bytes);
		return len - addr_bytes + 8;
	case FTR_EVENT_DATA_ADDRESS:
		if (len < 8)
			return 0;
		put_address(x, ev, 8, to);
		return 8;
	default:
		memcpy(to, from->data, len);
		return len;
	}
}

/* The value in the payload that has the name of @arg, and is a text where it is one. */
static bool named_value(const struct ftr_payload *payload, const struct ftr_arg *arg,
			struct ftr_value *value)
{
	unsigned nr = 0, pos = 0;

	while (ftr_payload_next(payload, &nr, &pos, value)) {
		enum ftr_arg_format format = value->arg->format;

		if (value->arg->name == NULL || strcmp(value->arg->name, arg->name) != 0)
			continue;
		return arg->format == FTR_ARG_STRING ?
			       format == FTR_ARG_STRING :
			       format <= FTR_ARG_OCTAL || format == FTR_ARG_POINTER;
	}
	return false;
}

/* A text of an event; returns what it takes, 0 = it is too long. */
static size_t put_text(const struct ftr_value *value, uint8_t *to, size_t room)
{
	size_t bytes = ftr_align_up(sizeof(value->str.len) + value->str.len, 4);

	if (bytes > room)
		return 0;
	memset(to + bytes - 4, 0, 4);
	memcpy(to, &value->str.len, sizeof(value->str.len));
	memcpy(to + sizeof(value->str.len), value->str.s, value->str.len);
	return bytes;
}

/* The values of the kind's spec, in its order; how long they are, 0 = some are missing. */
static size_t event_values(struct ufx *x, const struct ftr_event *ev,
			   const struct ftr_argspec *spec, uint8_t *to)
{
	size_t bytes = 0, text;
	struct ftr_value value;

	for (unsigned i = 0; i < spec->nr; i++) {
		if (!named_value(ev->payload, &spec->args[i], &value))
			return 0;
		if (spec->args[i].format == FTR_ARG_STRING) {
			text = put_text(&value, to + bytes, EVENT_DATA_MAX - bytes);
			if (text == 0)
				return 0;
			bytes += text;
			continue;
		}
		if (spec->args[i].format == FTR_ARG_POINTER)
			value.u = ufx_address(x, ev, value.u);
		memcpy(to + bytes, &value.u, sizeof(value.u));
		bytes += sizeof(value.u);
	}
	return bytes;
}

/* The data of an event at @to, if their layout is known by its kind; 0 = they cannot be written. */
static size_t known_data(struct ufx *x, const struct ftr_event *ev,
			 const struct ftr_event_kind *kind, uint8_t *to)
{
	const struct ftr_payload *payload = ev->payload;

	if (payload == NULL || kind == NULL || payload->len > EVENT_DATA_MAX)
		return 0;
	if (kind->spec != NULL && payload->spec != NULL)
		return event_values(x, ev, kind->spec, to);
	return kind->is_uftrace && payload->spec == NULL ? event_data(x, ev, kind->data, to) : 0;
}

/* With the values beside the record that old readers show. */
static int record_valued(struct ufx *x, const struct ftr_event *ev, struct ufx_task *task,
			 const uint8_t *values, uint16_t bytes)
{
	uint8_t data[UFX_EVENT_VALUES_MAX + 8] = { 0 };
	struct ftr_record record = { .time = ev->time_ns };
	uint64_t id;
	int ret = event_id(x, ev->point.name, true, &id);

	if (ret < 0)
		return ret;
	memcpy(data, &bytes, sizeof(bytes));
	memcpy(data + sizeof(bytes), values, bytes);
	record.word = ftr_record_word(FTR_RECORD_EVENT, 0, id) | FTR_RECORD_MORE;
	x->has_events = true;
	ret = ufx_put_aside(x, task, &record, data, (2u + bytes + 7) / 8 * 8);
	record.word = ftr_record_word(FTR_RECORD_EVENT, 0, id | FTR_RECORD_EVENT_SDT_BARE);
	return ret < 0 ? ret : ufx_put(x, task, &record, NULL, 0);
}

/* What a program said of itself, at @to, with its kind; NULL: it is none of ours, or too long. */
static const struct ftr_event_kind *user_data(struct ufx *x, const struct ftr_event *ev,
					      uint8_t *to, uint16_t *bytes)
{
	static const struct ftr_arg caller = { .name = "caller", .format = FTR_ARG_POINTER };
	struct ftr_value value = { .u = 0 };
	uint64_t id;
	size_t len = 0;

	if (ev->payload == NULL || !named_value(ev->payload, &caller, &value))
		value.u = 0;
	else
		value.u = ufx_address(x, ev, value.u);
	id = uft_user_record(ev, value.u, to, EVENT_DATA_MAX, &len);
	if (id != 0)
		*bytes = (uint16_t)len;
	return id == 0 ? NULL : ftr_event_kind_by_id(id);
}

/* Beside them, as the runtime had it. */
static int record_user(struct ufx *x, const struct ftr_event *ev, struct ufx_task *task,
		       const struct ftr_event_kind *kind, uint8_t *data, uint16_t bytes)
{
	struct ftr_record record = { .time = ev->time_ns };
	uint64_t id = 0;
	int ret = event_id(x, kind->name, false, &id);

	if (ret < 0)
		return ret;
	memcpy(data, &bytes, sizeof(bytes));
	record.word = ftr_record_word(FTR_RECORD_EVENT, 0, id) | FTR_RECORD_MORE;
	x->has_events = true;
	return ufx_put_aside(x, task, &record, data, (2u + bytes + 7) / 8 * 8);
}

/* Into the task's own records: with data only where its layout is known by the id. */
static int record_point(struct ufx *x, const struct ftr_event *ev, struct ufx_task *task)
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(ftr_event_kind_id(ev));
	uint8_t data[EVENT_DATA_MAX + 16] = { 0 };
	uint64_t id = ev->point.id;
	struct ftr_record record = { .time = ev->time_ns };
	uint16_t bytes = (uint16_t)known_data(x, ev, kind, data + 2);
	const struct ftr_event_kind *user = NULL;
	unsigned len = 0;
	int ret;

	if (kind == NULL && strncmp(ev->point.name, FTR_USER_PREFIX, strlen(FTR_USER_PREFIX)) == 0)
		user = user_data(x, ev, data + sizeof(bytes), &bytes);
	if (user != NULL)
		return record_user(x, ev, task, user, data, bytes);
	if (kind == NULL || kind->data == FTR_EVENT_DATA_SDT) {
		bytes = (uint16_t)ufx_event_values(ev, data);
		if (bytes > 0)
			return record_valued(x, ev, task, data, bytes);
	}
	if (kind == NULL || !kind->is_uftrace) {
		ret = event_id(x, ev->point.name, false, &id);
		if (ret < 0)
			return ret;
	}
	record.word = ftr_record_word(FTR_RECORD_EVENT, 0, id);
	if (bytes > 0) {
		memcpy(data, &bytes, sizeof(bytes));
		len = (2u + bytes + 7) / 8 * 8;
		record.word |= FTR_RECORD_MORE;
	} else if (ev->payload != NULL || ev->point.kind > FTR_POINT_COUNTER) {
		x->data_cut_nr++;
	}
	x->has_events = true;
	if (kind != NULL && ftr_event_kind_is_aside(kind, bytes))
		return ufx_put_aside(x, task, &record, data, len);
	return ufx_put(x, task, &record, data, len);
}

/*
 * A thread is called as its maker, or else the process, is when it begins: a reader finds that by
 * itself.
 */
static void name_inherit(const struct ufx *x, struct ufx_task *task)
{
	const struct ftr_task *from = task->task->maker;

	if (from == NULL)
		from = ftr_trace_task_find(x->trace, task->task->pid);
	if (from == NULL || from == task->task || from->id >= x->tasks.nr)
		return;
	task->name = x->tasks.v[from->id].name;
	task->is_named = task->name != NULL && strcmp(task->name, task->task->name) == 0;
}

static int point_name(struct ufx *x, const struct ftr_event *ev, struct ufx_task *task)
{
	const char *name = ev->payload == NULL ? "" : (const char *)ev->payload->data;
	size_t len = ev->payload == NULL ? 0 : ev->payload->len;

	task->is_named = true;
	task->name = ftr_arena_strndup(&x->arena, name, len);
	if (task->name == NULL)
		return ufx_no_memory(x);
	return ufx_perf_comm(x, ev->task, ev->time_ns, ftr_slice_make(name, len), ev->point.cpu_nr);
}

/* A record of sample-cpuN.dat: return addresses stay as far behind where a call is as they are. */
static int sample_put(struct ufx *x, const struct ftr_event *ev)
{
	const struct ftr_payload *data = ev->payload;
	size_t cpu = ev->point.cpu_nr == 0 ? 0 : ev->point.cpu_nr - 1u, nr = data->len / 8;
	struct {
		struct perf_event_header header;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time_ns, nr, ips[FTR_SAMPLE_FRAMES_MAX];
	} record = { .pid = (uint32_t)ev->task->pid, .tid = (uint32_t)ev->task->tid,
		     .time_ns = ev->time_ns };
	struct ufx_perf *perf;
	uint8_t *to;

	record.nr = nr < FTR_SAMPLE_FRAMES_MAX ? nr : FTR_SAMPLE_FRAMES_MAX;
	for (size_t i = 0; i < record.nr; i++)
		record.ips[i] = ufx_address(x, ev, ftr_get_u64(data->data + i * 8,
							       data->is_big_endian) - (i > 0)) +
				(i > 0);
	record.ip = record.ips[0];
	record.header.type = PERF_RECORD_SAMPLE;
	record.header.size = (uint16_t)(offsetof(typeof(record), ips) + record.nr * 8);
	if (ftr_vec_reach(&x->samples, cpu) < 0)
		return ufx_no_memory(x);
	perf = &x->samples.v[cpu];
	if (ftr_vec_reserve(&perf->bytes, perf->bytes.nr + record.header.size) < 0)
		return ufx_no_memory(x);
	to = perf->bytes.v + perf->bytes.nr;
	memcpy(to, &record, record.header.size);
	perf->bytes.nr += record.header.size;
	return 0;
}

static int system_put(struct ufx *x, const struct ftr_system_sample *sample)
{
	uint8_t record[FTR_UFTRACE_SYSTEM_BYTES_MAX];
	size_t len = ftr_uftrace_system_record(sample, record);

	if (ftr_vec_reserve(&x->system.bytes, x->system.bytes.nr + len) < 0)
		return ufx_no_memory(x);
	memcpy(x->system.bytes.v + x->system.bytes.nr, record, len);
	x->system.bytes.nr += len;
	return 0;
}

int ufx_point(struct ufx *x, const struct ftr_event *ev)
{
	struct ufx_task *task = ufx_task_get(x, ev->task, ev->time_ns);
	const struct ftr_payload *payload = ev->payload;
	struct ftr_system_sample system;
	int ret;

	if (task == NULL)
		return -ENOMEM;
	if (ftr_system_sample_get(ev, &system))
		return system_put(x, &system);
	if (ev->point.cpu_nr != 0)
		task->cpu_nr = ev->point.cpu_nr;
	ret = ufx_kernel_point(x, task, ev);
	if (ret != 0)
		return ret < 0 ? ret : 0;
	if (ftr_event_is_sched_out(ev) || ftr_event_is_sched_in(ev))
		return perf_switch(x, ev);
	switch (ftr_event_kind_id(ev)) {
	case FTR_EVENT_ID_TASK_NEW:
		name_inherit(x, task);
		return perf_task(x, ev, PERF_RECORD_FORK);
	case FTR_EVENT_ID_TASK_EXIT:
		return perf_task(x, ev, PERF_RECORD_EXIT);
	case FTR_EVENT_ID_TASK_NAME:
		return point_name(x, ev, task);
	case FTR_EVENT_ID_EXTERN:
		return extern_line(x, ev->time_ns,
				   payload == NULL ? "" : (const char *)payload->data,
				   payload == NULL ? 0 : payload->len);
	case FTR_EVENT_ID_SAMPLE_CPU:
		if (payload != NULL && payload->spec == NULL && payload->len >= 8)
			return sample_put(x, ev);
		return record_point(x, ev, task);
	default:
		return record_point(x, ev, task);
	}
}
