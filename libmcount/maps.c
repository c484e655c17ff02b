/* SPDX-License-Identifier: MIT */
/*
 * /proc/self/maps, parsed as it is read.  Threads may have little stack, and handlers less: what
 * that takes is mapped while it is needed.
 */
#include "libmcount/maps.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "utils/base/rt/sys.h"

#define READ_BYTES 4096u	/* as much as the kernel gives at a time */

struct reader {
	int fd;
	uint32_t pos, len;
	struct ftr_mapping line, found;
	char buf[READ_BYTES];
};

/* Nothing is cleared or assigned here: it would be a call of memset or memcpy. */
static struct reader *reader_open(void)
{
	long mem = ftr_sys_map(0, sizeof(struct reader), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return ftr_sys_map_failed(mem) ? NULL : (struct reader *)mem;
}

static void reader_close(struct reader *reader)
{
	ftr_sys2(SYS_munmap, reader, sizeof(*reader));
}

static bool file_open(struct reader *reader)
{
	reader->fd = (int)ftr_sys_open_own("/proc/self/maps");
	reader->pos = reader->len = 0;
	return reader->fd >= 0;
}

static int next_char(struct reader *reader)
{
	long ret;

	if (reader->pos == reader->len) {
		ret = ftr_sys3(SYS_read, reader->fd, reader->buf, sizeof(reader->buf));
		if (ret <= 0)
			return -1;
		reader->pos = 0;
		reader->len = (uint32_t)ret;
	}
	return (unsigned char)reader->buf[reader->pos++];
}

static int digit_value(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Read a number and the character that ends it, which is returned (-1 at the end of the file). */
static int next_number(struct reader *reader, unsigned base, uint64_t *value)
{
	int c;

	for (*value = 0; (c = next_char(reader)) >= 0 && digit_value(c) < (int)base; )
		*value = *value * base + (uint64_t)digit_value(c);
	return c;
}

static void skip_word(struct reader *reader)
{
	int c;

	while ((c = next_char(reader)) >= 0 && c != ' ')
		;
}

/* "LOW-HIGH PERMS OFFSET MAJ:MIN INODE      PATH" */
static bool next_line(struct reader *reader, struct ftr_mapping *line)
{
	uint64_t low, high;
	int c;

	if (next_number(reader, 16, &low) != '-' || next_number(reader, 16, &high) != ' ')
		return false;
	line->low = low;
	line->high = high;
	skip_word(reader);
	skip_word(reader);
	skip_word(reader);
	c = next_number(reader, 10, &line->inode);
	while (c == ' ')
		c = next_char(reader);
	for (line->path_bytes = 0; c >= 0 && c != '\n'; c = next_char(reader)) {
		if (line->path_bytes < FTR_MAPS_PATH_MAX)
			line->path[line->path_bytes++] = (char)c;
	}
	return true;
}

/*
 * An assignment would become a call of memcpy, and libc's uses vector registers, which hold the
 * program's values here.
 */
static void mapping_copy(struct ftr_mapping *to, const struct ftr_mapping *from)
{
	uint32_t i;

	to->low = from->low;
	to->high = from->high;
	to->inode = from->inode;
	to->path_bytes = from->path_bytes;
	for (i = 0; i < from->path_bytes; i++) {
		to->path[i] = from->path[i];
		__asm__ volatile("");
	}
}

static bool is_same_file(const struct ftr_mapping *a, const struct ftr_mapping *b)
{
	uint32_t i;

	if (a->inode != b->inode || a->path_bytes != b->path_bytes)
		return false;
	for (i = 0; i < a->path_bytes; i++) {
		if (a->path[i] != b->path[i])
			return false;
	}
	return true;
}

/* @run: consecutive lines of one file.  Stops when that of @address is complete. */
static bool find(struct reader *reader, uintptr_t address, struct ftr_mapping *run)
{
	const struct ftr_mapping *line = &reader->line;
	uintptr_t below = 0;

	run->low = run->high = run->below = 0;
	run->inode = 0;
	while (next_line(reader, &reader->line)) {
		if (run->inode != 0 && is_same_file(run, line)) {
			run->high = line->high;
			continue;
		}
		if (run->low <= address && address < run->high)
			return true;
		below = run->high;
		mapping_copy(run, line);
		run->below = below;
	}
	return run->low <= address && address < run->high;
}

static bool mapping_find(struct reader *reader, uintptr_t address, struct ftr_mapping *mapping)
{
	bool is_found;

	if (!file_open(reader))
		return false;
	is_found = find(reader, address, mapping);
	ftr_sys_close_own(reader->fd);
	return is_found;
}

bool ftr_maps_find(uintptr_t address, struct ftr_mapping *mapping)
{
	struct reader *reader = reader_open();
	bool is_found;

	mapping->low = mapping->high = 0;
	if (reader == NULL)
		return false;
	is_found = mapping_find(reader, address, mapping);
	reader_close(reader);
	return is_found;
}

bool ftr_maps_each(void (*fn)(void *arg, uint64_t low, uint64_t high), void *arg)
{
	struct reader *reader = reader_open();
	bool is_open;

	if (reader == NULL)
		return false;
	is_open = file_open(reader);
	while (is_open && next_line(reader, &reader->line))
		fn(arg, reader->line.low, reader->line.high);
	if (is_open)
		ftr_sys_close_own(reader->fd);
	reader_close(reader);
	return is_open;
}

static bool is_main_stack(const struct ftr_mapping *mapping)
{
	static const char name[] = "[stack]";
	uint32_t i;

	for (i = 0; i < sizeof(name) - 1; i++) {
		if (i == mapping->path_bytes || mapping->path[i] != name[i])
			return false;
	}
	return true;
}

static bool is_inside(uintptr_t at, uintptr_t low, uintptr_t high)
{
	return at - low < high - low;
}

static bool query(uintptr_t address, uintptr_t *low)
{
	struct ftr_maps_query map;
	long fd = ftr_sys_open_own("/proc/self/maps"), ret;
	uint64_t *word;

	if (fd < 0)
		return false;
	for (word = (uint64_t *)&map; word < (uint64_t *)(&map + 1); word++)
		*(volatile uint64_t *)word = 0; /* an initialiser would be a call of memset */
	map.bytes = sizeof(map);
	map.address = address;
	ret = ftr_sys3(SYS_ioctl, fd, FTR_MAPS_QUERY, &map);
	ftr_sys_close_own(fd);
	if (ret < 0)
		return false;
	*low = map.low;
	return true;
}

/*
 * The C library keeps a thread's control block at the upper end of its stack, so this also works
 * while the thread runs on the stack of a coroutine or a handler.
 */
static bool find_thread_stack(struct reader *reader, uintptr_t thread, uintptr_t *low,
			      uintptr_t *high)
{
	if (!query(thread, low)) {
		if (!mapping_find(reader, thread, &reader->found))
			return false;
		*low = reader->found.low;
	}
	*high = thread;
	return true;
}

static bool find_main_stack(struct reader *reader, uintptr_t top, uintptr_t *low, uintptr_t *high)
{
	if (!mapping_find(reader, top, &reader->found) || !is_main_stack(&reader->found))
		return false;
	*low = reader->found.below;
	*high = reader->found.high;
	return true;
}

void ftr_maps_find_stack(const void *here, uintptr_t main_top, uintptr_t thread, uintptr_t *low,
			 uintptr_t *high)
{
	struct reader *reader = reader_open();
	uintptr_t at = (uintptr_t)here;

	*low = *high = 0;
	if (reader == NULL)
		return;
	if (main_top == 0 || !find_main_stack(reader, main_top, low, high)) {
		find_thread_stack(reader, thread, low, high);
	} else if (!is_inside(at, *low, *high)) {
		uintptr_t main_low = *low, main_high = *high;

		/*
		 * On some coroutine, unless a thread has forked: the child's main thread is on that
		 * one's.
		 */
		if (!find_thread_stack(reader, thread, low, high) || !is_inside(at, *low, *high)) {
			*low = main_low;
			*high = main_high;
		}
	}
	reader_close(reader);
}
