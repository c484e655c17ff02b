/* SPDX-License-Identifier: MIT */
/*
 * Which layout the payloads of a function have: by the specs of the user (info: argspec, retspec),
 * else, for automatic arguments, by debug info (NAME.dbg), else by the prototypes of well-known
 * library functions (info: argauto, retauto).
 */
#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/spec.h"
#include "utils/object/symtab.h"

#define REGEX_CHARS ".?*+-^$|()[]{}"
#define REGEX_COST_MAX FTR_BIT64(20)

enum match {
	MATCH_EXACT,
	MATCH_REGEX,
	MATCH_GLOB,
};

/* "FUNC@words" of the user; without words: automatic. */
struct item {
	char *pattern;			/* (in the trace's arena) */
	struct ftr_slice words;
	enum match match;
	regex_t regex;			/* MATCH_REGEX */
	enum uft_spec_kind kind; /* of the list it stood in; matters when there are no words */
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
	struct ftr_hashmap automatic[2];	/* by uft_spec_kind: hash of name -> struct item */
	struct uft_enums enums;
};

static enum match match_kind(const char *pattern, const char *pattern_type)
{
	if (pattern_type != NULL && strcmp(pattern_type, "glob") == 0)
		return strpbrk(pattern, "*?[") != NULL ? MATCH_GLOB : MATCH_EXACT;
	if (pattern_type != NULL && strcmp(pattern_type, "simple") == 0)
		return MATCH_EXACT;
	return strpbrk(pattern, REGEX_CHARS) != NULL ? MATCH_REGEX : MATCH_EXACT;
}

/*
 * A pattern comes from a file that anybody may have written, and regcomp(3) copies what is
 * repeated: a few nested repetitions take all memory there is, and back-references all time.
 */
static bool regex_is_cheap(const char *pattern)
{
	uint64_t cost = strlen(pattern);

	for (const char *p = pattern; *p != '\0' && cost <= REGEX_COST_MAX; p++) {
		if (*p == '+')
			cost *= 2;
		else if (*p == '{')
			cost *= 256;
		else if (*p == '\\' && p[1] >= '1' && p[1] <= '9')
			return false;
	}
	return cost <= REGEX_COST_MAX;
}

static int item_add(struct uft_reader *reader, struct ftr_slice text, enum uft_spec_kind kind)
{
	struct item item = { .kind = kind, .words = text };
	struct ftr_trace *trace = reader->trace;
	struct ftr_slice name;

	ftr_slice_split(&item.words, '@', &name);
	item.pattern = ftr_arena_strndup(&trace->arena, name.s, name.len);
	if (item.pattern == NULL)
		return -ENOMEM;
	item.match = match_kind(item.pattern, trace->info.pattern_type);
	if (item.match == MATCH_REGEX &&
	    (!regex_is_cheap(item.pattern) ||
	     regcomp(&item.regex, item.pattern, REG_EXTENDED | REG_NOSUB) != 0)) {
		ftr_diag_warn(trace->diag, "info: invalid argspec pattern %.100s ignored",
			      item.pattern);
		return 0;
	}
	if (ftr_vec_push(&reader->specs->items, item) == 0)
		return 0;
	if (item.match == MATCH_REGEX)
		regfree(&item.regex);
	return -ENOMEM;
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
		struct item *item = ftr_arena_alloc(&reader->trace->arena, sizeof(*item));

		if (item == NULL)
			return -ENOMEM;
		item->words = ftr_slice_trim(one);
		ftr_slice_split(&item->words, '@', &name);
		if (name.len == 0)
			continue;
		item->pattern = ftr_arena_strndup(&reader->trace->arena, name.s, name.len);
		ret = item->pattern == NULL ? -ENOMEM :
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
	free(dbg);
}

void uft_specs_free(struct uft_reader *reader)
{
	struct uft_specs *specs = reader->specs;

	for (size_t i = 0; i < reader->trace->modules.nr; i++)
		dbg_free(reader->trace->modules.v[i]->loader_data);
	if (specs == NULL)
		return;
	for (size_t i = 0; i < specs->items.nr; i++) {
		if (specs->items.v[i].match == MATCH_REGEX)
			regfree(&specs->items.v[i].regex);
	}
	ftr_vec_fini(&specs->items);
	ftr_hashmap_fini(&specs->automatic[0]);
	ftr_hashmap_fini(&specs->automatic[1]);
	ftr_hashmap_fini(&specs->enums.by_name);
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

	while (ret != -ENOMEM && ftr_istream_line(in, &line, &len)) {
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

static bool item_matches(const struct item *item, const char *name)
{
	switch (item->match) {
	case MATCH_REGEX:
		return regexec(&item->regex, name, 0, NULL, 0) == 0;
	case MATCH_GLOB:
		return fnmatch(item->pattern, name, 0) == 0;
	default:
		return strcmp(item->pattern, name) == 0;
	}
}

static struct ftr_slice automatic_words(const struct uft_reader *reader,
					const struct ftr_func *func, const struct dbg_func *dbg,
					enum uft_spec_kind kind)
{
	const struct item *item;

	if (dbg != NULL && dbg->words[kind].s != NULL)
		return dbg->words[kind];
	item = ftr_hashmap_find(&reader->specs->automatic[kind],
				ftr_hash_bytes(func->mangled, strlen(func->mangled)));
	if (item != NULL && strcmp(item->pattern, func->mangled) == 0)
		return item->words;
	return ftr_slice_make(NULL, 0);
}

static const struct ftr_argspec *func_layout(struct uft_reader *reader,
					     const struct ftr_func *func, const struct dbg *dbg,
					     const struct dbg_func *dbg_func,
					     enum uft_spec_kind kind)
{
	const struct uft_spec_reader specs = {
		.enums = { dbg == NULL ? NULL : &dbg->enums, &reader->specs->enums },
		.arena = &reader->trace->arena,
		.is_32 = reader->is_32,
	};
	bool wants_automatic = reader->trace->info.auto_args;
	struct uft_layout layout = { 0 };

	for (size_t i = 0; i < reader->specs->items.nr; i++) {
		const struct item *item = &reader->specs->items.v[i];

		if (!item_matches(item, func->name) && !item_matches(item, func->mangled))
			continue;
		if (item->words.len == 0)
			wants_automatic |= item->kind == kind;
		else if (uft_layout_add(&layout, item->words, kind, item->match == MATCH_EXACT,
					&specs) == -EINVAL)
			ftr_diag_warn(reader->trace->diag, "info: invalid argspec %s@%.*s ignored",
				      item->pattern, (int)item->words.len, item->words.s);
	}
	if (layout.args.nr == 0 && wants_automatic)
		uft_layout_add(&layout, automatic_words(reader, func, dbg_func, kind), kind, false,
			       &specs);
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
	const struct dbg_func *dbg_func = NULL;
	struct dbg *dbg = NULL;

	if (func->module != NULL)
		dbg = dbg_of(reader, trace->modules.v[func->module->id]);
	if (dbg != NULL)
		dbg_func = ftr_hashmap_find(&dbg->funcs, func->addr);
	if (dbg_func != NULL) {
		func->src_file = dbg_func->file;
		func->src_line = dbg_func->line;
	}
	if (func->size == 0)
		func->size = size_reached(func);
	func->args = func_layout(reader, func, dbg, dbg_func, UFT_SPEC_ARGS);
	func->retval = func_layout(reader, func, dbg, dbg_func, UFT_SPEC_RETVAL);
}
