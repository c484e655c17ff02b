/* SPDX-License-Identifier: MIT */
/* The calls that have not returned when a trace ends, listed after its lines. */
#ifndef FTR_VIEW_UNFINISHED_H
#define FTR_VIEW_UNFINISHED_H

#include "utils/base/ostream.h"
#include "utils/base/vec.h"
#include "utils/trace/event.h"

struct ftr_trace;

struct unfinished_call {
	uint32_t task_id;
	uint32_t depth;
	const char *name;	/* (borrowed) */
};

struct unfinished {
	FTR_VEC(struct unfinished_call) calls;
};

int  unfinished_add(struct unfinished *list, const struct ftr_event *ev);	/* 0 or -ENOMEM */
void unfinished_print(const struct unfinished *list, const struct ftr_trace *trace,
		      struct ftr_ostream *out);
void unfinished_fini(struct unfinished *list);

#endif /* FTR_VIEW_UNFINISHED_H */
