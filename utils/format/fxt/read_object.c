/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: userspace objects.
 *
 * They say what a process's pointers point to, as symbols do: so they become a symbol table that is
 * mapped over all of the process.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/fxt/read.h"
#include "utils/object/symtab.h"
#include "utils/object/symtab_build.h"

struct fxt_symtab {
	struct ftr_symtab *symtab;	/* (owned until it belongs to the module) */
	struct ftr_symtab_build build;
};

struct fxt_symtab *fxt_symtab_new(void)
{
	struct fxt_symtab *self = calloc(1, sizeof(*self));
	struct ftr_symtab *symtab = malloc(sizeof(*symtab));

	if (self == NULL || symtab == NULL) {
		free(self);
		free(symtab);
		return NULL;
	}
	ftr_symtab_init(symtab);
	self->symtab = symtab;
	self->build.tab = symtab;
	return self;
}

void fxt_symtab_free(struct fxt_symtab *self)
{
	if (self == NULL)
		return;
	ftr_symtab_build_fini(&self->build);
	if (self->symtab != NULL)
		ftr_symtab_fini(self->symtab);
	free(self->symtab);
	free(self);
}

int fxt_symtab_add(struct fxt_symtab *self, struct ftr_symbol symbol)
{
	return ftr_symtab_build_add(&self->build, symbol, strlen(symbol.name));
}

int fxt_symtab_give(struct fxt_symtab *self, struct ftr_module *module)
{
	if (module->symtab != NULL)
		return 0;
	if (ftr_symtab_build_finish(&self->build) < 0)
		return -ENOMEM;
	module->is_loaded = true;
	module->symtab = self->symtab;
	self->symtab = NULL;
	return 0;
}

int fxt_object_add(struct fxt_reader *r, uint64_t process, uint64_t pointer,
		   const struct fxt_text *name)
{
	uint64_t pid = process & INT32_MAX;
	struct fxt_symtab *objects = ftr_hashmap_find(&r->objects, pid);

	if (objects == NULL) {
		objects = fxt_symtab_new();
		if (objects == NULL || ftr_hashmap_set(&r->objects, pid, objects) < 0) {
			fxt_symtab_free(objects);
			return -ENOMEM;
		}
	}
	return fxt_symtab_add(objects, (struct ftr_symbol){ pointer, 1, 'T', name->str->s });
}

/*
 * The process's objects into the images that it ran; forked ones share theirs with their parents.
 */
static int objects_share(struct fxt_reader *r, const struct ftr_task *task,
			 const struct fxt_symtab *objects)
{
	for (uint32_t i = 0; i < task->session_nr; i++) {
		uint64_t key = task->sessions[i]->id;
		struct fxt_symtab *shared = ftr_hashmap_find(&r->session_objects, key);

		if (shared == NULL) {
			shared = fxt_symtab_new();
			if (shared == NULL ||
			    ftr_hashmap_set(&r->session_objects, key, shared) < 0) {
				fxt_symtab_free(shared);
				return -ENOMEM;
			}
		}
		for (size_t k = 0; k < objects->build.symbols.nr; k++) {
			if (fxt_symtab_add(shared, objects->build.symbols.v[k]) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* A process whose images nobody knows gets one. */
static int session_make(struct ftr_trace *trace, int32_t pid)
{
	struct ftr_session *session = NULL;
	char sid[17];

	snprintf(sid, sizeof(sid), "%016x", (unsigned)pid);
	for (size_t i = 0; i < trace->tasks.nr; i++) {
		struct ftr_task *task = trace->tasks.v[i];

		if (task->pid != pid || task->session_nr > 0)
			continue;
		if (session == NULL)
			session = ftr_trace_session_new(trace, sid, pid, 0);
		if (session == NULL || ftr_trace_task_add_session(trace, task, session) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int process_load(struct fxt_reader *r, int32_t pid, const struct fxt_symtab *objects)
{
	int ret = session_make(r->trace, pid);

	for (size_t i = 0; ret == 0 && i < r->trace->tasks.nr; i++) {
		const struct ftr_task *task = r->trace->tasks.v[i];

		if (task->pid == pid) {		/* its threads have the same */
			ret = objects_share(r, task, objects);
			break;
		}
	}
	return ret;
}

static int session_load(struct fxt_reader *r, uint64_t id, struct fxt_symtab *objects)
{
	struct ftr_mapping mapping = { .end = UINT64_MAX, .is_overlay = true };
	char path[32];

	snprintf(path, sizeof(path), "objects-%" PRIu64, id);
	mapping.module = ftr_trace_module_get(r->trace, path, NULL);
	if (mapping.module == NULL || ftr_session_map(r->trace->sessions.v[id], &mapping) < 0)
		return -ENOMEM;
	mapping.module->is_absolute = true;
	return fxt_symtab_give(objects, mapping.module);
}

int fxt_objects_load(struct fxt_reader *r)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;
	int ret = 0;

	while (ret == 0 && (slot = ftr_hashmap_next(&r->objects, &pos)) != NULL)
		ret = process_load(r, (int32_t)slot->key, slot->value);
	for (pos = 0; ret == 0 && (slot = ftr_hashmap_next(&r->session_objects, &pos)) != NULL;)
		ret = session_load(r, slot->key, slot->value);
	return ret;
}

static void symtabs_free(struct ftr_hashmap *map)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(map, &pos)) != NULL)
		fxt_symtab_free(slot->value);
	ftr_hashmap_fini(map);
}

void fxt_objects_fini(struct fxt_reader *r)
{
	symtabs_free(&r->objects);
	symtabs_free(&r->session_objects);
}
