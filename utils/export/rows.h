/* SPDX-License-Identifier: MIT */
/*
 * Flat tables for databases (doc/rows.md): what the columns are, apart from how a format writes
 * them.
 */
#ifndef FTR_EXPORT_ROWS_H
#define FTR_EXPORT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/ostream.h"
#include "utils/trace/sink.h"

enum row_type {
	ROW_STRING,
	ROW_U8,
	ROW_I16,
	ROW_I32,
	ROW_U32,
	ROW_U64,
	ROW_I64,
};

struct row_column {
	const char *name;
	enum row_type type;
};

struct row_value {
	uint64_t number;	/* two's complement where the type is signed */
	const char *s;		/* (borrowed) of a ROW_STRING; NULL is "" */
	size_t len;
};

struct row_encoding {
	/* (nullable) Before the first row. */
	void (*head)(struct ftr_ostream *out, const struct row_column *columns, size_t nr);
	void (*row)(struct ftr_ostream *out, const struct row_column *columns,
		    const struct row_value *values, size_t nr);
};

enum rows_table { ROWS_CALLS, ROWS_EVENTS, ROWS_SUMS, ROWS_PATHS, ROWS_TABLES };

struct row_table {
	const char *name;
	const struct row_column *columns;
	size_t column_nr;
};

extern const struct row_table row_tables[ROWS_TABLES];

/* What is written: sink->values. */
struct rows_values {
	int table;				/* enum rows_table */
	const char *run;			/* (nullable) for the trace's own name of its run */
	const struct row_encoding *encoding;	/* of rows_ops */
};

/* Writes rows as the values say, which have to be there. */
extern const struct ftr_sink_ops rows_ops;

/* Where the rows of a trace come from; its texts are borrowed from the trace. */
struct rows_origin {
	const char *host;
	uint32_t boot;
	const char *run;	/* "": it has no name of its own */
};

struct rows_origin rows_origin_of(const struct ftr_trace *trace);

/* The value of a signed column. */
static inline int64_t row_signed(const struct row_value *value)
{
	return (int64_t)value->number;
}

void row_put_binary(struct ftr_ostream *out, const struct row_column *columns,
		    const struct row_value *values, size_t nr);

extern const struct row_encoding row_encoding_rowbinary;	/* ClickHouse's RowBinary */
extern const struct row_encoding row_encoding_csv;		/* RFC 4180, "\n" ends a line */
extern const struct row_encoding row_encoding_jsonl;		/* an object a line */

#endif /* FTR_EXPORT_ROWS_H */
