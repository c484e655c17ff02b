// SPDX-License-Identifier: MIT
// Threads that throw and catch all the time, while somebody attaches and leaves; at SIGTERM it says
// "wrong N": exceptions that were not caught where they must be, or not all of whose frames were left.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <thread>

static std::atomic<bool> is_over;
static std::atomic<long> wrong, rounds;
static thread_local int left;

struct Guard {
	__attribute__((noinline)) ~Guard() { left++; }
};

__attribute__((noinline)) int thrower(int n)
{
	Guard guard;

	if (n == 0)
		throw std::runtime_error("thrown");
	return thrower(n - 1) + 1;
}

__attribute__((noinline)) int catcher(int n)
{
	left = 0;
	try {
		return thrower(n);
	} catch (const std::runtime_error &error) {
		return error.what()[0] == 't' ? left - n - 1 : -1;
	}
}

// It rests for as long as it throws, and 2 ms more: a slow machine must find it outside of the
// unwinder, too.
static void throw_all(int n)
{
	using clock = std::chrono::steady_clock;

	while (!is_over) {
		const clock::time_point start = clock::now();

		for (int i = 0; i < 20; i++, rounds++)
			wrong += catcher(n) != 0;
		std::this_thread::sleep_for(clock::now() - start + std::chrono::milliseconds(2));
	}
}

static void on_term(int signo)
{
	is_over = true;
}

int main()
{
	std::signal(SIGTERM, on_term);
	std::thread one(throw_all, 3), other(throw_all, 12);

	std::puts("ready");
	std::fflush(stdout);
	throw_all(7);
	one.join();
	other.join();
	std::printf("wrong %ld\n", wrong.load());
	return wrong != 0 || rounds == 0;
}
