/* SPDX-License-Identifier: MIT */
/*
 * A thread's first call without a free descriptor: a child of the runtime's asks the recorder for
 * its ring.
 */
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static __attribute__((noinline)) int in_thread(void) { __asm__ volatile(""); return 1; }
static void *worker(void *arg) { return (void *)(long)in_thread(); }
int main(void)
{
	struct rlimit limit = { 3, 3 };
	pthread_t thread;

	close_range(3, ~0u, 0);
	setrlimit(RLIMIT_NOFILE, &limit);
	return pthread_create(&thread, 0, worker, 0) != 0 || pthread_join(thread, 0) != 0;
}
