/* SPDX-License-Identifier: MIT */
/* A tree of calls that tests/e2e/filters.py chooses from.  Arguments: threads, jump, fork. */
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf out;

NOINLINE int leaf(int n)
{
	sink += n;
	return n;
}

NOINLINE int mid(int n)
{
	int sum = 0;

	while (n > 0)
		sum += leaf(n--);
	return sum;
}

NOINLINE int slow(int n)
{
	usleep(20000);
	return mid(n) + 1;
}

NOINLINE int top(int n)
{
	return mid(n) + slow(n);
}

NOINLINE int again(int n)
{
	return n > 0 ? again(n - 1) + leaf(1) : 0;
}

NOINLINE int jumps(int n)
{
	if (n == 0)
		longjmp(out, 1);
	n = jumps(n - 1);
	__asm__ volatile("" : "+r"(n));		/* no loop */
	return n + 1;
}

NOINLINE int splits(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(leaf(0));
	waitpid(pid, &status, 0);
	return status;
}

NOINLINE void *run(void *arg)
{
	sink += top(2) + again(2);
	return arg;
}

int main(int argc, char **argv)
{
	char what = argc > 1 ? argv[1][0] : '\0';
	pthread_t thread;

	if (what == 'j') {
		if (setjmp(out) == 0)
			sink += jumps(3);
		sink += mid(1);
		return 0;
	}
	if (what == 'f')
		return splits() + (mid(1) == 0);
	if (what == 't')
		pthread_create(&thread, NULL, run, NULL);
	run(NULL);
	if (what == 't')
		pthread_join(thread, NULL);
	return 0;
}
