/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: where modules lay in memory, image by image, and so where calls were; see
 * fxt/write_map.c.
 */
#include <errno.h>

#include "utils/base/text.h"
#include "utils/format/fxt/read.h"

int fxt_map_session_line(struct fxt_map *map, struct ftr_slice rest)
{
	char sid[sizeof(map->session->sid)];

	if (rest.len != sizeof(sid) - 1)
		return -EBADMSG;
	memcpy(sid, rest.s, rest.len);
	sid[rest.len] = '\0';
	map->session = ftr_trace_session_find(map->trace, sid);
	return 0;
}

int fxt_map_base_line(struct fxt_map *map, struct ftr_slice rest, struct ftr_module *module)
{
	struct ftr_mapping mapping = { .module = module };
	struct ftr_slice start, end;

	if (!ftr_slice_split(&rest, '\t', &start) || !ftr_slice_split(&rest, '\t', &end) ||
	    ftr_parse_u64(start, 16, &mapping.start) < 0 ||
	    ftr_parse_u64(end, 16, &mapping.end) < 0 ||
	    ftr_parse_u64(rest, 10, &mapping.since_ns) < 0)
		return -EBADMSG;
	mapping.is_open = mapping.end == 0;
	if (mapping.is_open)
		mapping.end = UINT64_MAX;
	if (mapping.end <= mapping.start)
		return -EBADMSG;
	return map->session == NULL ? 0 : ftr_session_map(map->session, &mapping);
}

/* As ftr_task_session_at, and when the next image begins. */
static struct ftr_session *image_at(const struct ftr_task *task, uint64_t time_ns,
				    uint64_t *until_ns)
{
	*until_ns = UINT64_MAX;
	for (uint32_t i = 1; i < task->session_nr; i++) {
		uint64_t start_ns = task->sessions[i]->start_ns;

		if (start_ns > time_ns && start_ns < *until_ns)
			*until_ns = start_ns;
	}
	return ftr_task_session_at(task, time_ns);
}

/* Where the module lies, if it does: else where its symbols count from. */
static void base_find(struct fxt_place *place, const struct ftr_session *session,
		      const struct ftr_func *func, uint64_t time_ns)
{
	const struct ftr_mapping *mapping = ftr_session_find_module(session, func->module, time_ns);

	ftr_session_epoch(session, time_ns, &place->until_ns);
	place->session = session;
	place->from_ns = time_ns;
	place->base = mapping == NULL ? 0 : mapping->start;
}

uint64_t fxt_call_addr(struct fxt_reader *r, const struct ftr_func *func,
		       const struct ftr_task *task, uint64_t time_ns, uint64_t *until_ns)
{
	struct fxt_place *place = func->id < r->places.nr ? &r->places.v[func->id] : NULL;
	const struct ftr_session *session;

	*until_ns = UINT64_MAX;
	if (place == NULL)
		return 0;
	if (place->addr == 0)
		return func->addr;
	session = place->is_relative ? image_at(task, time_ns, until_ns) : NULL;
	if (session == NULL)
		return place->addr;
	if (session != place->session || time_ns < place->from_ns || time_ns >= place->until_ns)
		base_find(place, session, func, time_ns);
	if (place->until_ns < *until_ns)
		*until_ns = place->until_ns;
	return place->base + place->addr;
}
