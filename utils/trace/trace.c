/* SPDX-License-Identifier: MIT */
/* A trace and the things interned in it: tasks, sessions, modules. */
#include "utils/trace/trace.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/object/symtab.h"
#include "utils/trace/stacks.h"

bool ftr_trace_wants_no_text(const char *name)
{
	return false;
}

struct ftr_trace *ftr_trace_new(const char *path, struct ftr_diag *diag)
{
	struct ftr_trace *trace = calloc(1, sizeof(*trace));

	if (trace == NULL)
		return NULL;
	ftr_arena_init(&trace->arena);
	ftr_strpool_init(&trace->names);
	ftr_strpool_init(&trace->paths);
	ftr_hashmap_init(&trace->task_by_tid);
	ftr_hashmap_init(&trace->module_by_key);
	ftr_hashmap_init(&trace->func_by_key);
	ftr_hashmap_init(&trace->func_by_symbol);
	trace->diag = diag;
	trace->path = ftr_arena_strdup(&trace->arena, path);
	if (trace->path == NULL) {
		ftr_trace_free(trace);
		return NULL;
	}
	return trace;
}

static void sessions_fini(struct ftr_trace *trace)
{
	for (size_t i = 0; i < trace->sessions.nr; i++) {
		struct ftr_session *session = trace->sessions.v[i];

		ftr_vec_fini(&session->mappings);
		ftr_vec_fini(&session->changes_ns);
		ftr_hashmap_fini(&session->cache);
		ftr_hashmap_fini(&session->libraries);
	}
	ftr_vec_fini(&trace->sessions);
}

static void stacks_free(struct ftr_stacks *stacks)
{
	if (stacks == NULL)
		return;
	ftr_vec_fini(&stacks->all);
	ftr_vec_fini(&stacks->funcs);
	free(stacks);
}

static void modules_fini(struct ftr_trace *trace)
{
	for (size_t i = 0; i < trace->modules.nr; i++) {
		struct ftr_symtab *symtab = trace->modules.v[i]->symtab;

		if (symtab != NULL)
			ftr_symtab_fini(symtab);
		free(symtab);
	}
	ftr_vec_fini(&trace->modules);
}

void ftr_trace_free(struct ftr_trace *trace)
{
	if (trace == NULL)
		return;
	for (size_t i = 0; i < trace->sources.nr; i++)
		ftr_source_free(trace->sources.v[i]);
	ftr_vec_fini(&trace->sources);
	if (trace->reader_free != NULL)
		trace->reader_free(trace->reader);
	sessions_fini(trace);
	modules_fini(trace);
	ftr_vec_fini(&trace->tasks);
	ftr_vec_fini(&trace->funcs);
	stacks_free(trace->stacks);
	stacks_free(trace->call_stacks);
	ftr_hashmap_fini(&trace->task_by_tid);
	ftr_hashmap_fini(&trace->module_by_key);
	ftr_hashmap_fini(&trace->func_by_key);
	ftr_hashmap_fini(&trace->func_by_symbol);
	ftr_strpool_fini(&trace->names);
	ftr_strpool_fini(&trace->paths);
	ftr_arena_fini(&trace->arena);
	free(trace);
}

struct ftr_task *ftr_trace_task_find(const struct ftr_trace *trace, int32_t tid)
{
	return ftr_hashmap_find(&trace->task_by_tid, (uint32_t)tid);
}

struct ftr_task *ftr_trace_task_get(struct ftr_trace *trace, int32_t pid, int32_t tid)
{
	struct ftr_task *task = ftr_trace_task_find(trace, tid);

	if (task != NULL)
		return task;
	task = ftr_arena_alloc(&trace->arena, sizeof(*task));
	if (task == NULL || ftr_vec_reserve(&trace->tasks, trace->tasks.nr + 1) < 0 ||
	    ftr_hashmap_set(&trace->task_by_tid, (uint32_t)tid, task) < 0)
		return NULL;
	assert(trace->tasks.nr < UINT32_MAX);
	task->pid = pid;
	task->tid = tid;
	task->name = "";
	task->id = (uint32_t)trace->tasks.nr;
	trace->tasks.v[trace->tasks.nr++] = task;
	return task;
}

struct ftr_session *ftr_trace_session_find(const struct ftr_trace *trace, const char *sid)
{
	for (size_t i = trace->sessions.nr; i-- > 0;) {	/* mostly asked for the newest */
		if (strcmp(trace->sessions.v[i]->sid, sid) == 0)
			return trace->sessions.v[i];
	}
	return NULL;
}

struct ftr_session *ftr_trace_session_new(struct ftr_trace *trace, const char *sid, int32_t pid,
					  uint64_t start_ns)
{
	struct ftr_session *session = ftr_arena_alloc(&trace->arena, sizeof(*session));

	if (session == NULL || ftr_vec_push(&trace->sessions, session) < 0)
		return NULL;
	strncpy(session->sid, sid, sizeof(session->sid) - 1);
	session->pid = pid;
	session->id = (uint32_t)trace->sessions.nr - 1;
	session->start_ns = start_ns;
	session->exename = "";
	ftr_hashmap_init(&session->cache);
	return session;
}

/* Grows by doubling: the number is a power of two exactly when there is no room left. */
int ftr_trace_task_add_session(struct ftr_trace *trace, struct ftr_task *task,
			       struct ftr_session *session)
{
	uint32_t nr = task->session_nr;

	assert(session != NULL);
	if ((nr & (nr - 1)) == 0) {
		size_t cap = nr == 0 ? 1 : (size_t)nr * 2;
		struct ftr_session **sessions;

		sessions = ftr_arena_alloc(&trace->arena, cap * sizeof(*sessions));
		if (sessions == NULL)
			return -ENOMEM;
		if (nr > 0)
			memcpy(sessions, task->sessions, nr * sizeof(*sessions));
		task->sessions = sessions;
	}
	task->sessions[task->session_nr++] = session;
	return 0;
}

static const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

struct ftr_module *ftr_trace_module_get(struct ftr_trace *trace, const char *path,
					const char *build_id)
{
	const char *id_text = build_id == NULL ? "" : build_id;
	const struct ftr_str *where = ftr_strpool_get(&trace->paths, path, strlen(path));
	const struct ftr_str *id = ftr_strpool_get(&trace->paths, id_text, strlen(id_text));
	struct ftr_module *module;
	uint64_t key;

	if (where == NULL || id == NULL)
		return NULL;
	key = ftr_u64_of(where->id, id->id);
	module = ftr_hashmap_find(&trace->module_by_key, key);
	if (module != NULL)
		return module;
	module = ftr_arena_alloc(&trace->arena, sizeof(*module));
	if (module == NULL || ftr_vec_reserve(&trace->modules, trace->modules.nr + 1) < 0 ||
	    ftr_hashmap_set(&trace->module_by_key, key, module) < 0)
		return NULL;
	module->path = where->s;
	module->name = path_base(where->s);
	module->build_id = build_id == NULL ? NULL : id->s;
	module->id = (uint32_t)trace->modules.nr;
	trace->modules.v[trace->modules.nr++] = module;
	module->is_kernel = strcmp(path, FTR_KERNEL_PATH) == 0;
	trace->has_kernel |= module->is_kernel;
	return module;
}

const struct ftr_func **ftr_trace_funcs_by_name(const struct ftr_trace *trace)
{
	const struct ftr_func **funcs = calloc(trace->names.nr + 1, sizeof(*funcs));

	for (size_t i = trace->funcs.nr; funcs != NULL && i-- > 0;)
		funcs[trace->funcs.v[i]->name_id] = trace->funcs.v[i];
	return funcs;
}
