/* SPDX-License-Identifier: MIT */
/*
 * values_cxx REPS - what a call of a method costs, with its arguments and its value, in ticks of the
 * processor's counter: the least and the lower quartile of REPS repetitions of 48 calls.
 *
 *	g++ -O1 -g -pg -mfentry -o values_cxx values_cxx.cc
 *	ftr record --no-libcall -a ./values_cxx 20000
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define TRACED __attribute__((noinline))
#define UNTRACED __attribute__((noinline, no_instrument_function))

struct Account {
	int id;
	double sum;

	TRACED int add(int n, double x)
	{
		id += n;
		sum += x;
		return id;
	}
	TRACED const char *name(const std::string &s, unsigned n)
	{
		id += static_cast<int>(s.size() + n);
		return "a name";
	}
	TRACED bool is(long a, long b) const
	{
		return a + id < b;
	}
};

UNTRACED int main(int argc, char **argv)
{
	int reps = argc == 2 ? atoi(argv[1]) : 0;
	std::vector<double> ticks(static_cast<size_t>(reps > 4 ? reps : 4));
	std::string text("short");
	Account account{ 1, 2 };
	volatile long sink = 0;

	for (double &one : ticks) {
		uint64_t start = __builtin_ia32_rdtsc();

		for (int i = 0; i < 16; i++) {
			sink = sink + account.add(i, 1.5);
			sink = sink + account.name(text, static_cast<unsigned>(i))[0];
			sink = sink + account.is(i, 3);
		}
		one = static_cast<double>(__builtin_ia32_rdtsc() - start) / 48;
	}
	std::sort(ticks.begin(), ticks.end());
	printf("%.1f %.1f\n", ticks[0], ticks[ticks.size() / 4]);
	return 0;
}
