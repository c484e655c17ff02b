/* SPDX-License-Identifier: MIT */
/* Parsing by getopt_long over the rows of an option table, and --help from the same rows. */
#include "utils/cli/parse.h"

#include "utils/base/closest.h"
#include "utils/base/option.h"
#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/cli/uftrace_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_BASE 256		/* getopt's value of row i is LONG_BASE + i: never a letter */
#define HELP_COLUMN 29		/* where the text starts */
#define HELP_WIDTH 80

/* One row as getopt sees it. */
struct row {
	const struct ftr_option *opt;	/* NULL: uftrace has it, this command does not */
	const struct ftr_uftrace_option *known;	/* then */
	size_t base;
	const char *owner;		/* (nullable) the format or collector that it belongs to */
	size_t given_offset;
	const char *name;
	char letter;
	bool takes_arg, is_arg_optional;
	int outcome;			/* --help and the like */
};

struct parser {
	FTR_VEC(struct row) rows;
	FTR_VEC(struct option) longs;
	char letters[3 * 128];
	size_t letters_len;
};

static const struct row builtin_rows[] = {
	{ .name = "help", .letter = 'h', .outcome = FTR_OPTIONS_HELP },
	{ .name = "usage", .outcome = FTR_OPTIONS_HELP },
	{ .name = "version", .letter = 'V', .outcome = FTR_OPTIONS_VERSION },
};

static bool parser_has(const struct parser *parser, const char *name)
{
	for (size_t i = 0; i < parser->rows.nr; i++)
		if (strcmp(parser->rows.v[i].name, name) == 0)
			return true;
	return false;
}

static bool letter_is_taken(const struct parser *parser, char letter)
{
	for (size_t i = 0; i < parser->rows.nr; i++)
		if (parser->rows.v[i].letter == letter)
			return true;
	return false;
}

static int parser_add(struct parser *parser, struct row row)
{
	struct option entry = {
		.name = row.name,
		.has_arg = row.is_arg_optional ? optional_argument :
			   row.takes_arg       ? required_argument :
						 no_argument,
		.val = LONG_BASE + (int)parser->rows.nr,
	};

	if (letter_is_taken(parser, row.letter))
		row.letter = 0;
	if (row.letter != 0 && parser->letters_len + 3 < sizeof(parser->letters)) {
		parser->letters[parser->letters_len++] = row.letter;
		if (row.takes_arg)
			parser->letters[parser->letters_len++] = ':';
		parser->letters[parser->letters_len] = '\0';
	}
	if (ftr_vec_push(&parser->longs, entry) < 0)
		return -ENOMEM;
	return ftr_vec_push(&parser->rows, row);
}

static int parser_fill(struct parser *parser, const struct ftr_option *table)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;
	const struct ftr_uftrace_option *known;
	size_t pos = 0;
	int ret = 0;

	while (ret == 0 && (opt = ftr_option_next(&iter, table)) != NULL)
		ret = parser_add(parser, (struct row){
			.opt = opt, .base = iter.base, .owner = iter.owner,
			.given_offset = iter.given_offset, .name = opt->name,
			.letter = opt->letter, .takes_arg = ftr_option_requires_arg(opt),
			.is_arg_optional = opt->is_arg_optional });
	for (size_t i = 0; ret == 0 && i < sizeof(builtin_rows) / sizeof(builtin_rows[0]); i++)
		ret = parser_add(parser, builtin_rows[i]);
	while (ret == 0 && (known = ftr_uftrace_option_next(&pos)) != NULL)
		if (!parser_has(parser, known->name))
			ret = parser_add(parser, (struct row){
				.known = known, .name = known->name, .letter = known->letter,
				.takes_arg = known->takes_arg });
	if (ret == 0)
		ret = ftr_vec_push(&parser->longs, (struct option){ 0 });
	return ret;
}

static const struct row *parser_find(const struct parser *parser, int val)
{
	if (val >= LONG_BASE)
		return &parser->rows.v[val - LONG_BASE];
	for (size_t i = 0; i < parser->rows.nr; i++)
		if (parser->rows.v[i].letter == (char)val)
			return &parser->rows.v[i];
	return NULL;
}

/* "--tim" that begins several names is not one of them. */
static bool is_ambiguous(const struct parser *parser, const char *word, size_t len,
			 char *names, size_t names_bytes)
{
	size_t at = 0;
	unsigned nr = 0;

	for (size_t i = 0; i < parser->rows.nr; i++) {
		const struct row *row = &parser->rows.v[i];

		if (strncmp(row->name, word, len) != 0)
			continue;
		nr++;
		if (at < names_bytes)
			at += (size_t)snprintf(names + at, names_bytes - at, " --%s", row->name);
	}
	return nr > 1;
}

static int report_unknown(const struct parser *parser, char **argv, struct ftr_err *err)
{
	struct ftr_closest closest = { .distance = 0 };
	const char *word = argv[optind - 1];
	char names[160] = "", word_text[64];
	size_t len;

	if (optopt != 0 && optopt < LONG_BASE)
		return ftr_err_set(err, EINVAL, "%s: unknown option -%c", argv[0], optopt);
	if (optopt >= LONG_BASE)
		return ftr_err_set(err, EINVAL, "--%s: takes no argument",
				   parser_find(parser, optopt)->name);
	word += strspn(word, "-");
	len = strcspn(word, "=");
	snprintf(word_text, sizeof(word_text), "%.*s", (int)len, word);
	if (is_ambiguous(parser, word, len, names, sizeof(names)))
		return ftr_err_set(err, EINVAL, "%s: --%s is ambiguous:%s", argv[0], word_text,
				   names);
	for (size_t i = 0; i < parser->rows.nr; i++)
		ftr_closest_try(&closest, word_text, parser->rows.v[i].name);
	return ftr_err_set(err, EINVAL, "%s: unknown option --%s%s", argv[0], word_text,
			   ftr_closest_ask(&closest, "--", ""));
}

static int report_missing(const struct parser *parser, struct ftr_err *err)
{
	const struct row *row = parser_find(parser, optopt);

	if (row == NULL || row->opt == NULL)
		return ftr_err_set(err, EINVAL, "--%s: requires an argument",
				   row ? row->name : "?");
	return ftr_err_set(err, EINVAL, "--%s: requires an argument: %s", row->name, row->opt->arg);
}

static int row_set(const struct row *row, void *values, struct ftr_err *err)
{
	char *bytes = values;
	int ret = row->opt->parse(row->opt, bytes + row->base + row->opt->offset, optarg, err);

	if (ret < 0)
		return ftr_err_prefix(err, "--%s", row->name);
	if (row->owner != NULL)
		*(const struct ftr_option **)(bytes + row->given_offset) = row->opt;
	return 0;
}

static int apply_foreign(const struct row *row, const char *command,
			 struct ftr_options_outcome *outcome, struct ftr_err *err)
{
	if (ftr_uftrace_option_matters(row->known, command))
		return ftr_err_set(err, EINVAL,
				   "--%s: ftr %s does not support this uftrace option yet",
				   row->name, command);
	if (outcome->unused_nr < FTR_OPTIONS_UNUSED_MAX)
		outcome->unused[outcome->unused_nr++] = row->name;
	return 0;
}

static int apply(const struct parser *parser, const struct row *row, void *values, char **argv,
		 struct ftr_options_outcome *outcome, struct ftr_err *err)
{
	int ret = 0;

	if (row->outcome != 0) {
		outcome->asked = row->outcome;
		return 0;
	}
	if (row->opt == NULL)
		return apply_foreign(row, argv[0], outcome, err);
	/* Several owners may have an option of that name, and the command, too. */
	for (size_t i = 0; i < parser->rows.nr && ret == 0; i++)
		if (parser->rows.v[i].opt != NULL &&
		    strcmp(parser->rows.v[i].name, row->name) == 0)
			ret = row_set(&parser->rows.v[i], values, err);
	return ret;
}

static int parse_all(const struct parser *parser, void *values, int argc, char **argv,
		     struct ftr_options_outcome *outcome, struct ftr_err *err)
{
	int val, ret = 0;

	opterr = 0;
	optind = 0;			/* glibc: start anew */
	while (ret == 0 && outcome->asked == 0 &&
	       (val = getopt_long(argc, argv, parser->letters, parser->longs.v, NULL)) != -1) {
		if (val == '?')
			ret = report_unknown(parser, argv, err);
		else if (val == ':')
			ret = report_missing(parser, err);
		else
			ret = apply(parser, parser_find(parser, val), values, argv, outcome,
				    err);
	}
	return ret;
}

int ftr_options_parse(const struct ftr_option *table, void *values, int argc, char **argv,
		      bool stops_at_operand, struct ftr_options_outcome *outcome,
		      struct ftr_err *err)
{
	struct parser parser = { 0 };
	int ret;

	*outcome = (struct ftr_options_outcome){ 0 };
	if (stops_at_operand)
		parser.letters[parser.letters_len++] = '+';
	parser.letters[parser.letters_len++] = ':';
	ret = parser_fill(&parser, table);
	if (ret < 0)
		ftr_err_set(err, ENOMEM, "out of memory");
	else
		ret = parse_all(&parser, values, argc, argv, outcome, err);
	ftr_vec_fini(&parser.rows);
	ftr_vec_fini(&parser.longs);
	return ret < 0 ? -EINVAL : optind;
}

void ftr_options_init(const struct ftr_option *table, void *values)
{
	struct ftr_option_iter iter = { 0 };
	const char *owner = NULL;

	while (ftr_option_next(&iter, table) != NULL) {
		if (iter.owner != NULL && iter.owner != owner && iter.set.defaults != NULL)
			memcpy((char *)values + iter.base, iter.set.defaults,
			       iter.set.values_bytes);
		owner = iter.owner;
	}
}

/* The list that a row fills; NULL: it fills none. */
static struct ftr_opt_list *list_of(const struct ftr_option *opt, const void *values, size_t base)
{
	if (opt->parse != ftr_opt_list && opt->parse != ftr_opt_list_named)
		return NULL;
	return (void *)((char *)(uintptr_t)values + base + opt->offset);
}

int ftr_options_copy(const struct ftr_option *table, void *to, const void *from, size_t bytes)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;
	int ret = 0;

	memcpy(to, from, bytes);
	while ((opt = ftr_option_next(&iter, table)) != NULL) {
		const struct ftr_opt_list *old = list_of(opt, from, iter.base);
		struct ftr_opt_list *list = list_of(opt, to, iter.base);

		if (old == NULL || list->v != old->v)	/* several rows may fill one list */
			continue;
		*list = (struct ftr_opt_list){ .v = NULL };
		for (size_t i = 0; i < old->nr && ret == 0; i++)
			ret = ftr_vec_push(list, old->v[i]);
	}
	return ret;
}

void ftr_options_fini(const struct ftr_option *table, void *values)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	while ((opt = ftr_option_next(&iter, table)) != NULL) {
		struct ftr_opt_list *list = list_of(opt, values, iter.base);

		if (list != NULL)
			ftr_vec_fini(list);
	}
}

/* Text in columns HELP_COLUMN .. HELP_WIDTH, broken at blanks. */
static void print_wrapped(struct ftr_ostream *out, const char *text)
{
	const size_t room = HELP_WIDTH - HELP_COLUMN;
	size_t len;

	for (;;) {
		len = strlen(text);
		if (len <= room)
			break;
		for (len = room; len > 0 && text[len] != ' ';)
			len--;
		if (len == 0)
			break;
		ftr_ostream_write(out, text, len);
		ftr_ostream_putc(out, '\n');
		ftr_ostream_pad(out, ' ', HELP_COLUMN);
		text += len + 1;
	}
	ftr_ostream_puts(out, text);
	ftr_ostream_putc(out, '\n');
}

/* "flame-graph: Time ...", and the words where a registry has them: "...: uftrace, fxt". */
static void print_text(const struct ftr_option *opt, const char *owner, struct ftr_ostream *out)
{
	struct ftr_strbuf text;
	const char *word, *mark = ": ";
	size_t pos = 0;

	ftr_strbuf_init(&text);
	if (owner != NULL)
		ftr_strbuf_printf(&text, "%s: ", owner);
	ftr_strbuf_puts(&text, opt->help);
	while (opt->next_word != NULL && (word = opt->next_word(&pos)) != NULL) {
		ftr_strbuf_printf(&text, "%s%s", mark, word);
		mark = ", ";
	}
	print_wrapped(out, ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
}

static void print_row(const struct ftr_option *opt, const char *owner, struct ftr_ostream *out)
{
	char head[80];
	int len;

	len = snprintf(head, sizeof(head), "  %c%c%s --%s%s%s%s%s", opt->letter ? '-' : ' ',
		       opt->letter ? opt->letter : ' ', opt->letter ? "," : " ", opt->name,
		       opt->is_arg_optional ? "[" : "", opt->arg ? "=" : "",
		       opt->arg ? opt->arg : "", opt->is_arg_optional ? "]" : "");
	ftr_ostream_puts(out, head);
	if (len >= HELP_COLUMN) {
		ftr_ostream_putc(out, '\n');
		len = 0;
	}
	ftr_ostream_pad(out, ' ', (size_t)(HELP_COLUMN - len));
	print_text(opt, owner, out);
}

/* Is there an option of that name that stands with its owner? */
static bool has_owner(const struct ftr_option *table, const char *name)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	while ((opt = ftr_option_next(&iter, table)) != NULL)
		if (iter.owner != NULL && strcmp(opt->name, name) == 0)
			return true;
	return false;
}

void ftr_options_print_help(const struct ftr_option *table, struct ftr_ostream *out)
{
	static const struct ftr_option help = { .name = "help", .letter = 'h',
						.help = "Show this list" };
	static const struct ftr_option version = { .name = "version", .letter = 'V',
						   .help = "Show what is built in" };
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	while ((opt = ftr_option_next(&iter, table)) != NULL)
		if (opt->help != NULL && (iter.owner != NULL || !has_owner(table, opt->name)))
			print_row(opt, iter.owner, out);
	print_row(&help, NULL, out);
	print_row(&version, NULL, out);
}
