/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: blob ftr.symbols, what ftr knew of functions beyond their names; see
 * fxt/write_func.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/fxt/read.h"
#include "utils/object/symtab.h"

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
	struct fxt_symtab *symtab;	/* (owned) */
	bool is_mapped;			/* there are lines B of it */
};

struct symbols {
	struct fxt_reader *r;
	FTR_VEC(struct module) modules;
	struct fxt_map map;
};

static uint64_t key_of(const struct fxt_text *category, const struct fxt_text *name,
		       const struct fxt_text *label)
{
	return ftr_hash_u64((uint64_t)category->str->id << 32 | name->str->id) ^
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
	added.symtab = fxt_symtab_new();
	if (added.module == NULL || added.symtab == NULL ||
	    ftr_vec_push(&self->modules, added) < 0) {
		fxt_symtab_free(added.symtab);
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
	return fxt_map_base_line(&self->map, rest, self->modules.v[number - 1].module);
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
	if (number != 0 && fxt_symtab_add(self->modules.v[number - 1].symtab, added->symbol) < 0)
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
		return fxt_map_session_line(&self->map, line);
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
			ret = fxt_symtab_give(self.modules.v[i].symtab, self.modules.v[i].module);
		fxt_symtab_free(self.modules.v[i].symtab);
	}
	ftr_vec_fini(&self.modules);
	return ret;
}

struct ftr_func *fxt_func_by_symbol(struct fxt_reader *r, const struct fxt_text *category,
				    const struct fxt_text *name, const struct fxt_text *label)
{
	struct ftr_func *func;
	const struct symbol *found = ftr_hashmap_find(&r->symbols, key_of(category, name, label));

	if (found == NULL || found->category != category || found->name != name ||
	    found->label != label)
		return NULL;
	func = ftr_trace_func_by_symbol(r->trace, found->module, &found->symbol);
	while (func != NULL && r->places.nr <= func->id) {
		if (ftr_vec_push(&r->places, ((struct fxt_place){ .addr = 0 })) < 0)
			return NULL;
	}
	if (func != NULL)
		r->places.v[func->id] = (struct fxt_place){ .addr = found->call_addr,
							    .is_relative = found->is_relative };
	return func;
}
