/* SPDX-License-Identifier: MIT */
/* Decoding argument and return-value payloads by their layout. */
#include "utils/trace/args.h"

#include "utils/base/bytes.h"

#define VALUE_ALIGN 4
#define PAYLOAD_ALIGN 8

/* Bytes that a value takes, padding included; 0 = more than @left. */
static size_t value_bytes(const struct ftr_arg *arg, const uint8_t *data, size_t left, bool is_big)
{
	size_t bytes = arg->size;

	if (arg->format == FTR_ARG_STRING) {
		if (left < 2)
			return 0;
		bytes = 2 + (size_t)ftr_get_u16(data, is_big);
	}
	if (bytes == 0 || bytes > left)
		return 0;
	return ftr_align_up(bytes, VALUE_ALIGN);
}

size_t ftr_payload_measure(const struct ftr_argspec *spec, const uint8_t *data, size_t left,
			   bool is_big_endian)
{
	size_t pos = 0;

	for (unsigned i = 0; i < spec->nr; i++) {
		size_t bytes = pos > left ? 0 : value_bytes(&spec->args[i], data + pos, left - pos,
							    is_big_endian);

		if (bytes == 0)
			return 0;
		pos += bytes;
	}
	pos = ftr_align_up(pos, PAYLOAD_ALIGN);
	return pos > left ? 0 : pos;
}
