// SPDX-License-Identifier: MIT
// throw_storm SEED: exceptions at random through calls at random, and the number of calls of each
// function.  Caught near and far (also beyond what is put back at once), out of destructors' calls,
// rethrown, carried to another thread, interrupted by a handler that makes calls, too.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <sys/time.h>
#include <thread>

#define NOINLINE __attribute__((noinline))
#define UNTRACED __attribute__((noinline, no_instrument_function))

enum what { DESCEND, CATCH, CLEAN, RETHROW, QUIET, LEAF, CALLS };
static const char *const names[CALLS] = { "descend", "catching", "cleaning", "rethrowing", "quiet",
					  "leaf" };
static thread_local unsigned long calls[CALLS];
static thread_local unsigned random_state;
static int wrong;

UNTRACED static unsigned chance(unsigned nr)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 16) % nr;
}

struct thrown {
	int to;			// the depth that catches it
};

int descend(int depth, int until);

NOINLINE int leaf(int n)
{
	calls[LEAF]++;
	asm volatile("" : "+r"(n));
	return n;
}

NOINLINE int quiet(int n)
{
	calls[QUIET]++;
	try {
		if (n % 2)
			throw std::runtime_error("quiet");
	} catch (const std::exception &) {
		n = leaf(n);
	}
	return n;
}

struct guard {
	int depth;
	UNTRACED ~guard() { quiet(depth); }
};

NOINLINE int cleaning(int depth, int until)
{
	guard g = { depth };

	calls[CLEAN]++;
	return descend(depth + 1, until) + g.depth;
}

NOINLINE int catching(int depth, int until)
{
	int ret;

	calls[CATCH]++;
	try {
		ret = descend(depth + 1, until);
	} catch (const thrown &t) {
		if (t.to < depth)
			throw;
		ret = leaf(depth) + quiet(depth);
	}
	return ret + leaf(1);
}

NOINLINE int rethrowing(int depth, int until)
{
	std::exception_ptr held;

	calls[RETHROW]++;
	try {
		return descend(depth + 1, until) + leaf(2);
	} catch (...) {
		held = std::current_exception();
	}
	quiet(depth);
	std::rethrow_exception(held);
}

NOINLINE int descend(int depth, int until)
{
	int ret;

	calls[DESCEND]++;
	if (depth >= until) {
		if (chance(4) == 0)
			return leaf(depth);
		throw thrown { (int)chance((unsigned)depth) };
	}
	switch (chance(8)) {
	case 0:
		ret = catching(depth, until);
		break;
	case 1:
		ret = cleaning(depth, until);
		break;
	case 2:
		ret = rethrowing(depth, until);
		break;
	default:
		ret = descend(depth + 1, until);
	}
	asm volatile("" : "+r"(ret));
	return ret + 1;
}

NOINLINE int in_handler(int n)
{
	if (n > 0)
		n = in_handler(n - 1);
	asm volatile("" : "+r"(n));
	return n + 1;
}

UNTRACED static void on_timer(int)
{
	in_handler(3);
}

UNTRACED static void storm(unsigned seed)
{
	random_state = seed;
	for (int i = 0; i < 150; i++) {
		int until = i % 10 == 0 ? 600 : 5 + (int)chance(40), before = i;

		try {
			descend(0, until);
		} catch (const thrown &) {
			leaf(i);
		}
		if (i != before)
			wrong++;
	}
}

UNTRACED static void add(const unsigned long *more, unsigned long *sum)
{
	for (int i = 0; i < CALLS; i++)
		sum[i] += more[i];
}

UNTRACED int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)std::atoi(argv[1]) : 1;
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = {};
	unsigned long sum[CALLS] = {};
	std::exception_ptr carried;

	std::signal(SIGALRM, on_timer);
	setitimer(ITIMER_REAL, &every, nullptr);
	std::thread other([&] {
		storm(seed + 1);
		try {
			descend(0, 30);
		} catch (...) {
			carried = std::current_exception();
		}
		add(calls, sum);
	});
	other.join();
	storm(seed);
	try {
		if (carried)
			std::rethrow_exception(carried);
	} catch (const thrown &) {
		leaf(0);
	}
	setitimer(ITIMER_REAL, &never, nullptr);
	add(calls, sum);
	for (int i = 0; i < CALLS; i++)
		std::printf("%s %lu\n", names[i], sum[i]);
	return wrong;
}
