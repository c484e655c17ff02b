/* SPDX-License-Identifier: MIT */
/* See system.h: counters of the system's state are known again by their names. */
#include "utils/trace/system.h"

#include <string.h>

#include "utils/trace/args.h"
#include "utils/trace/task.h"

#define DIGITS "0123456789"

/* NULL = it is none. */
static const struct ftr_event_kind *kind_of(const struct ftr_event *ev)
{
	const char *name = ev->point.name;
	const struct ftr_event_kind *kind;
	size_t len;

	if (ev->type != FTR_EVENT_POINT || ev->point.kind != FTR_POINT_COUNTER ||
	    strncmp(name, FTR_SYSTEM_PREFIX, strlen(FTR_SYSTEM_PREFIX)) != 0)
		return NULL;
	len = strcspn(name, DIGITS);
	for (uint64_t id = FTR_EVENT_ID_SYSTEM_CPU; ftr_event_id_is_system(id); id++) {
		kind = ftr_event_kind_by_id(id);
		if (strlen(kind->name) == len && memcmp(kind->name, name, len) == 0 &&
		    name[len + strspn(name + len, DIGITS)] == '\0')
			return kind;
	}
	return NULL;
}

static uint64_t bits_of(const struct ftr_value *value)
{
	double number = (double)value->f;
	uint64_t bits = value->u;

	if (value->arg->format == FTR_ARG_FLOAT)
		memcpy(&bits, &number, sizeof(bits));
	return bits;
}

bool ftr_system_sample_get(const struct ftr_event *ev, struct ftr_system_sample *sample)
{
	const struct ftr_event_kind *kind = kind_of(ev);
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	if (kind == NULL || ev->payload == NULL || ev->payload->spec == NULL ||
	    ev->payload->spec->nr != kind->spec->nr)
		return false;
	*sample = (struct ftr_system_sample){
		.time_ns = ev->time_ns, .number = ev->point.id, .id = kind->id,
		.pid = (uint32_t)ev->task->pid, .tid = (uint32_t)ev->task->tid,
	};
	while (ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		const struct ftr_arg *arg = &kind->spec->args[nr - 1];

		if (value.arg->name == NULL || strcmp(value.arg->name, arg->name) != 0 ||
		    (value.arg->format == FTR_ARG_FLOAT) != (arg->format == FTR_ARG_FLOAT))
			return false;
		sample->values[nr - 1] = bits_of(&value);
	}
	return nr == kind->spec->nr;
}

