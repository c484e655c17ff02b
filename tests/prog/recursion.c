/* SPDX-License-Identifier: MIT */
/*
 * Deeper than the 10-bit depth field, and 200,000 deep: every call is recorded and none is corrupt.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-calls: down 206002
 * expect-calls: main 2
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int down(int n)
{
	int ret = n == 0 ? 0 : down(n - 1) + 1;

	__asm__ volatile("" : "+r"(ret));
	return ret;
}

int main(int argc, char **argv)
{
	struct rlimit stack = { 256 << 20, 256 << 20 };

	if (argc == 1) {	/* the limit counts from the next image on */
		setrlimit(RLIMIT_STACK, &stack);
		execl("/proc/self/exe", argv[0], "again", (char *)NULL);
		return 1;
	}
	printf("%d\n", down(6000));
	printf("%d\n", down(200000));
	return 0;
}
