/* SPDX-License-Identifier: MIT */
/* The table of the kinds of events, by id. */
#include "utils/trace/event_kind.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/trace/args.h"

#define LABELS(...) \
	.value_nr = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), \
	.labels = { __VA_ARGS__ }
#define READ(diff, ...) \
	.is_uftrace = true, .closed_by = (diff), .data = FTR_EVENT_DATA_VALUES, LABELS(__VA_ARGS__)
#define DIFF(...) .is_uftrace = true, .data = FTR_EVENT_DATA_DIFFERENCES, LABELS(__VA_ARGS__)

#define ARG(name_, format_) { .name = name_, .format = FTR_ARG_##format_, .size = sizeof(uint64_t) }

/* By the order of values in proto/record.h. */
static const struct ftr_argspec given_spec = {
	.nr = 3, .args = { ARG("address", HEX), ARG("bytes", UNSIGNED), ARG("caller", POINTER) },
};
static const struct ftr_argspec replaced_spec = {
	.nr = 4, .args = { ARG("address", HEX), ARG("bytes", UNSIGNED), ARG("caller", POINTER),
			   ARG("from", HEX) },
};
static const struct ftr_argspec freed_spec = {
	.nr = 2, .args = { ARG("address", HEX), ARG("caller", POINTER) },
};
static const struct ftr_argspec moved_spec = {
	.nr = 5, .args = { ARG("address", HEX), ARG("bytes", UNSIGNED), ARG("caller", POINTER),
			   ARG("from", HEX), ARG("from_bytes", UNSIGNED) },
};
static const struct ftr_argspec break_spec = {
	.nr = 3, .args = { ARG("address", HEX), ARG("bytes", SIGNED), ARG("caller", POINTER) },
};
static const struct ftr_argspec wait_spec = {
	.nr = 2, .args = { ARG("object", HEX), ARG("caller", POINTER) },
};
static const struct ftr_argspec done_spec = {
	.nr = 2, .args = { ARG("object", HEX), ARG("result", SIGNED) },
};

#define SPEC(spec_) .is_runtime = true, .data = FTR_EVENT_DATA_SPEC, .spec = &(spec_)

/* A thread waits for one of these, and goes on: its end stands for both. */
#define WAIT(id_, name_) \
	{ id_, "sync:" name_ "-wait", SPEC(wait_spec), .closed_by = (id_) + 1, \
	  .pair = (id_) + 1 }, \
	{ (id_) + 1, "sync:" name_ "-done", SPEC(done_spec) }

static const struct ftr_event_kind kinds[] = {
	{ FTR_EVENT_ID_READ_STATM, "read:proc/statm",
	  READ(FTR_EVENT_ID_DIFF_STATM, "vmsize", "vmrss", "shared"), .unit = "KB" },
	{ FTR_EVENT_ID_READ_FAULT, "read:page-fault",
	  READ(FTR_EVENT_ID_DIFF_FAULT, "major", "minor") },
	{ FTR_EVENT_ID_DIFF_STATM, "diff:proc/statm",
	  DIFF("vmsize", "vmrss", "shared"), .unit = "KB" },
	{ FTR_EVENT_ID_DIFF_FAULT, "diff:page-fault", DIFF("major", "minor") },
	{ FTR_EVENT_ID_READ_CYCLE, "read:pmu-cycle",
	  READ(FTR_EVENT_ID_DIFF_CYCLE, "cycles", "instructions") },
	{ FTR_EVENT_ID_DIFF_CYCLE, "diff:pmu-cycle", DIFF("cycles", "instructions") },
	{ FTR_EVENT_ID_READ_CACHE, "read:pmu-cache",
	  READ(FTR_EVENT_ID_DIFF_CACHE, "refers", "misses") },
	{ FTR_EVENT_ID_DIFF_CACHE, "diff:pmu-cache", DIFF("refers", "misses") },
	{ FTR_EVENT_ID_READ_BRANCH, "read:pmu-branch",
	  READ(FTR_EVENT_ID_DIFF_BRANCH, "branch", "misses") },
	{ FTR_EVENT_ID_DIFF_BRANCH, "diff:pmu-branch", DIFF("branch", "misses") },
	{ FTR_EVENT_ID_WATCH_CPU, "watch:cpu", .is_uftrace = true, .data = FTR_EVENT_DATA_CPU },
	{ FTR_EVENT_ID_WATCH_VAR, "watch:var", .is_uftrace = true, .is_late = true,
	  .data = FTR_EVENT_DATA_VARIABLE },
	{ FTR_EVENT_ID_CALLSITE, "callsite", .is_uftrace = true, .is_late = true,
	  .data = FTR_EVENT_DATA_ADDRESS },
	{ FTR_EVENT_ID_SCHED_IN, "linux:sched-in", .is_uftrace = true, .perf = FTR_PERF_SCHED },
	{ FTR_EVENT_ID_SCHED_OUT, "linux:sched-out", .is_uftrace = true, .perf = FTR_PERF_SCHED,
	  .closed_by = FTR_EVENT_ID_SCHED_IN, .pair = FTR_EVENT_ID_SCHEDULE },
	{ FTR_EVENT_ID_SCHEDULE, "linux:schedule", .is_uftrace = true, .perf = FTR_PERF_SCHED },
	{ FTR_EVENT_ID_TASK_NEW, "linux:task-new", .is_uftrace = true, .perf = FTR_PERF_TASK },
	{ FTR_EVENT_ID_TASK_EXIT, "linux:task-exit", .is_uftrace = true, .perf = FTR_PERF_TASK },
	{ FTR_EVENT_ID_TASK_NAME, "linux:task-name", .is_uftrace = true,
	  .perf = FTR_PERF_NAME | FTR_PERF_TASK, .data = FTR_EVENT_DATA_TASK_NAME },
	{ FTR_EVENT_ID_SCHED_OUT_PREEMPTED, "linux:sched-out (pre-empted)", .is_uftrace = true,
	  .closed_by = FTR_EVENT_ID_SCHED_IN, .pair = FTR_EVENT_ID_SCHEDULE_PREEMPTED },
	{ FTR_EVENT_ID_SCHEDULE_PREEMPTED, "linux:schedule (pre-empted)", .is_uftrace = true },
	{ FTR_EVENT_ID_STALL_BEGIN, "ftr:stall-begin", .is_runtime = true,
	  .closed_by = FTR_EVENT_ID_STALL_END },
	{ FTR_EVENT_ID_STALL_END, "ftr:stall-end", .is_runtime = true },
	{ FTR_EVENT_ID_SUSPEND, "ftr:suspend",
	  .closed_by = FTR_EVENT_ID_RESUME, .pair = FTR_EVENT_ID_SUSPENDED },
	{ FTR_EVENT_ID_RESUME, "ftr:resume", .closed_by = 0 },
	{ FTR_EVENT_ID_SUSPENDED, "ftr:suspended", .closed_by = 0 },
	{ FTR_EVENT_ID_EXTERN, "extern-data", .is_uftrace = true, .data = FTR_EVENT_DATA_TEXT },
	{ FTR_EVENT_ID_MALLOC, "memory:malloc", SPEC(given_spec) },
	{ FTR_EVENT_ID_CALLOC, "memory:calloc", SPEC(given_spec) },
	{ FTR_EVENT_ID_MEMALIGN, "memory:memalign", SPEC(given_spec) },
	{ FTR_EVENT_ID_NEW, "memory:new", SPEC(given_spec) },
	{ FTR_EVENT_ID_REALLOC, "memory:realloc", SPEC(replaced_spec) },
	{ FTR_EVENT_ID_FREE, "memory:free", SPEC(freed_spec) },
	{ FTR_EVENT_ID_DELETE, "memory:delete", SPEC(freed_spec) },
	{ FTR_EVENT_ID_MMAP, "memory:mmap", SPEC(given_spec) },
	{ FTR_EVENT_ID_MUNMAP, "memory:munmap", SPEC(given_spec) },
	{ FTR_EVENT_ID_MREMAP, "memory:mremap", SPEC(moved_spec) },
	{ FTR_EVENT_ID_BRK, "memory:brk", SPEC(break_spec) },
	WAIT(FTR_EVENT_ID_SYNC_MUTEX, "mutex"),
	WAIT(FTR_EVENT_ID_SYNC_READ, "rwlock-read"),
	WAIT(FTR_EVENT_ID_SYNC_WRITE, "rwlock-write"),
	WAIT(FTR_EVENT_ID_SYNC_COND, "cond"),
	WAIT(FTR_EVENT_ID_SYNC_BARRIER, "barrier"),
	WAIT(FTR_EVENT_ID_SYNC_SEM, "sem"),
	WAIT(FTR_EVENT_ID_SYNC_JOIN, "join"),
	{ FTR_EVENT_ID_STACK, "ftr:stack", .is_runtime = true },
};

#define KIND_NR (sizeof(kinds) / sizeof(kinds[0]))

const struct ftr_event_kind *ftr_event_kind_by_id(uint64_t id)
{
	size_t low = 0, high = KIND_NR;

	if (id < kinds[0].id)			/* the kernel's are */
		return NULL;
	if (id > FTR_EVENT_ID_STACK && id <= FTR_EVENT_ID_STACK_LAST)
		id = FTR_EVENT_ID_STACK;	/* the rest says which stack */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (kinds[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < KIND_NR && kinds[low].id == id ? &kinds[low] : NULL;
}

const struct ftr_event_kind *ftr_event_kind_by_name(const char *name)
{
	for (size_t i = 0; i < KIND_NR; i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

bool ftr_event_kind_fits(const struct ftr_event_kind *kind, size_t bytes)
{
	switch ((enum ftr_event_data)kind->data) {
	case FTR_EVENT_DATA_BYTES:
	case FTR_EVENT_DATA_TEXT:
		return bytes <= kind->bytes_max;
	case FTR_EVENT_DATA_VALUES:
	case FTR_EVENT_DATA_DIFFERENCES:
		return bytes == kind->value_nr * sizeof(uint64_t);
	case FTR_EVENT_DATA_CPU:
		return bytes == sizeof(int32_t);
	case FTR_EVENT_DATA_VARIABLE:
		return bytes > sizeof(uint64_t) && bytes <= 2 * sizeof(uint64_t);
	case FTR_EVENT_DATA_ADDRESS:
		return bytes == sizeof(uint64_t);
	case FTR_EVENT_DATA_SPEC:
		return bytes == kind->spec->nr * sizeof(uint64_t);
	case FTR_EVENT_DATA_TASK_NAME:
		break;				/* the kernel's */
	}
	return false;
}

const struct ftr_event_kind *ftr_event_kind_next(size_t *pos)
{
	return *pos < KIND_NR ? &kinds[(*pos)++] : NULL;
}

const char *ftr_event_pair_name(uint32_t opens_id)
{
	const struct ftr_event_kind *opens = ftr_event_kind_by_id(opens_id);

	assert(opens != NULL && opens->pair != 0);
	return ftr_event_kind_by_id(opens->pair)->name;
}

void ftr_event_lost_text(const struct ftr_event *ev, char text[FTR_EVENT_LOST_TEXT_MAX])
{
	static const char *const whats[FTR_LOST_SOURCES] = {
		[FTR_LOST_OF_TASK] = "records", [FTR_LOST_OF_PERF] = "events",
		[FTR_LOST_OF_KERNEL] = "kernel events",
	};
	char nr[24] = "", cpu[24] = "";

	assert(ev->type == FTR_EVENT_LOST && ev->lost.source < FTR_LOST_SOURCES);
	if (ev->lost.nr != 0)
		snprintf(nr, sizeof(nr), "%" PRIu64 " ", ev->lost.nr);
	if (ev->lost.cpu_nr != 0)
		snprintf(cpu, sizeof(cpu), " of CPU %d", ev->lost.cpu_nr - 1);
	snprintf(text, FTR_EVENT_LOST_TEXT_MAX, "LOST %s%s%s", nr, whats[ev->lost.source], cpu);
}

static bool kind_is_half(const struct ftr_event_kind *kind)
{
	for (size_t i = 0; i < KIND_NR; i++) {
		if (kinds[i].closed_by == kind->id)
			return true;
	}
	return kind->closed_by != 0;
}

void ftr_event_perf_names(unsigned perf, struct ftr_strbuf *text)
{
	const char *separator = "";

	for (size_t i = 0; i < KIND_NR; i++) {
		if (kinds[i].perf == 0 || (kinds[i].perf & ~perf) != 0 || kind_is_half(&kinds[i]))
			continue;
		ftr_strbuf_printf(text, "%s%s", separator, kinds[i].name);
		separator = ", ";
	}
}
