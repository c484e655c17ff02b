/* SPDX-License-Identifier: MIT */
/* Calls without an end, until its recorder is gone. */
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

__attribute__((noinline)) static int work(int n)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	nanosleep(&pause, NULL);
	return leaf(n);
}

int main(void)
{
	pid_t recorder = getppid();
	int n = 0;

	while (getppid() == recorder)
		n += work(1);
	return n == 0;
}
