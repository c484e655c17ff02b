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
			      "%s: blob " FXT_BLOB_SYSCALLS " is damaged: system calls are shown "
			      "without their records",
			      r->in.name);
		r->syscalls.records.nr = 0;
	}
	r->trace->has_syscalls = r->syscalls.records.nr > 0;
	return ret;
}

/* Does the record say what the event says?  Of a fork: that this child was made. */
static bool is_of_event(const struct ftr_etrace_record *rec, const struct ftr_event *ev)
{
	const char *call = ftr_etrace_call(rec);
	size_t len = strlen(call);

	switch (ev->type) {
	case FTR_EVENT_EXIT:
		return ev->call.func->name_len == len + 4 &&
		       memcmp(ev->call.func->name, "sys_", 4) == 0 &&
		       memcmp(ev->call.func->name + 4, call, len) == 0;
	case FTR_EVENT_FORK:
		return ftr_etrace_tid(rec->peer) == ev->fork.peer->tid;
	default:
		return rec->kind == FTR_ETRACE_COMM;
	}
}

/*
 * A thread that execs goes on as its process: then the record of a call has another number than the
 * task.
 */
static const struct ftr_etrace_record *record_find(const struct fxt_reader *r,
						   const struct ftr_event *ev)
{
	const struct ftr_etrace_record *records = r->syscalls.records.v, *found = NULL;
	size_t low = 0, high = r->syscalls.records.nr;

	while (low < high) {		/* the first one that is not before the event */
		size_t middle = low + (high - low) / 2;

		if (records[middle].time_ns < ev->time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < r->syscalls.records.nr && records[low].time_ns == ev->time_ns; low++) {
		if (!is_of_event(&records[low], ev))
			continue;
		found = &records[low];
		if (ftr_etrace_tid(found->upid) == ev->task->tid)
			break;
	}
	return found;
}

void fxt_syscall_set(struct fxt_source *self, struct ftr_event *ev)
{
	struct ftr_payload *payload = &self->payloads[ev - self->evs];
	const struct ftr_etrace_record *rec;

	if (!self->r->trace->has_syscalls ||
	    (ev->type == FTR_EVENT_EXIT && !ftr_etrace_is_call(ev->call.func)))
		return;
	rec = record_find(self->r, ev);
	if (rec == NULL)
		return;
	if (ev->payload == NULL)
		*payload = (struct ftr_payload){ .is_big_endian = FTR_HOST_IS_BIG };
	payload->origin = rec;
	ev->payload = payload;
}
