/* SPDX-License-Identifier: MIT */
/*
 * Calls of wanted() from functions that are not instrumented, through the C library, on stacks of
 * all kinds.  With SHOW set each prints the stack that backtrace(3) finds: "STACK MODULE+OFFSET
 * ..." of the return addresses, the innermost first.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define TRACED __attribute__((noinline, noclone))
#define BARE TRACED __attribute__((no_instrument_function, patchable_function_entry(0, 0)))
#define FRAMES_MAX 1024
#define STACK_BYTES 262144
#define LEVELS 500

static volatile int sink;
static int is_showing;

BARE static void show(void)
{
	static void *frames[FRAMES_MAX];
	int nr = backtrace(frames, FRAMES_MAX);
	Dl_info info;

	printf("STACK");
	for (int i = 0; i < nr; i++) {
		const char *name;

		if (dladdr(frames[i], &info) == 0)
			break;
		name = strrchr(info.dli_fname, '/');
		printf(" %s+%lx", name != NULL ? name + 1 : info.dli_fname,
		       (unsigned long)((char *)frames[i] - (char *)info.dli_fbase));
	}
	printf("\n");
}

TRACED int wanted(int n)
{
	if (is_showing)
		show();
	sink += n;
	return sink;
}

BARE int bare_inner(int n)
{
	int result = wanted(n);

	sink++;
	return result + 1;
}

BARE int bare_outer(int n)
{
	char pad[72];
	int result;

	memset(pad, n, sizeof(pad));
	sink += pad[n & 7];
	result = bare_inner(n);
	sink++;
	return result + pad[3];
}

TRACED int middle(int n)
{
	int result = bare_outer(n);

	sink++;
	return result;
}

TRACED int compare(const void *a, const void *b)
{
	int left = *(const int *)a, right = *(const int *)b;

	wanted(left);
	sink++;
	return left - right;
}

TRACED int deep(int n)
{
	int result = n == 0 ? bare_outer(1) : deep(n - 1);

	sink++;
	return result + 1;
}

TRACED int tail_last(int n)
{
	int result;

	sink += n;
	result = bare_outer(n);
	sink++;
	return result;
}

TRACED int tail_first(int n)
{
	sink += n;
	return tail_last(n + 1);
}

TRACED void handler(int signal)
{
	middle(signal);
	sink++;
}

TRACED void *thread(void *arg)
{
	middle(5);
	sink++;
	return arg;
}

TRACED void coroutine(void)
{
	middle(7);
	sink++;
}

static void handle(int flags)
{
	static char stack[STACK_BYTES];
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };

	if ((flags & SA_ONSTACK) != 0)
		sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void switch_over(void)
{
	static char stack[STACK_BYTES];
	static ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	swapcontext(&here, &there);
}

TRACED void loop(void)
{
	for (int i = 0; i < 1000; i++)
		middle(i);
}

int main(int argc, char **argv)
{
	int numbers[] = { 3, 1, 2 };
	pthread_t other;

	is_showing = getenv("SHOW") != NULL;
	if (argc > 1) {
		loop();
		kill(getpid(), SIGKILL);
	}
	middle(1);
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	deep(LEVELS);
	tail_first(2);
	handle(0);
	handle(SA_ONSTACK);
	switch_over();
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	return 0;
}
