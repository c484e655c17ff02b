/* SPDX-License-Identifier: MIT */
/* POINT events as text. */
#ifndef FTR_TRACE_EVENT_TEXT_H
#define FTR_TRACE_EVENT_TEXT_H

#include <stdbool.h>

#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/trace/event.h"

struct ftr_trace;

/*
 * What a POINT is called; of an async span or a flow which part of it this is, too: "net:get begin
 * #7".
 */
void ftr_event_title(const struct ftr_event *ev, struct ftr_strbuf *text);

/*
 * Append the data of a POINT: "vmsize=15492KB vmrss=7512KB shared=5404KB"; nothing when it has
 * none.
 * @is_signed_diff: differences carry a sign (as replay, not dump, shows them).
 */
void ftr_event_data_text(const struct ftr_event *ev, const struct ftr_trace *trace,
			 bool is_signed_diff, struct ftr_strbuf *text);

/*
 * The same for who needs it at once: most are texts that the event has, and are not copied; others
 * are put into @text, instead of what it has.
 */
struct ftr_slice ftr_event_data_slice(const struct ftr_event *ev, const struct ftr_trace *trace,
				      bool is_signed_diff, struct ftr_strbuf *text);

#endif /* FTR_TRACE_EVENT_TEXT_H */
