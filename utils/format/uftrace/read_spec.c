/* SPDX-License-Identifier: MIT */
/*
 * Which layout the payloads of a function have: by the specs of the user (info: argspec, retspec),
 * else, for automatic arguments, by debug info (NAME.dbg), else by the prototypes of well-known
 * library functions (info: argauto, retauto).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/spec.h"
#include "utils/object/demangle.h"
#include "utils/object/symtab.h"
#include "utils/trace/pattern.h"

/* "FUNC@words" of the user; without words: automatic. */
struct item {
	struct ftr_pattern *pattern;	/* (owned) */
	struct ftr_slice words;
	enum uft_spec_kind kind; /* of the list it stood in; matters when there are no words */
};

/* One of a well-known library function. */
struct automatic {
	const char *name;
	struct ftr_slice words;
};

/* One function in NAME.dbg. */
struct dbg_func {
	struct ftr_slice words[2];	/* by uft_spec_kind; .s = NULL: none */
	const char *file;		/* (nullable) */
	uint32_t line;
};

struct dbg {
	struct ftr_hashmap funcs;	/* address -> struct dbg_func */
	struct uft_enums enums;
};

struct uft_specs {
	FTR_VEC(struct item) items;
	struct ftr_hashmap automatic[2]; /* by uft_spec_kind: hash of name -> struct automatic */
	struct uft_enums enums;
};

static enum ftr_match match_kind(const char *pattern_type)
{
	if (pattern_type != NULL && strcmp(pattern_type, "glob") == 0)
		return FTR_MATCH_GLOB;
	if (pattern_type != NULL && strcmp(pattern_type, "simple") == 0)
		return FTR_MATCH_EXACT;
	return FTR_MATCH_REGEX;
}

static int item_add(struct uft_reader *reader, struct ftr_slice text, enum uft_spec_kind kind)
{
	struct item item = { .kind = kind, .words = text };
	struct ftr_trace *trace = reader->trace;
	struct ftr_slice name;
	int ret;

	ftr_slice_split(&item.words, '@', &name);
	ret = ftr_pattern_new(&item.pattern, name, match_kind(trace->info.pattern_type), NULL,
			      NULL);
	if (ret == -EINVAL)
		ftr_diag_warn(trace->diag, "info: invalid argspec pattern %.*s ignored",
			      name.len > 100 ? 100 : (int)name.len, name.s);
	if (ret < 0)
		return ret == -EINVAL ? 0 : ret;
	ret = ftr_vec_push(&reader->specs->items, item);
	if (ret < 0)
		ftr_pattern_free(item.pattern);
	return ret;
}

static int items_load(struct uft_reader *reader, const char *text, enum uft_spec_kind kind)
{
	struct ftr_slice one, rest = ftr_slice_make(text, text == NULL ? 0 : strlen(text));
	int ret = 0;

	while (ret == 0 && ftr_slice_split(&rest, ';', &one)) {
		one = ftr_slice_trim(one);
		if (one.len > 0)
			ret = item_add(reader, one, kind);
	}
	return ret;
}

static int automatic_load(struct uft_reader *reader, const char *text, enum uft_spec_kind kind)
{
	struct ftr_slice name, one, rest = ftr_slice_make(text, text == NULL ? 0 : strlen(text));
	int ret = 0;

	while (ret == 0 && ftr_slice_split(&rest, ';', &one)) {
		struct automatic *item = ftr_arena_alloc(&reader->trace->arena, sizeof(*item));

		if (item == NULL)
			return -ENOMEM;
		item->words = ftr_slice_trim(one);
		ftr_slice_split(&item->words, '@', &name);
		if (name.len == 0)
			continue;
		item->name = ftr_arena_strndup(&reader->trace->arena, name.s, name.len);
		ret = item->name == NULL ? -ENOMEM :
		      ftr_hashmap_set(&reader->specs->automatic[kind],
				      ftr_hash_bytes(name.s, name.len), item);
	}
	return ret;
}

int uft_specs_load(struct uft_reader *reader)
{
	const struct ftr_info *info = &reader->trace->info;
	const char *enumauto = info->enumauto == NULL ? "" : info->enumauto;
	int ret;

	reader->specs = calloc(1, sizeof(*reader->specs));
	if (reader->specs == NULL)
		return -ENOMEM;
	ret = uft_enums_parse(&reader->specs->enums, ftr_slice_make(enumauto, strlen(enumauto)),
			      &reader->trace->arena, reader->trace->diag, "info: enumauto");
	if (ret == 0)
		ret = items_load(reader, info->argspec, UFT_SPEC_ARGS);
	if (ret == 0)
		ret = items_load(reader, info->retspec, UFT_SPEC_RETVAL);
	if (ret == 0)
		ret = automatic_load(reader, info->argauto, UFT_SPEC_ARGS);
	if (ret == 0)
		ret = automatic_load(reader, info->retauto, UFT_SPEC_RETVAL);
	return ret;
}

static void dbg_free(struct dbg *dbg)
{
	if (dbg == NULL)
		return;
	ftr_hashmap_fini(&dbg->funcs);
	ftr_hashmap_fini(&dbg->enums.by_name);
	ftr_hashmap_fini(&dbg->enums.shapes);
	free(dbg);
}

void uft_specs_free(struct uft_reader *reader)
{
	struct uft_specs *specs = reader->specs;

	for (size_t i = 0; i < reader->trace->modules.nr; i++)
		dbg_free(reader->trace->modules.v[i]->loader_data);
	if (specs == NULL)
		return;
	for (size_t i = 0; i < specs->items.nr; i++)
		ftr_pattern_free(specs->items.v[i].pattern);
	ftr_vec_fini(&specs->items);
	ftr_hashmap_fini(&specs->automatic[0]);
	ftr_hashmap_fini(&specs->automatic[1]);
	ftr_hashmap_fini(&specs->enums.by_name);
	ftr_hashmap_fini(&specs->enums.shapes);
	free(specs);
	reader->specs = NULL;
}

/* "F: ADDR NAME": what follows is about this function. */
static int dbg_func_line(struct uft_reader *reader, struct dbg *dbg, struct ftr_slice text,
			 struct dbg_func **current)
{
	struct ftr_slice addr;
	uint64_t value;

	*current = NULL;
	ftr_slice_split(&text, ' ', &addr);
	if (ftr_parse_u64(addr, 16, &value) < 0)
		return -EINVAL;
	*current = ftr_arena_alloc(&reader->trace->arena, sizeof(**current));
	if (*current == NULL)
		return -ENOMEM;
	return ftr_hashmap_set(&dbg->funcs, value, *current);
}

static int dbg_place_line(struct uft_reader *reader, struct ftr_slice text, struct dbg_func *func)
{
	struct ftr_slice line;
	uint64_t number;

	ftr_slice_split(&text, ' ', &line);
	if (func == NULL || ftr_parse_u64(line, 10, &number) < 0 || number > UINT32_MAX)
		return -EINVAL;
	func->line = (uint32_t)number;
	func->file = ftr_arena_strndup(&reader->trace->arena, text.s, text.len);
	return func->file == NULL ? -ENOMEM : 0;
}

static int dbg_words_line(struct uft_reader *reader, struct ftr_slice text, struct dbg_func *func,
			  enum uft_spec_kind kind)
{
	char *copy;

	if (func == NULL || text.len == 0 || text.s[0] != '@')
		return -EINVAL;
	copy = ftr_arena_strndup(&reader->trace->arena, text.s + 1, text.len - 1);
	if (copy == NULL)
		return -ENOMEM;
	func->words[kind] = ftr_slice_make(copy, text.len - 1);
	return 0;
}

static int dbg_line(struct uft_reader *reader, struct dbg *dbg, struct ftr_slice line,
		    struct dbg_func **current)
{
	struct ftr_slice text = line.len < 3 ? ftr_slice_make("", 0)
					     : ftr_slice_make(line.s + 3, line.len - 3);

	if (ftr_slice_starts(line, "#T: "))	/* what uftrace does not know is a comment */
		return uft_shape_parse(&dbg->enums, ftr_slice_make(line.s + 4, line.len - 4),
				       &reader->trace->arena);
	if (line.len < 2 || line.s[0] == '#')
		return 0;
	if (line.s[1] != ':')
		return -EINVAL;
	switch (line.s[0]) {
	case 'F':
		return dbg_func_line(reader, dbg, text, current);
	case 'L':
		return dbg_place_line(reader, text, *current);
	case 'A':
		return dbg_words_line(reader, text, *current, UFT_SPEC_ARGS);
	case 'R':
		return dbg_words_line(reader, text, *current, UFT_SPEC_RETVAL);
	case 'E':
		return uft_enums_parse(&dbg->enums, text, &reader->trace->arena,
				       reader->trace->diag, "debug info");
	default:
		return -EINVAL;
	}
}

static int dbg_read(struct uft_reader *reader, struct dbg *dbg, struct ftr_istream *in)
{
	struct dbg_func *current = NULL;
	const char *line;
	size_t len;
	int ret = 0;

	while (ret != -ENOMEM &&
	       ftr_istream_whole_line(in, &line, &len, reader->trace->diag)) {
		ret = dbg_line(reader, dbg, ftr_slice_make(line, len), &current);
		if (ret == -EINVAL)
			ftr_diag_warn(reader->trace->diag, "%s:%u: invalid line ignored: %.*s",
				      in->name, in->lineno, len > 60 ? 60 : (int)len, line);
	}
	return ret == -ENOMEM ? ret : 0;
}

/* The module's debug info, read at its first use; NULL when there is none. */
static struct dbg *dbg_of(struct uft_reader *reader, struct ftr_module *module)
{
	struct ftr_istream in;
	struct dbg *dbg;

	if (module->loader_data != NULL)
		return module->loader_data;
	dbg = calloc(1, sizeof(*dbg));
	if (dbg == NULL)
		return NULL;
	module->loader_data = dbg;	/* an empty one is remembered, too */
	if (uft_module_file(reader, module, ".dbg", &in) == 0) {
		dbg_read(reader, dbg, &in);
		ftr_istream_close(&in);
	}
	return dbg;
}

static struct ftr_slice automatic_words(const struct uft_reader *reader,
					const struct ftr_func *func, const struct dbg_func *dbg,
					enum uft_spec_kind kind)
{
	const struct automatic *item;

	if (dbg != NULL && dbg->words[kind].s != NULL)
		return dbg->words[kind];
	item = ftr_hashmap_find(&reader->specs->automatic[kind],
				ftr_hash_bytes(func->mangled, strlen(func->mangled)));
	if (item != NULL && strcmp(item->name, func->mangled) == 0)
		return item->words;
	return ftr_slice_make(NULL, 0);
}

/* A function while its layouts are made. */
struct func_specs {
	const struct ftr_func *func;
	struct ftr_pattern_names names;
	const struct dbg *dbg;			/* (nullable) */
	const struct dbg_func *dbg_func;	/* (nullable) */
};

static int item_apply(struct uft_reader *reader, const struct item *item, enum uft_spec_kind kind,
		      struct uft_layout *layout, const struct uft_spec_reader *specs)
{
	int ret = uft_layout_add(layout, item->words, kind, ftr_pattern_is_exact(item->pattern),
				 specs);

	if (ret == -EINVAL)
		ftr_diag_warn(reader->trace->diag, "info: invalid argspec %s@%.*s ignored",
			      ftr_pattern_text(item->pattern), (int)item->words.len, item->words.s);
	return ret;
}

static const struct ftr_argspec *func_layout(struct uft_reader *reader,
					     const struct func_specs *self, enum uft_spec_kind kind)
{
	const struct uft_spec_reader specs = {
		.enums = { self->dbg == NULL ? NULL : &self->dbg->enums, &reader->specs->enums },
		.arena = &reader->trace->arena,
		.is_32 = reader->is_32,
	};
	bool wants_automatic = reader->trace->info.auto_args;
	struct uft_layout layout = { 0 };

	for (size_t i = 0; i < reader->specs->items.nr; i++) {
		const struct item *item = &reader->specs->items.v[i];

		if (!ftr_pattern_matches_names(item->pattern, &self->names))
			continue;
		if (item->words.len == 0)
			wants_automatic |= item->kind == kind;
		else
			item_apply(reader, item, kind, &layout, &specs);
	}
	if (layout.args.nr == 0 && wants_automatic)
		uft_layout_add(&layout, automatic_words(reader, self->func, self->dbg_func, kind),
			       kind, false, &specs);
	return uft_layout_finish(&layout, specs.arena);
}

/* As uftrace counts: a function whose size is not recorded reaches up to the next symbol. */
static uint32_t size_reached(const struct ftr_func *func)
{
	const struct ftr_symtab *tab = func->module != NULL ? func->module->symtab : NULL;
	const struct ftr_symbol *symbol = tab != NULL ? ftr_symtab_find(tab, func->addr) : NULL;
	uint64_t bytes;

	if (symbol == NULL || symbol->addr != func->addr || symbol + 1 == tab->symbols + tab->nr)
		return 0;
	bytes = symbol[1].addr - symbol->addr;
	return bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

void uft_func_init(struct ftr_trace *trace, struct ftr_func *func)
{
	struct uft_reader *reader = trace->reader;
	struct func_specs self = { .func = func };
	char *simple = NULL;
	struct dbg *dbg = NULL;

	if (func->module != NULL)
		dbg = dbg_of(reader, trace->modules.v[func->module->id]);
	self.dbg = dbg;
	if (dbg != NULL)
		self.dbg_func = ftr_hashmap_find(&dbg->funcs, func->addr);
	if (self.dbg_func != NULL) {
		func->src_file = self.dbg_func->file;
		func->src_line = self.dbg_func->line;
	}
	if (func->size == 0)
		func->size = size_reached(func);
	if (reader->specs->items.nr > 0)
		simple = ftr_demangle(func->mangled, FTR_DEMANGLE_SIMPLE);
	self.names = (struct ftr_pattern_names){ .shown = func->name, .simple = simple,
						 .mangled = func->mangled };
	func->args = func_layout(reader, &self, UFT_SPEC_ARGS);
	func->retval = func_layout(reader, &self, UFT_SPEC_RETVAL);
	free(simple);
}
