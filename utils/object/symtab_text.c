/* SPDX-License-Identifier: MIT */
/*
 * NAME.sym of the uftrace format.  Readers before its version 0.14 know lines without a size only,
 * so that is what is written: the sizes follow in comments, which they all skip, and the end of
 * each group is marked by a dummy symbol, which bounds the last one for them.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/object/symtab.h"
#include "utils/object/symtab_build.h"

struct symbol_size {
	uint64_t addr;
	uint32_t bytes;
};

struct text_reader {
	struct ftr_symtab_build build;
	struct ftr_diag *diag;
	const struct ftr_istream *in;
	FTR_VEC(struct symbol_size) sizes;
	FTR_VEC(uint64_t) ends;		/* of groups: they bound the symbol before */
	bool is_counted;		/* a recorder's, which ends every line */
	bool is_cut;
};

static const char *const dummy_names[] = { "__sym_end", "__dynsym_end", "__func_end" };

static bool is_dummy(struct ftr_slice name)
{
	for (size_t i = 0; i < sizeof(dummy_names) / sizeof(dummy_names[0]); i++) {
		if (ftr_slice_eq(name, dummy_names[i]))
			return true;
	}
	return false;
}

static void warn_line(struct text_reader *reader, const char *what)
{
	ftr_diag_warn(reader->diag, "%s:%u: %s; the line is skipped", reader->in->name,
		      reader->in->lineno, what);
}

/* "# path name: PATH", "# build-id: HEX", "# size: ADDR BYTES"; other comments are passed over. */
static int load_comment(struct text_reader *reader, struct ftr_slice line)
{
	static const char path[] = "# path name: ";
	static const char build_id[] = "# build-id: ";
	static const char size[] = "# size: ";
	static const char count[] = "# symbols: ";
	struct ftr_symtab *tab = reader->build.tab;
	struct symbol_size entry;
	struct ftr_slice head;
	uint64_t bytes;

	if (ftr_slice_starts(line, path)) {
		tab->path = ftr_arena_strndup(&tab->arena, line.s + sizeof(path) - 1,
					      line.len - (sizeof(path) - 1));
		return tab->path == NULL ? -ENOMEM : 0;
	}
	if (ftr_slice_starts(line, build_id)) {
		tab->build_id = ftr_arena_strndup(&tab->arena, line.s + sizeof(build_id) - 1,
						  line.len - (sizeof(build_id) - 1));
		return tab->build_id == NULL ? -ENOMEM : 0;
	}
	reader->is_counted |= ftr_slice_starts(line, count);
	if (!ftr_slice_starts(line, size))
		return 0;
	line = ftr_slice_make(line.s + sizeof(size) - 1, line.len - (sizeof(size) - 1));
	if (!ftr_slice_split(&line, ' ', &head) || line.s == NULL ||
	    ftr_parse_u64(head, 16, &entry.addr) < 0 || ftr_parse_u64(line, 16, &bytes) < 0) {
		warn_line(reader, "expected '# size: ADDRESS BYTES'");
		return 0;
	}
	entry.bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
	return ftr_vec_push(&reader->sizes, entry);
}

/* A part of a line would give a function another one's name. */
static bool is_cut_line(struct text_reader *reader)
{
	reader->is_cut = reader->is_counted && reader->in->is_line_cut;
	if (reader->is_cut)
		ftr_diag_warn(reader->diag, "%s:%u: the file ends inside this line: " FTR_CUT_WHY,
			      reader->in->name, reader->in->lineno);
	return reader->is_cut;
}

/* "ADDR TYPE NAME", "ADDR SIZE TYPE NAME", or of kallsyms "ADDR TYPE NAME\t[MODULE]". */
static bool parse_symbol(struct ftr_slice line, struct ftr_symbol *symbol, struct ftr_slice *name)
{
	struct ftr_slice word;
	uint64_t bytes = 0;

	if (!ftr_slice_split(&line, ' ', &word) || ftr_parse_u64(word, 16, &symbol->addr) < 0)
		return false;
	if (!ftr_slice_split(&line, ' ', &word))
		return false;
	if (word.len > 1 && (ftr_parse_u64(word, 16, &bytes) < 0 || bytes > UINT32_MAX ||
			     !ftr_slice_split(&line, ' ', &word)))
		return false;
	if (word.len != 1 || line.s == NULL || !ftr_slice_split(&line, '\t', name))
		return false;
	symbol->size = (uint32_t)bytes;
	symbol->type = word.s[0];
	symbol->name = name->s;
	return name->len > 0;
}

static int load_line(struct text_reader *reader, struct ftr_slice line)
{
	struct ftr_symbol symbol;
	struct ftr_slice name;

	if (line.len > 0 && line.s[line.len - 1] == '\r')
		line.len--;
	if (line.len == 0)
		return 0;
	if (line.s[0] == '#')
		return load_comment(reader, line);
	if (!parse_symbol(line, &symbol, &name)) {
		warn_line(reader, "expected 'ADDRESS [SIZE] TYPE NAME'");
		return 0;
	}
	if (is_dummy(name))
		return ftr_vec_push(&reader->ends, symbol.addr);
	if (symbol.addr == 0)		/* a kernel that hides its addresses */
		return 0;
	return ftr_symtab_build_add(&reader->build, symbol, name.len);
}

static struct ftr_symbol *symbol_before(const struct ftr_symtab *tab, uint64_t addr)
{
	size_t low = 0;
	size_t high = tab->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tab->symbols[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NULL : &tab->symbols[low - 1];
}

static void apply_sizes(struct text_reader *reader)
{
	struct ftr_symtab *tab = reader->build.tab;
	struct ftr_symbol *symbol;

	for (size_t i = 0; i < reader->sizes.nr; i++) {
		uint64_t addr = reader->sizes.v[i].addr;

		symbol = addr == UINT64_MAX ? NULL : symbol_before(tab, addr + 1);
		if (symbol != NULL && symbol->addr == addr)
			symbol->size = reader->sizes.v[i].bytes;
	}
	for (size_t i = 0; i < reader->ends.nr; i++) {
		uint64_t end = reader->ends.v[i];

		symbol = symbol_before(tab, end);
		if (symbol != NULL && symbol->size == 0 && end - symbol->addr <= UINT32_MAX)
			symbol->size = (uint32_t)(end - symbol->addr);
	}
}

/* The last one would reach over all that were cut off: it ends the one before alone. */
static void last_drop(struct ftr_symtab *tab)
{
	struct ftr_symbol *last = tab->nr == 0 ? NULL : &tab->symbols[tab->nr - 1];

	if (last == NULL || last->size != 0)
		return;
	tab->nr--;
	if (tab->nr > 0 && last[-1].size == 0 && last->addr - last[-1].addr <= UINT32_MAX)
		last[-1].size = (uint32_t)(last->addr - last[-1].addr);
}

int ftr_symtab_load_text(struct ftr_symtab *tab, struct ftr_istream *in, struct ftr_diag *diag,
			 struct ftr_err *err)
{
	struct text_reader reader = { .build.tab = tab, .diag = diag, .in = in };
	const char *text;
	size_t len;
	int ret = 0;

	while (ret == 0 && ftr_istream_line(in, &text, &len) && !is_cut_line(&reader))
		ret = load_line(&reader, ftr_slice_make(text, len));
	if (ret == 0)
		ret = ftr_symtab_build_finish(&reader.build);
	if (ret == 0)
		apply_sizes(&reader);
	if (ret == 0 && reader.is_cut)
		last_drop(tab);
	if (ret < 0)
		ftr_err_set(err, -ret, "%s: %s", in->name, strerror(-ret));
	ftr_symtab_build_fini(&reader.build);
	ftr_vec_fini(&reader.sizes);
	ftr_vec_fini(&reader.ends);
	return ret;
}

static void store_line(struct ftr_ostream *out, uint64_t addr, char type, const char *name)
{
	char *p = ftr_ostream_reserve(out, 32);
	char digits[16];
	size_t len = (size_t)(ftr_fmt_hex(digits, addr) - digits);

	memset(p, '0', 16 - len);
	memcpy(p + 16 - len, digits, len);
	p[16] = ' ';
	p[17] = type;
	p[18] = ' ';
	ftr_ostream_commit(out, 19);
	ftr_ostream_puts(out, name);
	ftr_ostream_putc(out, '\n');
}

enum group { GROUP_PLT, GROUP_CODE, GROUP_DATA };

static enum group group_of(const struct ftr_symbol *symbol)
{
	if (symbol->type == 'P')
		return GROUP_PLT;
	return ftr_symbol_is_code(symbol->type) ? GROUP_CODE : GROUP_DATA;
}

static void store_end(const struct ftr_symtab *tab, size_t i, struct ftr_ostream *out)
{
	static const char *const names[] = {
		[GROUP_PLT] = "__dynsym_end",
		[GROUP_CODE] = "__func_end",
		[GROUP_DATA] = "__sym_end",
	};
	const struct ftr_symbol *symbol = &tab->symbols[i];
	const struct ftr_symbol *next = i + 1 < tab->nr ? symbol + 1 : NULL;
	uint64_t end = symbol->addr + symbol->size;

	if (symbol->size == 0)
		return;
	if (next != NULL && (group_of(next) == group_of(symbol) || end > next->addr))
		return;
	store_line(out, end, '?', next == NULL ? "__sym_end" : names[group_of(symbol)]);
}

/* An unknown size stays unknown: no line. */
static void store_sizes(const struct ftr_symtab *tab, struct ftr_ostream *out)
{
	for (size_t i = 0; i < tab->nr; i++) {
		const struct ftr_symbol *symbol = &tab->symbols[i];

		if (symbol->size == 0)
			continue;
		ftr_ostream_puts(out, "# size: ");
		ftr_ostream_hex(out, symbol->addr);
		ftr_ostream_putc(out, ' ');
		ftr_ostream_hex(out, symbol->size);
		ftr_ostream_putc(out, '\n');
	}
}

int ftr_symtab_store_text(const struct ftr_symtab *tab, struct ftr_ostream *out)
{
	ftr_ostream_printf(out, "# symbols: %zu\n", tab->nr);
	if (tab->path != NULL)
		ftr_ostream_printf(out, "# path name: %s\n", tab->path);
	if (tab->build_id != NULL)
		ftr_ostream_printf(out, "# build-id: %s\n", tab->build_id);
	for (size_t i = 0; i < tab->nr; i++) {
		store_line(out, tab->symbols[i].addr, tab->symbols[i].type, tab->symbols[i].name);
		store_end(tab, i, out);
	}
	store_sizes(tab, out);
	return -out->code;
}
