/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: what the file says of the traced program: userspace objects, and the blobs of ftr's
 * own files (doc/fxt.md): programs and tasks, modules and where they lay, functions.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/text.h"
#include "utils/format/fxt/read.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/task_line.h"
#include "utils/object/symtab.h"
#include "utils/object/symtab_build.h"

/*
 * ---- userspace objects ----
 *
 * They say what a process's pointers point to, as symbols do: so they become a symbol table that is
 * mapped over all of the process.
 */

struct symtab {
	struct ftr_symtab *symtab;	/* (owned until it belongs to the module) */
	struct ftr_symtab_build build;
};

static struct symtab *symtab_new(void)
{
	struct symtab *self = calloc(1, sizeof(*self));
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

static void symtab_free(struct symtab *self)
{
	if (self == NULL)
		return;
	ftr_symtab_build_fini(&self->build);
	if (self->symtab != NULL)
		ftr_symtab_fini(self->symtab);
	free(self->symtab);
	free(self);
}

static int symtab_add(struct symtab *self, struct ftr_symbol symbol)
{
	return ftr_symtab_build_add(&self->build, symbol, strlen(symbol.name));
}

static int symtab_give(struct symtab *self, struct ftr_module *module)
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
	uint64_t pid = (uint32_t)fxt_pid_of(r, process);
	struct symtab *objects = ftr_hashmap_find(&r->objects, pid);

	if (objects == NULL) {
		objects = symtab_new();
		if (objects == NULL || ftr_hashmap_set(&r->objects, pid, objects) < 0) {
			symtab_free(objects);
			return -ENOMEM;
		}
	}
	return symtab_add(objects, (struct ftr_symbol){ pointer, 1, 'T', name->str->s });
}

/* "main+0x1c": 0x1c. */
static uint64_t offset_in_name(const char *name)
{
	const char *plus = strrchr(name, '+');
	uint64_t offset;

	if (plus == NULL || strncmp(plus, "+0x", 3) != 0 ||
	    ftr_parse_u64(ftr_slice_make(plus + 3, strlen(plus + 3)), 16, &offset) < 0)
		return 0;
	return offset;
}

/* Is it what the symbols of the image say there?  They have all of its names, demangled or not. */
static bool is_symbol(const struct ftr_session *session, const struct ftr_symbol *object)
{
	const struct ftr_mapping *mapping = ftr_session_find(session, UINT64_MAX, object->addr);
	const struct ftr_symbol *symbol = NULL;
	uint64_t addr;

	if (mapping == NULL || mapping->module->symtab == NULL || mapping->module->is_absolute)
		return false;
	addr = object->addr - mapping->start;
	symbol = ftr_symtab_find(mapping->module->symtab, addr);
	return symbol != NULL && addr - symbol->addr == offset_in_name(object->name);
}

/*
 * The process's objects into the images that it ran; forked ones share theirs with their parents.
 */
static int objects_share(struct fxt_reader *r, const struct ftr_task *task,
			 const struct symtab *objects)
{
	for (uint32_t i = 0; i < task->session_nr; i++) {
		uint64_t key = task->sessions[i]->id;
		struct symtab *shared = ftr_hashmap_find(&r->session_objects, key);

		if (shared == NULL) {
			shared = symtab_new();
			if (shared == NULL ||
			    ftr_hashmap_set(&r->session_objects, key, shared) < 0) {
				symtab_free(shared);
				return -ENOMEM;
			}
		}
		for (size_t k = 0; k < objects->build.symbols.nr; k++) {
			const struct ftr_symbol *object = &objects->build.symbols.v[k];

			if (!is_symbol(task->sessions[i], object) &&
			    symtab_add(shared, *object) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* A process whose images are unknown gets one. */
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

static int process_load(struct fxt_reader *r, int32_t pid, const struct symtab *objects)
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

static int session_load(struct fxt_reader *r, uint64_t id, struct symtab *objects)
{
	struct ftr_mapping mapping = { .end = UINT64_MAX, .is_overlay = true };
	char path[32];

	snprintf(path, sizeof(path), "objects-%" PRIu64, id);
	mapping.module = ftr_trace_module_get(r->trace, path, NULL);
	if (mapping.module == NULL || ftr_session_map(r->trace->sessions.v[id], &mapping) < 0)
		return -ENOMEM;
	mapping.module->is_absolute = true;
	return symtab_give(objects, mapping.module);
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
		symtab_free(slot->value);
	ftr_hashmap_fini(map);
}

void fxt_objects_fini(struct fxt_reader *r)
{
	symtabs_free(&r->objects);
	symtabs_free(&r->session_objects);
}

/* ---- blob ftr.tasks: which programs ran when, and the parents of tasks ---- */

static int session_line(struct ftr_trace *trace, const struct ftr_task_line *line)
{
	struct ftr_session *session = ftr_trace_session_new(trace, line->sid, line->pid,
							    line->time_ns);

	if (session == NULL)
		return -ENOMEM;
	session->exename = ftr_arena_strndup(&trace->arena, line->name.s, line->name.len);
	return session->exename == NULL ? -ENOMEM : 0;
}

/* Not of a session that has lost the program that it ran. */
static bool task_line_is_whole(struct ftr_slice text, struct ftr_task_line *line)
{
	return ftr_task_line_parse(text, line) == 0 &&
	       (line->kind != FTR_TASK_LINE_SESSION || line->name.s != NULL);
}

/* Only of tasks that the file's own records name. */
static void task_line(struct ftr_trace *trace, const struct ftr_task_line *line)
{
	bool is_fork = line->kind == FTR_TASK_LINE_FORK;
	struct ftr_task *task = ftr_trace_task_find(trace, is_fork ? line->pid : line->tid);

	if (task == NULL || task->pid != line->pid)
		return;
	task->start_ns = line->time_ns;
	if (is_fork) {
		task->parent = ftr_trace_task_find(trace, line->ppid);
		task->is_forked = task->parent != NULL;
	}
}

int fxt_tasks_load(struct fxt_reader *r)
{
	struct ftr_slice text,
		rest = ftr_slice_make(ftr_strbuf_str(&r->task_lines), r->task_lines.len);
	int ret = 0;

	while (ret == 0 && ftr_slice_split(&rest, '\n', &text)) {
		struct ftr_task_line line;

		if (text.len == 0)
			continue;
		if (!task_line_is_whole(text, &line))
			r->damaged_nr++;
		else if (line.kind == FTR_TASK_LINE_SESSION)
			ret = session_line(r->trace, &line);
		else if (line.kind != FTR_TASK_LINE_DLOPEN)
			task_line(r->trace, &line);
	}
	if (ret == 0 && r->trace->sessions.nr > 0)
		ret = uft_tasks_link(r->trace, false);
	return ret;
}

/* ---- blob ftr.symbols, lines S and B: where modules lay, and so where calls were ---- */

struct map {
	struct ftr_trace *trace;
	struct ftr_session *session;	/* (nullable: not known) that of the lines B that follow */
};

/* "SID" */
static int map_session_line(struct map *map, struct ftr_slice rest)
{
	char sid[sizeof(map->session->sid)];

	if (rest.len != sizeof(sid) - 1)
		return -EBADMSG;
	memcpy(sid, rest.s, rest.len);
	sid[rest.len] = '\0';
	map->session = ftr_trace_session_find(map->trace, sid);
	return map->session == NULL ? -EBADMSG : 0;
}

/* "START END SINCE" of a module.  0, -EBADMSG or -ENOMEM. */
static int map_base_line(struct map *map, struct ftr_slice rest, struct ftr_module *module)
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

/* ---- blob ftr.symbols, lines M and F: what is known of functions beyond their names ---- */

struct symbol {
	const struct fxt_text *category, *name, *label;
	const struct ftr_module *module;	/* (nullable) */
	struct ftr_symbol symbol;
	uint64_t call_addr;	/* of its first call; 0 = not known */
	bool is_relative;	/* to where the module lies */
};

/* A module of the file, by its number there. */
struct module {
	struct ftr_module *module;
	const struct fxt_text *category;
	struct symtab *symtab;	/* (owned) */
	bool is_mapped;			/* there are lines B of it */
};

struct symbols {
	struct fxt_reader *r;
	FTR_VEC(struct module) modules;
	struct map map;
};

static uint64_t key_of(const struct fxt_text *category, const struct fxt_text *name,
		       const struct fxt_text *label)
{
	return ftr_hash_u64(ftr_u64_of(category->str->id, name->str->id)) ^
	       ftr_hash_u64(label->str->id + UINT64_C(1));
}

static struct fxt_text *field_text(struct fxt_reader *r, struct ftr_slice field)
{
	return field.len == 0 ? fxt_text_get(r, "", 0) : fxt_text_get(r, field.s, field.len);
}

/* "NUMBER BUILD-ID PATH" */
static int module_line(struct symbols *self, struct ftr_slice rest)
{
	struct ftr_slice number, build_id;
	struct module added = { 0 };
	struct ftr_trace *trace = self->r->trace;
	struct fxt_text *category;
	const char *path, *id;
	uint64_t nr;

	if (!ftr_slice_split(&rest, '\t', &number) || !ftr_slice_split(&rest, '\t', &build_id) ||
	    ftr_parse_u64(number, 10, &nr) < 0 || nr != self->modules.nr + 1 || rest.len == 0)
		return -EBADMSG;
	path = ftr_arena_strndup(&trace->arena, rest.s, rest.len);
	id = ftr_arena_strndup(&trace->arena, build_id.s, build_id.len);
	if (path == NULL || id == NULL)
		return -ENOMEM;
	added.module = ftr_trace_module_get(trace, path, build_id.len == 0 ? NULL : id);
	added.symtab = symtab_new();
	if (added.module == NULL || added.symtab == NULL ||
	    ftr_vec_push(&self->modules, added) < 0) {
		symtab_free(added.symtab);
		return -ENOMEM;
	}
	category = fxt_text_get(self->r, added.module->name, strlen(added.module->name));
	if (category == NULL)
		return -ENOMEM;
	if (category->module == NULL)
		category->module = added.module;
	self->modules.v[nr - 1].category = category;
	return 0;
}

/* "MODULE START END SINCE" */
static int base_line(struct symbols *self, struct ftr_slice rest)
{
	struct ftr_slice module;
	uint64_t number;

	if (!ftr_slice_split(&rest, '\t', &module) || ftr_parse_u64(module, 10, &number) < 0 ||
	    number == 0 || number > self->modules.nr)
		return -EBADMSG;
	self->modules.v[number - 1].is_mapped = true;
	return map_base_line(&self->map, rest, self->modules.v[number - 1].module);
}

/* "MODULE ADDRESS CALL-ADDRESS SIZE TYPE NAME MANGLED LABEL" */
static int func_line(struct symbols *self, struct ftr_slice rest)
{
	struct ftr_slice module, addr, call_addr, size, type, name, mangled;
	struct ftr_slice *const fields[] = { &module, &addr, &call_addr, &size,
					     &type,   &name, &mangled };
	struct fxt_reader *r = self->r;
	struct symbol *added = ftr_arena_alloc(&r->trace->arena, sizeof(*added));
	uint64_t number, bytes;

	if (added == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!ftr_slice_split(&rest, '\t', fields[i]))
			return -EBADMSG;
	}
	if (ftr_parse_u64(module, 10, &number) < 0 || number > self->modules.nr ||
	    ftr_parse_u64(addr, 16, &added->symbol.addr) < 0 ||
	    ftr_parse_u64(call_addr, 16, &added->call_addr) < 0 ||
	    ftr_parse_u64(size, 10, &bytes) < 0 || bytes > UINT32_MAX || type.len != 1 ||
	    !isgraph((unsigned char)type.s[0]) || mangled.len == 0)
		return -EBADMSG;
	added->symbol.size = (uint32_t)bytes;
	added->symbol.type = type.s[0];
	added->symbol.name = ftr_arena_strndup(&r->trace->arena, mangled.s, mangled.len);
	added->category = number == 0 ? fxt_text_get(r, "", 0) :
					self->modules.v[number - 1].category;
	added->module = number == 0 ? NULL : self->modules.v[number - 1].module;
	added->is_relative = number != 0 && self->modules.v[number - 1].is_mapped;
	added->name = field_text(r, name);
	added->label = field_text(r, rest);
	if (added->symbol.name == NULL || added->category == NULL || added->name == NULL ||
	    added->label == NULL)
		return -ENOMEM;
	if (number != 0 && symtab_add(self->modules.v[number - 1].symtab, added->symbol) < 0)
		return -ENOMEM;
	return ftr_hashmap_set(&r->symbols, key_of(added->category, added->name, added->label),
			       added);
}

static int symbol_line(struct symbols *self, struct ftr_slice line)
{
	struct ftr_slice kind;

	if (line.len == 0)
		return 0;
	if (memchr(line.s, '\0', line.len) != NULL || !ftr_slice_split(&line, '\t', &kind))
		return -EBADMSG;
	if (ftr_slice_eq(kind, "M"))
		return module_line(self, line);
	if (ftr_slice_eq(kind, "S"))
		return map_session_line(&self->map, line);
	if (ftr_slice_eq(kind, "B"))
		return base_line(self, line);
	return ftr_slice_eq(kind, "F") ? func_line(self, line) : -EBADMSG;
}

int fxt_symbols_load(struct fxt_reader *r)
{
	struct ftr_slice line, rest = ftr_slice_make(ftr_strbuf_str(&r->symbol_lines),
						     r->symbol_lines.len);
	struct symbols self = { .r = r, .map = { .trace = r->trace } };
	int ret = 0;

	while (ret == 0 && ftr_slice_split(&rest, '\n', &line)) {
		ret = symbol_line(&self, line);
		if (ret == -EBADMSG) {
			r->damaged_nr++;
			ret = 0;
		}
	}
	for (size_t i = 0; i < self.modules.nr; i++) {
		if (ret == 0)
			ret = symtab_give(self.modules.v[i].symtab, self.modules.v[i].module);
		symtab_free(self.modules.v[i].symtab);
	}
	ftr_vec_fini(&self.modules);
	return ret;
}

/* The module's own, if it kept this one: what is found by its address is the same function. */
static const struct ftr_symbol *symbol_of(const struct symbol *found)
{
	const struct ftr_symbol *kept = NULL;

	if (found->module != NULL && found->module->symtab != NULL)
		kept = ftr_symtab_find(found->module->symtab, found->symbol.addr);
	return kept != NULL && kept->addr == found->symbol.addr &&
			       strcmp(kept->name, found->symbol.name) == 0 ?
		       kept : &found->symbol;
}

struct ftr_func *fxt_func_by_symbol(struct fxt_reader *r, const struct fxt_text *category,
				    const struct fxt_text *name, const struct fxt_text *label)
{
	struct ftr_func *func;
	const struct symbol *found = ftr_hashmap_find(&r->symbols, key_of(category, name, label));

	if (found == NULL || found->category != category || found->name != name ||
	    found->label != label)
		return NULL;
	func = ftr_trace_func_by_symbol(r->trace, found->module, symbol_of(found));
	if (func == NULL || ftr_vec_reach(&r->places, func->id) < 0)
		return NULL;
	r->places.v[func->id] = (struct fxt_place){ .addr = found->call_addr,
						    .is_relative = found->is_relative };
	return func;
}
