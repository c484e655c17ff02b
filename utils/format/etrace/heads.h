/* SPDX-License-Identifier: MIT */
/*
 * The lines that begin or end a record of the etrace text, as data for its writer and its reader.
 */
#ifndef FTR_FORMAT_ETRACE_HEADS_H
#define FTR_FORMAT_ETRACE_HEADS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/format/etrace/etrace.h"

/* What a field NAME=NUMBER of such a line says. */
enum ftr_etrace_value {
	FTR_ETRACE_SIZE0,	/* bytes of text[0] */
	FTR_ETRACE_SIZE1,
	FTR_ETRACE_SIZE2,
	FTR_ETRACE_ARGSIZE,
	FTR_ETRACE_PEER,
	FTR_ETRACE_FLAGS,
	FTR_ETRACE_MODE,
	FTR_ETRACE_FD,
	FTR_ETRACE_FD2,
	FTR_ETRACE_STATUS,
	FTR_ETRACE_VALUES
};

enum ftr_etrace_role {
	FTR_ETRACE_WHOLE,
	FTR_ETRACE_FROM,	/* an end or a failure follows */
	FTR_ETRACE_TO,
	FTR_ETRACE_FAILED,
};

struct ftr_etrace_field {
	const char *name;
	uint8_t value;		/* enum ftr_etrace_value */
	bool is_optional;	/* absent when the text is */
};

/* A text of the record: its tag, and which it is. */
struct ftr_etrace_tag {
	char tag[3];
	uint8_t text;
};

struct ftr_etrace_head {
	const char *tag;
	uint8_t kind;		/* enum ftr_etrace_kind */
	uint8_t role;		/* enum ftr_etrace_role */
	struct ftr_etrace_field fields[6];	/* up to the one without a name */
	struct ftr_etrace_tag texts[4];		/* up to the one without a tag */
};

extern const struct ftr_etrace_head ftr_etrace_heads[];	/* up to the one without a tag */

#endif /* FTR_FORMAT_ETRACE_HEADS_H */
