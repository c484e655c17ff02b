/* SPDX-License-Identifier: MIT */
/* What tests/e2e/actions.py has rules and watch points do. */
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline, noclone))
#define GROWS_BYTES (8u << 20)

int counter;
unsigned char small = 5;
long far_away = 1L << 40;
double wide[4];
static __thread int of_a_thread;
static jmp_buf out;

NOINLINE void bump(void)
{
	counter++;
	__asm__ volatile("" : : : "memory");
}

NOINLINE void idle(void)
{
	__asm__ volatile("" : : : "memory");
}

NOINLINE void *grow(void)
{
	char *mem = mmap(NULL, GROWS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	mem[0] = 1;
	return mem;
}

/* Addresses of libmcount.so among those that a walk up the stack finds. */
NOINLINE int look(void)
{
	void *addresses[32];
	int nr = backtrace(addresses, 32), i, ours = 0;
	char **names = backtrace_symbols(addresses, nr);

	for (i = 0; i < nr; i++)
		ours += strstr(names[i], "libmcount") != NULL;
	free(names);
	return ours;
}

NOINLINE int deep(int n)
{
	int ours = n > 0 ? deep(n - 1) : look();

	__asm__ volatile("" : "+r"(ours));	/* no loop */
	return ours;
}

NOINLINE int jumper(int n)
{
	if (n == 0)
		longjmp(out, 1);
	n = jumper(n - 1);
	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE int compare(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

NOINLINE void *in_thread(void *arg)
{
	idle();
	return arg;
}

int main(void)
{
	char text[] = "cab";
	pthread_t thread;

	bump();
	idle();
	bump();
	small = 7;
	idle();
	of_a_thread = 1;
	grow();
	qsort(text, 3, 1, compare);
	if (setjmp(out) == 0)
		jumper(3);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", deep(5));
	return of_a_thread - 1;
}
