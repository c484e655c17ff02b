/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: blob ftr.syscalls, and the events that its records belong to: by the time at which
 * both were done.
 */
#include <errno.h>
#include <string.h>

#include "utils/format/fxt/read_source.h"

int fxt_syscalls_load(struct fxt_reader *r)
{
	struct ftr_istream in;
	int ret;

	if (r->syscall_lines.len == 0)
		return 0;
	ftr_istream_from_memory(&in, FXT_BLOB_SYSCALLS, r->syscall_lines.s, r->syscall_lines.len);
	ret = ftr_etrace_load(&r->syscalls, &in, NULL, NULL);
	ftr_istream_close(&in);
	ftr_strbuf_fini(&r->syscall_lines);
	if (r->syscalls.violations > 0) {
		ftr_diag_warn(r->trace->diag,
			      "%s: blob " FXT_BLOB_SYSCALLS " is damaged; system calls keep their "
			      "times and arguments only",
			      r->in.name);
		r->syscalls.calls.nr = 0;
	}
	r->trace->has_syscalls = r->syscalls.calls.nr > 0;
	return ret;
}

/* Is it the call of the event?  Of a fork: did it make this child? */
static bool is_of_event(const struct ftr_syscall *call, const struct ftr_event *ev)
{
	switch (ev->type) {
	case FTR_EVENT_EXIT:
		return ftr_syscall_id(call) == ev->call.func->sysid;
	case FTR_EVENT_FORK:
		return ftr_syscall_is_fork(call) &&
		       ftr_upid_tid(call->fork.child) == ev->fork.peer->tid;
	default:
		return call->kind == FTR_SYSCALL_COMM;
	}
}

/*
 * A thread that execs goes on as its process: then the record of a call has another number than the
 * task.
 */
static const struct ftr_syscall *call_find(const struct fxt_reader *r,
						   const struct ftr_event *ev)
{
	const struct ftr_syscall *calls = r->syscalls.calls.v, *found = NULL;
	size_t low = 0, high = r->syscalls.calls.nr;

	while (low < high) {		/* the first one that is not before the event */
		size_t middle = low + (high - low) / 2;

		if (calls[middle].end_ns < ev->time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < r->syscalls.calls.nr && calls[low].end_ns == ev->time_ns; low++) {
		if (!is_of_event(&calls[low], ev))
			continue;
		found = &calls[low];
		if (ftr_upid_tid(found->upid) == ev->task->tid)
			break;
	}
	return found;
}

void fxt_syscall_set(struct fxt_source *self, struct ftr_event *ev)
{
	struct ftr_payload *payload = &self->payloads[ev - self->evs];
	const struct ftr_syscall *call;

	if (!self->r->trace->has_syscalls ||
	    (ev->type == FTR_EVENT_EXIT && ev->call.func->sysid == FTR_SYSID_NONE))
		return;
	call = call_find(self->r, ev);
	if (call == NULL)
		return;
	if (ev->payload == NULL)
		*payload = (struct ftr_payload){ .is_big_endian = FTR_HOST_IS_BIG };
	payload->syscall = call;
	ev->payload = payload;
}
