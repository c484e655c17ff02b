/* SPDX-License-Identifier: MIT */
/* Any trace as a uftrace directory: system calls, as the records that they stand for. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/format/etrace/etrace.h"
#include "utils/format/uftrace/export.h"

struct ufx_syscalls {
	struct ftr_ostream out;		/* FTR_SYSCALL_FILE */
	struct ftr_etrace_writer lines;
	FTR_VEC(uint32_t) open;		/* by task id: calls that have begun */
};

static int syscalls_open(struct ufx *x)
{
	static const struct ftr_etrace_options options = { .is_extended = true };
	struct ufx_syscalls *self;
	int fd = openat(ftr_uftrace_dir_fd(x->dir), FTR_SYSCALL_FILE,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return ftr_err_set(x->base.err, errno, FTR_SYSCALL_FILE ": %s", strerror(errno));
	self = calloc(1, sizeof(*self));
	if (self == NULL || ftr_ostream_from_fd(&self->out, fd, FTR_SYSCALL_FILE) < 0) {
		close(fd);
		free(self);
		return ufx_no_memory(x);
	}
	self->out.owns_fd = true;
	ftr_etrace_writer_init(&self->lines, &self->out, &options);
	x->syscalls = self;
	return 0;
}

/* The number of system calls that the task has begun, to be changed; NULL = failed, described. */
static uint32_t *open_of(struct ufx *x, const struct ftr_task *task)
{
	if (x->syscalls == NULL && syscalls_open(x) < 0)
		return NULL;
	while (x->syscalls->open.nr <= task->id) {
		if (ftr_vec_push(&x->syscalls->open, 0) < 0) {
			ufx_no_memory(x);
			return NULL;
		}
	}
	return &x->syscalls->open.v[task->id];
}

uint32_t ufx_syscall_depth(const struct ufx *x, const struct ftr_task *task)
{
	if (x->syscalls == NULL || task->id >= x->syscalls->open.nr)
		return 0;
	return x->syscalls->open.v[task->id];
}

static int record_put(struct ufx *x, const struct ftr_etrace_record *rec)
{
	if (x->syscalls == NULL && syscalls_open(x) < 0)
		return x->base.err == NULL ? -ENOMEM : -x->base.err->code;
	return ftr_etrace_write(&x->syscalls->lines, rec) < 0 ? ufx_no_memory(x) : 0;
}

static int call_end(struct ufx *x, const struct ftr_event *ev, uint32_t *open)
{
	const struct ftr_etrace_record *rec = ftr_etrace_of_event(ev);

	*open -= *open > 0;
	if (rec != NULL)
		return record_put(x, rec);
	x->syscall_cut_nr += !(ev->flags & (FTR_EVENT_INFERRED | FTR_EVENT_UNFINISHED));
	return 0;
}

int ufx_syscall(struct ufx *x, const struct ftr_event *ev)
{
	bool is_call = ev->type == FTR_EVENT_ENTRY || ev->type == FTR_EVENT_EXIT;
	const struct ftr_etrace_record *rec;
	uint32_t *open;
	int ret;

	if (!x->trace->has_syscalls || (is_call && !ftr_etrace_is_call(ev->call.func)))
		return 0;
	rec = ftr_etrace_of_event(ev);
	if (!is_call && rec == NULL)
		return 0;
	if (!is_call) {		/* a fork is what its call's record says, too */
		ret = ev->type == FTR_EVENT_FORK ? 0 : record_put(x, rec);
		return ret < 0 ? ret : 1;
	}
	open = open_of(x, ev->task);
	if (open == NULL)
		return -ENOMEM;
	*open += ev->type == FTR_EVENT_ENTRY;
	ret = ev->type == FTR_EVENT_EXIT ? call_end(x, ev, open) : 0;
	return ret < 0 ? ret : 1;
}

int ufx_syscalls_flush(struct ufx *x)
{
	return x->syscalls == NULL ? 0 : ftr_ostream_flush(&x->syscalls->out, x->base.err);
}

void ufx_syscalls_fini(struct ufx *x)
{
	if (x->syscalls == NULL)
		return;
	ftr_etrace_writer_fini(&x->syscalls->lines);
	ftr_ostream_close(&x->syscalls->out, NULL);
	ftr_vec_fini(&x->syscalls->open);
	free(x->syscalls);
}
