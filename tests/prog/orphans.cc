// SPDX-License-Identifier: MIT
/*
 * Coroutines that were born on a thread that has ended, its stack and thread-local storage unmapped:
 * another thread resumes them, and they walk their stack and throw through the calls that they
 * brought along.
 *
 * again: --nest-libcall
 * again: --no-libcall -F .
 * cflags: -pthread -rdynamic -fno-inline -fno-optimize-sibling-calls
 * expect-calls: orphan_leaf 16
 * expect-calls: orphan_inner 8
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))

enum { ORPHANS = 8, STACK_BYTES = 128 << 10 };

static ucontext_t parent, orphans[ORPHANS];

// Not what lies below its own functions, nor stubs between.
UNTRACED static void show_stack()
{
	void *addresses[64];
	int nr = backtrace(addresses, 64);

	for (int i = 0; i < nr; i++) {
		Dl_info info;

		if (dladdr(addresses[i], &info) != 0 && info.dli_sname != nullptr &&
		    strncmp(info.dli_sname, "orphan_", 7) == 0)
			printf("%s ", info.dli_sname);
	}
	printf("\n");
}

extern "C" NOINLINE int orphan_leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	if (n > 0)
		throw std::runtime_error("orphaned");
	show_stack();
	return n + 1;
}

extern "C" NOINLINE int orphan_inner(int i)
{
	swapcontext(&orphans[i], &parent);	// from here on in another thread
	return orphan_leaf(0) + orphan_leaf(i + 1);
}

extern "C" NOINLINE void orphan_body(int i)
{
	try {
		printf("%d\n", orphan_inner(i));
	} catch (const std::exception &e) {
		printf("%d: %s\n", i, e.what());
	}
	show_stack();
	setcontext(&parent);
}

NOINLINE void *bear(void *arg)
{
	for (int i = 0; i < ORPHANS; i++)
		swapcontext(&parent, &orphans[i]);
	return arg;
}

int main()
{
	pthread_attr_t attr;
	pthread_t thread;

	for (int i = 0; i < ORPHANS; i++) {
		getcontext(&orphans[i]);
		orphans[i].uc_stack.ss_sp = malloc(STACK_BYTES);
		orphans[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&orphans[i], (void (*)())orphan_body, 1, i);
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 20);	// libc keeps no stack of that size
	pthread_create(&thread, &attr, bear, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < ORPHANS; i++)
		swapcontext(&parent, &orphans[i]);
	return 0;
}
