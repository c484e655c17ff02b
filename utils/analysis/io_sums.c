/* SPDX-License-Identifier: MIT */
/* See io_sums.h. */
#include "utils/analysis/io_sums.h"

#include <errno.h>
#include <string.h>

#include "utils/analysis/syscalls.h"
#include "utils/base/strpool.h"
#include "utils/trace/io.h"

struct io_sums {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums;
	struct ftr_strpool names;	/* id = row */
	struct ftr_io io;
	bool is_of_sockets;
	struct ftr_sink *syscalls;	/* (owned) */
};

static struct io_sums *sums_of(struct ftr_sink *sink)
{
	return (struct io_sums *)sink;
}

static void row_add(struct ftr_sum *sum, const struct ftr_event *ev,
		    const struct ftr_io_call *call)
{
	uint64_t start_ns = ev->point.start_ns != 0 ? ev->point.start_ns : ev->time_ns;
	uint64_t ns = ev->time_ns - start_ns;
	uint64_t moved = call->result > 0 ? (uint64_t)call->result : 0;

	if (sum->calls++ == 0)
		sum->start_ns = start_ns;
	sum->end_ns = ev->time_ns;
	sum->errors += call->result < 0;
	sum->total_ns += ns;
	sum->min_ns = sum->calls == 1 || ns < sum->min_ns ? ns : sum->min_ns;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
	if (ftr_io_reads(call->kind))
		sum->read_bytes += moved;
	if (ftr_io_writes(call->kind))
		sum->written_bytes += moved;
	sum->opens += call->kind->id == FTR_EVENT_ID_FILE_OPEN && call->result >= 0;
	sum->reads += ftr_io_reads(call->kind);
	sum->writes += ftr_io_writes(call->kind);
	sum->bytes = sum->read_bytes + sum->written_bytes;
}

static int io_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct io_sums *self = sums_of(sink);
	struct ftr_io_call call;
	uint32_t row;
	int ret;

	if (self->syscalls->ops->event(self->syscalls, ev) < 0)
		return ftr_err_set(sink->err, ENOMEM, "out of memory");
	ret = ftr_io_next(&self->io, ev, &call);
	if (ret > 0 && call.is_end && ftr_io_is_net(call.kind) == self->is_of_sockets) {
		ret = ftr_sums_row(&self->sums, &self->names,
				   ftr_slice_make(call.name, strlen(call.name)), &row);
		if (ret == 0)
			row_add(&self->sums.rows.v[row], ev, &call);
	}
	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") : 0;
}

static void io_fini(struct ftr_sink *sink)
{
	struct io_sums *self = sums_of(sink);

	ftr_vec_fini(&self->sums.rows);
	ftr_strpool_fini(&self->names);
	ftr_io_fini(&self->io);
	ftr_sink_free(self->syscalls);
}

static const struct ftr_sink_ops io_ops = {
	.size	 = sizeof(struct io_sums),
	.accepts = FTR_SUMS_ACCEPTS,
	.event	 = io_event,
	.fini	 = io_fini,
};

struct ftr_sink *ftr_io_sums_new(enum ftr_sums_by by, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&io_ops, NULL, err);
	struct io_sums *self = sums_of(sink);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	self->sums.is_of_bytes = true;
	self->is_of_sockets = by == FTR_SUMS_BY_SOCKET;
	ftr_strpool_init(&self->names);
	ftr_io_init(&self->io);
	self->syscalls = ftr_syscalls_new(FTR_SUMS_BY_FILE, err);
	if (self->syscalls == NULL) {
		ftr_sink_free(sink);
		return NULL;
	}
	return sink;
}

const struct ftr_sums *ftr_io_sums_get(const struct ftr_sink *sink)
{
	const struct io_sums *self = (const struct io_sums *)sink;
	const struct ftr_sums *observed = ftr_syscalls_get(self->syscalls);

	return observed->rows.nr != 0 && !self->is_of_sockets ? observed : &self->sums;
}
