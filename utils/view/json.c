/* SPDX-License-Identifier: MIT */
/* Lines of --json. */
#include "utils/view/json.h"

#include <math.h>
#include <string.h>

#define VERSION 1
#define WHOLE_MAX 9007199254740992.0	/* 2^53: a double holds all whole numbers up to it */

/* The first member of an object has no comma before it. */
static void put_key(struct ftr_json *line, const char *key)
{
	ftr_ostream_puts(line->out, line->has_members ? ",\"" : "\"");
	ftr_ostream_puts(line->out, key);
	ftr_ostream_puts(line->out, "\":");
	line->has_members = true;
}

void ftr_json_begin(struct ftr_json *line, struct ftr_ostream *out, const char *type)
{
	*line = (struct ftr_json){ .out = out };
	ftr_ostream_putc(out, '{');
	ftr_json_u64(line, "v", VERSION);
	ftr_json_text(line, "type", type);
}

void ftr_json_end(struct ftr_json *line)
{
	ftr_ostream_puts(line->out, "}\n");
}

void ftr_json_string(struct ftr_json *line, const char *key, const char *s, size_t len)
{
	put_key(line, key);
	if (s == NULL)
		ftr_ostream_puts(line->out, "null");
	else
		ftr_ostream_json_string(line->out, s, len);
}

void ftr_json_text(struct ftr_json *line, const char *key, const char *s)
{
	ftr_json_string(line, key, s, s == NULL ? 0 : strlen(s));
}

void ftr_json_u64(struct ftr_json *line, const char *key, uint64_t value)
{
	put_key(line, key);
	ftr_ostream_u64(line->out, value);
}

void ftr_json_bool(struct ftr_json *line, const char *key, bool value)
{
	put_key(line, key);
	ftr_ostream_puts(line->out, value ? "true" : "false");
}

void ftr_json_double(struct ftr_json *line, const char *key, double value)
{
	put_key(line, key);
	if (!isfinite(value))
		ftr_ostream_puts(line->out, "null");
	else if (value == trunc(value) && fabs(value) < WHOLE_MAX)
		ftr_ostream_printf(line->out, "%.0f", value + 0.0);	/* no -0 */
	else
		ftr_ostream_printf(line->out, "%.3f", value);
}

void ftr_json_open(struct ftr_json *line, const char *key)
{
	put_key(line, key);
	ftr_ostream_putc(line->out, '{');
	line->has_members = false;
}

void ftr_json_close(struct ftr_json *line)
{
	ftr_ostream_putc(line->out, '}');
	line->has_members = true;
}
