/* SPDX-License-Identifier: MIT */
/* What is mapped where in a session, and since when. */
#include "utils/trace/session.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/symtab.h"
#include "utils/trace/task.h"

#define PAGE 4096

struct ftr_session *ftr_task_session_at(const struct ftr_task *task, uint64_t time_ns)
{
	struct ftr_session *found = NULL;

	for (uint32_t i = 0; i < task->session_nr; i++) {
		if (found == NULL || task->sessions[i]->start_ns <= time_ns)
			found = task->sessions[i];
	}
	return found;
}

static int changes_insert(struct ftr_session *session, uint64_t time_ns)
{
	size_t i;

	if (ftr_vec_push(&session->changes_ns, time_ns) < 0)
		return -ENOMEM;
	for (i = session->changes_ns.nr - 1; i > 0 && session->changes_ns.v[i - 1] > time_ns; i--)
		session->changes_ns.v[i] = session->changes_ns.v[i - 1];
	session->changes_ns.v[i] = time_ns;
	return 0;
}

int ftr_session_map(struct ftr_session *session, const struct ftr_mapping *mapping)
{
	assert(mapping->module != NULL);
	if (mapping->since_ns != 0 && changes_insert(session, mapping->since_ns) < 0)
		return -ENOMEM;
	return ftr_vec_push(&session->mappings, *mapping);
}

/*
 * Is @a a better answer than @b at @time_ns?  One that is mapped already beats one that comes later
 * (a library's constructors run before its dlopen is known); then the newest, then the nearest
 * start.
 */
static bool mapping_is_better(const struct ftr_mapping *a, const struct ftr_mapping *b,
			      uint64_t time_ns)
{
	if (b == NULL)
		return true;
	if (a->is_overlay != b->is_overlay)
		return a->is_overlay;
	if ((a->since_ns <= time_ns) != (b->since_ns <= time_ns))
		return a->since_ns <= time_ns;
	if (a->since_ns != b->since_ns)
		return (a->since_ns > b->since_ns) == (a->since_ns <= time_ns);
	return a->start > b->start;
}

static struct ftr_mapping *mapping_find(const struct ftr_session *session, uint64_t time_ns,
					uint64_t addr, bool with_overlays)
{
	struct ftr_mapping *best = NULL;

	for (size_t i = 0; i < session->mappings.nr; i++) {
		struct ftr_mapping *mapping = &session->mappings.v[i];

		if (addr >= mapping->start && addr < mapping->end &&
		    (with_overlays || !mapping->is_overlay) &&
		    mapping_is_better(mapping, best, time_ns))
			best = mapping;
	}
	return best;
}

struct ftr_mapping *ftr_session_find(const struct ftr_session *session, uint64_t time_ns,
				     uint64_t addr)
{
	return mapping_find(session, time_ns, addr, true);
}

struct ftr_mapping *ftr_session_find_file(const struct ftr_session *session, uint64_t time_ns,
					  uint64_t addr)
{
	return mapping_find(session, time_ns, addr, false);
}

struct ftr_mapping *ftr_session_find_module(const struct ftr_session *session,
					    const struct ftr_module *module, uint64_t time_ns)
{
	struct ftr_mapping *best = NULL;

	for (size_t i = 0; i < session->mappings.nr; i++) {
		struct ftr_mapping *mapping = &session->mappings.v[i];

		if (mapping->module == module && mapping_is_better(mapping, best, time_ns))
			best = mapping;
	}
	return best;
}

void ftr_session_bound(const struct ftr_session *session, struct ftr_mapping *mapping)
{
	const struct ftr_symtab *symtab = mapping->module->symtab;
	const struct ftr_symbol *last;

	mapping->is_open = false;
	if (symtab != NULL && symtab->nr > 0) {
		last = &symtab->symbols[symtab->nr - 1];
		mapping->end = mapping->start + (last->addr + last->size) / PAGE * PAGE + PAGE;
		return;
	}
	for (size_t i = 0; i < session->mappings.nr; i++) {
		uint64_t start = session->mappings.v[i].start;

		if (start > mapping->start && start < mapping->end)
			mapping->end = start;
	}
}

uint32_t ftr_session_epoch(const struct ftr_session *session, uint64_t time_ns, uint64_t *next_ns)
{
	size_t low = 0;
	size_t high = session->changes_ns.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (session->changes_ns.v[mid] <= time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	*next_ns = low < session->changes_ns.nr ? session->changes_ns.v[low] : UINT64_MAX;
	return (uint32_t)low;
}
