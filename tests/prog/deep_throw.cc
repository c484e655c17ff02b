/* SPDX-License-Identifier: MIT */
/*
 * Exceptions through twenty thousand calls, and rethrown half-way: unwinding asks for the true
 * address of each, twice.
 *
 * only: pg-O0 pg-O2 fentry-O2 cyg-O2 clang-pg-O2
 * expect-calls: down 60000
 * expect-calls: half 3
 * expect-calls: after 3
 */
#include <cstdio>

#define NOINLINE __attribute__((noinline))

static const int frames = 20000;

int down(int n);

NOINLINE int half(int n)
{
	try {
		return down(n - 1) + 1;
	} catch (int) {
		throw;
	}
}

NOINLINE int down(int n)
{
	int ret;

	if (n == 0)
		throw n;
	ret = n == frames / 2 ? half(n) : down(n - 1);
	asm volatile("" : "+r"(ret));
	return ret + 1;
}

NOINLINE int after(int n)
{
	asm volatile("" : "+r"(n));
	return n + 1;
}

int main()
{
	int caught = 0;

	for (int i = 0; i < 3; i++) {
		try {
			down(frames - 1);
		} catch (int) {
			caught = after(caught);
		}
	}
	std::printf("%d\n", caught);
	return 0;
}
