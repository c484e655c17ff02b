/* SPDX-License-Identifier: MIT */
/*
 * What programs say of themselves (libmcount/ftr.h) becomes what other formats have of it, too:
 * instants, counters, async spans, messages, by the names that the program gave.
 */
#include "utils/format/uftrace/read.h"

#include <errno.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/format/uftrace/user.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"

#define ARG(name_, format_) { .name = name_, .format = FTR_ARG_##format_, .size = sizeof(uint64_t) }

static const struct ftr_argspec caller_spec = { .nr = 1, .args = { ARG("caller", POINTER) } };
static const struct ftr_argspec value_spec = { .nr = 1, .args = { ARG("value", FLOAT) } };

/* Interned: "user:NAME".  NULL = out of memory. */
static const char *name_get(struct ftr_strpool *names, struct ftr_slice name, bool is_text)
{
	struct ftr_strbuf text;
	const struct ftr_str *str;

	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, "%s%.*s", is_text ? "" : FTR_USER_PREFIX,
			  (int)strnlen(name.s, name.len), name.s);
	str = text.failed ? NULL : ftr_strpool_get(names, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
	return str != NULL ? str->s : NULL;
}

/* The numbers of the payload, in their order, and the text behind them. */
static bool values_get(const struct ftr_payload *payload, uint64_t values[3],
		       struct ftr_slice *text)
{
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	while (ftr_payload_next(payload, &nr, &pos, &value)) {
		if (value.arg->format == FTR_ARG_STRING) {
			*text = ftr_slice_make(value.str.s, value.str.len);
			return true;
		}
		if (nr <= 3 && value.arg->format != FTR_ARG_FLOAT)
			values[nr - 1] = value.u;
	}
	return false;
}

/* What is left of the payload: one value, the @at-th. */
static void payload_keep(struct ftr_payload *payload, unsigned at, const struct ftr_argspec *spec)
{
	payload->data += at * sizeof(uint64_t);
	payload->len = sizeof(uint64_t);
	payload->spec = spec;
}

int uft_user_event(struct ftr_strpool *names, struct ftr_event *ev, struct ftr_payload *payload)
{
	uint64_t values[3] = { 0 }, id = ev->point.id;
	struct ftr_slice text;
	const char *name;

	if (id < FTR_EVENT_ID_USER_MARK || id > FTR_EVENT_ID_USER_SPAN_END ||
	    id == FTR_EVENT_ID_USER_CHART || payload->spec == NULL ||
	    !values_get(payload, values, &text))
		return 0;
	name = name_get(names, text, id == FTR_EVENT_ID_USER_MESSAGE);
	if (name == NULL)
		return -ENOMEM;
	if (id == FTR_EVENT_ID_USER_MESSAGE) {
		ev->type = FTR_EVENT_MESSAGE;
		ev->message.text = name;
		ev->message.caller_nr = 0;
		ev->payload = NULL;
		return 0;
	}
	ev->point.name = name;
	ev->point.id = 0;
	if (id == FTR_EVENT_ID_USER_COUNTER) {
		ev->point.kind = FTR_POINT_COUNTER;
		payload_keep(payload, 0, &value_spec);
	} else if (id == FTR_EVENT_ID_USER_MARK) {
		payload_keep(payload, 0, &caller_spec);
	} else {
		bool is_end = id == FTR_EVENT_ID_USER_SPAN_END;

		ev->point.kind = is_end ? FTR_POINT_ASYNC_END : FTR_POINT_ASYNC_BEGIN;
		ev->point.id = values[0];
		if (is_end && values[1] != 0 && values[1] <= ev->time_ns)
			ev->point.start_ns = ev->time_ns - values[1];
		payload_keep(payload, is_end ? 2 : 1, &caller_spec);
	}
	return 0;
}
