/* SPDX-License-Identifier: MIT */
/*
 * A task's own events and those of the kernel, by time.  What happens at one time is put so that
 * calls nest: those of the kernel lie in the program's, never the other way round.
 */
#include <errno.h>
#include <stdlib.h>

#include "utils/format/ftrace/ftrace.h"
#include "utils/trace/input.h"

struct join {
	struct ftr_source base;
	struct ftr_input user, kernel;
	uint32_t open_nr;		/* calls of the kernel */
	struct ftr_event batch[FTR_SOURCE_BATCH];
};

/* Does the kernel's next call end at the time at which it begins, as far as its batch shows? */
static bool call_is_empty(const struct ftr_input *kernel)
{
	uint64_t time_ns = kernel->evs[0].time_ns;
	uint32_t open_nr = 0;

	for (size_t i = 0; i < kernel->nr && kernel->evs[i].time_ns == time_ns; i++) {
		if (kernel->evs[i].type == FTR_EVENT_ENTRY)
			open_nr++;
		else if (kernel->evs[i].type == FTR_EVENT_EXIT && --open_nr == 0)
			return true;
	}
	return false;
}

/* At one time: what is open in the kernel ends first; else calls begin outside and end inside. */
static bool kernel_is_first(const struct join *self)
{
	const struct ftr_event *user = &self->user.evs[0], *kernel = &self->kernel.evs[0];

	if (user->type > FTR_EVENT_EXIT)
		return false;
	if (self->open_nr > 0)
		return true;
	if (user->type == FTR_EVENT_ENTRY || kernel->type == FTR_EVENT_EXIT)
		return false;
	return kernel->type != FTR_EVENT_ENTRY || call_is_empty(&self->kernel);
}

static struct ftr_input *input_next(struct join *self)
{
	uint64_t user_ns = self->user.evs[0].time_ns, kernel_ns = self->kernel.evs[0].time_ns;

	if (__builtin_expect(user_ns == kernel_ns, 0))
		return kernel_is_first(self) ? &self->kernel : &self->user;
	return user_ns < kernel_ns ? &self->user : &self->kernel;
}

static void open_count(struct join *self, const struct ftr_event *ev)
{
	if (ev->type == FTR_EVENT_ENTRY)
		self->open_nr++;
	else if (ev->type == FTR_EVENT_EXIT && self->open_nr > 0)
		self->open_nr--;
}

static ssize_t join_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct join *self = (struct join *)source;
	int has_user = ftr_input_fill(&self->user, err);
	int has_kernel = has_user < 0 ? 0 : ftr_input_fill(&self->kernel, err);
	struct ftr_input *rest = has_user > 0 ? &self->user : &self->kernel;
	size_t nr = 0;

	if (has_user < 0 || has_kernel < 0)
		return has_user < 0 ? has_user : has_kernel;
	if (!has_user || !has_kernel) {
		*evs = rest->evs;
		nr = rest->nr;
		rest->nr = 0;
		return (ssize_t)nr;
	}
	for (; nr < FTR_SOURCE_BATCH && self->user.nr > 0 && self->kernel.nr > 0; nr++) {
		struct ftr_input *from = input_next(self);

		if (from == &self->kernel)
			open_count(self, from->evs);
		self->batch[nr] = *from->evs++;
		from->nr--;
	}
	*evs = self->batch;
	return (ssize_t)nr;
}

static void join_free(struct ftr_source *source)
{
	struct join *self = (struct join *)source;

	ftr_source_free(self->user.source);
	ftr_source_free(self->kernel.source);
	free(self);
}

static const struct ftr_source_ops join_ops = {
	.next = join_next,
	.free = join_free,
};

struct ftr_source *ftr_ftrace_join(struct ftr_source *user, struct ftr_source *kernel)
{
	struct join *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_source_free(user);
		ftr_source_free(kernel);
		return NULL;
	}
	self->base.ops = &join_ops;
	self->user.source = user;
	self->kernel.source = kernel;
	return &self->base;
}
