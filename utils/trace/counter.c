/* SPDX-License-Identifier: MIT */
/* See counter.h: of formats that know counters, the system's state too, and read at calls. */
#include "utils/trace/counter.h"

#include <stddef.h>

#include "utils/base/bytes.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"

static bool value_is_number(const struct ftr_value *value)
{
	return value->arg->format == FTR_ARG_FLOAT || value->arg->format <= FTR_ARG_OCTAL;
}

static double value_number(const struct ftr_value *value)
{
	switch (value->arg->format) {
	case FTR_ARG_FLOAT:
		return (double)value->f;
	case FTR_ARG_AUTO:
	case FTR_ARG_SIGNED:
		return (double)value->i;
	default:
		return (double)value->u;
	}
}

bool ftr_counter_has_values(const struct ftr_event *ev, const struct ftr_event_kind *kind)
{
	return kind != NULL && kind->value_nr > 0 && ev->payload != NULL &&
	       ev->payload->spec == NULL && ev->payload->len >= sizeof(uint64_t) * kind->value_nr;
}

/* Of the values that a spec describes: numbers that have names. */
static bool spec_next(const struct ftr_event *ev, struct ftr_counter_pos *at,
		      struct ftr_counter_value *value)
{
	struct ftr_value next;

	while (ftr_payload_next(ev->payload, &at->nr, &at->pos, &next)) {
		if (next.arg->name == NULL || !value_is_number(&next))
			continue;
		*value = (struct ftr_counter_value){ next.arg->name, value_number(&next) };
		return true;
	}
	return false;
}

bool ftr_counter_next(const struct ftr_event *ev, struct ftr_counter_pos *at,
		      struct ftr_counter_value *value)
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(ftr_event_kind_id(ev));
	uint64_t bits;

	if (ev->payload == NULL)
		return false;
	if (ev->point.kind == FTR_POINT_COUNTER)
		return ev->payload->spec != NULL && spec_next(ev, at, value);
	/* Differences are those of one call: no series. */
	if (!ftr_counter_has_values(ev, kind) || kind->data != FTR_EVENT_DATA_VALUES ||
	    at->nr == kind->value_nr)
		return false;
	bits = ftr_get_u64(ev->payload->data + sizeof(bits) * at->nr, ev->payload->is_big_endian);
	*value = (struct ftr_counter_value){ kind->labels[at->nr++], (double)(int64_t)bits };
	return true;
}
