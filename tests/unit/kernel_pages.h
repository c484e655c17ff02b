/* SPDX-License-Identifier: MIT */
/*
 * Pages of the kernel's ring buffer, written for tests.
 *
 *	page	u64 time | long commit | events ...
 *		commit: bytes of the events (27 bits), bit 30: a long behind them says how many were
 *		lost before, bit 31: some were; on 64 bits the sign of bit 31 goes up to bit 63
 *	event	u32 word | data
 *		word, little-endian: 27 bits of time passed, 5 bits of type; big-endian: type first
 *		1..28	data of 4 * type bytes
 *		0	u32 length with itself, data, padded to 4 bytes
 *		29	nothing more on this page, if no time passed; else u32 length with itself
 *		30	u32: more time passed, in units of 2^27
 *		31	u32: the time is passed + u32 << 27, 59 bits of it
 */
#ifndef FTR_TESTS_KERNEL_PAGES_H
#define FTR_TESTS_KERNEL_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_PAGE_BYTES 4096u
#define KERNEL_LOST (UINT64_C(1) << 31)
#define KERNEL_LOST_STORED (UINT64_C(1) << 30)

enum {
	KERNEL_ID_EXIT	= 10,
	KERNEL_ID_ENTRY = 11,
	KERNEL_ID_SWITCH = 300,
	KERNEL_ID_WAKEUP = 301,
	KERNEL_ID_TEXT	= 302,
	KERNEL_ID_ODD	= 303,
};

struct kernel_pages {
	uint8_t bytes[8 * KERNEL_PAGE_BYTES];
	size_t size;		/* of whole pages, and of the open one what was written */
	size_t page;		/* where the open one begins */
	uint64_t last_ns;
	bool is_big;
	unsigned long_bytes;
};

/* The file kernel_header for them, into room for 8192 bytes.  Returns its length. */
size_t kernel_header_text(const struct kernel_pages *pages, char *text);

void kernel_page_begin(struct kernel_pages *pages, uint64_t time_ns);
/* @flags: KERNEL_LOST, KERNEL_LOST_STORED and then @lost_nr. */
void kernel_page_end(struct kernel_pages *pages, uint64_t flags, uint64_t lost_nr);

/* The words alone. */
void kernel_put(struct kernel_pages *pages, uint64_t value, unsigned bytes);
void kernel_word(struct kernel_pages *pages, unsigned type, uint64_t passed);

/* Events of the formats in kernel_header_text; what their time needs is put before them. */
void kernel_call(struct kernel_pages *pages, uint64_t time_ns, bool is_exit, int32_t pid,
		 uint64_t func);
void kernel_switch(struct kernel_pages *pages, uint64_t time_ns, int32_t prev, int32_t next);
void kernel_wakeup(struct kernel_pages *pages, uint64_t time_ns, int32_t pid, int32_t woken);
/* A dynamic string; with @is_long by a length of its own instead of one in the type. */
void kernel_text(struct kernel_pages *pages, uint64_t time_ns, int32_t pid, const char *text,
		 bool is_long);
/* Numbers that a print fmt may not be followed with. */
void kernel_odd(struct kernel_pages *pages, uint64_t time_ns, int32_t pid, uint32_t divisor,
		uint32_t count);

#endif /* FTR_TESTS_KERNEL_PAGES_H */
