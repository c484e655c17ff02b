/* SPDX-License-Identifier: MIT */
/*
 * thread_local objects: their destructors run after the thread's function, and call traced
 * functions.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-calls: start 20
 * expect-calls: work 41
 * expect-status: 0
 */
#include <cstdio>
#include <pthread.h>

static long sum;

extern "C" __attribute__((noinline)) void work(long n)
{
	__atomic_fetch_add(&sum, n, __ATOMIC_RELAXED);
}

struct counter {
	long n = 0;
	~counter() { work(n); }
};

static thread_local counter mine;

extern "C" __attribute__((noinline)) void *start(void *arg)
{
	mine.n = reinterpret_cast<long>(arg);
	work(1);
	return arg;
}

int main()
{
	pthread_t thread;

	mine.n = 1000;		/* of the first thread: at exit */
	for (long i = 0; i < 20; i++) {
		pthread_create(&thread, nullptr, start, reinterpret_cast<void *>(i));
		pthread_join(thread, nullptr);
	}
	std::printf("%ld\n", sum);
	return 0;
}
