/* SPDX-License-Identifier: MIT */
/* Where TID.dat is no record, or has a time that cannot be: it is told, and passed over. */
#include "utils/format/uftrace/read_data.h"

/* Could a record begin at @p, after one of last_ns? */
static bool record_is_plausible(const struct uft_data *self, const uint8_t *p)
{
	uint64_t word, time_ns;

	if ((size_t)(self->end - p) < UFT_RECORD_BYTES)
		return false;
	word = uft_record_word(self, p);
	time_ns = uft_record_time(self, p);
	if (!uft_word_is_record(word) || ftr_record_type(word) == FTR_RECORD_LOST || time_ns == 0)
		return false;
	if (self->last_ns != 0)
		return time_ns - self->last_ns <= UFT_JUMP_NS;
	return (size_t)(self->end - p) < 2 * UFT_RECORD_BYTES ||
	       (uft_word_is_record(uft_record_word(self, p + UFT_RECORD_BYTES)) &&
		uft_record_time(self, p + UFT_RECORD_BYTES) - time_ns <= UFT_JUMP_NS);
}

size_t uft_data_resync(struct uft_data *self, const uint8_t *at)
{
	const uint8_t *from = self->p;

	self->p = at;
	while (self->p < self->end) {
		if ((size_t)(self->ready - self->p) < 2 * UFT_RECORD_BYTES)
			uft_window_need(self, UFT_RECORD_ROOM);
		if (record_is_plausible(self, self->p))
			break;
		self->p += 8;		/* records and payloads are multiples of that */
	}
	if (self->p > self->end || (size_t)(self->end - self->p) < UFT_RECORD_BYTES)
		self->p = self->end;
	return (size_t)(self->p - from);
}

void uft_data_cut(struct uft_data *self, const uint8_t *at, const char *what)
{
	ftr_diag_warn(self->diag, "%s+0x%zx: the file ends inside %s: " FTR_CUT_WHY, self->in->name,
		      uft_offset_of(self, at), what);
	self->p = self->end;
}

void uft_values_skip(struct uft_data *self, bool is_unknown)
{
	const uint8_t *from = self->p;
	size_t bytes = uft_data_resync(self, from);

	if (!is_unknown && self->p == self->end && bytes < UFT_RECORD_ROOM)
		uft_data_cut(self, from, "a call's values");
	else if (!is_unknown)
		ftr_diag_warn(self->diag, "%s+0x%zx: damaged arguments; skipped %zu bytes",
			      self->in->name, uft_offset_of(self, from), bytes);
	else if (!self->reader->is_unknown_reported)
		ftr_diag_warn(self->diag, "%s+0x%zx: arguments of an unknown layout; skipped %zu "
			      "bytes (further occurrences not reported)", self->in->name,
			      uft_offset_of(self, from), bytes);
	self->reader->is_unknown_reported |= is_unknown;
}

uint64_t uft_time_mend(struct uft_data *self, uint64_t time_ns)
{
	const uint8_t *next = self->p + UFT_RECORD_BYTES;
	struct ftr_diag *diag = self->diag;
	uint64_t next_ns;

	if (time_ns < self->last_ns) {
		if (!self->is_back_reported)
			ftr_diag_warn(diag,
				      "%s+0x%zx: time goes backwards by %llu ns; clamped (further "
				      "occurrences not reported)",
				      self->in->name, uft_offset_of(self, self->p),
				      (unsigned long long)(self->last_ns - time_ns));
		self->is_back_reported = true;
		return self->last_ns;
	}
	if ((size_t)(self->end - self->p) < 2 * UFT_RECORD_BYTES ||
	    (uft_record_word(self, self->p) & FTR_RECORD_MORE) ||
	    !uft_word_is_record(uft_record_word(self, next)) ||
	    ftr_record_type(uft_record_word(self, next)) == FTR_RECORD_LOST)
		return time_ns;
	next_ns = uft_record_time(self, next);
	if (next_ns >= time_ns || next_ns < self->last_ns)
		return time_ns;
	ftr_diag_warn(diag, "%s+0x%zx: implausible timestamp; using the next record's",
		      self->in->name, uft_offset_of(self, self->p));
	return next_ns;
}
