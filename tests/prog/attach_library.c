/* SPDX-License-Identifier: MIT */
/* A library of attach_code.c and attach_opener.c, which is patched while it is called. */
#include <stdio.h>
#include <unistd.h>

long library_call(long x);
long library_inner(long x);

__attribute__((noinline)) long library_inner(long x)
{
	return x * 7 + 5;
}

__attribute__((noinline)) long library_call(long x)
{
	return library_inner(x + 1) ^ library_inner(x);
}

#ifdef STORES
extern long (*stored_call)(long x);

static __attribute__((constructor)) void store(void)
{
	stored_call = library_call;
}
#endif

#ifdef BEGINS
static __attribute__((constructor, noinline)) void library_begin(void)
{
	static volatile long result;

	result = library_call(result + 1);
}
#endif

#ifdef WAITS
/* With the dynamic linker's lock in its thread's hand. */
static __attribute__((constructor)) void wait_long(void)
{
	puts("waiting");
	fflush(stdout);
	sleep(2);
}
#endif
