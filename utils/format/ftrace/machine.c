/* SPDX-License-Identifier: MIT */
/* Files of tracefs that describe the machine: header_event, printk_formats, kallsyms. */
#include <errno.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/ftrace/ftrace.h"
#include "utils/format/ftrace/page_layout.h"
#include "utils/object/symtab.h"

#define FORMAT_PREFIX "name: "
#define DIGITS_MAX 3		/* of a width or precision in a trace_printk's format */

/* ---- header_page, header_event ---- */

unsigned ftr_ftrace_commit_bytes(struct ftr_slice text)
{
	struct tep_handle *tep = tep_alloc();
	char *copy = strndup(text.s, text.len);		/* the library takes no const */
	int bytes = 0;

	if (tep != NULL && copy != NULL && tep_parse_header_page(tep, copy, strlen(copy), 8) == 0)
		bytes = tep_get_header_page_size(tep);
	free(copy);
	tep_free(tep);
	return bytes == 4 || bytes == 8 ? (unsigned)bytes : 0;
}

bool ftr_ftrace_header_event(struct ftr_slice text)
{
	static const struct {
		const char *prefix;
		uint64_t value;
	} rows[] = {
		{ "type_len    :", 5 },
		{ "time_delta  :", FTR_KPAGE_DELTA_BITS },
		{ "padding     : type ==", FTR_KPAGE_TYPE_EXTEND - 1 },
		{ "time_extend : type ==", FTR_KPAGE_TYPE_EXTEND },
		{ "data max type_len  ==", FTR_KPAGE_WORDS_MAX },
	};
	struct ftr_slice line;

	while (ftr_slice_split(&text, '\n', &line)) {
		line = ftr_slice_trim(line);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			size_t len = strlen(rows[i].prefix);
			struct ftr_slice number;
			uint64_t value;

			if (!ftr_slice_starts(line, rows[i].prefix))
				continue;
			line = ftr_slice_trim(ftr_slice_make(line.s + len, line.len - len));
			ftr_slice_split(&line, ' ', &number);
			if (ftr_parse_u64(number, 10, &value) < 0 || value != rows[i].value)
				return false;
			break;
		}
	}
	return true;
}

/* ---- formats ---- */

bool ftr_ftrace_format_name(struct ftr_slice text, struct ftr_slice *name)
{
	size_t len = strlen(FORMAT_PREFIX);

	if (!ftr_slice_starts(text, FORMAT_PREFIX))
		return false;
	text = ftr_slice_make(text.s + len, text.len - len);
	if (!ftr_slice_split(&text, '\n', name))
		return false;
	*name = ftr_slice_trim(*name);
	return name->len > 0;
}

/* ---- printk_formats ---- */

static const char *digits_skip(const char *s)
{
	size_t len = strspn(s, "0123456789");

	return len > DIGITS_MAX ? NULL : s + len;
}

/* Behind a directive, which begins behind its %; NULL: libtraceevent may not be given it. */
static const char *directive_skip(const char *s)
{
	s = digits_skip(s + strspn(s, "-+ #0"));
	if (s != NULL && *s == '.')
		s = digits_skip(s + 1);
	if (s == NULL)
		return NULL;
	s += strspn(s, "hlzqtjL");
	return *s != '\0' && strchr("diuxXocsp%", *s) != NULL ? s + 1 : NULL;
}

static bool printk_is_safe(const char *format)
{
	const char *at = format;

	while ((at = strchr(at, '%')) != NULL) {
		at = directive_skip(at + 1);
		if (at == NULL)
			return false;
	}
	return true;
}

/* 0xffffffff81a2b3c0 : "%s: %d\n" */
static bool line_take(struct ftr_slice line, uint64_t *addr, struct ftr_slice *text)
{
	struct ftr_slice number;

	if (!ftr_slice_split(&line, ':', &number) || line.s == NULL ||
	    ftr_parse_u64(ftr_slice_trim(number), 0, addr) < 0)
		return false;
	*text = ftr_slice_trim(line);
	return text->len >= 2 && text->s[0] == '"' && text->s[text->len - 1] == '"' &&
	       memchr(text->s, '\0', text->len) == NULL;
}

/* Without quotes and the end of a line, as a string that a record points to is shown. */
static char *printk_bare(struct ftr_ftrace *ftrace, struct ftr_slice text)
{
	static const char line_end[] = "\\n";
	struct ftr_slice bare = ftr_slice_make(text.s + 1, text.len - 2);
	size_t end_len = strlen(line_end);
	char *copy;

	if (bare.len >= end_len && memcmp(bare.s + bare.len - end_len, line_end, end_len) == 0)
		bare.len -= end_len;
	copy = ftr_arena_alloc(&ftrace->trace->arena, bare.len + 1);
	if (copy != NULL) {
		memcpy(copy, bare.s, bare.len);
		copy[bare.len] = '\0';
	}
	return copy;
}

static int printk_add(struct ftr_ftrace *ftrace, uint64_t addr, struct ftr_slice text)
{
	char *copy = strndup(text.s, text.len), *bare;
	int ret = 0;

	if (copy == NULL)
		return -ENOMEM;
	if (ftr_hashmap_find(&ftrace->printks, addr) == NULL && printk_is_safe(copy)) {
		bare = printk_bare(ftrace, text);
		if (bare == NULL || tep_register_print_string(ftrace->tep, copy, addr) < 0 ||
		    ftr_hashmap_set(&ftrace->printks, addr, bare) < 0)
			ret = -ENOMEM;
	}
	free(copy);
	return ret;
}

int ftr_ftrace_printk_formats(struct ftr_ftrace *ftrace, struct ftr_slice text,
			      uint64_t *damaged_nr)
{
	struct ftr_slice line;

	*damaged_nr = 0;
	while (ftr_slice_split(&text, '\n', &line)) {
		struct ftr_slice format;
		uint64_t addr;

		if (ftr_slice_trim(line).len == 0 || line.s[0] == '\0')
			continue;
		if (!line_take(line, &addr, &format))
			++*damaged_nr;
		else if (addr != 0 && printk_add(ftrace, addr, format) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- kallsyms ---- */

int ftr_ftrace_kallsyms(struct ftr_symtab *symtab, struct ftr_istream *in, struct ftr_diag *diag)
{
	struct ftr_err err = { 0 };
	int ret;

	ftr_symtab_init(symtab);
	ret = ftr_symtab_load_text(symtab, in, diag, &err);
	if (ret < 0) {
		ftr_diag_warn(diag, "%s", err.text);
		ftr_symtab_fini(symtab);
	} else if (symtab->nr == 0) {
		ftr_diag_warn(diag, "%s: no addresses, as kernel.kptr_restrict hides them: kernel "
			      "functions are shown as addresses", in->name);
	}
	return ret;
}
