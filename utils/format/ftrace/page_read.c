/* SPDX-License-Identifier: MIT */
/*
 * One page of the kernel's ring buffer (page_layout.h).  Lengths may be anything: every step is
 * checked.
 */
#include <assert.h>
#include <event-parse.h>

#include "utils/base/bytes.h"
#include "utils/format/ftrace/ftrace.h"
#include "utils/format/ftrace/page_layout.h"

#define EVENT_BYTES_MIN (2 * FTR_KPAGE_WORD_BYTES)	/* a head, and data or another word */

static uint64_t long_get(const struct ftr_ftrace_layout *layout, const uint8_t *p)
{
	return layout->long_bytes == 8 ? ftr_get_u64(p, layout->is_big) :
					 ftr_get_u32(p, layout->is_big);
}

static void lost_read(struct ftr_ftrace_page *page, uint64_t commit, size_t left)
{
	const struct ftr_ftrace_layout *layout = &page->ftrace->layout;
	uint64_t bytes = (uint64_t)(page->end - page->start);

	page->has_lost = (commit & FTR_KPAGE_COMMIT_LOST) != 0;
	if (page->has_lost && (commit & FTR_KPAGE_COMMIT_STORED) &&
	    bytes + layout->long_bytes <= left)
		page->lost_nr = long_get(layout, page->end);
}

bool ftr_ftrace_page_open(struct ftr_ftrace_page *page, const struct ftr_ftrace *ftrace,
			  uint32_t page_bytes, const uint8_t *start, size_t left)
{
	const struct ftr_ftrace_layout *layout = &ftrace->layout;
	size_t head = FTR_KPAGE_COMMIT_OFFSET + layout->long_bytes;
	size_t room = left < page_bytes ? left : page_bytes;
	uint64_t commit, bytes;

	assert(ftrace->tep != NULL);
	*page = (struct ftr_ftrace_page){
		.ftrace = ftrace, .start = start, .next = start, .end = start,
	};
	page->damage = "the file ends inside a page";
	if (room < head)
		return false;
	commit = long_get(layout, start + FTR_KPAGE_COMMIT_OFFSET);
	bytes = commit & FTR_KPAGE_COMMIT_BYTES;
	page->next = page->end = start + head;
	page->time_ns = ftr_get_u64(start, layout->is_big);
	if (head + bytes > page_bytes) {
		page->damage = "a page claims more data than fits into it";
		page->next = start;
		return false;
	}
	if (head + bytes <= room)
		page->damage = NULL;
	else
		bytes = room - head;	/* is read; the damage is reported at its end */
	page->end = page->next + bytes;
	lost_read(page, commit, room);
	return true;
}

/* One step over the words of a page. */
struct step {
	uint32_t type;
	uint64_t delta;		/* time that passes; of a time stamp: the time */
	size_t bytes;
};

/* False: beyond the page.  Padding without time has no length: nothing follows. */
static bool step_read(const struct ftr_ftrace_page *page, struct step *step)
{
	size_t left = (size_t)(page->end - page->next);
	bool is_big = page->ftrace->layout.is_big;
	uint32_t head, word;

	if (left < EVENT_BYTES_MIN)
		return false;
	head = ftr_get_u32(page->next, is_big);
	step->type = ftr_kpage_head_type(head, is_big);
	step->delta = ftr_kpage_head_delta(head, is_big);
	step->bytes = (size_t)FTR_KPAGE_WORD_BYTES * (step->type + 1);
	if (step->type - 1 < FTR_KPAGE_WORDS_MAX)
		return step->bytes <= left;
	word = ftr_get_u32(page->next + FTR_KPAGE_WORD_BYTES, is_big);
	if (step->type == FTR_KPAGE_TYPE_LONG) {
		/* The length counts its own word; what follows is a multiple of a word. */
		word = (word + FTR_KPAGE_WORD_BYTES - 1) & ~(FTR_KPAGE_WORD_BYTES - 1);
		step->bytes = (size_t)FTR_KPAGE_WORD_BYTES + word;
	} else if (step->type == FTR_KPAGE_TYPE_PADDING) {
		step->bytes = step->delta == 0 ? left : (size_t)FTR_KPAGE_WORD_BYTES + word;
	} else {
		step->delta |= (uint64_t)word << FTR_KPAGE_DELTA_BITS;
		step->bytes = 2 * FTR_KPAGE_WORD_BYTES;
	}
	return step->bytes >= EVENT_BYTES_MIN && step->bytes <= left;
}

bool ftr_ftrace_page_next(struct ftr_ftrace_page *page)
{
	while (page->next < page->end) {
		const uint8_t *from = page->next;
		struct step step;

		if (!step_read(page, &step)) {
			if (page->damage == NULL)
				page->damage = "an event reaches beyond its page";
			return false;
		}
		if (step.type == FTR_KPAGE_TYPE_STAMP)
			page->time_ns = step.delta | (page->time_ns & FTR_KPAGE_STAMP_KEPT);
		else
			page->time_ns += step.delta;
		page->next = from + step.bytes;
		if (step.type >= FTR_KPAGE_TYPE_PADDING)
			continue;
		page->data = from + FTR_KPAGE_WORD_BYTES *
				    (step.type == FTR_KPAGE_TYPE_LONG ? 2 : 1);
		page->bytes = (uint32_t)(page->next - page->data);
		return true;
	}
	return false;
}

static bool dynamic_fits(const struct ftr_ftrace_page *page, const struct tep_format_field *field)
{
	uint64_t at = ftr_ftrace_number(page, ftr_ftrace_field_of(field));
	uint64_t offset = ftr_kpage_dynamic_offset(at);

	if (field->flags & TEP_FIELD_IS_RELATIVE)
		offset += (uint64_t)field->offset + (uint64_t)field->size;
	return offset + ftr_kpage_dynamic_bytes(at) <= page->bytes;
}

bool ftr_ftrace_fits_dynamic(const struct ftr_ftrace_page *page,
			     const struct ftr_ftrace_event *event)
{
	const struct tep_format_field *field = event->tep->format.fields;

	for (; field != NULL; field = field->next) {
		if ((field->flags & TEP_FIELD_IS_DYNAMIC) && !dynamic_fits(page, field))
			return false;
	}
	return true;
}
