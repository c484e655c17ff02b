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

/* The value of a signed column. */
static inline int64_t row_signed(const struct row_value *value)
{
	return (int64_t)value->number;
}

extern const struct row_encoding row_encoding_rowbinary;	/* ClickHouse's RowBinary */
extern const struct row_encoding row_encoding_csv;		/* RFC 4180, "\n" ends a line */
extern const struct row_encoding row_encoding_jsonl;		/* an object a line */

#endif /* FTR_EXPORT_ROWS_H */
