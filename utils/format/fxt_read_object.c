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

#include "utils/format/fxt_read.h"
#include "utils/object/symtab.h"
#include "utils/object/symtab_build.h"

struct fxt_objects {
	int32_t pid;
	struct ftr_symtab *symtab;	/* (owned until it belongs to the module) */
	struct ftr_symtab_build build;
};

static struct fxt_objects *objects_new(int32_t pid)
{
	struct fxt_objects *objects = calloc(1, sizeof(*objects));
	struct ftr_symtab *symtab = malloc(sizeof(*symtab));

	if (objects == NULL || symtab == NULL) {
		free(objects);
		free(symtab);
		return NULL;
	}
	ftr_symtab_init(symtab);
	objects->pid = pid;
	objects->symtab = symtab;
	objects->build.tab = symtab;
	return objects;
}

static void objects_free(struct fxt_objects *objects)
{
	ftr_symtab_build_fini(&objects->build);
	if (objects->symtab != NULL)
		ftr_symtab_fini(objects->symtab);
	free(objects->symtab);
	free(objects);
}

int fxt_object_add(struct fxt_reader *r, uint64_t process, uint64_t pointer,
		   const struct fxt_text *name)
{
	int32_t pid = (int32_t)(process & INT32_MAX);
	struct fxt_objects *objects = ftr_hashmap_find(&r->objects, (uint32_t)pid);
	struct ftr_symbol symbol = { .addr = pointer, .size = 1, .type = 'T', .name = name->str->s };

	if (objects == NULL) {
		objects = objects_new(pid);
		if (objects == NULL)
			return -ENOMEM;
		if (ftr_hashmap_set(&r->objects, (uint32_t)pid, objects) < 0) {
			objects_free(objects);
			return -ENOMEM;
		}
	}
	return ftr_symtab_build_add(&objects->build, symbol, name->str->len);
}

static int objects_load(struct ftr_trace *trace, struct fxt_objects *objects)
{
	struct ftr_mapping mapping = { .end = UINT64_MAX };
	struct ftr_session *session;
	char path[32], sid[17];

	if (ftr_symtab_build_finish(&objects->build) < 0)
		return -ENOMEM;
	snprintf(path, sizeof(path), "objects-%d", objects->pid);
	snprintf(sid, sizeof(sid), "%016x", (unsigned)objects->pid);
	mapping.module = ftr_trace_module_get(trace, path, NULL);
	session = ftr_trace_session_new(trace, sid, objects->pid, 0);
	if (mapping.module == NULL || session == NULL || ftr_session_map(session, &mapping) < 0)
		return -ENOMEM;
	mapping.module->is_loaded = true;
	mapping.module->is_absolute = true;
	mapping.module->symtab = objects->symtab;
	objects->symtab = NULL;
	for (size_t i = 0; i < trace->tasks.nr; i++) {
		struct ftr_task *task = trace->tasks.v[i];

		if (task->pid == objects->pid && ftr_trace_task_add_session(trace, task, session) < 0)
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
		ret = objects_load(r->trace, slot->value);
	return ret;
}

void fxt_objects_fini(struct fxt_reader *r)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&r->objects, &pos)) != NULL)
		objects_free(slot->value);
	ftr_hashmap_fini(&r->objects);
}
