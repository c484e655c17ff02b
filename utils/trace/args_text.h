/* SPDX-License-Identifier: MIT */
/* Arguments and return values with colours. */
#ifndef FTR_TRACE_ARGS_TEXT_H
#define FTR_TRACE_ARGS_TEXT_H

#include "utils/base/strbuf.h"
#include "utils/trace/event.h"

struct ftr_trace;

/* Append the payload of @ev (not NULL), as ftr_payload_format does. */
void ftr_event_args_text(const struct ftr_event *ev, const struct ftr_trace *trace, bool use_color,
			 struct ftr_strbuf *text);

/* Append one value of it. */
struct ftr_value;
void ftr_event_value_text(const struct ftr_event *ev, const struct ftr_value *value,
			  const struct ftr_trace *trace, struct ftr_strbuf *text);

#endif /* FTR_TRACE_ARGS_TEXT_H */
