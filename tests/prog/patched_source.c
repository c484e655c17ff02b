/* SPDX-License-Identifier: MIT */
/* Patchable functions of many kinds. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
static jmp_buf back;

__attribute__((noinline, noclone, cold)) void unlikely(int n)
{
	printf("unlikely %d\n", n);
}

NOINLINE static int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int middle(int n)
{
	if (n == 3)
		unlikely(n);
	return leaf(n) + leaf(n);
}

NOINLINE double floats(double a, float b, int n)
{
	__asm__ volatile("" : "+r"(n));
	return a * b + n;
}

NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	__asm__ volatile("" : "+r"(a));
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

NOINLINE int recursive(int n)
{
	int r = n == 0 ? 0 : recursive(n - 1) + 1;
	__asm__ volatile("" : "+r"(r));
	return r;
}

NOINLINE void jumps(int n)
{
	__asm__ volatile("" : "+r"(n));
	if (n)
		longjmp(back, 1);
}

NOINLINE int sum(int n, ...)
{
	__builtin_va_list ap;
	int r = 0;
	__builtin_va_start(ap, n);
	while (n-- > 0)
		r += __builtin_va_arg(ap, int);
	__builtin_va_end(ap);
	return r;
}

NOINLINE void in_child(void)
{
	__asm__ volatile("");
}

NOINLINE int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	int numbers[] = { 3, 1, 2 };
	int i, status = 0;
	pid_t pid;

	if (argc > 1)
		return puts("again") < 0;
	for (i = 0; i < 5; i++)
		printf("%d\n", middle(i));
	printf("%g %ld %d %d\n", floats(1.5, 2.5f, 3), many(1, 2, 3, 4, 5, 6, 7, 8), recursive(50),
	       sum(3, 4, 5, 6));
	if (setjmp(back) == 0)
		jumps(1);
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		in_child();
		execl("/proc/self/exe", argv[0], "again", (char *)NULL);
	}
	waitpid(pid, &status, 0);
	pid = vfork();
	if (pid == 0)
		_exit(7);
	waitpid(pid, &status, 0);
	printf("%d %d %d\n", numbers[0], numbers[2], WEXITSTATUS(status));
	return 0;
}
