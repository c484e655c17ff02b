/* SPDX-License-Identifier: MIT */
/*
 * Stacks that are not what they look like: a handler's inside main's own, coroutines on pieces of
 * one array before any other call of their thread, a coroutine that returns on a thread that was
 * never traced, or when the thread it began on has ended and another one has taken its place,
 * longjmp to and fro between stacks.
 *
 * cflags: -pthread
 * expect-calls: in_handler 2
 * expect-calls: interrupted 1
 * expect-calls: leaf 105
 * expect-calls: shallow 3
 * expect-calls: newcomer 3
 * expect-calls: bounce 20
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNTRACED __attribute__((no_instrument_function))
#define STACK_BYTES 65536

static ucontext_t here, coroutines[3], wanderer;
static char stacks[5][STACK_BYTES] __attribute__((aligned(16)));

NOINLINE int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

UNTRACED static void coroutine_make(ucontext_t *context, int stack, void (*function)(void), int arg)
{
	getcontext(context);
	context->uc_stack.ss_sp = stacks[stack];
	context->uc_stack.ss_size = STACK_BYTES;
	context->uc_link = &here;
	makecontext(context, function, 1, arg);
}

/*
 * Three coroutines, the one with the lowest stack last; nothing was called before on this thread.
 */
NOINLINE void hop(int i)
{
	leaf(i);
	swapcontext(&coroutines[i], &here);
	leaf(i);
}

NOINLINE void body(int i)
{
	for (int turn = 0; turn < 5; turn++) {
		hop(i);
		leaf(i);
	}
}

UNTRACED static void *coroutines_first(void *arg)
{
	for (int i = 0; i < 3; i++)
		coroutine_make(&coroutines[i], 2 - i, (void (*)(void))body, i);
	for (int turn = 0; turn <= 5; turn++) {
		for (int i = 0; i < 3; i++)
			swapcontext(&here, &coroutines[i]);
	}
	return arg;
}

/* A coroutine that one thread leaves and another one resumes, without a traced call of its own. */
NOINLINE void shallow(void)
{
	swapcontext(&wanderer, &here);
}

NOINLINE void wander(void)
{
	shallow();
	leaf(1);
	swapcontext(&wanderer, &here);
}

UNTRACED static void *resume(void *arg)
{
	swapcontext(&here, &wanderer);
	return arg;
}

NOINLINE void *newcomer(void *arg)
{
	for (int i = 0; i < 3; i++)
		leaf(i);
	return arg;
}

UNTRACED static void in_thread(void *(*function)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, function, NULL);
	pthread_join(thread, NULL);
}

/* A longjmp by a thread that never called anything traced. */
UNTRACED static void *jump_untraced(void *arg)
{
	jmp_buf target;

	if (setjmp(target) == 0)
		longjmp(target, 1);
	return arg;
}

/* Coroutines as some make them: started by makecontext, switched by setjmp and longjmp. */
static jmp_buf main_place, bounce_place;

NOINLINE void bounce(int i)
{
	if (setjmp(bounce_place) == 0)
		longjmp(main_place, 1);
}

NOINLINE void bouncer(void)
{
	for (int i = 0; i < 20; i++)
		bounce(i);
	setcontext(&here);
}

UNTRACED static int bounces(void)
{
	volatile int nr = 0, is_over = 0;

	getcontext(&here);
	if (is_over)
		return nr;
	is_over = 1;
	coroutine_make(&wanderer, 4, bouncer, 0);
	if (setjmp(main_place) == 0)
		setcontext(&wanderer);
	nr++;
	longjmp(bounce_place, 1);
}

NOINLINE void in_handler(int n)
{
	leaf(n);
}

static void on_signal(int sig)
{
	in_handler(sig);
	in_handler(sig);
}

NOINLINE void interrupted(void)
{
	raise(SIGUSR1);
	leaf(1);
}

NOINLINE int alternate(void)
{
	char stack[STACK_BYTES];
	stack_t given = { .ss_sp = stack, .ss_size = sizeof(stack) };
	stack_t none = { .ss_flags = SS_DISABLE };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	sigaltstack(&given, NULL);
	sigaction(SIGUSR1, &action, NULL);
	interrupted();
	return sigaltstack(&none, NULL);
}

UNTRACED int main(void)
{
	in_thread(coroutines_first);
	coroutines_first(NULL);
	for (int i = 0; i < 3; i++) {
		coroutine_make(&wanderer, 3, wander, 0);
		in_thread(resume);
		for (int newcomers = 0; newcomers < i; newcomers++)
			in_thread(newcomer);
		in_thread(resume);
	}
	in_thread(jump_untraced);
	printf("%d\n", bounces());
	printf("%d\n", alternate());
	return 0;
}
