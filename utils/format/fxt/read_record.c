/* SPDX-License-Identifier: MIT */
/* FXT reader: records, one at a time; no length in the file is trusted. */
#include <stdlib.h>
#include <sys/mman.h>

#include "utils/format/fxt/read.h"

#define PLAUSIBLE_RUN 4		/* so many records must follow each other where reading resumes */
#define CUT_RUN	      16	/* ... among what may be the text of one that is cut */

void fxt_forget_slow(struct fxt_reader *r, uint64_t offset)
{
	uint64_t until = (offset - FXT_KEPT_BYTES / 2) & ~(FXT_KEPT_BYTES / 4 - 1);
	uint64_t next = offset & ~(FXT_KEPT_BYTES / 4 - 1);
	char *map = r->in.owned_map;

	if (map != NULL && until > r->kept_from)
		madvise(map + r->kept_from, until - r->kept_from, MADV_DONTNEED);
	r->kept_from = until;
#ifdef MADV_POPULATE_READ	/* only saves page faults; older kernels refuse it */
	if (map != NULL && next < r->in.owned_map_bytes)
		madvise(map + next, r->in.owned_map_bytes - next < FXT_KEPT_BYTES ?
			r->in.owned_map_bytes - next : FXT_KEPT_BYTES, MADV_POPULATE_READ);
#endif
}

/* Words that a record of this type has at least, and header bits that must be zero. */
static const struct {
	uint16_t words_min;
	uint64_t zeros;
} shapes[] = {
	[FXT_METADATA]	    = { 1, 0 },
	[FXT_INIT]	    = { 2, 0 },
	[FXT_STRING]	    = { 2, UINT64_C(0xffff800080000000) },	/* empty ones need none */
	[FXT_THREAD]	    = { 3, UINT64_C(0xffffffffff000000) },
	[FXT_EVENT]	    = { 2, 0 },
	[FXT_BLOB]	    = { 1, UINT64_C(0xff00800000000000) },
	[FXT_USER_OBJECT]   = { 2, UINT64_C(0xfffff00000000000) },
	[FXT_KERNEL_OBJECT] = { 2, UINT64_C(0xfffff00000000000) },
	[FXT_SCHEDULING]    = { 2, 0 },
	[FXT_LOG]	    = { 2, UINT64_C(0xffffff0080000000) },
	[FXT_PROFILER]	    = { 1, 0 },
};

/* The record at @offset; false when none can begin there. */
static bool record_at(const struct fxt_reader *r, uint64_t offset, struct fxt_record_at *at)
{
	uint64_t left = r->in.size - offset;
	uint64_t words;

	if (left < 8)
		return false;
	at->offset = offset;
	at->header = fxt_word(r, offset);
	words = fxt_record_type(at->header) == FXT_LARGE ? fxt_large_words(at->header) :
							     fxt_record_words(at->header);
	at->bytes = words * 8;
	return words > 0 && at->bytes <= left;
}

static bool header_is_plausible(const struct fxt_record_at *at)
{
	unsigned type = fxt_record_type(at->header);

	return at->header != 0 && type <= FXT_PROFILER &&
	       at->bytes >= 8u * shapes[type].words_min && (at->header & shapes[type].zeros) == 0;
}

/* The file may end after fewer records than a run has, unless it @is_cut. */
static bool record_is_plausible(const struct fxt_reader *r, uint64_t offset, bool is_cut)
{
	struct fxt_record_at at;

	for (unsigned i = 0; i < (is_cut ? CUT_RUN : PLAUSIBLE_RUN); i++) {
		if (offset == r->in.size && !is_cut)
			return i > 0;
		if (!record_at(r, offset, &at) || !header_is_plausible(&at))
			return false;
		offset += at.bytes;
	}
	return true;
}

/* Is it likely that the file ends inside the record at @at, which is longer than what is left? */
static bool is_cut_record(const struct fxt_reader *r, const struct fxt_record_at *at)
{
	return at->bytes > r->in.size - at->offset &&
	       (fxt_record_type(at->header) == FXT_LARGE || header_is_plausible(at));
}

bool fxt_record_next_slow(struct fxt_reader *r, uint64_t *offset, struct fxt_record_at *at,
			  bool warns)
{
	uint64_t from = *offset;

	if (r->in.size - from < 8)
		return false;
	if (__builtin_expect(!record_at(r, from, at), 0)) {
		uint64_t pos = from + 8;
		bool is_cut = is_cut_record(r, at);

		while (r->in.size - pos >= 8 && !record_is_plausible(r, pos, is_cut))
			pos += 8;
		if (r->in.size - pos < 8 || !record_at(r, pos, at))
			return false;
		if (warns)
			ftr_diag_warn(r->trace->diag, "%s+0x%llx: damaged; %llu bytes skipped",
				      r->in.name, (unsigned long long)from,
				      (unsigned long long)(pos - from));
	}
	*offset = at->offset + at->bytes;
	return true;
}

bool fxt_inline_at(const struct fxt_reader *r, unsigned ref, uint64_t *pos, uint64_t end,
		   struct ftr_slice *bytes)
{
	uint64_t start = *pos;
	size_t len = ref & ~FXT_REF_INLINE;

	if (fxt_text_words((uint32_t)len) * UINT64_C(8) > end - start)
		return false;
	*pos = start + fxt_text_words((uint32_t)len) * UINT64_C(8);
	*bytes = ftr_slice_make((const char *)r->in.data + start, len);
	return true;
}

struct fxt_text *fxt_string_at(struct fxt_reader *r, struct fxt_provider *provider, unsigned ref,
			       uint64_t at, uint64_t *pos, uint64_t end)
{
	struct ftr_slice bytes;

	if (ref == 0)
		return fxt_text_get(r, "", 0);
	if (!(ref & FXT_REF_INLINE)) {
		if (__builtin_expect(ref >= provider->strings.nr, 0))
			return NULL;
		return fxt_slot_find(&provider->strings.v[ref], at);
	}
	return fxt_inline_at(r, ref, pos, end, &bytes) ? fxt_text_get(r, bytes.s, bytes.len) : NULL;
}

static inline uint64_t ticks_to_ns(const struct fxt_provider *provider, uint64_t ticks)
{
	if (__builtin_expect(provider->ticks_per_s == FXT_TICKS_PER_S, 1))
		return ticks;
	return (uint64_t)((unsigned __int128)ticks * FXT_TICKS_PER_S / provider->ticks_per_s);
}

/* The task of a thread ref whose koids would lie at *pos; NULL = not known, damaged. */
static inline struct ftr_task *task_at(struct fxt_reader *r, struct fxt_provider *provider,
				       unsigned ref, uint64_t at, uint64_t *pos, uint64_t end)
{
	uint64_t start = *pos;

	if (__builtin_expect(ref != 0, 1))
		return fxt_slot_find(&provider->threads[ref], at);
	if (end - start < 16)
		return NULL;
	*pos += 16;
	return fxt_task_of(r, fxt_word(r, start), fxt_word(r, start + 8));
}

/* Step over arguments by their sizes; false when one of them is damaged. */
static bool skip_args(const struct fxt_reader *r, unsigned nr, uint64_t *pos, uint64_t end)
{
	while (nr-- > 0) {
		uint64_t bytes = end - *pos < 8 ? 0 : fxt_arg_words(fxt_word(r, *pos)) * 8;

		if (bytes == 0 || bytes > end - *pos)
			return false;
		*pos += bytes;
	}
	return true;
}

static bool event_decode(struct fxt_reader *r, struct fxt_provider *provider,
			 struct fxt_decoded *out)
{
	uint64_t header = out->at.header;
	uint64_t offset = out->at.offset;
	uint64_t end = offset + out->at.bytes;
	uint64_t pos = offset + 16;
	unsigned type = fxt_event_type(header);

	out->task = task_at(r, provider, fxt_event_thread_ref(header), offset, &pos, end);
	out->category = fxt_string_at(r, provider, fxt_event_category_ref(header), offset, &pos,
				      end);
	out->name = fxt_string_at(r, provider, fxt_event_name_ref(header), offset, &pos, end);
	if (out->task == NULL || out->category == NULL || out->name == NULL)
		return false;
	out->args = pos;
	out->arg_nr = fxt_event_arg_nr(header);
	if (!skip_args(r, out->arg_nr, &pos, end))
		return false;
	if (type == FXT_INSTANT || type == FXT_DURATION_BEGIN || type == FXT_DURATION_END)
		return true;
	if (end - pos < 8)
		return false;
	out->extra = fxt_word(r, pos);
	if (type == FXT_DURATION_COMPLETE)
		out->extra = ticks_to_ns(provider, out->extra);
	return type < FXT_EVENT_TYPES;
}

/* args: where the text begins; arg_nr: its length. */
static bool log_decode(struct fxt_reader *r, struct fxt_provider *provider, struct fxt_decoded *out)
{
	uint64_t end = out->at.offset + out->at.bytes;
	uint64_t pos = out->at.offset + 16;

	out->task = task_at(r, provider, fxt_log_thread_ref(out->at.header), out->at.offset, &pos,
			    end);
	out->args = pos;
	out->arg_nr = fxt_log_len(out->at.header);
	return out->task != NULL && out->arg_nr <= end - pos;
}

/* Of these only wakeups have arguments that are events' data. */
static bool scheduling_decode(struct fxt_reader *r, struct fxt_decoded *out)
{
	uint64_t header = out->at.header, pos = out->at.offset + 24;
	uint64_t end = out->at.offset + out->at.bytes;
	bool is_switch = fxt_sched_type(header) == FXT_SCHED_SWITCH;
	bool is_wakeup = fxt_sched_type(header) == FXT_SCHED_WAKEUP;

	out->task = NULL;
	out->name = r->name_wakeup;
	out->args = pos;
	out->arg_nr = is_wakeup ? fxt_sched_arg_nr(header) : 0;
	if (out->at.bytes < (is_switch ? 32 : is_wakeup ? 24 : 16))
		return false;
	return skip_args(r, out->arg_nr, &pos, end);
}

bool fxt_decode(struct fxt_reader *r, const struct fxt_record_at *at, struct fxt_decoded *out)
{
	struct fxt_provider *provider = fxt_provider_at(r, at->offset);

	if (at->bytes < 16)
		return false;
	out->at = *at;
	out->time_ns = ticks_to_ns(provider, fxt_word(r, at->offset + 8));
	switch (fxt_record_type(at->header)) {
	case FXT_EVENT:
		return event_decode(r, provider, out);
	case FXT_LOG:
		return log_decode(r, provider, out);
	default:
		return scheduling_decode(r, out);
	}
}
