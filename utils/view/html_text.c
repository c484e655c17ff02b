/* SPDX-License-Identifier: MIT */
/* See html_text.h. */
#include "utils/view/html_text.h"

#include <string.h>

#include "utils/base/color.h"

#define ESC '\033'

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<style>\n"
	".red { color: #b00020 } .green { color: #00701a } .yellow { color: #7a5b00 }\n"
	".magenta { color: #8e24aa } .cyan { color: #00687a } .blue { color: #1a4fd0 }\n"
	".gray { color: #6b6b6b } .bold { font-weight: bold }\n"
	"@media (prefers-color-scheme: dark) {\n"
	".red { color: #ff7b72 } .green { color: #7ee787 } .yellow { color: #e3b341 }\n"
	".magenta { color: #d2a8ff } .cyan { color: #76e3ea } .blue { color: #79c0ff }\n"
	".gray { color: #8b949e }\n"
	"}\n"
	"</style>\n"
	"<title>";

static const struct color {
	const char *sequence, *name;
} colors[] = {
	{ FTR_SGR_RED, "red" }, { FTR_SGR_GREEN, "green" }, { FTR_SGR_YELLOW, "yellow" },
	{ FTR_SGR_MAGENTA, "magenta" }, { FTR_SGR_CYAN, "cyan" }, { FTR_SGR_BLUE, "blue" },
	{ FTR_SGR_GRAY, "gray" }, { FTR_SGR_BOLD, "bold" },
};

/* Bytes that are no UTF-8 are left to the browser, which shows U+FFFD. */
static void put_char(struct ftr_ostream *out, char c)
{
	switch (c) {
	case '&':
		ftr_ostream_puts(out, "&amp;");
		break;
	case '<':
		ftr_ostream_puts(out, "&lt;");
		break;
	case '>':
		ftr_ostream_puts(out, "&gt;");
		break;
	default:
		if ((unsigned char)c >= ' ' || c == '\n' || c == '\t')
			ftr_ostream_putc(out, c);
	}
}

static void elements_end(struct ftr_html_text *text)
{
	for (; text->open_nr > 0; text->open_nr--)
		ftr_ostream_puts(text->out, "</span>");
}

static void sequence_take(struct ftr_html_text *text)
{
	const char *sequence = text->sequence;

	if (strcmp(sequence, FTR_SGR_RESET) == 0)
		elements_end(text);
	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
		if (strcmp(sequence, colors[i].sequence) != 0)
			continue;
		ftr_ostream_printf(text->out, "<span class=%s>", colors[i].name);
		text->open_nr++;
	}
}

/* Within ESC [ numbers letter; one that is longer is none of ours. */
static void sequence_put(struct ftr_html_text *text, char c)
{
	bool is_first = text->sequence_len == 1;

	if (text->sequence_len < sizeof(text->sequence) - 1)
		text->sequence[text->sequence_len++] = c;
	if (is_first ? c == '[' : (unsigned char)c < '@' || (unsigned char)c > '~')
		return;
	text->sequence[text->sequence_len] = '\0';
	sequence_take(text);
	text->sequence_len = 0;
}

void ftr_html_text_begin(struct ftr_html_text *text, struct ftr_ostream *out, const char *title)
{
	*text = (struct ftr_html_text){ .out = out };
	ftr_ostream_puts(out, head);
	for (; *title != '\0'; title++)
		put_char(out, *title);
	ftr_ostream_puts(out, "</title>\n</head>\n<body>\n<pre>\n");
}

void ftr_html_text_put(struct ftr_html_text *text, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text->sequence_len > 0)
			sequence_put(text, bytes[i]);
		else if (bytes[i] == ESC)
			text->sequence[text->sequence_len++] = ESC;
		else
			put_char(text->out, bytes[i]);
	}
}

void ftr_html_text_end(struct ftr_html_text *text)
{
	elements_end(text);
	ftr_ostream_puts(text->out, "</pre>\n</body>\n</html>\n");
}
