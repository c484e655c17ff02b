/* SPDX-License-Identifier: MIT */
/*
 * What compilers call for structures and loops, without vector registers: those are the program's
 * while a hook runs, and libc's functions use them.
 */
#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))
/* Not to be turned into calls of themselves. */
#define PLAIN __attribute__((optimize("no-tree-loop-distribute-patterns")))

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) HIDDEN;
void *memmove(void *to, const void *from, size_t bytes) HIDDEN;
void *memset(void *to, int byte, size_t bytes) HIDDEN;
int memcmp(const void *left, const void *right, size_t bytes) HIDDEN;
size_t strlen(const char *text) HIDDEN;

typedef uint64_t __attribute__((may_alias, aligned(1))) any_word;

PLAIN void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	uint8_t *p = to;
	const uint8_t *q = from;

	for (; bytes >= sizeof(any_word); bytes -= sizeof(any_word)) {
		*(any_word *)p = *(const any_word *)q;
		p += sizeof(any_word);
		q += sizeof(any_word);
	}
	while (bytes-- > 0)
		*p++ = *q++;
	return to;
}

PLAIN void *memmove(void *to, const void *from, size_t bytes)
{
	uint8_t *p = to;
	const uint8_t *q = from;

	if ((uintptr_t)p - (uintptr_t)q >= bytes) {
		while (bytes-- > 0)
			*p++ = *q++;
	} else {
		while (bytes-- > 0)
			p[bytes] = q[bytes];
	}
	return to;
}

PLAIN void *memset(void *to, int byte, size_t bytes)
{
	uint64_t word = (uint8_t)byte * UINT64_C(0x0101010101010101);
	uint8_t *p = to;

	for (; bytes >= sizeof(any_word); bytes -= sizeof(any_word)) {
		*(any_word *)p = word;
		p += sizeof(any_word);
	}
	while (bytes-- > 0)
		*p++ = (uint8_t)byte;
	return to;
}

PLAIN int memcmp(const void *left, const void *right, size_t bytes)
{
	const uint8_t *p = left, *q = right;

	for (; bytes > 0 && *p == *q; bytes--) {
		p++;
		q++;
	}
	return bytes == 0 ? 0 : *p - *q;
}

PLAIN size_t strlen(const char *text)
{
	size_t len = 0;

	while (text[len] != '\0')
		len++;
	return len;
}
