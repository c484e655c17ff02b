/* SPDX-License-Identifier: MIT */
/* Taking the runtime's hands off a program: threads are stopped for the last step of it. */
#include "utils/attach/leave.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/attach/code.h"

#define TRIES 100
#define IMAGE_MAX 4096u

/* All but the borrowed one, which was chosen outside of the runtime. */
static bool is_any_in_runtime(const struct ftr_runtime *runtime)
{
	size_t i;

	for (i = 0; i < runtime->tracees.all.nr; i++) {
		pid_t tid = runtime->tracees.all.v[i].tid;

		if (tid != runtime->remote.tid && ftr_place_is_in_runtime(&runtime->places, tid))
			return true;
	}
	return false;
}

/* The youngest last, so that it is what stays; of the same age they stay in their order. */
static int write_compare(const void *one, const void *other)
{
	const struct ftr_attach_write *a = one, *b = other;

	if (a->age != b->age)
		return a->age < b->age ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int writes_do(const struct ftr_runtime *runtime, const struct ftr_attach *attach,
		     struct ftr_attach_write *writes)
{
	int32_t pid = runtime->image.pid;
	uint8_t image[IMAGE_MAX];
	uint64_t i;

	qsort(writes, attach->write_nr, sizeof(*writes), write_compare);
	for (i = 0; i < attach->write_nr; i++) {
		const struct ftr_attach_write *write = &writes[i];

		if (write->bytes == sizeof(write->value)) {
			ftr_memory_write(pid, write->addr, &write->value, sizeof(write->value));
		} else if (write->bytes > sizeof(image) ||
			   !ftr_memory_read(pid, attach->image, image, write->bytes) ||
			   !ftr_memory_write(pid, write->addr, image, write->bytes)) {
			return -EFAULT;
		}
	}
	return 0;
}

/* While all are stopped. */
static int forget(struct ftr_runtime *runtime, struct ftr_attach *attach, struct ftr_err *err)
{
	struct ftr_attach_write *writes;
	size_t bytes;
	int ret;

	attach->step = FTR_ATTACH_LIST;
	if (ftr_runtime_try_step(runtime, attach, err) < 0)
		return -err->code;
	if (attach->result == -EALREADY)	/* by one that is stopped */
		return -EAGAIN;
	if (attach->result < 0)
		return ftr_err_set(err, -attach->result, "what it holds cannot be listed: %s",
				   strerror(-attach->result));
	bytes = attach->write_nr * sizeof(*writes);
	writes = malloc(bytes + 1);
	ret = writes != NULL &&
	      (bytes == 0 ||
	       ftr_memory_read(runtime->image.pid, attach->writes, writes, bytes)) ?
		      writes_do(runtime, attach, writes) : -ENOMEM;
	free(writes);
	return ret < 0 ? ftr_err_set(err, -ret, "its threads cannot be put back") : 0;
}

/* Stop all and try; 0, -EAGAIN: some thread is in the runtime, or does not stop; -errno. */
static int forget_stopped(struct ftr_runtime *runtime, struct ftr_attach *attach,
			  struct ftr_attach_report *report, struct ftr_err *err)
{
	uint64_t ns;
	int ret = ftr_tracees_stop(&runtime->tracees);

	if (ret == 0 && is_any_in_runtime(runtime))
		ret = -EAGAIN;
	report->thread_nr = (unsigned)runtime->tracees.all.nr;
	if (ret == 0)
		ret = forget(runtime, attach, err);
	else if (ret != -EAGAIN && ret != -ETIMEDOUT)
		ftr_err_set(err, -ret, "its threads cannot be stopped: %s", strerror(-ret));
	ftr_tracees_release(&runtime->tracees, runtime->remote.tid);
	ns = runtime->tracees.released_ns - runtime->tracees.asked_ns;
	if (ns > report->stopped_ns)
		report->stopped_ns = ns;
	return ret == -ETIMEDOUT ? -EAGAIN : ret;
}

int ftr_runtime_leave(struct ftr_runtime *runtime, struct ftr_attach_report *report,
		      struct ftr_err *err)
{
	const struct ftr_code_choice all = { .is_back = true, .are_all = true };
	struct ftr_attach attach = { .step = FTR_ATTACH_UNHOOK };
	int ret = ftr_runtime_step(runtime, &attach, err);
	unsigned tries;

	if (ret < 0 || attach.state == FTR_ATTACH_IDLE || attach.state == FTR_ATTACH_LAUNCHED)
		return ret;
	if (attach.result == -EBUSY) {
		report->is_partly_left = true;
		return 0;
	}
	ret = ftr_runtime_code(runtime, &attach, &all, report, err);
	if (ret < 0 || report->is_partly_left)
		return ret;
	ret = -EAGAIN;
	for (tries = 0; ret == -EAGAIN && tries < TRIES; tries++) {
		if (tries != 0)
			ftr_runtime_pause(tries);
		if (ftr_runtime_look(runtime, err) < 0)	/* a thread's stack may be new */
			return -err->code;
		ret = forget_stopped(runtime, &attach, report, err);
	}
	report->is_partly_left = ret != 0;
	if (ret != 0)
		return ret == -EAGAIN ? 0 : ret;
	attach.step = FTR_ATTACH_FREE;
	return ftr_runtime_step(runtime, &attach, err);
}
