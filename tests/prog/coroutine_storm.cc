// SPDX-License-Identifier: MIT
/*
 * Random coroutines, on heap, static, mapped and local arrays and inside each other's stacks: they
 * switch by calls and by tail calls, from any depth, throw and catch, jump, take signals, migrate
 * between threads, and are pre-empted out of a signal handler.  Each returns where it must, and
 * what each computes depends on its seed alone.
 *
 * again: --nest-libcall
 * args: 1 2 preempt
 * cflags: -pthread -fno-inline -Wno-unused-result
 */
// Usage: coroutine_storm [FIRST-SEED [SEEDS [preempt]]]
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))
#if defined(__clang__)
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

enum { COROUTINES = 12, STEPS = 150, STACK_BYTES = 96 << 10, NESTED_BYTES = 24 << 10,
       SLOWER_TICKS = 10000 };

struct coroutine {
	ucontext_t self, scheduler;
	uint64_t random, sum;
	volatile bool is_done, can_be_preempted;
	bool makes_child, is_preemptive;
	struct coroutine *child;
};

static coroutine *volatile running;	// of the thread that may be pre-empted
static char static_stack[2][STACK_BYTES] __attribute__((aligned(64)));
static volatile unsigned handled;
static itimerval every;			// of on_tick

NOINLINE uint64_t next(coroutine *co)
{
	co->random = co->random * 6364136223846793005u + 1442695040888963407u;
	return co->random >> 33;
}

NOINLINE uint64_t leaf(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 31 + 7;
}

// The switch is the last thing they do: a compiler makes a jump of it.
NOINLINE int leave_by_jump(coroutine *co)
{
	return swapcontext(&co->self, &co->scheduler);
}

NOINLINE int leave_by_two_jumps(coroutine *co)
{
	return leave_by_jump(co);
}

NOINLINE int leave_by_call(coroutine *co)
{
	int ret = swapcontext(&co->self, &co->scheduler);

	leaf(1);
	return ret;
}

NOINLINE void leave(coroutine *co)
{
	switch (next(co) % 3) {
	case 0:
		leave_by_jump(co);
		break;
	case 1:
		leave_by_two_jumps(co);
		break;
	default:
		leave_by_call(co);
	}
}

NOINLINE uint64_t deep(coroutine *co, unsigned depth)
{
	volatile char room[64];
	uint64_t sum;

	room[depth % sizeof(room)] = (char)depth;
	if (depth == 0) {
		leave(co);
		return leaf(next(co) & 0xff);
	}
	sum = deep(co, depth - 1);
	if (next(co) % 4 == 0)
		leave(co);
	return leaf(sum) + (uint64_t)(unsigned char)room[depth % sizeof(room)];
}

NOINLINE uint64_t thrower(coroutine *co, unsigned depth)
{
	if (depth == 0)
		throw next(co) & 0xff;
	return leaf(thrower(co, depth - 1));
}

NOINLINE uint64_t catcher(coroutine *co)
{
	try {
		return thrower(co, (unsigned)(next(co) % 6));
	} catch (uint64_t n) {
		return leaf(n);
	}
}

NOINLINE void jumper(coroutine *co, jmp_buf buf, unsigned depth)
{
	if (depth == 0)
		longjmp(buf, 1);
	leaf(depth);
	jumper(co, buf, depth - 1);
	leaf(depth);
}

NOINLINE uint64_t landing(coroutine *co)
{
	jmp_buf buf;
	unsigned depth = (unsigned)(next(co) % 6);

	if (setjmp(buf) == 0)
		jumper(co, buf, depth);
	return leaf(depth);
}

NOINLINE uint64_t spin(coroutine *co)
{
	uint64_t sum = 0;

	for (int i = 0; i < 40; i++)
		sum += leaf(next(co) & 0xff);
	return sum;
}

NOINLINE void resume(coroutine *co)
{
	swapcontext(&co->scheduler, &co->self);
}

static void body(unsigned low, unsigned high);

NOINLINE void make(coroutine *co, void *stack, size_t bytes)
{
	uintptr_t address = (uintptr_t)co;

	getcontext(&co->self);
	co->self.uc_stack.ss_sp = stack;
	co->self.uc_stack.ss_size = bytes;
	co->self.uc_link = &co->scheduler;
	makecontext(&co->self, (void (*)(void))body, 2, (unsigned)address,
		    (unsigned)((uint64_t)address >> 32));
}

// A coroutine whose stack is a local array of another's.
NOINLINE uint64_t with_child(coroutine *co)
{
	char stack[NESTED_BYTES] __attribute__((aligned(64)));
	coroutine child = {};
	uint64_t sum = 0;

	child.random = next(co);
	child.child = co;		// no further ones
	make(&child, stack, sizeof(stack));
	// One in eight is dropped half-way.
	for (int i = 0; !child.is_done && (i < 12 || child.random % 8 != 0); i++) {
		resume(&child);
		sum += leaf(child.sum & 0xff);
		if (i % 3 == 0)
			leave(co);
	}
	return sum;
}

NOINLINE void step(coroutine *co)
{
	bool may_wait = !co->is_preemptive;

	switch (next(co) % 8) {
	case 0:
	case 1:
		co->sum += deep(co, (unsigned)(next(co) % 12));
		break;
	case 2:
		if (may_wait)
			co->sum += catcher(co);
		break;
	case 3:
		if (may_wait)
			co->sum += landing(co);
		break;
	case 4:
		if (may_wait)
			raise(SIGUSR1);
		break;
	case 5:
		if (co->makes_child && co->child == NULL)
			co->sum += with_child(co);
		break;
	default:
		co->can_be_preempted = co->is_preemptive;
		co->sum += spin(co);
		co->can_be_preempted = false;
	}
}

static void body(unsigned low, unsigned high)
{
	coroutine *co = (coroutine *)(uintptr_t)((uint64_t)high << 32 | low);

	for (int i = 0; i < (co->child != NULL ? 8 : STEPS); i++)
		step(co);
	co->is_done = true;
}

NOINLINE void on_usr1(int)
{
	handled = handled + leaf(1) % 2;
}

// Pre-emption: out of the handler into the scheduler; whoever resumes the coroutine ends the
// handler.
NOINLINE void on_tick(int)
{
	static volatile unsigned ticks;
	coroutine *co = running;

	ticks = ticks + 1;
	if (ticks % SLOWER_TICKS == 0) {	// else nothing runs where a handler takes longer
		every.it_interval.tv_usec *= 2;
		every.it_value = every.it_interval;
		setitimer(ITIMER_REAL, &every, NULL);
	}
	if (co != NULL && co->can_be_preempted) {
		co->can_be_preempted = false;
		leave_by_call(co);
		co->can_be_preempted = true;
	}
}

static void *stack_for(int i, char *local)
{
	if (i < 2)
		return static_stack[i];
	if (i < 4)
		return local + (i - 2) * STACK_BYTES;
	if (i % 2 == 0)
		return malloc(STACK_BYTES);
	return mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

// All on one thread, in random order, from changing depths of the scheduler.
NOINLINE void schedule(coroutine *all, uint64_t *random, unsigned depth)
{
	coroutine self = {};

	if (depth > 0) {
		schedule(all, random, depth - 1);
		leaf(depth);
		return;
	}
	for (int turn = 0; turn < 20; turn++) {
		self.random = *random;
		coroutine *co = &all[next(&self) % COROUTINES];

		*random = self.random;
		if (co->is_done)
			continue;
		running = co;
		resume(co);
		running = NULL;
	}
}

static void make_all(coroutine *all, char *local, uint64_t seed, bool is_preemptive)
{
	for (int i = 0; i < COROUTINES; i++) {
		all[i] = coroutine();
		all[i].random = seed * 1000003 + (uint64_t)i;
		all[i].makes_child = i % 3 == 0;
		all[i].is_preemptive = is_preemptive;
		make(&all[i], stack_for(i, local), STACK_BYTES);
	}
}

static bool is_all_done(const coroutine *all)
{
	for (int i = 0; i < COROUTINES; i++)
		if (!all[i].is_done)
			return false;
	return true;
}

static uint64_t sum_of(const coroutine *all)
{
	uint64_t sum = 0;

	for (int i = 0; i < COROUTINES; i++)
		sum = sum * 31 + all[i].sum;
	return sum;
}

NOINLINE uint64_t on_one_thread(uint64_t seed, bool is_preemptive)
{
	char local[2 * STACK_BYTES] __attribute__((aligned(64)));
	coroutine all[COROUTINES];
	uint64_t random = seed;

	make_all(all, local, seed, is_preemptive);
	while (!is_all_done(all))
		schedule(all, &random, (unsigned)(random >> 40) % 9);
	return sum_of(all);
}

static struct {
	pthread_mutex_t lock;
	coroutine *all;
	bool is_taken[COROUTINES];
} pool;

NOINLINE void *worker(void *arg)
{
	uint64_t random = (uintptr_t)arg;

	for (;;) {
		coroutine self = {}, *co = NULL;

		self.random = random;
		pthread_mutex_lock(&pool.lock);
		unsigned first = next(&self) % COROUTINES, i, at = 0;
		bool is_any = false;
		for (i = 0; i < COROUTINES; i++) {
			at = (first + i) % COROUTINES;
			is_any |= !pool.all[at].is_done;
			if (!pool.is_taken[at] && !pool.all[at].is_done) {
				co = &pool.all[at];
				pool.is_taken[at] = true;
				break;
			}
		}
		pthread_mutex_unlock(&pool.lock);
		random = self.random;
		if (co != NULL) {
			resume(co);
			leaf(2);
			pthread_mutex_lock(&pool.lock);
			pool.is_taken[at] = false;
			pthread_mutex_unlock(&pool.lock);
		}
		if (!is_any)
			return NULL;
	}
}

NOINLINE uint64_t on_threads(uint64_t seed)
{
	char local[2 * STACK_BYTES] __attribute__((aligned(64)));
	coroutine all[COROUTINES];
	pthread_t threads[3];

	make_all(all, local, seed, false);
	pool.all = all;
	pthread_mutex_init(&pool.lock, NULL);
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
	for (pthread_t thread : threads)
		pthread_join(thread, NULL);
	return sum_of(all);
}

static void catch_signals(void)
{
	static char signal_stack[64 << 10];
	stack_t stack = {};
	struct sigaction usr1 = {}, tick = {};

	stack.ss_sp = signal_stack;
	stack.ss_size = sizeof(signal_stack);
	sigaltstack(&stack, NULL);
	usr1.sa_handler = on_usr1;
	usr1.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &usr1, NULL);
	tick.sa_handler = on_tick;	// on the coroutine's own stack
	tick.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &tick, NULL);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t nr = argc > 2 ? strtoull(argv[2], NULL, 0) : 100;
	struct itimerval none = {};

	setvbuf(stdout, NULL, _IOLBF, 0);
	catch_signals();
	for (uint64_t seed = first; seed < first + nr; seed++)
		printf("%llu\n", (unsigned long long)on_one_thread(seed, false));
	// To other threads an emulator's exchange without a lock is several steps.
	for (uint64_t seed = first; seed < first + nr && getenv("FTR_TEST_EMULATED") == NULL; seed++)
		printf("%llu\n", (unsigned long long)on_threads(seed));
	if (argc <= 3)
		return 0;
	every.it_interval.tv_usec = every.it_value.tv_usec = 200;
	setitimer(ITIMER_REAL, &every, NULL);
	for (uint64_t seed = first; seed < first + nr; seed++)
		printf("%llu\n", (unsigned long long)on_one_thread(seed, true));
	setitimer(ITIMER_REAL, &none, NULL);
	return 0;
}
