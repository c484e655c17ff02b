/* SPDX-License-Identifier: MIT */
/* A line of dump in the making: what lines share is kept as text. */
#ifndef FTR_VIEW_DUMP_LINE_H
#define FTR_VIEW_DUMP_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "utils/trace/event.h"

struct ftr_func;

#define DUMP_TID_WIDTH 7
#define DUMP_HEAD_BYTES 80
#define DUMP_TAIL_BYTES 64
#define DUMP_CALL_TEXT_BYTES 104
#define DUMP_CALL_BYTES (DUMP_HEAD_BYTES + DUMP_CALL_TEXT_BYTES + DUMP_TAIL_BYTES)
#define DUMP_CALL_TEXTS_BITS 8

/* What the line of a call ends in, but for the depth: "main(5633a1d8d070) depth: ". */
struct dump_call_text {
	const struct ftr_func *func;	/* NULL = empty */
	uint64_t addr;
	uint32_t len;
	char	 text[DUMP_CALL_TEXT_BYTES];
};

struct dump_line {
	uint64_t step_ns;	/* that step_text is the beginning of, up to 10 us later */
	size_t   step_len;
	uint64_t second;	/* whose digits step_text has */
	char     step_text[32];
	int32_t  tid;		/* in tid_text */
	char     tid_text[DUMP_TID_WIDTH + 3];
	struct dump_call_text calls[1u << DUMP_CALL_TEXTS_BITS];
};

#define DUMP_LINE_INIT { .step_text = "0.00000", .step_len = 7, .tid = -1 }

/* "2891.568304588     6134: ["; @p has DUMP_HEAD_BYTES.  The end of it. */
char *dump_line_head(struct dump_line *self, char *p, uint64_t time_ns, int32_t tid);
/* "(5633a1d8d070) depth: 0" and the end of the line; @p has DUMP_TAIL_BYTES.  The end of it. */
char *dump_line_tail(char *p, uint64_t addr, uint32_t depth);
/*
 * The whole line of @ev, an ENTRY or EXIT; @p has DUMP_CALL_BYTES.  The end of it, or NULL: its
 * function's name is too long.
 */
char *dump_line_call(struct dump_line *self, char *p, const struct ftr_event *ev);

#endif /* FTR_VIEW_DUMP_LINE_H */
