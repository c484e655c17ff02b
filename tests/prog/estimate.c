/* SPDX-License-Identifier: MIT */
/*
 * --estimate-return: return addresses stay, so whatever looks at them finds what it finds untraced;
 * when a call has ended is concluded from where the stack is at the next one.
 *
 * only: pg-O0 pg-O2 pg-O3-cet pg-O1-nopie fentry-O2 fentry-O0-cet fentry-O3-nopie clang-pg-O2
 * record: --no-libcall --estimate-return
 * cflags: -fno-omit-frame-pointer
 * expect-replay:
 * main() {
 *   outer() {
 *     inner() {
 *       leaf();
 *       leaf();
 *     }
 *     inner() {
 *       leaf();
 *       leaf();
 *     }
 *   }
 *   recurse() {
 *     recurse() {
 *       recurse() {
 *         look();
 *       }
 *     }
 *   }
 *   catch() {
 *     thrower() {
 *       jump();
 *     }
 *     leaf();
 *   }
 *   leaf();
 * }
 */
#include <execinfo.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP() __asm__ volatile("" ::: "memory")	/* no tail call */

static jmp_buf target;

int main(void);

NOINLINE void leaf(void)
{
	KEEP();
}

NOINLINE void inner(void)
{
	leaf();
	leaf();
	KEEP();
}

NOINLINE void outer(void)
{
	inner();
	inner();
	KEEP();
}

#define DISTANCE(addr) ((long)((const char *)(addr) - (const char *)main))

NOINLINE void look(void)
{
	void *trace[8];
	int nr = backtrace(trace, 8), i;

	printf("returns to %ld\n", DISTANCE(__builtin_return_address(0)));
	for (i = 0; i < nr && i < 5; i++)		/* beyond is libc */
		printf("%ld\n", DISTANCE(trace[i]));
}

NOINLINE void recurse(int n)
{
	if (n > 1)
		recurse(n - 1);
	else
		look();
	KEEP();
}

NOINLINE void jump(void)
{
	longjmp(target, 1);
}

NOINLINE void thrower(void)
{
	jump();
	KEEP();
}

NOINLINE void catch(void)
{
	if (setjmp(target) == 0)
		thrower();
	leaf();
	KEEP();
}

int main(void)
{
	outer();
	recurse(3);
	catch();
	leaf();
	return 0;
}
