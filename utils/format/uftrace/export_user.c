/* SPDX-License-Identifier: MIT */
/* See user.h: events of the stream as the runtime records them. */
#include "utils/format/uftrace/user.h"

#include <string.h>

#include "utils/base/bytes.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"

/* The value of a counter, as its bits; false: it has none, or several. */
static bool counter_bits(const struct ftr_payload *payload, uint64_t *bits)
{
	struct ftr_value value;
	unsigned nr = 0, pos = 0;
	double number;

	if (payload == NULL || payload->spec == NULL || payload->spec->nr != 1 ||
	    !ftr_payload_next(payload, &nr, &pos, &value) || value.arg->format != FTR_ARG_FLOAT)
		return false;
	number = (double)value.f;
	memcpy(bits, &number, sizeof(*bits));
	return true;
}

/* The id, and the numbers that stand before the name. */
static uint64_t numbers_of(const struct ftr_event *ev, uint64_t caller, uint64_t numbers[3],
			   size_t *nr)
{
	uint64_t start_ns = ev->point.start_ns;

	switch ((enum ftr_point_kind)ev->point.kind) {
	case FTR_POINT_INSTANT:
		numbers[0] = caller;
		*nr = 1;
		return ev->point.id == 0 ? FTR_EVENT_ID_USER_MARK : 0;
	case FTR_POINT_COUNTER:
		numbers[1] = caller;
		*nr = 2;
		return counter_bits(ev->payload, &numbers[0]) ? FTR_EVENT_ID_USER_COUNTER : 0;
	case FTR_POINT_ASYNC_BEGIN:
		numbers[0] = ev->point.id;
		numbers[1] = caller;
		*nr = 2;
		return FTR_EVENT_ID_USER_SPAN_BEGIN;
	case FTR_POINT_ASYNC_END:
		numbers[0] = ev->point.id;
		numbers[1] = start_ns == 0 ? 0 : ev->time_ns - start_ns;
		numbers[2] = caller;
		*nr = 3;
		return FTR_EVENT_ID_USER_SPAN_END;
	default:
		return 0;
	}
}

uint64_t uft_user_record(const struct ftr_event *ev, uint64_t caller, uint8_t *to, size_t room,
			 size_t *bytes)
{
	size_t prefix = strlen(FTR_USER_PREFIX), nr = 0, head, len;
	uint64_t numbers[3] = { 0 }, id;
	uint16_t text_bytes;

	if (strncmp(ev->point.name, FTR_USER_PREFIX, prefix) != 0)
		return 0;
	id = numbers_of(ev, caller, numbers, &nr);
	head = nr * sizeof(numbers[0]);
	len = strlen(ev->point.name + prefix);
	*bytes = ftr_align_up(head + sizeof(text_bytes) + len, 4);
	if (id == 0 || *bytes > room)
		return 0;
	text_bytes = (uint16_t)len;
	memset(to, 0, *bytes);
	memcpy(to, numbers, head);
	memcpy(to + head, &text_bytes, sizeof(text_bytes));
	memcpy(to + head + sizeof(text_bytes), ev->point.name + prefix, len);
	return id;
}
