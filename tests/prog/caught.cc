/* SPDX-License-Identifier: MIT */
/*
 * Exceptions caught in the function that calls on: the calls after them stand beside what was left,
 * not inside, also where they use the same stack slot.
 *
 * only: pg-O0 pg-O2 pg-O3-cet pg-O1-nopie fentry-O2 fentry-O0-cet fentry-O3-nopie cyg-O0 cyg-O2
 * expect-replay:
 * main() {
 *   loop() {
 *     thrower();
 *     thrower();
 *     thrower();
 *   }
 *   after();
 *   mixed() {
 *     deep() {
 *       thrower();
 *     }
 *     after();
 *     thrower();
 *     after();
 *     rethrow() {
 *       thrower();
 *     }
 *     after();
 *   }
 * }
 */
#include <cstdio>

#define NOINLINE __attribute__((noinline))

NOINLINE void thrower(int n)
{
	throw n;
}

NOINLINE int after(int n)
{
	asm volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int loop(int n)
{
	int caught = 0;

	for (int i = 0; i < n; i++) {
		try {
			thrower(i);
		} catch (int) {
			caught++;
		}
	}
	return caught;
}

NOINLINE void deep(int n)
{
	thrower(n);
	asm volatile("");
}

NOINLINE void rethrow(int n)
{
	try {
		thrower(n);
	} catch (int) {
		throw;
	}
}

NOINLINE int mixed(int n)
{
	int sum = 0;

	try {
		deep(n);
	} catch (int caught) {
		sum += after(caught);
	}
	try {
		thrower(n);
	} catch (int caught) {
		sum += after(caught);
	}
	try {
		rethrow(n);
	} catch (int caught) {
		sum += after(caught);
	}
	return sum;
}

int main()
{
	int caught = loop(3);

	caught = after(caught);
	caught += mixed(2);
	std::printf("%d\n", caught);
	return 0;
}
