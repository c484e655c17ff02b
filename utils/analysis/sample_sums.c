/* SPDX-License-Identifier: MIT */
/* Samples added up: see sample_sums.h. */
#include "utils/analysis/sample_sums.h"

#include <errno.h>
#include <string.h>

#include "utils/analysis/sample_stack.h"
#include "utils/base/strpool.h"
#include "utils/trace/func.h"

struct sample_sums {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums, none;	/* none: of a trace without samples */
	struct ftr_strpool names;	/* id = row */
	struct ftr_sample_stacks stacks;
	uint64_t sample_nr;
	FTR_VEC(uint64_t) counted;	/* by row: number of the last sample that it is in */
};

static struct sample_sums *sums_of(struct ftr_sink *sink)
{
	return (struct sample_sums *)sink;
}

static struct ftr_sum *row_of(struct sample_sums *self, const struct ftr_func *func, uint32_t *row)
{
	if (ftr_sums_row(&self->sums, &self->names, ftr_slice_make(func->name, strlen(func->name)),
			 row) < 0)
		return NULL;
	if (ftr_vec_extend(&self->counted, self->sums.rows.nr) < 0)
		return NULL;
	return &self->sums.rows.v[*row];
}

/* Each function of the stack once, however often it stands there; the innermost has it itself. */
static int sample_count(struct sample_sums *self)
{
	size_t nr = self->stacks.frames.nr;
	struct ftr_sum *sum = NULL;
	uint32_t row;

	self->sample_nr++;
	for (size_t i = 0; i < nr; i++) {
		sum = row_of(self, self->stacks.frames.v[i], &row);
		if (sum == NULL)
			return -ENOMEM;
		sum->samples += self->counted.v[row] != self->sample_nr;
		self->counted.v[row] = self->sample_nr;
		sum->self_samples += i == nr - 1;
	}
	return 0;
}

static int call_count(struct sample_sums *self, const struct ftr_event *ev)
{
	uint64_t total_ns = ev->time_ns - ev->call.start_ns;
	uint32_t row;
	struct ftr_sum *sum = row_of(self, ev->call.func, &row);

	if (sum == NULL)
		return -ENOMEM;
	sum->calls++;
	sum->self_ns += total_ns > ev->call.child_ns ? total_ns - ev->call.child_ns : 0;
	return 0;
}

static int sample_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	ftr_sample_stacks_init(&sums_of(sink)->stacks, trace);
	return 0;
}

static int sample_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct sample_sums *self = sums_of(sink);
	int ret = ftr_sample_stacks_take(&self->stacks, ev);

	if (ret > 0)
		ret = sample_count(self);
	else if (ret == 0 && ev->type == FTR_EVENT_EXIT)
		ret = call_count(self, ev);
	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") : 0;
}

static void sample_fini(struct ftr_sink *sink)
{
	struct sample_sums *self = sums_of(sink);

	ftr_vec_fini(&self->sums.rows);
	ftr_vec_fini(&self->counted);
	ftr_sample_stacks_fini(&self->stacks);
	ftr_strpool_fini(&self->names);
}

static const struct ftr_sink_ops sample_ops = {
	.size	 = sizeof(struct sample_sums),
	.accepts = FTR_SUMS_ACCEPTS,
	.begin	 = sample_begin,
	.event	 = sample_event,
	.fini	 = sample_fini,
};

struct ftr_sink *ftr_sample_sums_new(struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&sample_ops, NULL, err);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	ftr_strpool_init(&sums_of(sink)->names);
	return sink;
}

const struct ftr_sums *ftr_sample_sums_get(const struct ftr_sink *sink)
{
	const struct sample_sums *self = (const struct sample_sums *)sink;

	return self->sample_nr == 0 ? &self->none : &self->sums;
}
