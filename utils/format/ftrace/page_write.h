/* SPDX-License-Identifier: MIT */
/*
 * Pages of the kernel's ring buffer, as its trace_pipe_raw hands them out: what kernel-cpuN.dat of
 * a uftrace directory and the CPU data of a trace.dat hold.  Of this machine's byte order, with
 * longs of 8 bytes, unless other ones are asked for.
 *
 *	struct ftr_kbuf kbuf = { .used = 0 };
 *
 *	while (!ftr_kbuf_put(&kbuf, time_ns, &record, sizeof(record)))
 *		store(ftr_kbuf_take(&kbuf));
 *	...
 *	while (!ftr_kbuf_is_empty(&kbuf))
 *		store(ftr_kbuf_take(&kbuf));
 */
#ifndef FTR_FORMAT_FTRACE_PAGE_WRITE_H
#define FTR_FORMAT_FTRACE_PAGE_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_KBUF_PAGE_BYTES 4096u
#define FTR_KBUF_HEAD_BYTES 16u		/* time, and how much follows, of 8 bytes */
#define FTR_KBUF_DATA_BYTES (FTR_KBUF_PAGE_BYTES - FTR_KBUF_HEAD_BYTES)
#define FTR_KBUF_RECORD_MAX                                                                       \
	(FTR_KBUF_DATA_BYTES - 16u) /* a record; beside it lie its head and a number of lost ones \
				     */

/* A page in the making; zeroed, it is an empty one.  Other members are the functions' own. */
struct ftr_kbuf {
	uint64_t last_ns;		/* of what was put last, in whatever page */
	uint64_t lost_nr;
	uint32_t used;			/* bytes of data */
	bool     is_swapped;		/* of the other byte order; the caller's to set */
	bool     is_narrow;		/* of longs of 4 bytes; likewise */
	bool     has_begun;
	bool has_lost; /* records were lost before the page; lost_nr 0: unknown how many */
	uint8_t  page[FTR_KBUF_PAGE_BYTES];
};

static inline bool ftr_kbuf_is_empty(const struct ftr_kbuf *kbuf)
{
	return !kbuf->has_begun;
}

/*
 * Append a record of @len bytes, FTR_KBUF_RECORD_MAX at most, that begins with the event's common
 * fields.  Times must not go back.  False: it belongs into the next page: take this one, and try
 * again.
 */
bool ftr_kbuf_put(struct ftr_kbuf *kbuf, uint64_t time_ns, const void *record, uint32_t len);

/*
 * Mark @nr records (0 = unknown how many) as lost here, which only the start of a page can.
 * False: take this page, and try again.
 */
bool ftr_kbuf_lose(struct ftr_kbuf *kbuf, uint64_t time_ns, uint64_t nr);

/* The page, FTR_KBUF_PAGE_BYTES long, until the next call; the one that follows is empty. */
const uint8_t *ftr_kbuf_take(struct ftr_kbuf *kbuf);

#endif /* FTR_FORMAT_FTRACE_PAGE_WRITE_H */
