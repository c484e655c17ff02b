/* SPDX-License-Identifier: MIT */
/* The rows of a summary (summary.h), with their functions. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/format/dir.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/summary.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

struct uft_summary {
	struct ftr_summary base;	/* first: its functions receive a pointer to it */
	struct uft_reader *reader;	/* (borrowed) */
	struct ftr_istream in;		/* (owned) */
	size_t pos;			/* of the next block */
	struct ftr_summary_cursor cursor;
	struct ftr_summary_row row;
	uint64_t damaged;		/* blocks passed over */
	bool is_reported;		/* ... and the user was warned */
};

static bool is_shown(const struct ftr_summary *summary, uint64_t begin_ns)
{
	return begin_ns + summary->interval_ns > summary->from_ns && begin_ns < summary->to_ns;
}

/* The next block that is shown.  False: there is none. */
static bool block_next(struct uft_summary *self)
{
	int ret;

	while ((ret = ftr_summary_block_get(self->in.data, self->in.size, &self->pos,
					    &self->cursor)) != 0) {
		if (ret < 0)
			self->damaged++;
		else if (is_shown(&self->base, self->cursor.begin_ns))
			return true;
	}
	return false;
}

static void report_damage(struct uft_summary *self)
{
	if (self->damaged != 0 && !self->is_reported)
		ftr_diag_warn(self->reader->trace->diag,
			      FTR_SUMMARY_FILE ": %" PRIu64 " damaged or cut off: the calls of as "
			      "many intervals are missing", self->damaged);
	self->is_reported |= self->damaged != 0;
}

static int summary_next(struct ftr_summary *base, const struct ftr_summary_row **row,
			struct ftr_err *err)
{
	struct uft_summary *self = (struct uft_summary *)base;
	struct ftr_trace *trace = self->reader->trace;
	struct ftr_summary_place place;
	uint64_t addr;
	char sid[17];

	while (!ftr_summary_get(&self->cursor, &place, &addr, &self->row)) {
		self->damaged += self->cursor.is_bad;
		self->cursor = (struct ftr_summary_cursor){ .p = NULL };
		if (!block_next(self)) {
			report_damage(self);
			return 0;
		}
	}
	snprintf(sid, sizeof(sid), "%016" PRIx64, place.sid);
	self->row.func = ftr_trace_resolve(trace, ftr_trace_session_find(trace, sid), place.at_ns,
					   addr);
	if (self->row.func == NULL)
		return ftr_err_set(err, ENOMEM, FTR_SUMMARY_FILE ": out of memory");
	*row = &self->row;
	return 1;
}

static void summary_rewind(struct ftr_summary *base)
{
	struct uft_summary *self = (struct uft_summary *)base;

	self->pos = FTR_SUMMARY_HEAD_BYTES;
	self->cursor = (struct ftr_summary_cursor){ .p = NULL };
	self->damaged = 0;
}

int uft_summary_load(struct uft_reader *reader, struct ftr_err *err)
{
	struct ftr_trace *trace = reader->trace;
	struct uft_summary *self;
	uint32_t seconds;
	int ret;

	if (!ftr_dir_has(reader->dir, FTR_SUMMARY_FILE))
		return 0;
	self = calloc(1, sizeof(*self));
	if (self == NULL)
		return ftr_err_set(err, ENOMEM, FTR_SUMMARY_FILE ": out of memory");
	ret = ftr_dir_file(reader->dir, FTR_SUMMARY_FILE, &self->in, err);
	if (ret < 0) {
		free(self);
		return ret;
	}
	reader->summary = self;
	seconds = ftr_summary_head_get(self->in.data, self->in.size);
	if (seconds == 0)
		return ftr_err_set(err, EBADMSG, FTR_SUMMARY_FILE ": not a summary of version %u; "
				   "it is damaged, or a newer ftr wrote it", FTR_SUMMARY_VERSION);
	self->base = (struct ftr_summary){ .interval_ns = seconds * NSEC_PER_SEC,
					   .to_ns = UINT64_MAX,
					   .next = summary_next, .rewind = summary_rewind };
	self->reader = reader;
	summary_rewind(&self->base);
	trace->summary = &self->base;
	if (trace->first_ns == 0 && trace->sessions.nr > 0)
		trace->first_ns = trace->sessions.v[0]->start_ns;
	return 0;
}

void uft_summary_free(struct uft_reader *reader)
{
	if (reader->summary != NULL)
		ftr_istream_close(&reader->summary->in);
	free(reader->summary);
}
