/* SPDX-License-Identifier: MIT */
/*
 * C++ exceptions through traced frames, from and past destructors, rethrown; cancellation and
 * pthread_exit.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-calls: throw_it 12
 * expect-calls: through 12
 * expect-calls: catch_it 3
 * expect-calls: after 3
 */
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

struct guard {
	const char *name;
	NOINLINE explicit guard(const char *n) : name(n) { }
	NOINLINE ~guard() { std::printf("~%s\n", name); }
};

NOINLINE void throw_it(int n)
{
	guard g("throw_it");

	throw std::runtime_error(n % 2 ? "odd" : "even");
}

NOINLINE void through(int n)
{
	guard g("through");

	try {
		throw_it(n);
	} catch (const std::logic_error &) {
		std::printf("never\n");
	}
}

NOINLINE int catch_it(int n)
{
	int caught = 0;

	for (int i = 0; i < 4; i++) {
		try {
			try {
				through(i + n);
			} catch (const std::exception &) {
				throw;
			}
		} catch (const std::exception &e) {
			std::printf("%s\n", e.what());
			caught++;
		}
	}
	return caught;
}

NOINLINE int after(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE void wait_forever()
{
	guard g("cancelled");

	for (;;)
		pause();
}

static void *cancelled(void *)
{
	wait_forever();
	return nullptr;
}

NOINLINE void leave_thread()
{
	guard g("left");

	pthread_exit(reinterpret_cast<void *>(7));
}

static void *leaver(void *)
{
	leave_thread();
	return nullptr;
}

int main()
{
	pthread_t thread;
	void *ret;

	for (int i = 0; i < 3; i++)
		std::printf("%d\n", after(catch_it(i)));
	pthread_create(&thread, nullptr, cancelled, nullptr);
	usleep(10000);
	pthread_cancel(thread);
	pthread_join(thread, &ret);
	std::printf("%d\n", ret == PTHREAD_CANCELED);
	pthread_create(&thread, nullptr, leaver, nullptr);
	pthread_join(thread, &ret);
	std::printf("%ld\n", reinterpret_cast<long>(ret));
	return 0;
}
