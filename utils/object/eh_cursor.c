/* SPDX-License-Identifier: MIT */
/* See eh_cursor.h. */
#include "utils/object/eh_cursor.h"

#include <dwarf.h>

#include "utils/base/bytes.h"

uint64_t ftr_eh_take(struct ftr_eh_cursor *in, size_t bytes)
{
	uint64_t value;

	if (in->failed || (size_t)(in->end - in->at) < bytes) {
		in->failed = true;
		return 0;
	}
	value = ftr_get_unsigned(in->at, bytes, false);
	in->at += bytes;
	return value;
}

uint64_t ftr_eh_take_uleb(struct ftr_eh_cursor *in)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = ftr_eh_take(in, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) != 0 && !in->failed);
	return value;
}

void ftr_eh_skip(struct ftr_eh_cursor *in, uint64_t bytes)
{
	if (in->failed || (uint64_t)(in->end - in->at) < bytes)
		in->failed = true;
	else
		in->at += bytes;
}

size_t ftr_eh_encoded_bytes(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr: case DW_EH_PE_udata8: case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4: case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata2: case DW_EH_PE_sdata2:
		return 2;
	default:
		return 0;
	}
}

static bool is_signed(uint8_t encoding)
{
	return (encoding & DW_EH_PE_signed) != 0;
}

uint64_t ftr_eh_take_encoded(struct ftr_eh_cursor *in, uint8_t encoding, uint64_t place)
{
	size_t bytes = ftr_eh_encoded_bytes(encoding);
	uint64_t value = ftr_eh_take(in, bytes);

	if (bytes == 0 || (encoding & DW_EH_PE_indirect) != 0)
		in->failed = true;
	if (is_signed(encoding) && bytes > 0 && bytes < 8)
		value = (uint64_t)((int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
	return (encoding & 0x70) == DW_EH_PE_pcrel ? value + place : value;
}
