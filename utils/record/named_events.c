/* SPDX-License-Identifier: MIT */
/* See named_events.h. */
#include "utils/record/named_events.h"

#include <stdlib.h>
#include <string.h>

#include "utils/proto/record.h"
#include "utils/trace/event_kind.h"

static uint32_t id_of(size_t i)
{
	return FTR_EVENT_ID_SDT + 2 * (uint32_t)i;
}

uint32_t ftr_named_event(struct ftr_named_events *events, const char *name)
{
	char *copy;

	for (size_t i = 0; i < events->names.nr; i++) {
		if (strcmp(events->names.v[i], name) == 0)
			return id_of(i);
	}
	if (id_of(events->names.nr) > FTR_EVENT_ID_SDT_LAST)
		return 0;
	copy = strdup(name);
	if (copy == NULL || ftr_vec_push(&events->names, copy) < 0) {
		free(copy);
		return 0;
	}
	return id_of(events->names.nr - 1);
}

void ftr_named_events_store(struct ftr_named_events *events, struct ftr_uftrace_dir *dir)
{
	for (; events->stored_nr < events->names.nr; events->stored_nr++) {
		const char *name = events->names.v[events->stored_nr];
		uint32_t id = id_of(events->stored_nr);

		ftr_uftrace_dir_event(dir, id, name);
		ftr_uftrace_dir_event(dir, id | FTR_RECORD_EVENT_SDT_BARE, name);
	}
}

void ftr_named_events_fini(struct ftr_named_events *events)
{
	for (size_t i = 0; i < events->names.nr; i++)
		free(events->names.v[i]);
	ftr_vec_fini(&events->names);
}
