/* SPDX-License-Identifier: MIT */
/* How much of a mapped TID.dat is in memory: what is asked for at once saves page faults. */
#include <sys/mman.h>

#include "utils/format/uftrace/read_data.h"

#define WINDOW_BYTES FTR_MIB(2)
#define PAGE_BYTES   FTR_KIB(4)

static void window_ask(const struct ftr_istream *in, size_t from, size_t to)
{
	size_t start = from / PAGE_BYTES * PAGE_BYTES;

	if (in->owned_map == NULL || to > in->owned_map_bytes)
		return;
#ifdef MADV_POPULATE_READ	/* older kernels refuse it */
	madvise((uint8_t *)in->owned_map + start, to - start, MADV_POPULATE_READ);
#endif
}

void uft_window_forget(const struct ftr_istream *in, size_t from, size_t to)
{
	size_t start = from / PAGE_BYTES * PAGE_BYTES;

	to = to / PAGE_BYTES * PAGE_BYTES;
	if (in->owned_map != NULL && to > start && to <= in->owned_map_bytes)
		madvise((uint8_t *)in->owned_map + start, to - start, MADV_DONTNEED);
}

void uft_window_move(struct uft_data *self)
{
	size_t map_bytes = self->in->owned_map_bytes;
	size_t pos = (size_t)(self->p - self->in->data);
	size_t from;

	if (self->in->owned_map == NULL || pos + WINDOW_BYTES / 2 < self->window_pos)
		return;
	if (self->window_pos + WINDOW_BYTES < pos)	/* runs were taken meanwhile */
		self->window_pos = pos / WINDOW_BYTES * WINDOW_BYTES;
	from = self->window_pos;
	if (from > WINDOW_BYTES)
		uft_window_forget(self->in, from - 2 * WINDOW_BYTES, from - WINDOW_BYTES);
	if (from >= map_bytes)
		return;
	window_ask(self->in, from,
		       map_bytes - from < WINDOW_BYTES ? map_bytes : from + WINDOW_BYTES);
	self->window_pos += WINDOW_BYTES;
}

int uft_window_need(struct uft_data *self, size_t bytes)
{
	size_t pos = (size_t)(self->p - self->in->data);
	int ret;

	if (self->pins.packed == NULL)
		return 0;
	ret = uft_pins_need(&self->pins, pos, pos + bytes);
	self->ready = self->pins.to > pos ? self->in->data + self->pins.to : self->p;
	return ret;
}

int uft_window_begin(struct uft_data *self)
{
	int ret = uft_window_need(self, 1);

	uft_pins_pass(&self->pins, (size_t)(self->p - self->in->data));
	return ret;
}

void uft_window_leave(struct uft_data *self)
{
	size_t to = self->window_pos, map_bytes = self->in->owned_map_bytes;

	uft_pins_release(&self->pins);
	if (to == 0)
		return;
	uft_window_forget(self->in, to < 2 * WINDOW_BYTES ? 0 : to - 2 * WINDOW_BYTES,
			  to < map_bytes ? to : map_bytes);
	self->window_pos = 0;
}
