/* SPDX-License-Identifier: MIT */
/*
 * perf-cpuN.dat, sample-cpuN.dat, system.dat and extern.dat of a directory: what happened to tasks
 * besides calls.  The perf records (perf_event.h) are those of a dummy event, and in
 * sample-cpuN.dat of a clock that takes samples: each but those ends in sample_id { u32 pid, tid;
 * u64 time }, and so do those of system.dat (system.h).
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/text.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/system.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/sample.h"

#define PERF_PREFIX "perf-cpu"
#define SAMPLE_PREFIX "sample-cpu"
#define PERF_SUFFIX ".dat"
#define HEADER_BYTES 8		/* u32 type, u16 misc, u16 size */
#define SAMPLE_BYTES 16
#define TASK_TID_OFFSET 16	/* FORK, EXIT: u32 pid, ppid, tid, ptid; u64 time */
#define TASK_PTID_OFFSET 20
#define TASK_TIME_OFFSET 24
#define COMM_TID_OFFSET 12
#define COMM_OFFSET 16		/* COMM: u32 pid, tid; char comm[] */
#define LOST_NR_OFFSET 16	/* LOST: u64 id, lost */
#define RECORD_BYTES_MIN (HEADER_BYTES + SAMPLE_BYTES)
#define SAMPLE_PID_OFFSET 16	/* SAMPLE: u64 ip; u32 pid, tid; u64 time, nr, ips[nr] */
#define SAMPLE_TID_OFFSET 20
#define SAMPLE_TIME_OFFSET 24
#define SAMPLE_NR_OFFSET 32
#define SAMPLE_IPS_OFFSET 40
#define RECORD_BYTES_MAX (SAMPLE_IPS_OFFSET + 8 * (FTR_SAMPLE_FRAMES_MAX + 8))

/* A decoded perf record. */
struct found {
	struct uft_side side;
	void *what;		/* (nullable) as for uft_side_add */
	int32_t tid;		/* whose it is: at first, the sample's */
};

static uint8_t kind_of(enum ftr_event_id id)
{
	return (uint8_t)(id - UFT_SIDE_POINT_BASE);
}

/*
 * Elapsed times count from the first call or the first time that a task ran, as uftrace's: not from
 * the name that exec gave it or from its waiting, which come before, but with --event-full.
 */
static bool starts_trace(uint8_t kind)
{
	return kind < UFT_SIDE_LOST && kind != kind_of(FTR_EVENT_ID_TASK_NAME) &&
	       !ftr_event_id_is_system(UFT_SIDE_POINT_BASE + (uint64_t)kind) &&
	       kind != kind_of(ftr_sched_out_id(false)) && kind != kind_of(ftr_sched_out_id(true));
}

static void first_take(uint64_t *first_ns, uint64_t time_ns)
{
	if (*first_ns == 0 || time_ns < *first_ns)
		*first_ns = time_ns;
}

static int found_add(struct uft_reader *reader, const struct found *found)
{
	struct uft_task *task = ftr_hashmap_find(&reader->task_by_tid, (uint32_t)found->tid);
	struct ftr_trace *trace = reader->trace;
	uint64_t time_ns = found->side.time_ns;

	if (task == NULL)	/* never called a traced function */
		return 0;
	if (starts_trace(found->side.kind))
		first_take(&trace->first_ns, time_ns);
	if (found->side.kind < UFT_SIDE_LOST)
		first_take(&trace->first_event_ns, time_ns);
	return uft_side_add(task, found->side, found->what);
}

static int name_add(struct uft_reader *reader, struct uft_name name)
{
	name.order = (uint32_t)reader->names.nr;
	return ftr_vec_push(&reader->names, name);
}

static int perf_switch(struct uft_reader *reader, const uint8_t *p, uint16_t misc,
		       struct found *found)
{
	enum ftr_event_id id = FTR_EVENT_ID_SCHED_IN;

	if (misc & PERF_RECORD_MISC_SWITCH_OUT)
		id = ftr_sched_out_id((misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0);
	found->side.kind = kind_of(id);
	return 1;
}

static int perf_task(struct uft_reader *reader, const uint8_t *p, uint16_t misc,
		     struct found *found)
{
	if (ftr_get_u16(p + 6, reader->is_big) < TASK_TIME_OFFSET + 8 + SAMPLE_BYTES)
		return 0;
	found->tid = (int32_t)ftr_get_u32(p + TASK_TID_OFFSET, reader->is_big);
	found->side.time_ns = ftr_get_u64(p + TASK_TIME_OFFSET, reader->is_big);
	found->side.kind = kind_of(FTR_EVENT_ID_TASK_EXIT);
	if (ftr_get_u32(p, reader->is_big) == PERF_RECORD_EXIT)
		return 1;
	found->side.kind = kind_of(FTR_EVENT_ID_TASK_NEW);
	return name_add(reader, (struct uft_name){
		.time_ns = found->side.time_ns, .tid = found->tid,
		.parent_tid = (int32_t)ftr_get_u32(p + TASK_PTID_OFFSET, reader->is_big),
	}) < 0 ? -ENOMEM : 1;
}

static int perf_comm(struct uft_reader *reader, const uint8_t *p, uint16_t misc,
		     struct found *found)
{
	struct ftr_arena *arena = &reader->trace->arena;
	size_t room = ftr_get_u16(p + 6, reader->is_big) - RECORD_BYTES_MIN;
	struct ftr_payload *payload;
	char *comm;

	if (room < COMM_OFFSET - HEADER_BYTES)
		return 0;
	room -= COMM_OFFSET - HEADER_BYTES;
	comm = ftr_arena_strndup(arena, (const char *)p + COMM_OFFSET,
				 strnlen((const char *)p + COMM_OFFSET, room));
	payload = ftr_arena_alloc(arena, sizeof(*payload));
	found->tid = (int32_t)ftr_get_u32(p + COMM_TID_OFFSET,
					  reader->is_big); /* another may have named it */
	if (comm == NULL || payload == NULL ||
	    name_add(reader, (struct uft_name){ found->side.time_ns, found->tid, 0, comm, 0 }) < 0)
		return -ENOMEM;
	payload->data = (const uint8_t *)comm;
	payload->len = (uint16_t)strlen(comm);
	found->side.kind = kind_of(FTR_EVENT_ID_TASK_NAME);
	found->what = payload;
	return 1;
}

/*
 * The kernel dropped so many events on this CPU, of unknown tasks: in the stream of any task.
 */
static int perf_lost(struct uft_reader *reader, const uint8_t *p, uint16_t misc,
		     struct found *found)
{
	uint64_t *nr;

	if (ftr_get_u16(p + 6, reader->is_big) < LOST_NR_OFFSET + 8 + SAMPLE_BYTES ||
	    reader->trace->tasks.nr == 0)
		return 0;
	nr = ftr_arena_alloc(&reader->trace->arena, sizeof(*nr));
	if (nr == NULL)
		return -ENOMEM;
	*nr = ftr_get_u64(p + LOST_NR_OFFSET, reader->is_big);
	found->side.kind = UFT_SIDE_LOST;
	found->what = nr;
	if (ftr_trace_task_find(reader->trace, found->tid) == NULL)
		found->tid = reader->trace->tasks.v[0]->tid;
	return 1;
}

/* A task of a process that is traced, which need not have called anything. */
static int sample_task(struct uft_reader *reader, int32_t pid, int32_t tid)
{
	if (ftr_hashmap_find(&reader->task_by_tid, (uint32_t)tid) != NULL ||
	    ftr_hashmap_find(&reader->task_by_tid, (uint32_t)pid) == NULL)
		return 0;
	return uft_task_get(reader, pid, tid) == NULL ? -ENOMEM : 0;
}

/* The kernel marks whose addresses follow by numbers that are none. */
static bool is_address(uint64_t ip)
{
	return ip < (uint64_t)PERF_CONTEXT_MAX && ip != 0;
}

/* The addresses of its stack, from its instruction on, with user addresses alone. */
static int perf_sample(struct uft_reader *reader, const uint8_t *p, uint16_t misc,
		       struct found *found)
{
	size_t room = ftr_get_u16(p + 6, reader->is_big), nr, kept = 0;
	uint64_t ips[FTR_SAMPLE_FRAMES_MAX];
	struct ftr_payload *payload;
	int ret;

	if (room < SAMPLE_IPS_OFFSET)
		return 0;
	nr = (size_t)ftr_get_u64(p + SAMPLE_NR_OFFSET, reader->is_big);
	if (nr > (room - SAMPLE_IPS_OFFSET) / sizeof(ips[0]))
		return 0;
	for (size_t i = 0; i < nr && kept < FTR_SAMPLE_FRAMES_MAX; i++) {
		uint64_t ip = ftr_get_u64(p + SAMPLE_IPS_OFFSET + 8 * i, reader->is_big);

		if (is_address(ip))
			ips[kept++] = ip;
	}
	if (kept == 0)
		ips[kept++] = ftr_get_u64(p + HEADER_BYTES, reader->is_big);
	found->tid = (int32_t)ftr_get_u32(p + SAMPLE_TID_OFFSET, reader->is_big);
	found->side.time_ns = ftr_get_u64(p + SAMPLE_TIME_OFFSET, reader->is_big);
	found->side.kind = kind_of(FTR_EVENT_ID_SAMPLE_CPU);
	ret = sample_task(reader, (int32_t)ftr_get_u32(p + SAMPLE_PID_OFFSET, reader->is_big),
			  found->tid);
	payload = ftr_arena_alloc(&reader->trace->arena, sizeof(*payload) + kept * sizeof(ips[0]));
	if (ret < 0 || payload == NULL)
		return -ENOMEM;
	*payload = (struct ftr_payload){ .data = (const uint8_t *)(payload + 1),
					 .len = (uint16_t)(kept * sizeof(ips[0])),
					 .is_big_endian = FTR_HOST_IS_BIG };
	memcpy(payload + 1, ips, payload->len);
	found->what = payload;
	return 1;
}

/* In the stream of the task that it is about, or where that has none, of the first. */
static int perf_system(struct uft_reader *reader, const uint8_t *p, uint16_t misc,
		       struct found *found)
{
	const uint8_t *ids = p + ftr_get_u16(p + 6, reader->is_big) - SAMPLE_BYTES;
	bool is_out_of_memory;
	uint32_t id;

	found->what = uft_system_read(reader, p, ftr_get_u16(p + 6, reader->is_big), &id,
				      &is_out_of_memory);
	if (found->what == NULL)
		return is_out_of_memory ? -ENOMEM : 0;
	found->side.kind = kind_of(id);
	if (sample_task(reader, (int32_t)ftr_get_u32(ids, reader->is_big), found->tid) < 0)
		return -ENOMEM;
	if (ftr_trace_task_find(reader->trace, found->tid) == NULL && reader->trace->tasks.nr > 0)
		found->tid = reader->trace->tasks.v[0]->tid;
	return 1;
}

static int perf_ignored(struct uft_reader *reader, const uint8_t *p, uint16_t misc,
			struct found *found)
{
	return 0;
}

static const struct {
	uint32_t type;
	/* Fill @found's kind and more.  1, 0 = nothing to show, or -ENOMEM. */
	int (*read)(struct uft_reader *reader, const uint8_t *p, uint16_t misc,
		    struct found *found);
} perf_kinds[] = {
	{ PERF_RECORD_SWITCH,	perf_switch },
	{ PERF_RECORD_FORK,	perf_task },
	{ PERF_RECORD_EXIT,	perf_task },
	{ PERF_RECORD_COMM,	perf_comm },
	{ PERF_RECORD_LOST,	perf_lost },
	{ PERF_RECORD_SAMPLE,	perf_sample },
	{ FTR_UFTRACE_SYSTEM_RECORD, perf_system },
	{ PERF_RECORD_THROTTLE,	perf_ignored },
	{ PERF_RECORD_UNTHROTTLE, perf_ignored },
};

/* The row of the record whose header is at @p, or -1 when it can be no record's. */
static int header_kind(const struct uft_reader *reader, const uint8_t *p)
{
	uint32_t type = ftr_get_u32(p, reader->is_big);
	uint16_t size = ftr_get_u16(p + 6, reader->is_big);

	if (size < RECORD_BYTES_MIN || size > RECORD_BYTES_MAX || size % 8 != 0)
		return -1;
	for (size_t i = 0; i < sizeof(perf_kinds) / sizeof(perf_kinds[0]); i++) {
		if (perf_kinds[i].type == type)
			return (int)i;
	}
	return -1;
}

/* The row of the record at @p, or -1 when none can be there. */
static int perf_kind(const struct uft_reader *reader, const uint8_t *p, size_t left)
{
	if (left < RECORD_BYTES_MIN || ftr_get_u16(p + 6, reader->is_big) > left)
		return -1;
	return header_kind(reader, p);
}

/* Are the @left bytes at @p, the file's last, where a record begins, too few for it? */
static bool is_cut(const struct uft_reader *reader, const uint8_t *p, size_t left)
{
	return left < HEADER_BYTES || (header_kind(reader, p) >= 0 &&
				       ftr_get_u16(p + 6, reader->is_big) > left);
}

static int perf_record(struct uft_reader *reader, const uint8_t *p, int kind, uint16_t cpu_nr)
{
	const uint8_t *sample = p + ftr_get_u16(p + 6, reader->is_big) - SAMPLE_BYTES;
	struct found found = {
		.side = { .time_ns = ftr_get_u64(sample + 8, reader->is_big), .cpu_nr = cpu_nr },
		.tid = (int32_t)ftr_get_u32(sample + 4, reader->is_big),
	};
	int ret = perf_kinds[kind].read(reader, p, ftr_get_u16(p + 4, reader->is_big), &found);

	return ret > 0 ? found_add(reader, &found) : ret;
}

int uft_perf_more(struct uft_reader *reader, const struct ftr_istream *in, size_t *pos,
		  uint16_t cpu_nr)
{
	int ret = 0;

	while (ret == 0 && in->size - *pos >= HEADER_BYTES) {
		const uint8_t *p = in->data + *pos;
		uint16_t bytes = ftr_get_u16(p + 6, reader->is_big);
		int kind = perf_kind(reader, p, in->size - *pos);

		if (kind >= 0)
			ret = perf_record(reader, p, kind, cpu_nr);
		else if (bytes > in->size - *pos)
			break;			/* not whole yet */
		*pos += kind >= 0 ? bytes : 8;
	}
	return ret;
}

static int perf_file(struct uft_reader *reader, const char *name, uint16_t cpu_nr)
{
	struct ftr_diag *diag = reader->trace->diag;
	struct ftr_istream in;
	struct ftr_err err;
	size_t pos = 0;
	int ret = 0;

	if (ftr_dir_file(reader->dir, name, &in, &err) < 0) {
		ftr_diag_warn(diag, "%s: what it holds is not shown", err.text);
		return 0;
	}
	while (ret == 0 && pos < in.size) {
		size_t from = pos;
		int kind = perf_kind(reader, in.data + pos, in.size - pos);

		if (kind >= 0) {
			ret = perf_record(reader, in.data + pos, kind, cpu_nr);
			pos += ftr_get_u16(in.data + pos + 6, reader->is_big);
			continue;
		}
		if (is_cut(reader, in.data + pos, in.size - pos)) {
			ftr_diag_warn(diag, "%s+0x%zx: the file ends inside a record: " FTR_CUT_WHY,
				      name, pos);
			break;
		}
		for (pos += 8; pos < in.size && kind < 0; pos += kind < 0 ? 8 : 0)
			kind = perf_kind(reader, in.data + pos, in.size - pos);
		if (pos > in.size)
			pos = in.size;
		ftr_diag_warn(diag, "%s+0x%zx: not a record; skipped %zu bytes", name, from,
			      pos - from);
	}
	ftr_istream_close(&in);
	return ret;
}

/* With PERF_PREFIX, of perf-cpu3.dat: 3, plus 1 as events have it. */
static bool name_is_of_cpu(const char *name, const char *prefix, uint16_t *cpu_nr)
{
	struct ftr_slice number = ftr_slice_make(name, strlen(name));
	size_t around = strlen(prefix) + strlen(PERF_SUFFIX);
	uint64_t cpu;

	if (!ftr_slice_starts(number, prefix) || number.len <= around ||
	    strcmp(name + number.len - strlen(PERF_SUFFIX), PERF_SUFFIX) != 0)
		return false;
	number = ftr_slice_make(name + strlen(prefix), number.len - around);
	*cpu_nr = ftr_parse_u64(number, 10, &cpu) < 0 || cpu >= UINT16_MAX ? 0 :
									     (uint16_t)(cpu + 1);
	return true;
}

bool uft_perf_is_name(const char *name, uint16_t *cpu_nr)
{
	if (strcmp(name, FTR_UFTRACE_SYSTEM_NAME) == 0) {
		*cpu_nr = 0;
		return true;
	}
	return name_is_of_cpu(name, PERF_PREFIX, cpu_nr) ||
	       name_is_of_cpu(name, SAMPLE_PREFIX, cpu_nr);
}

/* "SEC.NNN TEXT"; comments and empty lines are no texts. */
static int extern_line(struct uft_reader *reader, struct ftr_slice line)
{
	struct found found = { .side.kind = UFT_SIDE_MESSAGE,
			       .tid = reader->trace->tasks.v[0]->tid };
	struct ftr_strbuf text;
	struct ftr_slice time;
	int ret = -EINVAL;

	line = ftr_slice_trim(line);
	if (line.len == 0 || line.s[0] == '#')
		return 0;
	if (!ftr_slice_split(&line, ' ', &time) ||
	    ftr_parse_timestamp(time, &found.side.time_ns) < 0)
		return -EINVAL;
	ftr_strbuf_init(&text);
	ftr_strbuf_puts(&text, FTR_UFTRACE_EXTERN_PREFIX);
	ftr_strbuf_put(&text, line.s, line.len);
	found.what = text.failed ? NULL :
				   ftr_arena_strndup(&reader->trace->arena, text.s, text.len);
	ftr_strbuf_fini(&text);
	ret = found.what == NULL ? -ENOMEM : found_add(reader, &found);
	return ret;
}

static int extern_file(struct uft_reader *reader)
{
	struct ftr_istream in;
	struct ftr_err err;
	const char *line;
	size_t len;
	int ret = 0;

	if (!ftr_dir_has(reader->dir, "extern.dat") || reader->trace->tasks.nr == 0)
		return 0;
	if (ftr_dir_file(reader->dir, "extern.dat", &in, &err) < 0) {
		ftr_diag_warn(reader->trace->diag, "%s", err.text);
		return 0;
	}
	/* Others may have written it: the last line needs no newline. */
	while (ret != -ENOMEM && ftr_istream_line(&in, &line, &len)) {
		ret = extern_line(reader, ftr_slice_make(line, len));
		if (ret == -EINVAL)
			ftr_diag_warn(reader->trace->diag,
				      "extern.dat:%u: line ignored; expected TIME TEXT", in.lineno);
	}
	ftr_istream_close(&in);
	return ret == -ENOMEM ? ret : 0;
}

static int name_compare(const void *a, const void *b)
{
	const struct uft_name *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Names in the order of time. */
static void names_sort(struct uft_reader *reader)
{
	if (reader->names.nr > 1)
		qsort(reader->names.v, reader->names.nr, sizeof(*reader->names.v), name_compare);
}

/*
 * task.txt has the time of a child's first message, which may be long after its fork: at its exec.
 * The kernel recorded the fork; of several with this number, the last before counts.
 */
static void forks_date(struct uft_reader *reader)
{
	for (size_t i = 0; i < reader->names.nr; i++) {
		const struct uft_name *name = &reader->names.v[i];
		const struct uft_task *child = ftr_hashmap_find(&reader->task_by_tid,
								(uint32_t)name->tid);
		struct uft_task *parent = ftr_hashmap_find(&reader->task_by_tid,
							   (uint32_t)name->parent_tid);

		if (name->text == NULL && child != NULL && parent != NULL &&
		    child->task->is_forked && child->task->parent == parent->task &&
		    name->time_ns <= child->task->start_ns)
			parent->side.v[child->fork_order].time_ns = name->time_ns;
	}
}

static void maker_apply(struct uft_reader *reader, const struct uft_name *name,
			struct ftr_task *task)
{
	struct ftr_task *maker = ftr_trace_task_find(reader->trace, name->parent_tid);

	if (name->text == NULL && maker != task)
		task->maker = maker;
}

/*
 * A task is called as its maker was, until it gets a name of its own.  The trace keeps the last
 * ones.
 */
static int names_apply(struct uft_reader *reader)
{
	struct ftr_hashmap by_tid;
	int ret = 0;

	ftr_hashmap_init(&by_tid);
	for (size_t i = 0; ret == 0 && i < reader->names.nr; i++) {
		const struct uft_name *name = &reader->names.v[i];
		struct ftr_task *task = ftr_trace_task_find(reader->trace, name->tid);
		const char *text = name->text != NULL ?
					   name->text :
					   ftr_hashmap_find(&by_tid, (uint32_t)name->parent_tid);

		if (task != NULL)
			maker_apply(reader, name, task);
		if (text == NULL)
			continue;
		if (task != NULL)
			task->name = text;
		ret = ftr_hashmap_set(&by_tid, (uint32_t)name->tid, (void *)text);
	}
	ftr_hashmap_fini(&by_tid);
	return ret;
}

int uft_sides_load(struct uft_reader *reader)
{
	int ret = extern_file(reader);

	for (size_t i = 0; ret == 0 && i < reader->dir->names.nr; i++) {
		const char *name = reader->dir->names.v[i];
		uint16_t cpu_nr;

		if (uft_perf_is_name(name, &cpu_nr))
			ret = perf_file(reader, name, cpu_nr);
	}
	names_sort(reader);
	forks_date(reader);
	if (ret == 0)			/* those that only samples speak of */
		ret = uft_tasks_link(reader->trace, false);
	for (size_t i = 0; i < reader->tasks.nr; i++)
		uft_sides_sort(reader->tasks.v[i], 0);
	return ret < 0 ? ret : names_apply(reader);
}
