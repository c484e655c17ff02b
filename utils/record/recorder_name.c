/* SPDX-License-Identifier: MIT */
/*
 * Names of tasks where perf_event_open(2) is not permitted: the runtime tells of changes, /proc has
 * the name, and it is stored as the perf record of CPU 0 that the kernel would have made.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "utils/record/perf_ring.h"
#include "utils/record/recorder_state.h"

#define COMM_BYTES 16

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char	 comm[COMM_BYTES];
	uint32_t sample_pid, sample_tid;
	uint64_t time_ns;
};
static_assert(sizeof(struct comm_record) == 48, "as the kernel packs it");

void ftr_recorder_names_start(struct ftr_recorder *recorder)
{
	if (!recorder->options->clock->is_counter &&
	    (recorder->options->events & FTR_PERF_NAME) != 0 && !recorder->store.has_perf)
		recorder->control.map->flags |= FTR_CONTROL_TELL_NAMES;
}

static bool comm_read(int32_t pid, int32_t tid, char comm[COMM_BYTES])
{
	char path[64];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	n = fread(comm, 1, COMM_BYTES, file);
	fclose(file);
	if (n == 0)
		return false;
	memset(comm + n - 1, 0, COMM_BYTES - (n - 1));	/* the last one was the newline */
	return true;
}

void ftr_recorder_name(struct ftr_recorder *recorder, int32_t pid, int32_t tid, uint64_t time_ns,
		       bool is_start)
{
	const struct ftr_process *process = ftr_process_find(&recorder->processes, pid);
	struct ftr_store *store = &recorder->store.base;
	struct comm_record record = {
		.header = { .type = PERF_RECORD_COMM, .size = sizeof(record) },
		.pid = (uint32_t)pid, .tid = (uint32_t)tid,
		.sample_pid = (uint32_t)pid, .sample_tid = (uint32_t)tid,
		.time_ns = time_ns,
	};
	struct iovec part = { &record, sizeof(record) };

	if ((recorder->control.map->flags & FTR_CONTROL_TELL_NAMES) == 0 ||
	    !comm_read(pid, tid, record.comm))
		return;
	if (!is_start || process == NULL || strcmp(record.comm, process->image) != 0)
		store->ops->perf(store, 0, &part, 1);
}
