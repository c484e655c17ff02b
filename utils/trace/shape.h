/* SPDX-License-Identifier: MIT */
/*
 * What the bytes of a value mean: its members, elements, and copies of what its pointers lead to,
 * which stand behind it.  As words, in the NAME.dbg of a data directory:
 *
 *	shape	= scalar | wide | bits | chars | text | struct | array | pointer | part | list |
 *		  variant
 *	scalar	= "i" "u" "x" "c" "f" "b" "p" and its bits | "e" BITS ":" ENUM | "t" BYTES
 *	wide	= "i128" | "u128" | "x128" | "z" BITS
 *						a complex number, of two floats in BITS
 *	bits	= scalar "." FIRST "+" NR
 *	chars	= "a" NR			up to a NUL
 *	text	= "s" [ OF ] ">" TO "+" NR	a pointer at OF, which may be NULL, NR characters
 *						at TO
 *	struct	= "{" [ member { "," member } ] "}"
 *	member	= [ NAME ] ":" OF ":" shape
 *	array	= "[" NR "x" BYTES "]" shape
 *	pointer	= "*" BYTES ">" TO shape	at TO how many bytes were there, of 32 bits,
 *						and BYTES of what it leads to
 *	part	= "@" OF shape			what stands at OF, instead of the whole
 *	list	= "n" number OF "x" BYTES ">" TO "+" NR shape
 *						at OF a pointer to the first of its elements of
 *						BYTES; at TO, unless NR is 0, of NR bytes of them
 *						how many were there, and these; x0: they are bits
 *	number	= OF "@" | OF "-" | "?" | "=" DIVISOR { ("+" | "-") OF "." BYTES "*" FACTOR } "@"
 *						at OF how many there are; a pointer behind the last;
 *						as many as are there, whose number of bytes has the
 *						highest bit when there are no more; a sum of members
 *	variant	= "|" OF "+" BYTES "{" [ case { "," case } ] "}"
 *	case	= [ VALUE ] "=" [ NAME ] [ ":" OF ":" shape ]
 *						by the BYTES at OF; without VALUE: any other
 *
 * OF counts from the begin of what it is in, TO from where the text or pointer stands.  All is
 * little-endian, as the only runtime that writes it.
 */
#ifndef FTR_TRACE_SHAPE_H
#define FTR_TRACE_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/arena.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"

struct ftr_arg_enum;
struct ftr_session;
struct ftr_shape;
struct ftr_trace;

/* Where enumerations are looked up: NULL = unknown. */
typedef const struct ftr_arg_enum *ftr_shape_enum_fn(const void *arg, struct ftr_slice name);

/* Read @words to *shape, in @arena.  0, -EINVAL or -ENOMEM. */
int ftr_shape_parse(const struct ftr_shape **shape, struct ftr_slice words,
		    struct ftr_arena *arena, ftr_shape_enum_fn *find_enum, const void *arg);

/* What an enumeration is called where words are written to; NULL: out of memory. */
typedef const char *ftr_shape_enum_name_fn(void *arg, const struct ftr_arg_enum *values);

/*
 * The words that ftr_shape_parse() made *shape of, with the names that @enum_name has for their
 * enumerations; those that were not found have none.  Appends; 0 or -ENOMEM.
 */
int ftr_shape_words(const struct ftr_shape *shape, ftr_shape_enum_name_fn *enum_name, void *arg,
		    struct ftr_strbuf *words);

/*
 * "{.x = 1, .name = \"...\"}", "&5", "[2]{1, 2}" of a list, "Some(1)" of a variant; what is
 * not there is "...", a pointer that leads nowhere its value.  Appends.
 */
void ftr_shape_format(const struct ftr_shape *shape, const uint8_t *bytes, size_t len,
		      struct ftr_trace *trace, struct ftr_session *session,
		      struct ftr_strbuf *text);

/* @at: where in the value the 64 bits of @pointer are. */
typedef int ftr_shape_pointer_fn(void *arg, size_t at, uint64_t pointer);

/*
 * Call @fn for each pointer to a function that ftr_shape_format() shows of a value, until it
 * returns other than 0.  That, or 0.
 */
int ftr_shape_pointers(const struct ftr_shape *shape, const uint8_t *bytes, size_t len,
		       ftr_shape_pointer_fn *fn, void *arg);

#endif /* FTR_TRACE_SHAPE_H */
