/* SPDX-License-Identifier: MIT */
/* The functions of a sample's stack: see sample.h. */
#include "utils/trace/sample.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/trace/trace.h"

#define RUNTIME "libmcount"

static bool is_runtime(const struct ftr_mapping *mapping)
{
	return mapping != NULL &&
	       strncmp(mapping->module->name, RUNTIME, strlen(RUNTIME)) == 0;
}

/* What has no symbol is known by its module. */
static const struct ftr_func *func_of_module(struct ftr_trace *trace,
					     const struct ftr_mapping *mapping)
{
	char name[64];
	int len = mapping == NULL ? snprintf(name, sizeof(name), "<unknown>") :
				    snprintf(name, sizeof(name), "[%.60s]", mapping->module->name);

	if (len >= (int)sizeof(name))
		len = sizeof(name) - 1;
	return ftr_trace_func_by_name(trace, mapping == NULL ? NULL : mapping->module, name,
				      (size_t)len);
}

/* What lies at @addr where @ev happens; NULL: no function, or no mapping, is known of. */
static const struct ftr_func *func_at(struct ftr_trace *trace, const struct ftr_event *ev,
				      uint64_t addr, const struct ftr_mapping **mapping)
{
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	uint64_t offset;

	*mapping = session == NULL ? NULL : ftr_session_find(session, ev->time_ns, addr);
	return session == NULL ? NULL :
				 ftr_trace_find(trace, session, ev->time_ns, addr, &offset);
}

const struct ftr_func *ftr_sample_func(struct ftr_trace *trace, const struct ftr_event *ev,
				       uint64_t addr)
{
	const struct ftr_mapping *mapping;
	const struct ftr_func *func = func_at(trace, ev, addr, &mapping);

	return func != NULL ? func : func_of_module(trace, mapping);
}

/* 1, 0: the stack goes no further, or -ENOMEM. */
static int frame_add(struct ftr_sample *sample, const struct ftr_event *ev,
		     struct ftr_trace *trace, uint64_t addr)
{
	const struct ftr_mapping *mapping;
	const struct ftr_func *func;
	bool is_first = sample->nr == 0;

	addr -= !is_first;		/* a call is before the place that it returns to */
	func = func_at(trace, ev, addr, &mapping);
	if (!is_first && is_runtime(mapping)) {
		sample->is_to_call = true;
		return 0;
	}
	if (!is_first && mapping == NULL && func == NULL)
		return 0;		/* no frame pointer, but a number that was there */
	if (func == NULL)
		func = func_of_module(trace, mapping);
	if (func == NULL)
		return -ENOMEM;
	sample->frames[sample->nr++] = func;
	return 1;
}

int ftr_sample_read(struct ftr_sample *sample, const struct ftr_event *ev,
		    struct ftr_trace *trace)
{
	const struct ftr_payload *data = ev->payload;
	size_t nr = data == NULL || data->spec != NULL ? 0 : data->len / sizeof(uint64_t);
	int ret = 1;

	sample->nr = 0;
	sample->is_to_call = false;
	for (size_t i = 0; ret > 0 && i < nr && sample->nr < FTR_SAMPLE_FRAMES_MAX; i++)
		ret = frame_add(sample, ev, trace,
				ftr_get_u64(data->data + i * sizeof(uint64_t),
					    data->is_big_endian));
	return ret < 0 ? ret : 0;
}
