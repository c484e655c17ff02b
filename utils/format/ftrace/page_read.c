/* SPDX-License-Identifier: MIT */
/*
 * One page of the kernel's ring buffer.  libtraceevent takes the words apart; it trusts the lengths
 * in them, so every step is checked here.
 *
 *	 0	u64	time of the page
 *	 8	long	bits 0..26: bytes that follow, 30: a long behind them counts the lost
 *			the page, 31: some were.  Sign-extended.
 *	12, 16	events:	u32 type or length (5 bits) and time passed (27 bits), data
 */
#include <event-parse.h>
#include <kbuffer.h>
#include <sys/mman.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/read_kernel.h"

#define COMMIT_OFFSET 8
#define COMMIT_BYTES  ((UINT64_C(1) << 27) - 1)
#define COMMIT_STORED (UINT64_C(1) << 30)
#define COMMIT_LOST   (UINT64_C(1) << 31)
#define EVENT_BYTES_MIN 8	/* a word, and data or another word */
#define WORD_BYTES 4
#define WINDOW_BYTES ((size_t)2 << 20)	/* of a mapped file that is kept in memory */
#define STAMP_KEPT (UINT64_C(0xf8) << 56)	/* an absolute time has 59 bits */

static uint64_t long_get(const struct uft_kernel *kernel, const uint8_t *p)
{
	return kernel->long_bytes == 8 ? ftr_get_u64(p, kernel->is_big) :
					 ftr_get_u32(p, kernel->is_big);
}

static void lost_read(struct uft_page *page, uint64_t commit, size_t left)
{
	uint64_t bytes = (uint64_t)(page->end - page->start);

	page->has_lost = (commit & COMMIT_LOST) != 0;
	if (page->has_lost && (commit & COMMIT_STORED) && bytes + page->kernel->long_bytes <= left)
		page->lost_nr = long_get(page->kernel, page->end);
}

bool uft_page_open(struct uft_page *page, const struct uft_kernel *kernel, const uint8_t *start,
		   size_t left)
{
	size_t head = COMMIT_OFFSET + kernel->long_bytes;
	size_t room = left < kernel->page_bytes ? left : kernel->page_bytes;
	uint64_t commit, bytes;

	*page = (struct uft_page){ .kernel = kernel, .start = start, .next = start, .end = start };
	page->damage = "the file ends inside a page";
	if (room < head)
		return false;
	commit = long_get(kernel, start + COMMIT_OFFSET);
	bytes = commit & COMMIT_BYTES;
	page->next = page->end = start + head;
	page->time_ns = ftr_get_u64(start, kernel->is_big);
	if (head + bytes > kernel->page_bytes) {
		page->damage = "a page claims more than it can hold";
		page->next = start;
		return false;
	}
	if (head + bytes <= room)
		page->damage = NULL;
	else
		bytes = room - head;	/* what there is of it; the damage is still to be told */
	page->end = page->next + bytes;
	lost_read(page, commit, room);
	return true;
}

/* One step of libtraceevent's, whose lengths may be anything.  False: beyond the page. */
static bool raw_step(struct uft_page *page, struct kbuffer_raw_info *raw)
{
	size_t left = (size_t)(page->end - page->next);
	uintptr_t step;

	if (left < EVENT_BYTES_MIN)
		return false;
	raw->next = (void *)(uintptr_t)page->next;
	if (kbuffer_raw_get(page->kernel->kbuffer, (void *)(uintptr_t)page->start, raw) == NULL)
		return false;
	if (raw->type == KBUFFER_TYPE_PADDING &&
	    raw->delta == 0) /* nothing follows: it has no length */
		return true;
	step = (uintptr_t)raw->next - (uintptr_t)page->next;
	return step >= EVENT_BYTES_MIN && step <= left;
}

bool uft_page_next(struct uft_page *page)
{
	while (page->next < page->end) {
		struct kbuffer_raw_info raw = { 0 };
		const uint8_t *from = page->next;

		if (!raw_step(page, &raw)) {
			if (page->damage == NULL)
				page->damage = "an event reaches beyond its page";
			return false;
		}
		page->time_ns += raw.delta;
		if (raw.type == KBUFFER_TYPE_TIME_STAMP)
			page->time_ns = raw.delta | ((page->time_ns - raw.delta) & STAMP_KEPT);
		if (raw.type == KBUFFER_TYPE_PADDING && raw.delta == 0)
			raw.next = (void *)(uintptr_t)page->end;
		page->next = raw.next;
		if (raw.type >= KBUFFER_TYPE_PADDING)
			continue;
		page->data = from + (raw.type == 0 ? 2 * WORD_BYTES : WORD_BYTES);
		page->bytes = (uint32_t)(page->next - page->data);
		return true;
	}
	return false;
}

static bool field_fits(const struct tep_format_field *field, uint32_t bytes)
{
	return field->offset >= 0 && field->size > 0 &&
	       (uint64_t)field->offset + (uint64_t)field->size <= bytes;
}

uint64_t uft_page_number(const struct uft_page *page, const struct tep_format_field *field)
{
	return tep_read_number(page->kernel->tep, page->data + field->offset, field->size);
}

struct uft_kernel_event *uft_page_event(const struct uft_page *page, uint32_t *id)
{
	const struct tep_format_field *type = page->kernel->type;

	if (type == NULL || !field_fits(type, page->bytes))
		return NULL;
	*id = (uint32_t)uft_page_number(page, type);
	if (*id >= UFT_KERNEL_IDS || page->kernel->by_id[*id] == 0)
		return NULL;
	return page->kernel->events.v[page->kernel->by_id[*id] - 1];
}

/* Where the data of a dynamic field lie: u32, the length above 16 bits of offset. */
static bool dynamic_fits(const struct uft_page *page, const struct tep_format_field *field)
{
	uint64_t at = uft_page_number(page, field);
	uint64_t offset = at & 0xffff;

	if (field->flags & TEP_FIELD_IS_RELATIVE)
		offset += (uint64_t)field->offset + (uint64_t)field->size;
	return offset + (at >> 16 & 0xffff) <= page->bytes;
}

bool uft_kernel_fits(const struct uft_page *page, const struct uft_kernel_event *event)
{
	const struct tep_format_field *field = event->has_dynamic ? event->tep->format.fields :
								    NULL;

	if (page->bytes < event->fixed_bytes)
		return false;
	for (; field != NULL; field = field->next) {
		if ((field->flags & TEP_FIELD_IS_DYNAMIC) && !dynamic_fits(page, field))
			return false;
	}
	return true;
}

void uft_kernel_file_pass(const struct uft_kernel_file *file, size_t from, size_t to)
{
	size_t window = from / WINDOW_BYTES * WINDOW_BYTES;

	if (file->in.owned_map != NULL && to >= window + WINDOW_BYTES)
		madvise((uint8_t *)file->in.owned_map + window, WINDOW_BYTES, MADV_DONTNEED);
}
