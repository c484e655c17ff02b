/* SPDX-License-Identifier: MIT */
/* /proc/self/maps, read without libc and with little stack: a thread may be as small as 16 KiB. */
#include "libmcount/stack.h"

#include <fcntl.h>
#include <stdbool.h>

#include "utils/base/rt/sys.h"

struct maps {
	int fd;
	uint32_t pos, len;
	char buf[512];
};

static int next_char(struct maps *maps)
{
	long ret;

	if (maps->pos == maps->len) {
		ret = ftr_sys3(SYS_read, maps->fd, maps->buf, sizeof(maps->buf));
		if (ret <= 0)
			return -1;
		maps->pos = 0;
		maps->len = (uint32_t)ret;
	}
	return (unsigned char)maps->buf[maps->pos++];
}

/* A hexadecimal number and the character behind it (-1 at the end of the file). */
static int next_hex(struct maps *maps, uintptr_t *value)
{
	int c;

	for (*value = 0; (c = next_char(maps)) >= 0; ) {
		if (c >= '0' && c <= '9')
			*value = *value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*value = *value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			break;
	}
	return c;
}

/* Skip the rest of the line; does it name the main thread's stack? */
static bool line_is_main_stack(struct maps *maps)
{
	static const char name[] = "[stack]";
	uint32_t matched = 0;
	int c;

	while ((c = next_char(maps)) >= 0 && c != '\n') {
		if (matched < sizeof(name) - 1)
			matched = c == name[matched] ? matched + 1 : 0;
	}
	return matched == sizeof(name) - 1;
}

void ftr_stack_find(const void *address, uintptr_t *low, uintptr_t *high)
{
	struct maps maps;	/* member by member: clang clears the whole of it with memset */
	uintptr_t start, end, end_below = 0;
	bool is_main;

	*low = *high = 0;
	maps.pos = maps.len = 0;
	maps.fd = (int)ftr_sys4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (maps.fd < 0)
		return;
	while (next_hex(&maps, &start) == '-' && next_hex(&maps, &end) == ' ') {
		is_main = line_is_main_stack(&maps);
		if (start <= (uintptr_t)address && (uintptr_t)address < end) {
			*low = is_main ? end_below : start;
			*high = end;
			break;
		}
		end_below = end;
	}
	ftr_sys1(SYS_close, maps.fd);
}
