/* SPDX-License-Identifier: MIT */
/* The machine, for the info file: read from the running system. */
#ifndef FTR_RECORD_SYSINFO_H
#define FTR_RECORD_SYSINFO_H

#include <stdint.h>
#include <sys/resource.h>

#include "utils/base/arena.h"
#include "utils/format/uftrace/write.h"

/* CPU, memory, system, load, sysctl: strings in @arena, their bits in info->info_mask. */
void ftr_sysinfo_machine(struct ftr_info *info, struct ftr_arena *arena);
/* kernel.perf_event_paranoid; INT_MIN where the kernel has none. */
int ftr_sysinfo_paranoid(void);
/* vm.max_map_count: the mappings that a process may have. */
uint32_t ftr_sysinfo_mappings_max(void);
/* What the program used. */
void ftr_sysinfo_usage(struct ftr_info *info, struct ftr_arena *arena, const struct rusage *usage);
/* Start (UNIX time) and length of the recording. */
void ftr_sysinfo_time(struct ftr_info *info, struct ftr_arena *arena, int64_t start_s,
		      uint64_t elapsed_ns);

#endif /* FTR_RECORD_SYSINFO_H */
