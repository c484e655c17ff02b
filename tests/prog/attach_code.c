/* SPDX-License-Identifier: MIT */
/*
 * A program whose functions are patched while its threads run: attach_code WHAT... starts threads
 * that call a thousand functions ("many"; ten thousand with MANY defined), loop in one ("loop"),
 * wait in one for the kernel ("wait"), or call a library ("library", with LIBRARY defined).  With
 * "held" another stands in the midst of the first instructions of held() until SIGUSR2: a handler
 * has interrupted it there, and another one, on a stack of its own, that. With STALE defined
 * "parked" is a coroutine there, on an array of its thread's frame, which a handler has taken the
 * processor from. "stale" sleeps in a function with an array that holds what calls have left
 * there: addresses in the midst of all functions' first instructions; "unknown" does, called by
 * code that it has made. "later" sleeps so when it has called functions after SIGUSR2, and says
 * "asleep"; "caught" does so in a handler that is recorded itself.  It ends at SIGTERM with
 * "wrong N": results of functions that are not right.
 */
#include <midst.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef PREPARED
#define LIGHT __attribute__((patchable_function_entry(0)))
#else
#define LIGHT
#endif

#ifdef __clang__
#define CALL __attribute__((noinline))
#else
#define CALL __attribute__((noinline, noclone))
#endif

static _Atomic unsigned long wrong, rounds;
static atomic_int is_over, is_released, is_held, planted_nr;
#ifdef STALE
static __thread int is_coroutine;
static __thread ucontext_t inside, outside;
#else
#define is_coroutine 0
static ucontext_t inside, outside;
#endif

#define ONE(n) CALL long f##n(long x) { return (x ^ 0x##n##5) * 3; }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) \
	       ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) \
		   TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define THOUSAND(n) HUNDRED(n##0) HUNDRED(n##1) HUNDRED(n##2) HUNDRED(n##3) HUNDRED(n##4) \
		    HUNDRED(n##5) HUNDRED(n##6) HUNDRED(n##7) HUNDRED(n##8) HUNDRED(n##9)
#ifdef MANY
#define ALL THOUSAND(0) THOUSAND(1) THOUSAND(2) THOUSAND(3) THOUSAND(4) \
	    THOUSAND(5) THOUSAND(6) THOUSAND(7) THOUSAND(8) THOUSAND(9)
#else
#define ALL THOUSAND(0)
#endif
ALL

static const struct function {
	long (*call)(long x);
	long number;
} functions[] = {
#undef ONE
#define ONE(n) { f##n, 0x##n##5 },
	ALL
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static LIGHT void check(int is_right)
{
	wrong += !is_right;
	rounds++;
}

static LIGHT void *many_main(void *arg)
{
	size_t i;

	while (!is_over) {
		for (i = 0; i < FUNCTIONS && !is_over; i++)
			check(functions[i].call((long)i) == ((long)i ^ functions[i].number) * 3);
	}
	return NULL;
}

/* Entered once, and left at the end. */
CALL long looping(long x)
{
	while (!is_over)
		x = x * 5 + 1;
	return x | 1;
}

CALL long waiting(long x)
{
	while (!is_over)
		usleep(50000);
	return x + 1;
}

CALL long leaf(long x)
{
	return x * 7 + rounds % 1;
}

/* Begins with a short instruction: it keeps a register. */
CALL long held(long x)
{
	return leaf(x) + x;
}

static LIGHT void on_usr1(int signo)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	is_held = 1;
	while (!is_released && !is_over)
		nanosleep(&pause, NULL);
}

/* A step, while held() is called. */
static LIGHT void on_trap(int signo, siginfo_t *info, void *context)
{
	if (is_held || !MIDST_IS_THERE(context, held))
		return;
	if (is_coroutine)
		swapcontext(&inside, &outside);
	else
		raise(SIGUSR1);
	MIDST_GO_ON(context);
}

#ifdef STALE
static LIGHT void step(void)
{
	check(MIDST_CALL(held, 3) == 24);
}

static LIGHT void *parked_main(void *arg)
{
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	char stack[65536];

	is_coroutine = 1;
	sigaction(SIGTRAP, &trap, NULL);
	getcontext(&inside);
	inside.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) };
	inside.uc_link = &outside;
	makecontext(&inside, step, 0);
	swapcontext(&outside, &inside);
	is_held = 1;
	while (!is_released && !is_over)
		usleep(1000);
	swapcontext(&outside, &inside);
	memset(stack, 0, sizeof(stack));	/* what is left there could go on, too */
	check(stack[is_over] == 0);
	while (!is_over)
		check(held(5) == 40);
	return NULL;
}
#else
#define parked_main loop_main
#endif

static LIGHT void *held_main(void *arg)
{
	static char stack[65536];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct sigaction usr1 = { .sa_handler = on_usr1, .sa_flags = SA_ONSTACK };

	sigaltstack(&own, NULL);
	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGTRAP, &trap, NULL);
	check(MIDST_CALL(held, 3) == 24);
	check(is_held);
	while (!is_over)
		check(held(5) == 40);
	return NULL;
}

static LIGHT void *loop_main(void *arg)
{
	check(looping(1) != 0);
	return NULL;
}

static LIGHT void *wait_main(void *arg)
{
	check(waiting(1) == 2);
	return NULL;
}

#ifdef STALE
CALL LIGHT void plant(void)
{
	volatile uintptr_t words[FUNCTIONS];
	size_t i;

	for (i = 0; i < FUNCTIONS; i++)
		words[i] = (uintptr_t)functions[i].call + MIDST_AT;
	check(words[0] != 0);
}

/* Later without libc's frame: machines differ in whether one is left for the call itself. */
static LIGHT void nap(void)
{
	const struct timespec pause = { .tv_nsec = 200000000 };

	if (is_released)
		syscall(SYS_nanosleep, &pause, NULL);
	else
		usleep(200000);
}

/* Its array is larger than what is planted. */
CALL LIGHT void sleep_over(void)
{
	volatile uintptr_t words[FUNCTIONS + 4096];

	__asm__ volatile("" : : "r"(words) : "memory");
	planted_nr++;
	if (is_released)
		puts("asleep");
	fflush(stdout);
	while (!is_over)
		nap();
	__asm__ volatile("" : : "r"(words) : "memory");
}

static LIGHT void *stale_main(void *arg)
{
	plant();
	sleep_over();
	return NULL;
}

static LIGHT void *unknown_main(void *arg)
{
	static const uint8_t code[] = { MIDST_CALLER };
	char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(made != MAP_FAILED);
	memcpy(made, code, sizeof(code));
	__builtin___clear_cache(made, made + sizeof(code));
	mprotect(made, 4096, PROT_READ | PROT_EXEC);
	plant();
	((void (*)(void (*)(void)))made)(sleep_over);
	return NULL;
}

/* The hooks of calls that have returned leave words, too, at many depths. */
CALL long deep(long n)
{
	volatile char room[64];

	room[n % 64] = 0;
	return n == 0 ? room[0] : functions[n].call(n) + deep(n - 1) + room[n % 64];
}

static LIGHT void *later_main(void *arg)
{
	while (!is_released && !is_over)
		usleep(1000);
	check(deep(300) != 0);
	sleep_over();
	return NULL;
}

CALL void handling(int signo)
{
	sleep_over();
	check(signo == SIGPROF);
}

static LIGHT void *caught_main(void *arg)
{
	struct sigaction action = { .sa_handler = handling };

	sigaction(SIGPROF, &action, NULL);
	while (!is_released && !is_over)
		usleep(1000);
	check(deep(300) != 0);
	plant();		/* the kernel leaves what is right below the stack pointer */
	raise(SIGPROF);
	return NULL;
}

#else
#define stale_main loop_main
#define unknown_main loop_main
#define later_main loop_main
#define caught_main loop_main
#endif

#ifdef LIBRARY
long library_call(long x);

static LIGHT void *library_main(void *arg)
{
	while (!is_over)
		check(library_call(3) == (33 ^ 26) && leaf(1) == 7);
	return NULL;
}
#else
#define library_main loop_main
#endif

static const struct work {
	const char *name;
	void *(*main)(void *arg);
} works[] = {
	{ "many", many_main }, { "loop", loop_main }, { "wait", wait_main }, { "held", held_main },
	{ "library", library_main }, { "parked", parked_main }, { "stale", stale_main },
	{ "unknown", unknown_main }, { "later", later_main }, { "caught", caught_main },
};

static LIGHT void on_signal(int signo)
{
	if (signo == SIGTERM)
		is_over = 1;
	is_released = 1;
}

static LIGHT int start(pthread_t *thread, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (strcmp(works[i].name, name) == 0)
			return pthread_create(thread, NULL, works[i].main, NULL) == 0;
	}
	return 0;
}

LIGHT int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t threads[16];
	int i, nr = 0, waits_for_held = 0, waits_for_planted = 0;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (i = 1; i < argc && nr < 16; i++) {
		if (!start(&threads[nr], argv[i]))
			return 2;
		waits_for_held |= strcmp(argv[i], "held") == 0 || strcmp(argv[i], "parked") == 0;
		waits_for_planted += strcmp(argv[i], "stale") == 0 ||
				     strcmp(argv[i], "unknown") == 0;
		nr++;
	}
	while ((waits_for_held && !is_held) || planted_nr < waits_for_planted)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	while (!is_over)
		usleep(1000);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %lu\n", wrong);
	return wrong != 0;
}
