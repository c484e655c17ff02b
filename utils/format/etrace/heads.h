/* SPDX-License-Identifier: MIT */
/*
 * The lines that begin or end a record of the etrace text, as data for its writer and its reader.
 */
#ifndef FTR_FORMAT_ETRACE_HEADS_H
#define FTR_FORMAT_ETRACE_HEADS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/trace/syscall.h"

#define FTR_ETRACE_TEXTS 4

/* What a field NAME=NUMBER of such a line holds. */
enum ftr_etrace_value {
	FTR_ETRACE_NUMBER,	/* a number of the call: at */
	FTR_ETRACE_SIZE,	/* bytes of a text: slot */
	FTR_ETRACE_ARGSIZE,	/* bytes of all arguments of an exec, each with a NUL */
};

enum ftr_etrace_role {
	FTR_ETRACE_WHOLE,
	FTR_ETRACE_FROM,	/* an end or a failure follows */
	FTR_ETRACE_TO,
	FTR_ETRACE_FAILED,
};

/* The union of struct ftr_syscall begins with up to four texts: the text in slot N is the Nth. */
#define FTR_ETRACE_TEXTS_AT offsetof(struct ftr_syscall, exec)

static inline struct ftr_slice *ftr_etrace_text(struct ftr_syscall *call, unsigned slot)
{
	assert(slot < FTR_ETRACE_TEXTS);
	return (struct ftr_slice *)((char *)call + FTR_ETRACE_TEXTS_AT) + slot;
}

static inline int64_t *ftr_etrace_number(struct ftr_syscall *call, size_t at)
{
	return (int64_t *)((char *)call + at);
}

struct ftr_etrace_field {
	const char *name;
	uint8_t  value;		/* enum ftr_etrace_value */
	uint8_t  slot;
	uint16_t at;		/* in struct ftr_syscall */
	bool	 is_optional;	/* absent when the text is */
};

/* A text of the record: its tag, and which it is. */
struct ftr_etrace_tag {
	char tag[3];
	uint8_t slot;
};

struct ftr_etrace_head {
	const char *tag;
	uint8_t kind;		/* enum ftr_syscall_kind */
	uint8_t role;		/* enum ftr_etrace_role */
	uint8_t id;		/* the only call that it stands for, else NONE */
	struct ftr_etrace_field fields[6];	/* up to the one without a name */
	struct ftr_etrace_tag texts[4];		/* up to the one without a tag */
};

extern const struct ftr_etrace_head ftr_etrace_heads[];	/* up to the one without a tag */

#endif /* FTR_FORMAT_ETRACE_HEADS_H */
