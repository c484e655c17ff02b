/* SPDX-License-Identifier: MIT */
/* Events with values that have no names, as those that programs declare (proto/sdt.h). */
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/format/uftrace/export.h"
#include "utils/proto/sdt.h"
#include "utils/trace/event_kind.h"

#define NONE FTR_SDT_TYPES

/* The type of one, 0 = it was not known, and its bits; NONE: it is none of these. */
static uint8_t value_type(const struct ftr_value *value, uint64_t *bits)
{
	uint8_t size = 0;
	double wide;
	float narrow;

	*bits = 0;
	if (value->arg->name != NULL)
		return NONE;
	while (size < 4 && value->arg->size != FTR_BIT(size))
		size++;
	*bits = value->u;
	if (value->arg->format == FTR_ARG_NULL)
		return 0;
	switch (size == 4 ? FTR_ARG_STRUCT : value->arg->format) {
	case FTR_ARG_SIGNED:
		return (uint8_t)(FTR_SDT_S8 + size);
	case FTR_ARG_UNSIGNED:
	case FTR_ARG_HEX:
	case FTR_ARG_AUTO:
		return (uint8_t)(FTR_SDT_U8 + size);
	case FTR_ARG_FLOAT:
		wide = (double)value->f;
		narrow = (float)wide;
		if (value->arg->size == sizeof(wide))
			memcpy(bits, &wide, sizeof(wide));
		else
			memcpy(bits, &narrow, sizeof(narrow));
		return value->arg->size == sizeof(wide) ? FTR_SDT_F64 :
		       value->arg->size == sizeof(narrow) ? FTR_SDT_F32 : NONE;
	default:
		return NONE;
	}
}

size_t ufx_event_values(const struct ftr_event *ev, uint8_t to[UFX_EVENT_VALUES_MAX])
{
	const struct ftr_payload *payload = ev->payload;
	unsigned nr = 0, pos = 0, count = 0;
	size_t len = sizeof(uint64_t);
	struct ftr_value value;
	uint64_t types = 0, bits;

	if (payload == NULL || payload->spec == NULL || payload->spec->nr == 0 ||
	    payload->spec->nr > FTR_SDT_ARGS_MAX || ev->point.kind != FTR_POINT_INSTANT)
		return 0;
	while (ftr_payload_next(payload, &nr, &pos, &value)) {
		uint8_t type = value_type(&value, &bits);
		size_t bytes = ftr_sdt_bytes(type) > 4 ? 8 : 4;

		if (type == NONE)
			return 0;
		types |= (uint64_t)type << FTR_SDT_TYPE_BITS * ++count;
		memcpy(to + len, &bits, bytes);
		len += bytes;
	}
	types |= count;
	memcpy(to, &types, sizeof(types));
	memset(to + len, 0, (8 - len % 8) % 8);
	return count == payload->spec->nr ? (len + 7) / 8 * 8 : 0;
}
