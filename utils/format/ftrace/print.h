/* SPDX-License-Identifier: MIT */
/*
 * The print fmt of a kind of event as steps that write its text.  print_compile.c makes them of
 * what libtraceevent parsed, print_run.c takes them; doc/adr/0072.
 *
 *	print = ftr_ftrace_print_new(tep);
 *	if (print != NULL)
 *		ftr_ftrace_print_run(print, ftrace, page, out);
 *	else
 *		(libtraceevent writes the text)
 */
#ifndef FTR_FORMAT_FTRACE_PRINT_H
#define FTR_FORMAT_FTRACE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/vec.h"

struct ftr_ftrace;
struct ftr_ftrace_page;
struct ftr_strbuf;
struct tep_event;

/* ---- numbers: terms that refer to terms before them ---- */

enum ftr_print_op {
	FTR_PRINT_CONSTANT,		/* number */
	FTR_PRINT_FIELD,		/* the bytes at offset, unsigned */
	FTR_PRINT_DYNAMIC_BYTES,	/* of the data that the field at offset points to */
	FTR_PRINT_MASK,			/* left & number: a cast */
	FTR_PRINT_NOT,
	FTR_PRINT_COMPLEMENT,
	FTR_PRINT_CHOICE,		/* condition ? left : right */
	FTR_PRINT_BOTH,			/* left && right */
	FTR_PRINT_EITHER,		/* left || right */
	FTR_PRINT_AND,
	FTR_PRINT_OR,
	FTR_PRINT_LESS,
	FTR_PRINT_LESS_EQUAL,
	FTR_PRINT_MORE,
	FTR_PRINT_MORE_EQUAL,
	FTR_PRINT_EQUAL,
	FTR_PRINT_UNEQUAL,
	FTR_PRINT_SHIFT_LEFT,
	FTR_PRINT_SHIFT_RIGHT,
	FTR_PRINT_ADD,
	FTR_PRINT_SUBTRACT,
	FTR_PRINT_MULTIPLY,
	FTR_PRINT_DIVIDE,		/* by a constant that is not 0 */
};

struct ftr_print_term {
	uint8_t  op;			/* enum ftr_print_op */
	uint8_t  bytes;			/* of a FIELD: 1, 2, 4, 8 */
	uint16_t condition;		/* these three: indices in terms */
	uint16_t left;
	uint16_t right;
	uint32_t offset;		/* in the record, bytes */
	uint64_t number;
};

/* ---- strings ---- */

enum ftr_print_string_kind {
	FTR_PRINT_TEXT,			/* text */
	FTR_PRINT_CHARS,		/* the field of bytes at offset */
	FTR_PRINT_DYNAMIC,		/* where the field at offset points to */
	FTR_PRINT_POINTED,		/* the kernel's text at the address that term is */
	FTR_PRINT_FLAGS,		/* a row for each group of bits of term */
	FTR_PRINT_SYMBOLS,		/* the row whose value term has */
	FTR_PRINT_EITHER_STRING,	/* term ? left : right */
};

struct ftr_print_row {
	int64_t value;
	const char *text;		/* (borrowed) of libtraceevent's tree */
	uint32_t text_bytes;
};

struct ftr_print_string {
	uint8_t  kind;			/* enum ftr_print_string_kind */
	uint16_t term;			/* index in terms */
	uint16_t left;			/* these two: indices in strings */
	uint16_t right;
	uint32_t offset;		/* in the record, bytes */
	uint32_t bytes;			/* of CHARS; 0 = all that is left of the record */
	uint32_t base;			/* what the offset of DYNAMIC counts from */
	uint32_t row_first;		/* index in rows */
	uint32_t row_nr;
	const char *text;		/* (borrowed) of a TEXT; the delimiter of FLAGS */
};

/* ---- steps: a piece of the format itself, and what follows it ---- */

enum ftr_print_step_kind {
	FTR_PRINT_STEP_NOTHING,
	FTR_PRINT_STEP_DECIMAL,		/* most numbers: without a width, signed perhaps */
	FTR_PRINT_STEP_HEX,		/* and these: without a sign, width digits at least */
	FTR_PRINT_STEP_NUMBER,		/* any other */
	FTR_PRINT_STEP_CHARACTER,
	FTR_PRINT_STEP_POINTER,		/* %p */
	FTR_PRINT_STEP_FUNCTION,	/* %ps */
	FTR_PRINT_STEP_FUNCTION_OFFSET,	/* %pS */
	FTR_PRINT_STEP_STRING,
};

#define FTR_PRINT_LITERAL_MAX 16u	/* a longer piece is of several steps */

struct ftr_print_step {
	char     literal[FTR_PRINT_LITERAL_MAX];	/* stands before it */
	uint8_t  literal_bytes;
	uint8_t  kind;			/* enum ftr_print_step_kind */
	uint8_t  bytes;			/* of a number, as its length modifier says */
	uint8_t  base;			/* 8, 10, 16 */
	bool     is_signed;
	bool     is_upper;		/* these four: as printf's X, -, 0, # */
	bool     is_left;
	bool     is_zero_filled;
	bool     is_prefixed;
	uint16_t width;
	uint16_t precision;		/* of a string; UINT16_MAX = all of it */
	uint16_t string;		/* index in strings */
	struct ftr_print_term term;	/* of what is no string */
};

struct ftr_ftrace_print {
	FTR_VEC(struct ftr_print_step) steps;
	FTR_VEC(struct ftr_print_term) terms;
	FTR_VEC(struct ftr_print_string) strings;
	FTR_VEC(struct ftr_print_row) rows;
};

/*
 * @tep can be followed without leaving the record (ftr_ftrace_is_printable), and outlives the
 * steps.  NULL: something in it has no step, or no memory.
 */
struct ftr_ftrace_print *ftr_ftrace_print_new(struct tep_event *tep);
void ftr_ftrace_print_free(struct ftr_ftrace_print *print);	/* NULL is fine */

/*
 * Append the text of the record at hand, which fits its format, to @out.  False: no memory
 * (out->failed); the text is as it was.
 */
bool ftr_ftrace_print_run(const struct ftr_ftrace_print *print, struct ftr_ftrace *ftrace,
			  const struct ftr_ftrace_page *page, struct ftr_strbuf *out);

#endif /* FTR_FORMAT_FTRACE_PRINT_H */
