/* SPDX-License-Identifier: MIT */
/*
 * system.dat: the state of the system (ftr record --system), in records that are framed as those of
 * perf-cpuN.dat are, of a type that the kernel has not: header { u32 type; u16 misc; u16 size },
 * misc being the kind; u64 number, which of those of one kind; a u64 for each value; u32 pid, tid;
 * u64 time.
 */
#ifndef FTR_FORMAT_UFTRACE_SYSTEM_H
#define FTR_FORMAT_UFTRACE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/trace/system.h"

#define FTR_UFTRACE_SYSTEM_NAME	  "system.dat"
#define FTR_UFTRACE_SYSTEM_RECORD 4096u	/* type */
#define FTR_UFTRACE_SYSTEM_BASE	  200000u	/* misc is the kind's id less this */
#define FTR_UFTRACE_SYSTEM_HEAD_BYTES 16
#define FTR_UFTRACE_SYSTEM_TAIL_BYTES 16
#define FTR_UFTRACE_SYSTEM_BYTES_MAX \
	(FTR_UFTRACE_SYSTEM_HEAD_BYTES + 8 * FTR_SYSTEM_VALUES_MAX + FTR_UFTRACE_SYSTEM_TAIL_BYTES)

/* The record, in the host's order of bytes; how long it is. */
size_t ftr_uftrace_system_record(const struct ftr_system_sample *sample,
				 uint8_t to[FTR_UFTRACE_SYSTEM_BYTES_MAX]);

/* ---- for uftrace/read*.c ---- */

struct uft_reader;
struct uft_system;

/* Of a record of @bytes at @p; NULL = it is none.  *is_out_of_memory is set where that is why. */
struct uft_system *uft_system_read(struct uft_reader *reader, const uint8_t *p, size_t bytes,
				   uint32_t *id, bool *is_out_of_memory);
/* Make @ev the counter that it is. */
void uft_system_event(struct ftr_event *ev, const struct uft_system *system);

#endif /* FTR_FORMAT_UFTRACE_SYSTEM_H */
