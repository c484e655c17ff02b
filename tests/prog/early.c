/* SPDX-License-Identifier: MIT */
/*
 * Before main: a library's constructor, .preinit_array and IFUNC resolvers, one of them called
 * before the dynamic linker has finished with us.  What runs after relocation is recorded;
 * resolvers run, and are left alone.
 *
 * only: pg-O0 pg-O2 pg-O3-cet fentry-O2 fentry-O0-cet clang-pg-O2
 * libraries: early_library
 * expect-calls: pre 1
 * expect-calls: constructed 1
 * expect-calls: library_constructed 1
 * expect-calls: work 3
 * expect-calls: library_work 2
 * expect-calls: library_choice 1
 * expect-calls: choice 1
 */
#define NOINLINE __attribute__((noinline, noclone))

int library_work(int n);
int library_calls_chosen(int n);

#ifdef LIBRARY
NOINLINE int library_work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

__attribute__((constructor)) static NOINLINE void library_constructed(void)
{
	library_work(1);
}

static NOINLINE int library_choice(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 2;
}

/* Called while the library is relocated, and libmcount.so comes after it. */
static int (*library_choose(void))(int)
{
	return library_choice;
}

int library_chosen(int n) __attribute__((ifunc("library_choose")));

int library_calls_chosen(int n)
{
	return library_chosen(n);
}
#else
#include <stdio.h>

NOINLINE int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static NOINLINE void pre(int argc, char **argv, char **envp)
{
	work(argc);
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **,
									char **) = pre;

__attribute__((constructor(101))) static NOINLINE void constructed(void)
{
	work(2);
}

static NOINLINE int choice(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 3;
}

static int (*choose(void))(int)
{
	return choice;
}

int chosen(int n) __attribute__((ifunc("choose")));

int main(void)
{
	printf("%d %d %d %d\n", work(3), library_work(4), chosen(5), library_calls_chosen(6));
	return 0;
}
#endif
