/* SPDX-License-Identifier: MIT */
/*
 * What the files of /proc that tell of the system say.  The texts are the kernel's, or anybody's in
 * a container: a line that is not as proc(5) has it is passed over.
 */
#ifndef FTR_RECORD_SYSTEM_TEXT_H
#define FTR_RECORD_SYSTEM_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/text.h"

/* In ticks of USER_HZ since the machine started. */
struct ftr_system_cpu {
	uint64_t nr;
	uint64_t user;		/* niced, too; that of guests is in it */
	uint64_t system;	/* with interrupts, and what other guests of a host took */
	uint64_t idle;		/* waiting for disks, too */
};

struct ftr_system_memory {
	uint64_t total_kb;
	uint64_t used_kb;	/* what cannot be had again without swapping */
	uint64_t free_kb;
	uint64_t cached_kb;
	uint64_t swap_kb;	/* used of it */
};

struct ftr_system_load {
	double average[3];	/* of 1, 5, 15 minutes */
	uint64_t running, tasks;
};

/* Since the machine started, of all disks: not of their parts, nor of what lies on others. */
struct ftr_system_disks {
	uint64_t reads, sectors_read, writes, sectors_written;
};

/* Likewise, of all interfaces but the loopback. */
struct ftr_system_network {
	uint64_t bytes_received, packets_received, bytes_sent, packets_sent;
};

/* A process or thread. */
struct ftr_system_task {
	char state;		/* 'R' */
	uint64_t user, system;	/* ticks */
	uint64_t threads;
	uint64_t virtual_bytes;
	uint64_t resident_pages;
};

/* The next processor of /proc/stat; false at the end. */
bool ftr_system_cpu_next(struct ftr_slice *text, struct ftr_system_cpu *cpu);
/* Of /proc/meminfo, loadavg, diskstats, net/dev, PID/stat.  False: it does not say. */
bool ftr_system_memory_get(struct ftr_slice text, struct ftr_system_memory *memory);
bool ftr_system_load_get(struct ftr_slice text, struct ftr_system_load *load);
bool ftr_system_disks_get(struct ftr_slice text, struct ftr_system_disks *disks);
bool ftr_system_network_get(struct ftr_slice text, struct ftr_system_network *network);
bool ftr_system_task_get(struct ftr_slice text, struct ftr_system_task *task);
/* Pages that /proc/PID/statm says are shared; false: it does not. */
bool ftr_system_shared_get(struct ftr_slice text, uint64_t *pages);

#endif /* FTR_RECORD_SYSTEM_TEXT_H */
