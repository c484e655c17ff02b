/* SPDX-License-Identifier: MIT */
/*
 * The traced half of the benchmark.
 *
 *	work time fib|chain|mix|threads|labs REPS	times itself: calls, ns per call, CPU
 *							of the process
 *	work count fib|chain|mix|threads|labs CALLS	makes at least that many calls
 *	work empty				does nothing
 *
 * A repetition lasts about 0.1 ms of thread CPU time, so that most of them fit between two
 * interrupts; the fastest one counts.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRACED __attribute__((noinline, noclone))
#define UNTRACED __attribute__((noinline, no_instrument_function))
#define REP_NS 100000u

static volatile unsigned sink;

/* fib: recursion */

static TRACED unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* chain: ten calls deep */

static TRACED unsigned chain10(unsigned n) { return n * 3 + 1; }
static TRACED unsigned chain9(unsigned n) { return chain10(n) + 9; }
static TRACED unsigned chain8(unsigned n) { return chain9(n) + 8; }
static TRACED unsigned chain7(unsigned n) { return chain8(n) + 7; }
static TRACED unsigned chain6(unsigned n) { return chain7(n) + 6; }
static TRACED unsigned chain5(unsigned n) { return chain6(n) + 5; }
static TRACED unsigned chain4(unsigned n) { return chain5(n) + 4; }
static TRACED unsigned chain3(unsigned n) { return chain4(n) + 3; }
static TRACED unsigned chain2(unsigned n) { return chain3(n) + 2; }
static TRACED unsigned chain1(unsigned n) { return chain2(n) + 1; }

/* mix: 64 functions in pseudo-random order */

#define MIX8(m, a) m(a##0) m(a##1) m(a##2) m(a##3) m(a##4) m(a##5) m(a##6) m(a##7)
#define MIX64(m) \
	MIX8(m, 0) MIX8(m, 1) MIX8(m, 2) MIX8(m, 3) MIX8(m, 4) MIX8(m, 5) MIX8(m, 6) MIX8(m, 7)
#define MIX_DEFINE(n) static TRACED unsigned mix##n(unsigned x) { return (x ^ 0##n) * 5 + 0##n; }
#define MIX_NAME(n) mix##n,

MIX64(MIX_DEFINE)
static unsigned (*const mix_functions[64])(unsigned) = { MIX64(MIX_NAME) };

/* labs: a library function that does next to nothing (compiled with -fno-builtin-labs) */

static UNTRACED unsigned labs_unit(void)
{
	long x = (long)sink;

	for (int i = 0; i < 512; i++)
		x += labs(x) & 1;
	sink = (unsigned)x;
	return 512;
}

/* One unit of each workload; its number of calls. */

static UNTRACED unsigned fib_unit(void)
{
	sink = fib(12);
	return 465;
}

static UNTRACED unsigned chain_unit(void)
{
	unsigned x = sink;

	for (int i = 0; i < 40; i++)
		x += chain1(x);
	sink = x;
	return 400;
}

static UNTRACED unsigned mix_unit(void)
{
	unsigned x = sink, random = 12345;

	for (int i = 0; i < 512; i++) {
		random = random * 1103515245u + 12345u;
		x += mix_functions[random >> 26](x);
	}
	sink = x;
	return 512;
}

typedef unsigned unit_fn(void);

static const struct workload {
	const char *name;
	unit_fn *unit;
	unsigned threads;
} workloads[] = {
	{ "fib", fib_unit, 1 },
	{ "chain", chain_unit, 1 },
	{ "mix", mix_unit, 1 },
	{ "threads", fib_unit, 2 },
	{ "labs", labs_unit, 1 },
};

struct job {
	unit_fn *unit;
	unsigned long reps;		/* time */
	unsigned long calls_wanted;	/* count */
	unsigned long calls;		/* result: made in all */
	double best_ns;			/* result: per call */
};

static UNTRACED uint64_t cpu_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One repetition of @units units: its ns per call. */
static UNTRACED double repeat(struct job *job, unsigned units, uint64_t *elapsed)
{
	uint64_t start = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	unsigned calls = 0;

	for (unsigned i = 0; i < units; i++)
		calls += job->unit();
	*elapsed = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	job->calls += calls;
	return (double)*elapsed / calls;
}

static UNTRACED unsigned calibrate(struct job *job)
{
	uint64_t elapsed, least;
	unsigned units;

	for (units = 1; units < 1u << 20; units *= 2) {
		least = UINT64_MAX;
		for (int i = 0; i < 3; i++) {
			repeat(job, units, &elapsed);
			least = elapsed < least ? elapsed : least;
		}
		if (least >= REP_NS * 2 / 3)
			break;
	}
	return units;
}

static UNTRACED void *run_job(void *arg)
{
	struct job *job = arg;
	unsigned units = job->reps > 0 ? calibrate(job) : 0;
	uint64_t elapsed;
	double ns;

	job->best_ns = 1e9;
	for (unsigned long i = 0; i < job->reps; i++) {
		ns = repeat(job, units, &elapsed);
		if (ns < job->best_ns)
			job->best_ns = ns;
	}
	while (job->calls < job->calls_wanted)
		job->calls += job->unit();
	return NULL;
}

static UNTRACED int run(const struct workload *load, const struct job *prototype)
{
	struct job jobs[2] = { *prototype, *prototype };
	unsigned long calls = 0;
	pthread_t thread;
	double ns = 0;

	for (unsigned i = 0; i < 2; i++)
		jobs[i].calls_wanted /= load->threads;
	if (load->threads == 2 && pthread_create(&thread, NULL, run_job, &jobs[1]) != 0)
		return 1;
	run_job(&jobs[0]);
	if (load->threads == 2)
		pthread_join(thread, NULL);
	for (unsigned i = 0; i < load->threads; i++) {
		calls += jobs[i].calls;
		ns += jobs[i].best_ns / load->threads;
	}
	printf("calls=%lu ns=%.3f cpu_ns=%llu\n", calls, ns,
	       (unsigned long long)cpu_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}

UNTRACED int main(int argc, char **argv)
{
	struct job job = { 0 };

	if (argc == 2 && strcmp(argv[1], "empty") == 0)
		return 0;
	if (argc != 4)
		return 2;
	if (strcmp(argv[1], "time") == 0)
		job.reps = strtoul(argv[3], NULL, 10);
	else
		job.calls_wanted = strtoul(argv[3], NULL, 10);
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		if (strcmp(argv[2], workloads[i].name) == 0) {
			job.unit = workloads[i].unit;
			return run(&workloads[i], &job);
		}
	}
	return 2;
}
