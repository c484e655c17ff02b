/* SPDX-License-Identifier: MIT */
/* The table of the kinds of events, by id. */
#include "utils/trace/event_kind.h"

#include <assert.h>
#include <errno.h>
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

static const struct ftr_arg_enumerator errnos[] = {
#define FTR_ERRNO(name) { #name, name },
#include "utils/trace/errnos.def"
#undef FTR_ERRNO
};
static const struct ftr_arg_enum errno_enum = {
	.name = "errno", .values = errnos, .nr = sizeof(errnos) / sizeof(errnos[0]),
};
static const struct ftr_argspec errno_spec = {
	.nr = 1, .args = { { .name = "errno", .format = FTR_ARG_ENUM, .size = sizeof(uint64_t),
			     .type_name = "errno", .values = &errno_enum } },
};

/* By its number in trace->call_stacks. */
static const struct ftr_argspec backtrace_spec = {
	.nr = 1, .args = { ARG("stack", UNSIGNED) },
};

#define TEXT(name_) { .name = name_, .format = FTR_ARG_STRING }

/* A call on a descriptor. */
#define ON_FD(variable, name_, format_) \
	static const struct ftr_argspec variable = { \
		.nr = 3, .args = { ARG("fd", SIGNED), ARG(name_, format_), \
				   ARG("caller", POINTER) }, \
	}
ON_FD(fd_bytes_spec, "bytes", UNSIGNED);
ON_FD(fd_offset_spec, "offset", SIGNED);
ON_FD(fd_command_spec, "command", SIGNED);
ON_FD(fd_mode_spec, "mode", OCTAL);
ON_FD(fd_owner_spec, "owner", SIGNED);
ON_FD(fd_to_spec, "to", SIGNED);
static const struct ftr_argspec fd_spec = {
	.nr = 2, .args = { ARG("fd", SIGNED), ARG("caller", POINTER) },
};
static const struct ftr_argspec fd_done_spec = {
	.nr = 2, .args = { ARG("fd", SIGNED), ARG("result", SIGNED) },
};

/* A call on a path, below the directory of a descriptor. */
#define ON_PATH(variable, name_, format_) \
	static const struct ftr_argspec variable = { \
		.nr = 4, .args = { ARG("dir", SIGNED), ARG(name_, format_), \
				   ARG("caller", POINTER), TEXT("path") }, \
	}
ON_PATH(path_flags_spec, "flags", HEX);
ON_PATH(path_mode_spec, "mode", OCTAL);
ON_PATH(path_owner_spec, "owner", SIGNED);
ON_PATH(path_bytes_spec, "bytes", SIGNED);
static const struct ftr_argspec paths_spec = {
	.nr = 5, .args = { ARG("dir", SIGNED), ARG("flags", HEX), ARG("caller", POINTER),
			   TEXT("path"), TEXT("to") },
};
static const struct ftr_argspec path_done_spec = {
	.nr = 2, .args = { ARG("dir", SIGNED), ARG("result", SIGNED) },
};

/* A call on a socket: with an address, or that gives one. */
ON_FD(fd_backlog_spec, "backlog", SIGNED);
ON_FD(fd_flags_spec, "flags", HEX);
ON_FD(fd_how_spec, "how", SIGNED);
ON_FD(fd_nr_spec, "nr", SIGNED);
static const struct ftr_argspec socket_spec = {
	.nr = 3, .args = { ARG("domain", SIGNED), ARG("type", HEX), ARG("caller", POINTER) },
};
static const struct ftr_argspec socket_done_spec = {
	.nr = 2, .args = { ARG("domain", SIGNED), ARG("result", SIGNED) },
};
static const struct ftr_argspec fd_address_spec = {
	.nr = 4, .args = { ARG("fd", SIGNED), ARG("family", SIGNED), ARG("caller", POINTER),
			   TEXT("address") },
};
static const struct ftr_argspec address_done_spec = {
	.nr = 4, .args = { ARG("fd", SIGNED), ARG("result", SIGNED), ARG("family", SIGNED),
			   TEXT("address") },
};

static const struct ftr_argspec create_spec = {
	.nr = 3, .args = { ARG("routine", POINTER), ARG("is_detached", UNSIGNED),
			   ARG("caller", POINTER) },
};
static const struct ftr_argspec created_spec = {
	.nr = 3, .args = { ARG("routine", POINTER), ARG("result", SIGNED), ARG("thread", HEX) },
};
static const struct ftr_argspec thread_spec = {
	.nr = 2, .args = { ARG("thread", HEX), ARG("caller", POINTER) },
};
static const struct ftr_argspec thread_done_spec = {
	.nr = 2, .args = { ARG("thread", HEX), ARG("result", SIGNED) },
};
static const struct ftr_argspec thread_exit_spec = {
	.nr = 2, .args = { ARG("answer", HEX), ARG("caller", POINTER) },
};

/* What a program says of itself, as it is recorded; readers see instants, counters and spans. */
static const struct ftr_argspec user_spec = {
	.nr = 2, .args = { ARG("caller", POINTER), TEXT("name") },
};
static const struct ftr_argspec user_counter_spec = {
	.nr = 3, .args = { ARG("value", FLOAT), ARG("caller", POINTER), TEXT("name") },
};
static const struct ftr_argspec user_chart_spec = {
	.nr = 4, .args = { ARG("type", UNSIGNED), ARG("color", UNSIGNED), ARG("caller", POINTER),
			   TEXT("name") },
};
static const struct ftr_argspec user_span_spec = {
	.nr = 3, .args = { ARG("id", UNSIGNED), ARG("caller", POINTER), TEXT("name") },
};
static const struct ftr_argspec user_span_end_spec = {
	.nr = 4, .args = { ARG("id", UNSIGNED), ARG("ns", UNSIGNED), ARG("caller", POINTER),
			   TEXT("name") },
};

/* The system's state.  Times, counts and energy are those since the sample before. */
static const struct ftr_argspec system_cpu_spec = {
	.nr = 3, .args = { ARG("user_ms", UNSIGNED), ARG("system_ms", UNSIGNED),
			   ARG("idle_ms", UNSIGNED) },
};
static const struct ftr_argspec system_memory_spec = {
	.nr = 5, .args = { ARG("total_kb", UNSIGNED), ARG("used_kb", UNSIGNED),
			   ARG("free_kb", UNSIGNED), ARG("cached_kb", UNSIGNED),
			   ARG("swap_kb", UNSIGNED) },
};
static const struct ftr_argspec system_load_spec = {
	.nr = 5, .args = { ARG("load1", FLOAT), ARG("load5", FLOAT), ARG("load15", FLOAT),
			   ARG("running", UNSIGNED), ARG("tasks", UNSIGNED) },
};
static const struct ftr_argspec system_disk_spec = {
	.nr = 4, .args = { ARG("reads", UNSIGNED), ARG("sectors_read", UNSIGNED),
			   ARG("writes", UNSIGNED), ARG("sectors_written", UNSIGNED) },
};
static const struct ftr_argspec system_network_spec = {
	.nr = 4, .args = { ARG("bytes_received", UNSIGNED), ARG("packets_received", UNSIGNED),
			   ARG("bytes_sent", UNSIGNED), ARG("packets_sent", UNSIGNED) },
};
static const struct ftr_argspec system_energy_spec = {
	.nr = 1, .args = { ARG("microjoules", UNSIGNED) },
};
static const struct ftr_argspec system_process_spec = {
	.nr = 7, .args = { ARG("user_ms", UNSIGNED), ARG("system_ms", UNSIGNED),
			   ARG("virtual_kb", UNSIGNED), ARG("resident_kb", UNSIGNED),
			   ARG("shared_kb", UNSIGNED), ARG("threads", UNSIGNED),
			   ARG("state", CHAR) },
};
static const struct ftr_argspec system_thread_spec = {
	.nr = 3, .args = { ARG("user_ms", UNSIGNED), ARG("system_ms", UNSIGNED),
			   ARG("state", CHAR) },
};

#define SYSTEM(id_, name_, spec_) \
	{ FTR_EVENT_ID_SYSTEM_##id_, "system:" name_, .data = FTR_EVENT_DATA_SPEC, \
	  .spec = &(spec_) }
#define SPEC(spec_) .is_runtime = true, .data = FTR_EVENT_DATA_SPEC, .spec = &(spec_)

/* A thread waits for one of these, and goes on: its end stands for both. */
#define CALL(id_, begin_name, begin_spec, end_name, end_spec) \
	{ id_, begin_name, SPEC(begin_spec), .closed_by = (id_) + 1, .pair = (id_) + 1 }, \
	{ (id_) + 1, end_name, SPEC(end_spec) }
#define WAIT(id_, name_) \
	CALL(id_, "sync:" name_ "-wait", wait_spec, "sync:" name_ "-done", done_spec)
#define OF_FILE(id_, name_, begin_spec, end_spec) \
	CALL(FTR_EVENT_ID_FILE_##id_, "file:" name_, begin_spec, "file:" name_ "-done", end_spec)
#define OF_NET(id_, name_, begin_spec, end_spec) \
	CALL(FTR_EVENT_ID_NET_##id_, "net:" name_, begin_spec, "net:" name_ "-done", end_spec)

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
	{ FTR_EVENT_ID_SAMPLE_CPU, "sample:cpu", .data = FTR_EVENT_DATA_STACK },
	SYSTEM(CPU, "cpu", system_cpu_spec),
	SYSTEM(MEMORY, "memory", system_memory_spec),
	SYSTEM(LOAD, "load", system_load_spec),
	SYSTEM(DISK, "disk", system_disk_spec),
	SYSTEM(NETWORK, "network", system_network_spec),
	SYSTEM(ENERGY, "energy", system_energy_spec),
	SYSTEM(PROCESS, "process", system_process_spec),
	SYSTEM(THREAD, "thread", system_thread_spec),
	{ FTR_EVENT_ID_STALL_BEGIN, "ftr:stall-begin", .is_runtime = true,
	  .closed_by = FTR_EVENT_ID_STALL_END },
	{ FTR_EVENT_ID_STALL_END, "ftr:stall-end", .is_runtime = true },
	{ FTR_EVENT_ID_SUSPEND, "ftr:suspend",
	  .closed_by = FTR_EVENT_ID_RESUME, .pair = FTR_EVENT_ID_SUSPENDED },
	{ FTR_EVENT_ID_RESUME, "ftr:resume", .closed_by = 0 },
	{ FTR_EVENT_ID_SUSPENDED, "ftr:suspended", .closed_by = 0 },
	{ FTR_EVENT_ID_ERRNO, "libc:errno", SPEC(errno_spec) },
	{ FTR_EVENT_ID_STACK_PART, "ftr:stack-part", .is_runtime = true,
	  .data = FTR_EVENT_DATA_BYTES, .bytes_max = FTR_EVENT_STACK_PART_MAX },
	{ FTR_EVENT_ID_BACKTRACE, "ftr:backtrace", SPEC(backtrace_spec) },
	{ FTR_EVENT_ID_SDT, "sdt", .is_runtime = true, .data = FTR_EVENT_DATA_SDT },
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
	OF_FILE(READ, "read", fd_bytes_spec, fd_done_spec),
	OF_FILE(WRITE, "write", fd_bytes_spec, fd_done_spec),
	OF_FILE(LOCK, "lock", fd_command_spec, fd_done_spec),
	OF_FILE(UNLOCK, "unlock", fd_command_spec, fd_done_spec),
	OF_FILE(CLOSE, "close", fd_spec, fd_done_spec),
	OF_FILE(SEEK, "seek", fd_offset_spec, fd_done_spec),
	OF_FILE(FLUSH, "flush", fd_spec, fd_done_spec),
	OF_FILE(SETSIZE, "setsize", fd_bytes_spec, fd_done_spec),
	OF_FILE(SETMODE, "setmode", fd_mode_spec, fd_done_spec),
	OF_FILE(DUP, "dup", fd_to_spec, fd_done_spec),
	OF_FILE(READDIR, "readdir", fd_spec, fd_done_spec),
	OF_FILE(SETOWNER, "setowner", fd_owner_spec, fd_done_spec),
	OF_FILE(FSTAT, "fstat", fd_spec, fd_done_spec),
	OF_FILE(OPEN, "open", path_flags_spec, path_done_spec),
	OF_FILE(OPENDIR, "opendir", path_flags_spec, path_done_spec),
	OF_FILE(MKDIR, "mkdir", path_mode_spec, path_done_spec),
	OF_FILE(CHDIR, "chdir", path_flags_spec, path_done_spec),
	OF_FILE(UNLINK, "unlink", path_flags_spec, path_done_spec),
	OF_FILE(CHMOD, "chmod", path_mode_spec, path_done_spec),
	OF_FILE(CHOWN, "chown", path_owner_spec, path_done_spec),
	OF_FILE(TRUNCATE, "truncate", path_bytes_spec, path_done_spec),
	OF_FILE(STAT, "stat", path_flags_spec, path_done_spec),
	OF_FILE(ACCESS, "access", path_mode_spec, path_done_spec),
	OF_FILE(RENAME, "rename", paths_spec, path_done_spec),
	OF_FILE(LINK, "link", paths_spec, path_done_spec),
	OF_FILE(SYMLINK, "symlink", paths_spec, path_done_spec),
	OF_NET(SOCKET, "socket", socket_spec, socket_done_spec),
	OF_NET(BIND, "bind", fd_address_spec, fd_done_spec),
	OF_NET(CONNECT, "connect", fd_address_spec, fd_done_spec),
	OF_NET(LISTEN, "listen", fd_backlog_spec, fd_done_spec),
	OF_NET(ACCEPT, "accept", fd_flags_spec, address_done_spec),
	OF_NET(RECEIVE, "receive", fd_bytes_spec, fd_done_spec),
	OF_NET(SEND, "send", fd_bytes_spec, fd_done_spec),
	OF_NET(RECEIVE_FROM, "receive-from", fd_bytes_spec, address_done_spec),
	OF_NET(SEND_TO, "send-to", fd_address_spec, fd_done_spec),
	OF_NET(SHUTDOWN, "shutdown", fd_how_spec, fd_done_spec),
	OF_NET(CLOSE, "close", fd_spec, fd_done_spec),
	OF_NET(DUP, "dup", fd_to_spec, fd_done_spec),
	OF_NET(WAIT, "wait", fd_nr_spec, fd_done_spec),
	CALL(FTR_EVENT_ID_THREAD_CREATE, "thread:create", create_spec, "thread:create-done",
	     created_spec),
	CALL(FTR_EVENT_ID_THREAD_DETACH, "thread:detach", thread_spec, "thread:detach-done",
	     thread_done_spec),
	CALL(FTR_EVENT_ID_THREAD_CANCEL, "thread:cancel", thread_spec, "thread:cancel-done",
	     thread_done_spec),
	{ FTR_EVENT_ID_THREAD_EXIT, "thread:exit", SPEC(thread_exit_spec) },
	{ FTR_EVENT_ID_USER_MARK, "user:mark", SPEC(user_spec) },
	{ FTR_EVENT_ID_USER_MESSAGE, "user:message", SPEC(user_spec) },
	{ FTR_EVENT_ID_USER_COUNTER, "user:counter", SPEC(user_counter_spec) },
	{ FTR_EVENT_ID_USER_CHART, "user:chart", SPEC(user_chart_spec) },
	{ FTR_EVENT_ID_USER_SPAN_BEGIN, "user:span-begin", SPEC(user_span_spec) },
	{ FTR_EVENT_ID_USER_SPAN_END, "user:span-end", SPEC(user_span_end_spec) },
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
	if (id > FTR_EVENT_ID_SDT && id <= FTR_EVENT_ID_SDT_LAST)
		id = FTR_EVENT_ID_SDT;		/* ... which name of events.txt */
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

/* Values of 8 bytes, and texts as payloads have them behind. */
static bool spec_fits(const struct ftr_argspec *spec, size_t bytes)
{
	size_t least = 0;
	bool has_text = false;

	for (unsigned i = 0; i < spec->nr; i++) {
		bool is_text = spec->args[i].format == FTR_ARG_STRING;

		has_text |= is_text;
		least += is_text ? sizeof(uint32_t) : sizeof(uint64_t);
	}
	return has_text ? bytes >= least && bytes % sizeof(uint32_t) == 0 : bytes == least;
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
		return spec_fits(kind->spec, bytes);
	case FTR_EVENT_DATA_SDT:
		return bytes % sizeof(uint64_t) == 0 && bytes != sizeof(uint64_t) &&
		       bytes <= (1 + FTR_EVENT_SDT_ARGS_MAX) * sizeof(uint64_t);
	case FTR_EVENT_DATA_TASK_NAME:
	case FTR_EVENT_DATA_STACK:
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
