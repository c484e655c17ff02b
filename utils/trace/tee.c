/* SPDX-License-Identifier: MIT */
/* See tee.h. */
#include "utils/trace/tee.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct tee {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sink *sinks[FTR_TEE_SINKS];	/* (borrowed) */
	size_t nr;
};

static int tee_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct tee *self = (struct tee *)sink;
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < self->nr; i++) {
		if (self->sinks[i]->ops->begin != NULL)
			ret = self->sinks[i]->ops->begin(self->sinks[i], trace);
	}
	return ret;
}

static int hand_on(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	int ret = 0;

	if (sink->ops->batch != NULL)
		return sink->ops->batch(sink, evs, nr);
	for (size_t i = 0; ret >= 0 && i < nr; i++) {
		if ((sink->ops->accepts & FTR_BIT(evs[i].type)) != 0)
			ret = sink->ops->event(sink, &evs[i]);
	}
	return ret;
}

static int tee_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	struct tee *self = (struct tee *)sink;
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < self->nr; i++)
		ret = hand_on(self->sinks[i], evs, nr);
	return ret;
}

static int tee_end(struct ftr_sink *sink)
{
	struct tee *self = (struct tee *)sink;
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < self->nr; i++) {
		if (self->sinks[i]->ops->end != NULL)
			ret = self->sinks[i]->ops->end(self->sinks[i]);
	}
	return ret;
}

static const struct ftr_sink_ops tee_ops = {
	.size	 = sizeof(struct tee),
	.accepts = FTR_BIT(FTR_EVENT_TYPES) - 1,
	.begin	 = tee_begin,
	.batch	 = tee_batch,
	.end	 = tee_end,
};

struct ftr_sink *ftr_tee_new(struct ftr_sink *const *sinks, size_t nr, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&tee_ops, NULL, err);
	struct tee *self = (struct tee *)sink;

	assert(nr <= FTR_TEE_SINKS);
	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	memcpy(self->sinks, sinks, nr * sizeof(*sinks));
	self->nr = nr;
	return sink;
}
