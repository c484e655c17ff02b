/* SPDX-License-Identifier: MIT */
/* See lineage.h. */
#include "utils/record/lineage.h"

void ftr_lineage_add(struct ftr_lineage *lineage, const struct ftr_process *process)
{
	const struct ftr_lineage_entry entry = {
		.pid = process->pid, .own_pid = process->own_pid, .image = process->image,
	};

	if (lineage->all.nr < FTR_LINEAGE_MAX) {
		(void)!ftr_vec_push(&lineage->all, entry);
		return;
	}
	lineage->all.v[lineage->oldest] = entry;
	lineage->oldest = (lineage->oldest + 1) % FTR_LINEAGE_MAX;
}

const struct ftr_process_image *ftr_lineage_find(const struct ftr_lineage *lineage, int32_t pid,
						 uint64_t time_ns)
{
	size_t nr = lineage->all.nr;

	/* The newest first: numbers of processes are used again. */
	for (size_t i = nr; i-- > 0;) {
		const struct ftr_lineage_entry *entry =
			&lineage->all.v[(lineage->oldest + i) % nr];

		if ((entry->pid == pid || entry->own_pid == pid) &&
		    entry->image.since_ns <= time_ns)
			return &entry->image;
	}
	return NULL;
}

void ftr_lineage_fini(struct ftr_lineage *lineage)
{
	ftr_vec_fini(&lineage->all);
	lineage->oldest = 0;
}
