/* SPDX-License-Identifier: MIT */
/* See wire.h. */
#include "utils/remote/wire.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/uftrace.h"

/* The fields of the info file's header that are numbers of several bytes. */
#define VERSION_AT 8
#define HEADER_SIZE_AT 12
#define BYTE_ORDER_AT 14
#define FEATURES_AT 16
#define MASK_AT 24
#define MAX_STACK_AT 32

static const struct {
	uint16_t type;
	const char *format;
} files[] = {
	{ FTR_WIRE_DATA, FTR_UFTRACE_DAT_NAME },
	{ FTR_WIRE_KERNEL, "kernel-cpu%d.dat" },
	{ FTR_WIRE_PERF, "perf-cpu%d.dat" },
};

#define FILE_TYPES (sizeof(files) / sizeof(files[0]))

void ftr_wire_head_put(uint8_t to[FTR_WIRE_HEAD_BYTES], struct ftr_wire_head head)
{
	ftr_put_u16(to, FTR_WIRE_MAGIC, true);
	ftr_put_u16(to + 2, head.type, true);
	ftr_put_u32(to + 4, head.bytes, true);
}

bool ftr_wire_head_get(const uint8_t from[FTR_WIRE_HEAD_BYTES], struct ftr_wire_head *head)
{
	head->type = ftr_get_u16(from + 2, true);
	head->bytes = ftr_get_u32(from + 4, true);
	return ftr_get_u16(from, true) == FTR_WIRE_MAGIC;
}

static void info_convert(uint8_t *header, bool is_big, bool to_big)
{
	ftr_put_u32(header + VERSION_AT, ftr_get_u32(header + VERSION_AT, is_big), to_big);
	ftr_put_u16(header + HEADER_SIZE_AT, ftr_get_u16(header + HEADER_SIZE_AT, is_big), to_big);
	ftr_put_u64(header + FEATURES_AT, ftr_get_u64(header + FEATURES_AT, is_big), to_big);
	ftr_put_u64(header + MASK_AT, ftr_get_u64(header + MASK_AT, is_big), to_big);
	ftr_put_u16(header + MAX_STACK_AT, ftr_get_u16(header + MAX_STACK_AT, is_big), to_big);
}

void ftr_wire_info_to_network(uint8_t header[FTR_WIRE_INFO_BYTES])
{
	info_convert(header, header[BYTE_ORDER_AT] == ELFDATA2MSB, true);
}

void ftr_wire_info_from_network(uint8_t header[FTR_WIRE_INFO_BYTES])
{
	info_convert(header, true, header[BYTE_ORDER_AT] == ELFDATA2MSB);
}

const char *ftr_wire_file_name(uint16_t type, int32_t number, char name[FTR_WIRE_NAME_MAX + 1])
{
	for (size_t i = 0; i < FILE_TYPES; i++) {
		if (files[i].type == type) {
			snprintf(name, FTR_WIRE_NAME_MAX + 1, files[i].format, number);
			return name;
		}
	}
	return NULL;
}

enum ftr_wire_type ftr_wire_file_type(const char *name, int32_t *number)
{
	char same[FTR_WIRE_NAME_MAX + 1];

	for (size_t i = 0; i < FILE_TYPES; i++) {
		if (sscanf(name, files[i].format, number) == 1 &&
		    strcmp(ftr_wire_file_name(files[i].type, *number, same), name) == 0)
			return (enum ftr_wire_type)files[i].type;
	}
	return strcmp(name, "info") == 0 ? FTR_WIRE_INFO : FTR_WIRE_META;
}
