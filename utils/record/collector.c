/* SPDX-License-Identifier: MIT */
/* The list of collectors, and what is done with all of them. */
#include "utils/record/collector.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

#define FTR_COLLECTOR(name) extern const struct ftr_collector ftr_collector_##name;
#include "utils/record/collectors.def"
#undef FTR_COLLECTOR

static const struct ftr_collector *const list[] = {
#define FTR_COLLECTOR(name) &ftr_collector_##name,
#include "utils/record/collectors.def"
#undef FTR_COLLECTOR
};

const struct ftr_collector *ftr_collector_next(size_t *pos)
{
	if (*pos >= sizeof(list) / sizeof(list[0]))
		return NULL;
	return list[(*pos)++];
}

int ftr_collectors_add(struct ftr_collectors *collectors, const struct ftr_collector *ops,
		       const struct ftr_recording *recording, const void *values,
		       struct ftr_err *err)
{
	void *self;

	assert(collectors->nr < FTR_COLLECTORS_MAX);
	self = ops->open(recording, values, err);
	if (self == NULL)
		return -err->code;
	collectors->v[collectors->nr].ops = ops;
	collectors->v[collectors->nr++].self = self;
	return 0;
}

int ftr_collectors_open(struct ftr_collectors *collectors, const struct ftr_recording *recording,
			const struct ftr_option_values *given, struct ftr_err *err)
{
	const struct ftr_collector *ops;
	size_t pos = 0;
	int ret = 0;

	while (ret == 0 && (ops = ftr_collector_next(&pos)) != NULL)
		ret = ftr_collectors_add(collectors, ops, recording,
					 ftr_option_values_get(given, ftr_collector_options,
							       ops->name), err);
	return ret;
}

void ftr_collectors_started(const struct ftr_collectors *collectors, int32_t pid)
{
	unsigned i;

	for (i = 0; i < collectors->nr; i++) {
		if (collectors->v[i].ops->started != NULL)
			collectors->v[i].ops->started(collectors->v[i].self, pid);
	}
}

void ftr_collectors_watch(const struct ftr_collectors *collectors, int epoll_fd)
{
	unsigned i;

	for (i = 0; i < collectors->nr; i++) {
		if (collectors->v[i].ops->watch != NULL)
			collectors->v[i].ops->watch(collectors->v[i].self, epoll_fd);
	}
}

static void process_tell(const struct ftr_collectors *collectors, int32_t pid)
{
	for (unsigned i = 0; i < collectors->nr; i++) {
		if (collectors->v[i].ops->process != NULL)
			collectors->v[i].ops->process(collectors->v[i].self, pid);
	}
}

int ftr_collectors_task(const struct ftr_collectors *collectors, const struct ftr_task_start *start,
			struct ftr_task_answer *answer, struct ftr_err *err)
{
	unsigned i;
	int ret;

	for (i = 0; i < collectors->nr; i++) {
		if (collectors->v[i].ops->task == NULL)
			continue;
		ret = collectors->v[i].ops->task(collectors->v[i].self, start, answer, err);
		if (ret >= 0)
			process_tell(collectors, start->pid);
		return ret;
	}
	return ftr_err_set(err, ENOTSUP, "no collector takes tasks");
}

void ftr_collectors_image_end(const struct ftr_collectors *collectors, int32_t pid)
{
	unsigned i;

	for (i = 0; i < collectors->nr; i++) {
		if (collectors->v[i].ops->image_end != NULL)
			collectors->v[i].ops->image_end(collectors->v[i].self, pid);
	}
}

unsigned ftr_collectors_drain(const struct ftr_collectors *collectors)
{
	unsigned percent, percent_max = 0, i;

	for (i = 0; i < collectors->nr; i++) {
		if (collectors->v[i].ops->drain == NULL)
			continue;
		percent = collectors->v[i].ops->drain(collectors->v[i].self);
		if (percent > percent_max)
			percent_max = percent;
	}
	return percent_max;
}

bool ftr_collectors_are_shared(const struct ftr_collectors *collectors)
{
	unsigned i;

	for (i = 0; i < collectors->nr; i++) {
		if (collectors->v[i].ops->is_shared != NULL &&
		    collectors->v[i].ops->is_shared(collectors->v[i].self))
			return true;
	}
	return false;
}

void ftr_collectors_close(struct ftr_collectors *collectors)
{
	unsigned i;

	for (i = 0; i < collectors->nr; i++)
		collectors->v[i].ops->close(collectors->v[i].self);
	collectors->nr = 0;
}

bool ftr_collector_options(size_t *pos, struct ftr_option_set *set)
{
	const struct ftr_collector *collector = ftr_collector_next(pos);

	if (collector == NULL)
		return false;
	*set = (struct ftr_option_set){ collector->name, collector->options,
					collector->values_bytes, collector->defaults };
	return true;
}
