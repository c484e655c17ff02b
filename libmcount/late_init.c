/* SPDX-License-Identifier: MIT */
/*
 * libmcount-late.so: opened by the runtime in a program that it was attached to, for one name to be
 * found by all libraries that are loaded from then on.  The _init that the compiler's startup files
 * put into each of them calls __gmon_start__ if there is one: that is behind its relocation, and
 * before its constructors (libraries.c).  It has no other name that a library may want, so all
 * that they find otherwise is what they find untraced.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* Where the runtime wants to be called, with an address in the library. */
EXPORT void (*_Atomic ftr_late_init)(uintptr_t at);
EXPORT void __gmon_start__(void);

void __gmon_start__(void)
{
	void (*init)(uintptr_t at) = atomic_load(&ftr_late_init);

	if (init != NULL)
		init((uintptr_t)__builtin_return_address(0));
}
