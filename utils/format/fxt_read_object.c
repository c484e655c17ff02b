/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: userspace objects.
 *
 * They say what a process's pointers point to, as symbols do: so they become a symbol table that is mapped
 * over all of the process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/fxt_read.h"
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

static int objects_load(struct ftr_trace *trace, int32_t pid, struct fxt_symtab *objects)
{
	struct ftr_mapping mapping = { .end = UINT64_MAX };
	struct ftr_session *session;
	char path[32], sid[17];

	snprintf(path, sizeof(path), "objects-%d", pid);
	snprintf(sid, sizeof(sid), "%016x", (unsigned)pid);
	mapping.module = ftr_trace_module_get(trace, path, NULL);
	session = ftr_trace_session_new(trace, sid, pid, 0);
	if (mapping.module == NULL || session == NULL || ftr_session_map(session, &mapping) < 0)
		return -ENOMEM;
	mapping.module->is_absolute = true;
	if (fxt_symtab_give(objects, mapping.module) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < trace->tasks.nr; i++) {
		struct ftr_task *task = trace->tasks.v[i];

		if (task->pid == pid && ftr_trace_task_add_session(trace, task, session) < 0)
			return -ENOMEM;
	}
	return 0;
}

int fxt_objects_load(struct fxt_reader *r)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;
	int ret = 0;

	while (ret == 0 && (slot = ftr_hashmap_next(&r->objects, &pos)) != NULL)
		ret = objects_load(r->trace, (int32_t)slot->key, slot->value);
	return ret;
}

void fxt_objects_fini(struct fxt_reader *r)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&r->objects, &pos)) != NULL)
		fxt_symtab_free(slot->value);
	ftr_hashmap_fini(&r->objects);
}
