/* SPDX-License-Identifier: MIT */
/* Argument and return-value payloads: their layout (specs), their values, their text. */
#ifndef FTR_TRACE_ARGS_H
#define FTR_TRACE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/arena.h"
#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/trace/event.h"

enum ftr_arg_format {
	FTR_ARG_AUTO,		/* d: signed, shown as a pointer when it looks like one */
	FTR_ARG_SIGNED,		/* i */
	FTR_ARG_UNSIGNED,	/* u */
	FTR_ARG_HEX,		/* x */
	FTR_ARG_OCTAL,		/* o */
	FTR_ARG_STRING,		/* s and S */
	FTR_ARG_CHAR,		/* c */
	FTR_ARG_FLOAT,		/* f, fpargN */
	FTR_ARG_POINTER,	/* p: a function's address, shown as its name */
	FTR_ARG_ENUM,		/* e:NAME */
	FTR_ARG_STRUCT,		/* t SIZE:NAME */
	FTR_ARG_BOOL,		/* of 4 bytes; the rest only from formats that have them */
	FTR_ARG_KOID,		/* number of a process, thread ... */
	FTR_ARG_WORD,		/* a string shown as it is */
	FTR_ARG_NULL,		/* a name without value; its 4 bytes mean nothing */
};

struct ftr_arg_enum {
	const char *name;
	const struct ftr_arg_enumerator { const char *name; int64_t value; } *values;
	uint32_t nr;
};

struct ftr_arg {
	uint8_t  index;		/* argN: N; retval: 0 */
	bool     is_float_reg;	/* fpargN */
	enum ftr_arg_format format;
	uint16_t size;		/* bytes of a value that is not a string; of a struct also 0 */
	const char *name;	/* (nullable: as index says) in formats that name arguments */
	const char *type_name;	/* enum, struct (nullable) */
	const struct ftr_arg_enum *values;	/* FTR_ARG_ENUM (nullable: unknown) */
	const struct ftr_shape *shape;		/* FTR_ARG_STRUCT (nullable: unknown) */
};

struct ftr_argspec {
	uint16_t nr;
	struct ftr_arg args[];
};

/* One decoded value. */
struct ftr_value {
	const struct ftr_arg *arg;
	union {
		int64_t  i;
		uint64_t u;
		long double f;
		struct { const char *s; uint16_t len; } str;	/* STRING; STRUCT: raw bytes */
	};
};

/*
 * How many bytes of @data (at most @left) a payload of this layout takes, padding to 8 included:
 * none where all it has are empty structs.  -EBADMSG: it does not fit.
 */
ssize_t ftr_payload_measure(const struct ftr_argspec *spec, const uint8_t *data, size_t left,
			    bool is_big_endian);

/* Step through a payload: *pos starts at 0, *nr at 0; false at its end or where it is damaged. */
bool ftr_payload_next(const struct ftr_payload *payload, unsigned *nr, unsigned *pos,
		      struct ftr_value *value);

/* As replay prints it: "1, \"hello\"" (no parentheses), or of a return value "5".  Appends. */
struct ftr_trace;
struct ftr_session;
void ftr_payload_format(const struct ftr_payload *payload, struct ftr_trace *trace,
			struct ftr_session *session, struct ftr_strbuf *text);
/* One of its values. */
void ftr_value_format(const struct ftr_value *value, struct ftr_trace *trace,
		      struct ftr_session *session, struct ftr_strbuf *text);

/* What @bytes from @p on mean: value->arg is set. */
void ftr_value_decode(struct ftr_value *value, const uint8_t *p, size_t bytes, bool is_big_endian);

/* An integer of 128 bits, as SIGNED, UNSIGNED or HEX. */
void ftr_value_put_wide(struct ftr_strbuf *text, enum ftr_arg_format format, uint64_t low,
			uint64_t high);

/* A byte of a string; one that would break a line is written as C would. */
void ftr_value_put_byte(struct ftr_strbuf *text, unsigned char c);

#endif /* FTR_TRACE_ARGS_H */
