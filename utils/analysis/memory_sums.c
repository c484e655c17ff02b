/* SPDX-License-Identifier: MIT */
/* Requests for memory added up by caller: what was given, and what was never given back. */
#include "utils/analysis/memory_sums.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/strpool.h"
#include "utils/trace/memory_blocks.h"
#include "utils/trace/trace.h"

struct memory_sums {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums;
	struct ftr_trace *trace;	/* (borrowed) */
	struct ftr_strpool names;	/* id = row */
	struct ftr_memory_blocks blocks;	/* an owner is a row */
};

static struct memory_sums *sums_of(struct ftr_sink *sink)
{
	return (struct memory_sums *)sink;
}

/* The row of the function that @addr lies in, else of the address. */
static int row_of(struct memory_sums *self, const struct ftr_event *ev, uint64_t addr,
		  uint32_t *row)
{
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	const struct ftr_func *func = NULL;
	const char *name;
	char text[32];
	uint64_t offset;

	if (session != NULL)	/* the call is before the place that it returns to */
		func = ftr_trace_find(self->trace, session, ev->time_ns, addr - 1, &offset);
	snprintf(text, sizeof(text), "<%llx>", (unsigned long long)addr);
	name = func != NULL ? func->name : text;
	return ftr_sums_row(&self->sums, &self->names, ftr_slice_make(name, strlen(name)), row);
}

static void block_gone(void *arg, const struct ftr_memory_block *block)
{
	struct memory_sums *self = arg;
	struct ftr_sum *sum = &self->sums.rows.v[block->owner];

	sum->live_bytes -= block->bytes;
	sum->live_blocks--;
}

static void asked(struct ftr_sum *sum, const struct ftr_event *ev,
		  const struct ftr_memory_request *request)
{
	if (sum->calls++ == 0)
		sum->start_ns = ev->time_ns;
	sum->end_ns = ev->time_ns;
	if (request->address == 0) {
		sum->errors++;
		return;
	}
	sum->bytes += request->bytes;
	sum->live_bytes += request->bytes;
	sum->live_blocks++;
}

static int memory_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	sums_of(sink)->trace = (struct ftr_trace *)trace;	/* functions are found as needed */
	return 0;
}

static int memory_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct memory_sums *self = sums_of(sink);
	struct ftr_memory_request request;
	uint32_t row = 0;
	int ret = 0;

	if (!ftr_memory_request_read(&request, ev))
		return 0;
	if (request.asks)
		ret = row_of(self, ev, request.caller, &row);
	if (ret == 0)
		ret = ftr_memory_blocks_take(&self->blocks, ev, &request, row);
	if (ret == 0 && request.asks)
		asked(&self->sums.rows.v[row], ev, &request);
	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") : 0;
}

static void memory_fini(struct ftr_sink *sink)
{
	struct memory_sums *self = sums_of(sink);

	ftr_vec_fini(&self->sums.rows);
	ftr_memory_blocks_fini(&self->blocks);
	ftr_strpool_fini(&self->names);
}

static const struct ftr_sink_ops memory_ops = {
	.size	 = sizeof(struct memory_sums),
	.accepts = FTR_SUMS_ACCEPTS,
	.begin	 = memory_begin,
	.event	 = memory_event,
	.fini	 = memory_fini,
};

struct ftr_sink *ftr_memory_sums_new(struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&memory_ops, NULL, err);
	struct memory_sums *self = sums_of(sink);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	ftr_strpool_init(&self->names);
	ftr_memory_blocks_init(&self->blocks, block_gone, self);
	return sink;
}

const struct ftr_sums *ftr_memory_sums_get(const struct ftr_sink *sink)
{
	return &((const struct memory_sums *)sink)->sums;
}
