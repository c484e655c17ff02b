/* SPDX-License-Identifier: MIT */
/*
 * What returns in each of the ways that a 32-bit program has, with what it was given; "bits
 * COMMAND..." then runs that, whose programs may be of the other size, and says how it ended
 * (tests/e2e/multilib.py).
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

/* How a function takes arguments otherwise than the machine's C does: the test says it. */
#ifndef IN_REGISTERS
#define IN_REGISTERS
#define POPPING
#endif

struct large {
	int v[8];
};

static jmp_buf start;

static NOINLINE int leaf(int n)
{
	if (n == 99)
		longjmp(start, 1);
	return n + 1;
}

static NOINLINE long long wide(int n)
{
	return (long long)leaf(n) << 33 | 5;
}

static NOINLINE double real(double x)
{
	return leaf((int)x) * 0.5;
}

static NOINLINE long double longer(long double x)
{
	return real((double)x) / 4;
}

/* Where it is to go is passed, and taken off the stack, by the function itself. */
static NOINLINE struct large made(int n)
{
	struct large large = { { leaf(n), n } };

	return large;
}

static NOINLINE IN_REGISTERS int registers(int a, int b, int c)
{
	return leaf(a) * 100 + b * 10 + c;
}

static NOINLINE POPPING int popped(int a, int b, int c, int d)
{
	return leaf(a) * 1000 + b * 100 + c * 10 + d;
}

static NOINLINE int aligned(int n)
{
	_Alignas(64) char room[64];

	memset(room, n, sizeof(room));
	return leaf(room[n]) + ((unsigned long)room % 64 != 0);
}

static NOINLINE void jump(void)
{
	if (setjmp(start) == 0)
		made(99);
}

static void run(char **argv)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("%s ended with %d\n", strrchr(argv[0], '/') + 1, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	jump();
	printf("%lld %g %Lg %d %d\n", wide(3), real(3), longer(3), made(4).v[0], made(5).v[1]);
	printf("%d %d %d\n", registers(1, 2, 3), popped(1, 2, 3, 4), aligned(7));
	fflush(stdout);
	if (argc > 1)
		run(argv + 1);
	return 3;
}
