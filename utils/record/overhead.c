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
#include <stdlib.h>
#include <unistd.h>

#include "utils/base/istream.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_file.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/proto/record.h"

#define TASKS_MAX   16
#define START_BYTES FTR_PACK_FILE_BLOCK	/* of a task */
#define FIRST_BYTES (2 * START_BYTES)	/* of a packed file: more than its first block */
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
static void records_measure(struct measured *measured, const struct ftr_record *records, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!ftr_record_is_valid(records[i].word) ||
		    ftr_record_has_payload(records[i].word))
			return;
		if (i > 0)
			pair_add(measured, &records[i - 1], &records[i]);
	}
}

/* The first bytes of a task's file of records: how many. */
static size_t file_start(int dirfd, int32_t tid, uint8_t *to)
{
	char name[32];
	size_t nr = 0;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), FTR_UFTRACE_DAT_NAME, tid);
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	while (nr < START_BYTES && (n = read(fd, to + nr, START_BYTES - nr)) > 0)
		nr += (size_t)n;
	close(fd);
	return nr;
}

/* The same, where it is packed. */
static size_t packed_start(int dirfd, int32_t tid, uint8_t *to)
{
	struct ftr_pack_blocks blocks = { 0 };
	struct ftr_packer *packer = NULL;
	struct ftr_pack_damage damage;
	struct ftr_istream in;
	size_t first, nr = 0;
	char name[48];

	snprintf(name, sizeof(name), FTR_UFTRACE_DAT_NAME FTR_PACK_SUFFIX, tid);
	if (ftr_istream_open_file(&in, dirfd, name, NULL) < 0)
		return 0;
	first = in.size < FIRST_BYTES ? in.size : FIRST_BYTES;
	if (ftr_pack_blocks_list(&blocks, in.data, first, &damage) == 0 && blocks.nr > 0 &&
	    blocks.v[0].bytes <= START_BYTES)
		packer = ftr_packer_new(FTR_PACK_SMALL);
	if (packer != NULL &&
	    ftr_packer_unpack(packer, in.data + blocks.v[0].file_at, blocks.v[0].packed_bytes, to,
			      blocks.v[0].bytes) == 0)
		nr = blocks.v[0].bytes;
	ftr_packer_free(packer);
	ftr_vec_fini(&blocks);
	ftr_istream_close(&in);
	return nr;
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
	uint8_t *start = malloc(START_BYTES);

	for (size_t i = 0; i < nr && i < TASKS_MAX && start != NULL; i++) {
		size_t bytes = file_start(dirfd, tids[i], start);

		if (bytes == 0)
			bytes = packed_start(dirfd, tids[i], start);
		records_measure(&measured, (const struct ftr_record *)start,
				bytes / sizeof(struct ftr_record));
	}
	free(start);
	*caller_ns = 0;
	if (!bound_of(&measured.call, call_ns))
		return false;
	bound_of(&measured.gap, caller_ns);
	return true;
}
