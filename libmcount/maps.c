/* SPDX-License-Identifier: MIT */
/*
 * /proc/self/maps, parsed as it is read.  Threads may have little stack, and handlers less: large
 * buffers are mapped while they are needed.
 */
#include "libmcount/maps.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "utils/base/rt/sys.h"

struct reader {
	int fd;
	uint32_t pos, len;
	char buf[512];
};

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
static bool find(struct reader *reader, uintptr_t address, struct ftr_mapping *run,
		 struct ftr_mapping *line)
{
	uintptr_t below = 0;

	run->low = run->high = run->below = 0;
	run->inode = 0;
	while (next_line(reader, line)) {
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

bool ftr_maps_find(uintptr_t address, struct ftr_mapping *mapping)
{
	struct reader reader;	/* no initialiser: it would be a call of memset */
	long line = ftr_sys_map(0, sizeof(*mapping), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool is_found;

	reader.fd = (int)ftr_sys_open_own("/proc/self/maps");
	reader.pos = reader.len = 0;
	mapping->low = mapping->high = 0;
	is_found = reader.fd >= 0 && !ftr_sys_map_failed(line) &&
		   find(&reader, address, mapping, (struct ftr_mapping *)line);
	if (!ftr_sys_map_failed(line))
		ftr_sys2(SYS_munmap, line, sizeof(*mapping));
	if (reader.fd >= 0)
		ftr_sys_close_own(reader.fd);
	return is_found;
}

bool ftr_maps_each(void (*fn)(void *arg, uint64_t low, uint64_t high), void *arg)
{
	long mem = ftr_sys_map(0, sizeof(struct ftr_mapping), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ftr_mapping *line = (struct ftr_mapping *)mem;
	struct reader reader;	/* as in ftr_maps_find */

	if (ftr_sys_map_failed(mem))
		return false;
	reader.fd = (int)ftr_sys_open_own("/proc/self/maps");
	reader.pos = reader.len = 0;
	while (reader.fd >= 0 && next_line(&reader, line))
		fn(arg, line->low, line->high);
	ftr_sys2(SYS_munmap, mem, sizeof(*line));
	if (reader.fd >= 0)
		ftr_sys_close_own(reader.fd);
	return reader.fd >= 0;
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
static bool find_thread_stack(uintptr_t thread, struct ftr_mapping *mapping, uintptr_t *low,
			      uintptr_t *high)
{
	if (!query(thread, low)) {
		if (!ftr_maps_find(thread, mapping))
			return false;
		*low = mapping->low;
	}
	*high = thread;
	return true;
}

static bool find_main_stack(uintptr_t top, struct ftr_mapping *mapping, uintptr_t *low,
			    uintptr_t *high)
{
	if (!ftr_maps_find(top, mapping) || !is_main_stack(mapping))
		return false;
	*low = mapping->below;
	*high = mapping->high;
	return true;
}

void ftr_maps_find_stack(const void *here, uintptr_t main_top, uintptr_t thread, uintptr_t *low,
			 uintptr_t *high)
{
	long mem = ftr_sys_map(0, sizeof(struct ftr_mapping), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ftr_mapping *mapping = (struct ftr_mapping *)mem;
	uintptr_t at = (uintptr_t)here;

	*low = *high = 0;
	if (ftr_sys_map_failed(mem))
		return;
	if (main_top == 0 || !find_main_stack(main_top, mapping, low, high)) {
		find_thread_stack(thread, mapping, low, high);
	} else if (!is_inside(at, *low, *high)) {
		uintptr_t main_low = *low, main_high = *high;

		/*
		 * On some coroutine, unless a thread has forked: the child's main thread is on that
		 * one's.
		 */
		if (!find_thread_stack(thread, mapping, low, high) || !is_inside(at, *low, *high)) {
			*low = main_low;
			*high = main_high;
		}
	}
	ftr_sys2(SYS_munmap, mapping, sizeof(*mapping));
}
