/* SPDX-License-Identifier: MIT */
/* Rows of tables as RowBinary, CSV and JSON lines. */
#include "utils/export/rows.h"

#include <string.h>

#include "utils/base/bytes.h"

static bool is_signed(enum row_type type)
{
	return type == ROW_I16 || type == ROW_I32 || type == ROW_I64;
}

static void put_number(struct ftr_ostream *out, enum row_type type, const struct row_value *value)
{
	uint64_t number = value->number;

	if (is_signed(type) && row_signed(value) < 0) {
		ftr_ostream_putc(out, '-');
		number = 0 - number;
	}
	ftr_ostream_u64(out, number);
}

/* ---- RowBinary: little-endian numbers, strings behind their length as LEB128 ---- */

static const uint8_t type_bytes[] = {
	[ROW_U8] = 1, [ROW_I16] = 2, [ROW_I32] = 4, [ROW_U32] = 4, [ROW_U64] = 8, [ROW_I64] = 8,
};

static void put_length(struct ftr_ostream *out, uint64_t len)
{
	ftr_ostream_commit(out, ftr_put_leb128(ftr_ostream_reserve(out, FTR_LEB128_MAX), len));
}

void row_put_binary(struct ftr_ostream *out, const struct row_column *columns,
		    const struct row_value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint8_t number[8];

		if (columns[i].type == ROW_STRING) {
			put_length(out, values[i].len);
			ftr_ostream_write(out, values[i].s, values[i].len);
			continue;
		}
		ftr_put_u64(number, values[i].number, false);
		ftr_ostream_write(out, number, type_bytes[columns[i].type]);
	}
}

const struct row_encoding row_encoding_rowbinary = { .row = row_put_binary };

/* ---- CSV ---- */

/* Strings always in quotes: an empty one is no missing value then. */
static void put_quoted(struct ftr_ostream *out, const struct row_value *value)
{
	const char *s = value->s;
	size_t len = value->len;

	ftr_ostream_putc(out, '"');
	while (len > 0) {
		const char *quote = memchr(s, '"', len);
		size_t run = quote == NULL ? len : (size_t)(quote - s) + 1;

		ftr_ostream_write(out, s, run);
		if (quote != NULL)
			ftr_ostream_putc(out, '"');
		s += run;
		len -= run;
	}
	ftr_ostream_putc(out, '"');
}

static void csv_head(struct ftr_ostream *out, const struct row_column *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		ftr_ostream_puts(out, columns[i].name);
		ftr_ostream_putc(out, i + 1 < nr ? ',' : '\n');
	}
}

static void csv_row(struct ftr_ostream *out, const struct row_column *columns,
		    const struct row_value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (columns[i].type == ROW_STRING)
			put_quoted(out, &values[i]);
		else
			put_number(out, columns[i].type, &values[i]);
		ftr_ostream_putc(out, i + 1 < nr ? ',' : '\n');
	}
}

const struct row_encoding row_encoding_csv = { .head = csv_head, .row = csv_row };

/* ---- JSON ---- */

static void jsonl_row(struct ftr_ostream *out, const struct row_column *columns,
		      const struct row_value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		ftr_ostream_puts(out, i == 0 ? "{\"" : ",\"");
		ftr_ostream_puts(out, columns[i].name);
		ftr_ostream_puts(out, "\":");
		if (columns[i].type == ROW_STRING)
			ftr_ostream_json_string(out, values[i].s, values[i].len);
		else
			put_number(out, columns[i].type, &values[i]);
	}
	ftr_ostream_puts(out, "}\n");
}

const struct row_encoding row_encoding_jsonl = { .row = jsonl_row };
