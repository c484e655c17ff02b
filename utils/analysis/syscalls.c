/* SPDX-License-Identifier: MIT */
/* Observed system calls added up: one row a name, or a process. */
#include "utils/analysis/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "utils/base/arena.h"
#include "utils/base/bits.h"
#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/trace/syscall.h"

#define NO_PROCESS UINT32_MAX

struct process {
	int32_t pid;
	const char *command;	/* (in the arena) */
};

struct syscalls_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums;
	enum ftr_sums_by by;
	struct ftr_arena arena;
	struct ftr_strpool names; /* id = row, unless by process: then the process is the row */
	FTR_VEC(struct process) processes;
	struct ftr_hashmap process_by_upid;	/* its index + 1 */
	struct ftr_hashmap has_used;	/* row << 32 | process: counted in the row's processes */
};

static struct syscalls_sink *syscalls_of(struct ftr_sink *sink)
{
	return (struct syscalls_sink *)sink;
}

/* ---- processes ---- */

static uint32_t process_new(struct syscalls_sink *self, uint64_t upid, const char *command,
			    uint64_t start_ns)
{
	struct process made = { .pid = ftr_upid_tid(upid), .command = command };
	struct ftr_sum row = { .pid = made.pid, .status = -1, .name = command,
					.start_ns = start_ns };
	uint32_t id = (uint32_t)self->processes.nr;

	if (ftr_vec_push(&self->processes, made) < 0 ||
	    (self->by == FTR_SUMS_BY_PROCESS && ftr_vec_push(&self->sums.rows, row) < 0) ||
	    ftr_hashmap_set(&self->process_by_upid, upid, (void *)(uintptr_t)(id + 1)) < 0)
		return NO_PROCESS;
	return id;
}

static uint32_t process_get(struct syscalls_sink *self, uint64_t upid)
{
	void *found = ftr_hashmap_find(&self->process_by_upid, upid);

	return found != NULL ? (uint32_t)(uintptr_t)found - 1 : process_new(self, upid, "", 0);
}

/* A child runs its parent's program at first; a thread is no process. */
static int process_fork(struct syscalls_sink *self, uint32_t process,
			const struct ftr_syscall *call)
{
	if (ftr_syscall_makes_thread(call))
		return ftr_hashmap_set(&self->process_by_upid, call->fork.child,
				       (void *)(uintptr_t)(process + 1));
	if (process_new(self, call->fork.child, self->processes.v[process].command, call->end_ns) ==
	    NO_PROCESS)
		return -ENOMEM;
	if (self->by == FTR_SUMS_BY_PROCESS)
		self->sums.rows.v[process].forks++;
	return 0;
}

static int process_exec(struct syscalls_sink *self, uint32_t process,
			const struct ftr_syscall *call)
{
	struct ftr_strbuf text;
	char *command;

	ftr_strbuf_init(&text);
	for (size_t i = 0; i < call->exec.argc; i++) {
		if (i > 0)
			ftr_strbuf_putc(&text, ' ');
		ftr_strbuf_put(&text, call->exec.argv[i].s, call->exec.argv[i].len);
	}
	command = ftr_arena_strndup(&self->arena, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
	if (command == NULL)
		return -ENOMEM;
	self->processes.v[process].command = command;
	if (self->by == FTR_SUMS_BY_PROCESS)
		self->sums.rows.v[process].name = command;
	return 0;
}

static int process_follow(struct syscalls_sink *self, uint32_t process,
			  const struct ftr_syscall *call)
{
	if (call->is_failed)
		return 0;
	if (call->kind == FTR_SYSCALL_EXEC)
		return process_exec(self, process, call);
	if (ftr_syscall_is_fork(call) && call->fork.child != 0)
		return process_fork(self, process, call);
	/* Of several threads the last one ends the process. */
	if (call->kind == FTR_SYSCALL_EXIT && self->by == FTR_SUMS_BY_PROCESS)
		self->sums.rows.v[process].status = ftr_syscall_exit_status(call);
	return 0;
}

/* ---- rows ---- */

static void count_open(struct ftr_sum *row, const struct ftr_syscall *call)
{
	int access_mode = (int)call->open.flags & O_ACCMODE;

	row->opens++;
	row->reads += access_mode == O_RDONLY || access_mode == O_RDWR;
	row->writes += access_mode == O_WRONLY || access_mode == O_RDWR;
}

static int row_add(struct syscalls_sink *self, uint32_t row, uint32_t process,
		   const struct ftr_syscall *call)
{
	struct ftr_sum *sum = &self->sums.rows.v[row];
	uint64_t took_ns = call->end_ns - call->start_ns, key = ftr_u64_of(row, process);

	if (sum->calls == 0 || took_ns < sum->min_ns)
		sum->min_ns = took_ns;
	if (sum->start_ns == 0 || call->start_ns < sum->start_ns)
		sum->start_ns = call->start_ns;
	if (took_ns > sum->max_ns)
		sum->max_ns = took_ns;
	if (call->end_ns > sum->end_ns)
		sum->end_ns = call->end_ns;
	sum->total_ns += took_ns;
	sum->calls++;
	sum->errors += call->is_failed;
	if (call->kind == FTR_SYSCALL_OPEN && !call->is_failed)
		count_open(sum, call);
	if (ftr_hashmap_find(&self->has_used, key) != NULL)
		return 0;
	sum->processes++;
	return ftr_hashmap_set(&self->has_used, key, self);
}

static int add_path(struct syscalls_sink *self, uint32_t process,
		    const struct ftr_syscall *call, struct ftr_slice path)
{
	uint32_t row;
	int ret = path.len > 0 ? ftr_sums_row(&self->sums, &self->names, path, &row) : 0;

	return path.len > 0 && ret == 0 ? row_add(self, row, process, call) : ret;
}

static struct ftr_slice first_known(struct ftr_slice path, struct ftr_slice otherwise)
{
	return path.s != NULL ? path : otherwise;
}

/* Every path that the call names. */
static int add_files(struct syscalls_sink *self, uint32_t process,
		     const struct ftr_syscall *call)
{
	int ret;

	switch (call->kind) {
	case FTR_SYSCALL_OPEN:
		return add_path(self, process, call,
				first_known(call->open.path, call->open.asked));
	case FTR_SYSCALL_EXEC:
		return add_path(self, process, call, call->exec.program);
	case FTR_SYSCALL_SYMLINK:
		return add_path(self, process, call, call->symlink.link);
	case FTR_SYSCALL_MOUNT:
	case FTR_SYSCALL_UMOUNT:
		return add_path(self, process, call,
				first_known(call->mount.target, call->mount.target_asked));
	case FTR_SYSCALL_RENAME:
	case FTR_SYSCALL_LINK:
		ret = add_path(self, process, call,
			       first_known(call->rename.from, call->rename.from_asked));
		return ret < 0 ? ret : add_path(self, process, call, call->rename.to);
	default:
		return 0;
	}
}

static int add(struct syscalls_sink *self, const struct ftr_syscall *call)
{
	uint32_t process = process_get(self, call->upid), row = process;
	const char *name = ftr_syscall_name(call);
	int ret = process != NO_PROCESS ? process_follow(self, process, call) : -ENOMEM;

	if (ret == 0 && self->by == FTR_SUMS_BY_FILE)
		return add_files(self, process, call);
	if (ret == 0 && self->by == FTR_SUMS_BY_CALL)
		ret = ftr_sums_row(&self->sums, &self->names, ftr_slice_make(name, strlen(name)),
				   &row);
	return ret < 0 ? ret : row_add(self, row, process, call);
}

static int syscalls_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	const struct ftr_syscall *call = ftr_event_syscall(ev);

	if (ev->type != FTR_EVENT_EXIT || call == NULL)
		return 0;
	return add(syscalls_of(sink), call) < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") :
						 0;
}

static void syscalls_fini(struct ftr_sink *sink)
{
	struct syscalls_sink *self = syscalls_of(sink);

	ftr_vec_fini(&self->sums.rows);
	ftr_vec_fini(&self->processes);
	ftr_hashmap_fini(&self->process_by_upid);
	ftr_hashmap_fini(&self->has_used);
	ftr_strpool_fini(&self->names);
	ftr_arena_fini(&self->arena);
}

static const struct ftr_sink_ops syscalls_ops = {
	.size	 = sizeof(struct syscalls_sink),
	.accepts = FTR_SUMS_ACCEPTS,
	.event	 = syscalls_event,
	.fini	 = syscalls_fini,
};

struct ftr_sink *ftr_syscalls_new(enum ftr_sums_by by, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&syscalls_ops, NULL, err);
	struct syscalls_sink *self = syscalls_of(sink);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	self->by = by;
	ftr_arena_init(&self->arena);
	ftr_strpool_init(&self->names);
	ftr_hashmap_init(&self->process_by_upid);
	ftr_hashmap_init(&self->has_used);
	return sink;
}

const struct ftr_sums *ftr_syscalls_get(const struct ftr_sink *sink)
{
	return &((const struct syscalls_sink *)sink)->sums;
}
