/* SPDX-License-Identifier: MIT */
#include "tests/unit/kernel_pages.h"

#include <stdio.h>
#include <string.h>

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char switch_format[] =
	"name: sched_switch\nID: 300\nformat:\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:28;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%s:%d ==> %d\", REC->prev_comm, REC->prev_pid, REC->next_pid\n";

static const char wakeup_format[] =
	"name: sched_wakeup\nID: 301\nformat:\n" COMMON
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"pid=%d\", REC->pid\n";

static const char text_format[] =
	"name: words\nID: 302\nformat:\n" COMMON
	"\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"text=%s\", __get_str(text)\n";

static const char odd_format[] =
	"name: odd\nID: 303\nformat:\n" COMMON
	"\tfield:u32 divisor;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 count;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 bytes[4];\toffset:16;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"%d %s\", 7 / REC->divisor, __print_hex(REC->bytes, REC->count)\n";

static size_t put_block(char *text, const char *path, const char *content)
{
	return (size_t)sprintf(text, "TRACEFS: %s: %zu\n%s", path, strlen(content), content);
}

static size_t put_calls(const struct kernel_pages *pages, char *text)
{
	char format[1024];
	unsigned bytes = pages->long_bytes;
	size_t len;

	sprintf(format, "name: funcgraph_entry\nID: 11\nformat:\n" COMMON
		"\tfield:unsigned long func;\toffset:8;\tsize:%u;\tsigned:0;\n"
		"\tfield:int depth;\toffset:%u;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"--> %%lx (%%d)\", REC->func, REC->depth\n", bytes, 8 + bytes);
	len = put_block(text, "events/ftrace/funcgraph_entry/format", format);
	sprintf(format,
		"name: funcgraph_exit\nID: 10\nformat:\n" COMMON
		"\tfield:unsigned long func;\toffset:8;\tsize:%u;\tsigned:0;\n"
		"\tfield:int depth;\toffset:%u;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned int overrun;\toffset:%u;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"<-- %%lx (%%d)\", REC->func, REC->depth\n",
		bytes, 8 + bytes, 12 + bytes);
	return len + put_block(text + len, "events/ftrace/funcgraph_exit/format", format);
}

size_t kernel_header_text(const struct kernel_pages *pages, char *text)
{
	char page[512];
	size_t len = (size_t)sprintf(text, "PAGE_SIZE: %u\nLONG_SIZE: %u\nENDIAN: %s\n",
				     KERNEL_PAGE_BYTES, pages->long_bytes,
				     pages->is_big ? "BE" : "LE");

	sprintf(page, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		"\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n", pages->long_bytes,
		8 + pages->long_bytes, KERNEL_PAGE_BYTES - 8 - pages->long_bytes);
	len += put_block(text + len, "events/header_page", page);
	len += put_calls(pages, text + len);
	len += put_block(text + len, "events/sched/sched_switch/format", switch_format);
	len += put_block(text + len, "events/sched/sched_wakeup/format", wakeup_format);
	len += put_block(text + len, "events/test/words/format", text_format);
	return len + put_block(text + len, "events/test/odd/format", odd_format);
}

static void put_at(const struct kernel_pages *pages, uint8_t *p, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[pages->is_big ? bytes - 1 - i : i] = i < 8 ? (uint8_t)(value >> 8 * i) : 0;
}

void kernel_put(struct kernel_pages *pages, uint64_t value, unsigned bytes)
{
	put_at(pages, pages->bytes + pages->size, value, bytes);
	pages->size += bytes;
}

void kernel_word(struct kernel_pages *pages, unsigned type, uint64_t passed)
{
	kernel_put(pages, pages->is_big ? (uint64_t)type << 27 | passed : passed << 5 | type, 4);
}

void kernel_page_begin(struct kernel_pages *pages, uint64_t time_ns)
{
	pages->page = pages->size;
	pages->last_ns = time_ns;
	kernel_put(pages, time_ns, 8);
	kernel_put(pages, 0, pages->long_bytes);
}

void kernel_page_end(struct kernel_pages *pages, uint64_t flags, uint64_t lost_nr)
{
	uint64_t commit = pages->size - pages->page - 8 - pages->long_bytes;

	if (flags & KERNEL_LOST)
		commit |= flags | UINT64_C(0xffffffff00000000);
	put_at(pages, pages->bytes + pages->page + 8, commit, pages->long_bytes);
	if (flags & KERNEL_LOST_STORED)
		kernel_put(pages, lost_nr, pages->long_bytes);
	pages->size = pages->page + KERNEL_PAGE_BYTES;
}

/* The first word of an event of so many bytes. */
static void event_begin(struct kernel_pages *pages, uint64_t time_ns, unsigned bytes)
{
	uint64_t passed = time_ns - pages->last_ns;

	if (passed >> 27 != 0) {
		kernel_word(pages, 30, passed & ((1u << 27) - 1));
		kernel_put(pages, passed >> 27, 4);
		passed = 0;
	}
	pages->last_ns = time_ns;
	kernel_word(pages, bytes / 4, passed);
}

static void put_common(struct kernel_pages *pages, unsigned id, int32_t pid)
{
	kernel_put(pages, id, 2);
	kernel_put(pages, 0, 2);
	kernel_put(pages, (uint32_t)pid, 4);
}

void kernel_call(struct kernel_pages *pages, uint64_t time_ns, bool is_exit, int32_t pid,
		 uint64_t func)
{
	event_begin(pages, time_ns, 12 + pages->long_bytes + (is_exit ? 4 : 0));
	put_common(pages, is_exit ? KERNEL_ID_EXIT : KERNEL_ID_ENTRY, pid);
	kernel_put(pages, func, pages->long_bytes);
	kernel_put(pages, 0, 4);
	if (is_exit)
		kernel_put(pages, 0, 4);
}

void kernel_switch(struct kernel_pages *pages, uint64_t time_ns, int32_t prev, int32_t next)
{
	event_begin(pages, time_ns, 32);
	put_common(pages, KERNEL_ID_SWITCH, prev);
	memcpy(pages->bytes + pages->size, "abcdefghijklmno", 16);
	pages->size += 16;
	kernel_put(pages, (uint32_t)prev, 4);
	kernel_put(pages, (uint32_t)next, 4);
}

void kernel_wakeup(struct kernel_pages *pages, uint64_t time_ns, int32_t pid, int32_t woken)
{
	event_begin(pages, time_ns, 12);
	put_common(pages, KERNEL_ID_WAKEUP, pid);
	kernel_put(pages, (uint32_t)woken, 4);
}

void kernel_text(struct kernel_pages *pages, uint64_t time_ns, int32_t pid, const char *text,
		 bool is_long)
{
	unsigned len = (unsigned)strlen(text) + 1;
	unsigned bytes = 12 + (len + 3) / 4 * 4;

	if (is_long) {
		event_begin(pages, time_ns, 0);
		kernel_put(pages, 12 + len + 4, 4);
	} else {
		event_begin(pages, time_ns, bytes);
	}
	put_common(pages, KERNEL_ID_TEXT, pid);
	kernel_put(pages, len << 16 | 12, 4);
	memset(pages->bytes + pages->size, 0, bytes - 12);
	memcpy(pages->bytes + pages->size, text, len);
	pages->size += bytes - 12;
}

void kernel_odd(struct kernel_pages *pages, uint64_t time_ns, int32_t pid, uint32_t divisor,
		uint32_t count)
{
	event_begin(pages, time_ns, 20);
	put_common(pages, KERNEL_ID_ODD, pid);
	kernel_put(pages, divisor, 4);
	kernel_put(pages, count, 4);
	kernel_put(pages, 0x01020304, 4);
}
