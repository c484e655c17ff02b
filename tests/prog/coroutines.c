/* SPDX-License-Identifier: MIT */
/*
 * Coroutines on stacks of their own, switched to and fro, and one that is resumed by another
 * thread: every call returns where it must, and every call is recorded.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * cflags: -pthread
 * expect-calls: leaf 606
 * expect-calls: other_thread 1
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))
#define STACK_BYTES 65536

static ucontext_t here, coroutines[3], wanderer;
static int turns;

NOINLINE int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE void hop(int i)
{
	leaf(i);
	swapcontext(&coroutines[i], &here);
	leaf(i);
}

NOINLINE void body(int i)
{
	for (int turn = 0; turn < 100; turn++) {
		hop(i);
		turns++;
	}
}

NOINLINE void inner(void)
{
	leaf(1);
	swapcontext(&wanderer, &here);
	leaf(2);
}

NOINLINE void wander(void)
{
	inner();
	leaf(3);
	turns += 1000;
	swapcontext(&wanderer, &here);
}

NOINLINE void *other_thread(void *arg)
{
	leaf(5);
	swapcontext(&here, &wanderer);
	leaf(6);
	return arg;
}

static void coroutine_make(ucontext_t *context, void (*function)(void), int arg)
{
	getcontext(context);
	context->uc_stack.ss_sp = malloc(STACK_BYTES);
	context->uc_stack.ss_size = STACK_BYTES;
	context->uc_link = &here;
	makecontext(context, function, 1, arg);
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		coroutine_make(&coroutines[i], (void (*)(void))body, i);
	for (int turn = 0; turn <= 100; turn++) {
		for (int i = 0; i < 3; i++)
			swapcontext(&here, &coroutines[i]);
	}
	coroutine_make(&wanderer, wander, 0);
	swapcontext(&here, &wanderer);
	leaf(4);
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", turns);
	return 0;
}
