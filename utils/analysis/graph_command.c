/* SPDX-License-Identifier: MIT */
/* A command line out of the text of an argument list. */
#include "utils/analysis/graph_command.h"

#include <ctype.h>
#include <string.h>

static bool is_plain(struct ftr_slice word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!isalnum((unsigned char)word.s[i]) && strchr("_@%+=:,./-", word.s[i]) == NULL)
			return false;
	return word.len > 0 && memchr(word.s, '\0', word.len) == NULL;
}

/* Bytes of the quoted word at the start, quotes included; 0 = there is none. */
static size_t quoted_len(struct ftr_slice list)
{
	if (list.len == 0 || list.s[0] != '"')
		return 0;
	for (size_t i = 1; i < list.len; i++) {
		if (list.s[i] == '"')
			return i + 1;
		if (list.s[i] == '\\')
			i++;
	}
	return 0;
}

static void put_word(struct ftr_strbuf *text, struct ftr_slice quoted)
{
	struct ftr_slice word = ftr_slice_make(quoted.s + 1, quoted.len - 2);

	if (is_plain(word))
		ftr_strbuf_put(text, word.s, word.len);
	else
		ftr_strbuf_put(text, quoted.s, quoted.len);
}

void ftr_graph_put_command(struct ftr_strbuf *text, struct ftr_slice path, struct ftr_slice argv)
{
	size_t start = text->len, len;

	if (argv.len > 0 && argv.s[0] == '[')
		argv = ftr_slice_make(argv.s + 1, argv.len - 1);
	while ((len = quoted_len(argv)) > 0) {
		if (text->len > start)
			ftr_strbuf_putc(text, ' ');
		put_word(text, ftr_slice_make(argv.s, len));
		argv = ftr_slice_make(argv.s + len, argv.len - len);
		while (argv.len > 0 && (argv.s[0] == ',' || argv.s[0] == ' '))
			argv = ftr_slice_make(argv.s + 1, argv.len - 1);
	}
	if (text->len == start)
		ftr_strbuf_put(text, path.s, path.len);
	else if (argv.len > 1)	/* cut: its end is in the middle of a word */
		ftr_strbuf_puts(text, " ...");
}
