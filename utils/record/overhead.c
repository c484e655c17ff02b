/* SPDX-License-Identifier: MIT */
/*
 * Between an entry and an exit that follow each other in a task's file lie a call without traced
 * callees and what the runtime does between its two time stamps; between an exit and the entry of
 * the caller's next call, what it does outside of them.  The quickest pairs are those of functions
 * that do next to nothing: what they took is a bound of what the runtime takes.
 */
#include "utils/record/overhead.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "utils/proto/record.h"

#define TASKS_MAX   16
#define RECORDS_MAX 16384		/* of a task */
#define BATCH	    512
#define QUICKEST_NR 16			/* one reading may be wrong; the last of these is taken */
#define BELIEVED_NS 100			/* beyond it is the program's own time */

struct quickest {
	uint64_t ns[QUICKEST_NR];	/* in order */
	unsigned nr;
};

struct measured {
	struct quickest call, gap;
};

static void quickest_add(struct quickest *quickest, uint64_t ns)
{
	unsigned at = quickest->nr;

	if (at == QUICKEST_NR) {
		if (ns >= quickest->ns[--at])
			return;
	} else {
		quickest->nr++;
	}
	for (; at > 0 && quickest->ns[at - 1] > ns; at--)
		quickest->ns[at] = quickest->ns[at - 1];
	quickest->ns[at] = ns;
}

static void pair_add(struct measured *measured, const struct ftr_record *first,
		     const struct ftr_record *second)
{
	bool is_call = ftr_record_type(first->word) == FTR_RECORD_ENTRY &&
		       ftr_record_type(second->word) == FTR_RECORD_EXIT;
	bool is_gap = ftr_record_type(first->word) == FTR_RECORD_EXIT &&
		      ftr_record_type(second->word) == FTR_RECORD_ENTRY;

	if (second->time < first->time ||
	    ftr_record_depth(first->word) != ftr_record_depth(second->word))
		return;
	if (is_call)
		quickest_add(&measured->call, second->time - first->time);
	else if (is_gap)
		quickest_add(&measured->gap, second->time - first->time);
}

/* Up to the first payload: how long it is, only readers know. */
static void task_measure(struct measured *measured, int fd)
{
	struct ftr_record records[BATCH + 1];	/* [0] = the last one of the batch before */
	size_t kept = 0, nr;

	for (unsigned batch = 0; batch < RECORDS_MAX / BATCH; batch++) {
		ssize_t n = read(fd, &records[kept], BATCH * sizeof(*records));

		if (n < (ssize_t)sizeof(*records))
			return;
		nr = kept + (size_t)n / sizeof(*records);
		for (size_t i = 0; i < nr; i++) {
			if (!ftr_record_is_valid(records[i].word) ||
			    ftr_record_has_payload(records[i].word))
				return;
			if (i > 0)
				pair_add(measured, &records[i - 1], &records[i]);
		}
		records[0] = records[nr - 1];
		kept = 1;
	}
}

static bool bound_of(const struct quickest *quickest, uint32_t *ns)
{
	if (quickest->nr < QUICKEST_NR || quickest->ns[QUICKEST_NR - 1] == 0 ||
	    quickest->ns[QUICKEST_NR - 1] > BELIEVED_NS)
		return false;
	*ns = (uint32_t)quickest->ns[QUICKEST_NR - 1];
	return true;
}

bool ftr_overhead_measure(int dirfd, const int32_t *tids, size_t nr, uint32_t *call_ns,
			  uint32_t *caller_ns)
{
	struct measured measured = { .call = { .nr = 0 } };

	for (size_t i = 0; i < nr && i < TASKS_MAX; i++) {
		char name[24];
		int fd;

		snprintf(name, sizeof(name), "%d.dat", tids[i]);
		fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		task_measure(&measured, fd);
		close(fd);
	}
	*caller_ns = 0;
	if (!bound_of(&measured.call, call_ns))
		return false;
	bound_of(&measured.gap, caller_ns);
	return true;
}
