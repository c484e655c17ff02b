/* SPDX-License-Identifier: MIT */
/*
 * Library calls whose targets can be told: plain, indirect (IFUNC), versioned, by pointer.  See
 * libcalls.py.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void *old_memcpy(void *to, const void *from, size_t bytes);
__asm__(".symver old_memcpy, memcpy@GLIBC_2.2.5");

static const char *same(const void *a, const void *b)
{
	return a == b ? "same" : "different";
}

/*
 * As OpenSSL asks whether its allocator is its own: the function is called, compared, and stored
 * beside another.
 */
static pid_t (*volatile in_table)(void) = getppid;

static void two_in_a_vector(pid_t (**pair)(void))
{
	pair[0] = getppid;
	pair[1] = getpgrp;
}

/*
 * Optimizing, clang keeps a function's address in a register; calls by way of that are none of the
 * GOT's.
 */
#ifdef __clang__
__attribute__((optnone))
#endif
int main(void)
{
	pid_t (*pair[2])(void);

	pid_t (*volatile by_pointer)(void) = getppid;
	char text[32] = "0123456789";
	volatile size_t three = 3;
	volatile double tenth = 0.1;
	int i, nr = 0;

	for (i = 0; i < 3; i++)
		nr += getpid() > 0;
	old_memcpy(text, "abc", three);
	memcpy(text + three, "def", three);
	memmove(text + 1, text, three);
	printf("%d %zu %s %.2f\n", nr, strlen(text), text, tenth * 3);
	printf("%d\n", in_table == getppid ? 1 : in_table());
	/* What a pointer to a function is compared with does not depend on tracing. */
	printf("getppid %s, memcpy %s\n", same((void *)by_pointer, dlsym(RTLD_DEFAULT, "getppid")),
	       same(dlvsym(RTLD_DEFAULT, "memcpy", "GLIBC_2.2.5"), dlsym(RTLD_DEFAULT, "memcpy")));
	printf("%d\n", by_pointer() == getppid());
	two_in_a_vector(pair);
	printf("%s %s\n", same((void *)pair[0], dlsym(RTLD_DEFAULT, "getppid")),
	       same((void *)pair[1], dlsym(RTLD_DEFAULT, "getpgrp")));
	return time(NULL) > 0 ? nr : 1;
}
