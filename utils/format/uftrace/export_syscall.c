/* SPDX-License-Identifier: MIT */
/* Any trace as a uftrace directory: its system calls. */
#include <errno.h>
#include <stdlib.h>

#include "utils/format/uftrace/export.h"
#include "utils/format/uftrace/write_syscall.h"
#include "utils/trace/func.h"
#include "utils/trace/syscall.h"

struct ufx_syscalls {
	struct ftr_uftrace_syscalls file;
	FTR_VEC(uint32_t) open;		/* by task id: calls that have begun */
};

static int syscalls_open(struct ufx *x)
{
	struct ufx_syscalls *self = calloc(1, sizeof(*self));
	int ret;

	if (self == NULL)
		return ufx_no_memory(x);
	ret = ftr_uftrace_syscalls_open(&self->file, ftr_uftrace_dir_fd(x->dir), x->base.err);
	if (ret < 0) {
		free(self);
		return ret;
	}
	x->syscalls = self;
	return 0;
}

/* The number of system calls that the task has begun, to be changed; NULL = failed, described. */
static uint32_t *open_of(struct ufx *x, const struct ftr_task *task)
{
	if (x->syscalls == NULL && syscalls_open(x) < 0)
		return NULL;
	if (ftr_vec_reach(&x->syscalls->open, task->id) < 0) {
		ufx_no_memory(x);
		return NULL;
	}
	return &x->syscalls->open.v[task->id];
}

uint32_t ufx_syscall_depth(const struct ufx *x, const struct ftr_task *task)
{
	if (x->syscalls == NULL || task->id >= x->syscalls->open.nr)
		return 0;
	return x->syscalls->open.v[task->id];
}

static int call_put(struct ufx *x, const struct ftr_syscall *call)
{
	if (x->syscalls == NULL && syscalls_open(x) < 0)
		return x->base.err == NULL ? -ENOMEM : -x->base.err->code;
	return ftr_uftrace_syscalls_write(&x->syscalls->file, call) < 0 ? ufx_no_memory(x) : 0;
}

static int call_end(struct ufx *x, const struct ftr_event *ev, uint32_t *open)
{
	const struct ftr_syscall *call = ftr_event_syscall(ev);

	*open -= *open > 0;
	if (call != NULL)
		return call_put(x, call);
	x->syscall_cut_nr += !(ev->flags & (FTR_EVENT_INFERRED | FTR_EVENT_UNFINISHED));
	return 0;
}

int ufx_syscall(struct ufx *x, const struct ftr_event *ev)
{
	bool is_call = ev->type == FTR_EVENT_ENTRY || ev->type == FTR_EVENT_EXIT;
	const struct ftr_syscall *call;
	uint32_t *open;
	int ret;

	if (!x->trace->has_syscalls || (is_call && ev->call.func->sysid == FTR_SYSID_NONE))
		return 0;
	call = ftr_event_syscall(ev);
	if (!is_call && call == NULL)
		return 0;
	if (!is_call) {		/* a fork is part of its call */
		ret = ev->type == FTR_EVENT_FORK ? 0 : call_put(x, call);
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
	return x->syscalls == NULL ? 0 : ftr_ostream_flush(&x->syscalls->file.out, x->base.err);
}

void ufx_syscalls_fini(struct ufx *x)
{
	if (x->syscalls == NULL)
		return;
	ftr_uftrace_syscalls_close(&x->syscalls->file, NULL);
	ftr_vec_fini(&x->syscalls->open);
	free(x->syscalls);
}
