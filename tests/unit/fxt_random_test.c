/* SPDX-License-Identifier: MIT */
/* Random streams written as FXT and read again are the same; written once more, byte for byte. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"
#include "utils/trace/event_kind.h"

#define TASKS 5
#define FUNCS 12
#define DEPTH_MAX 40
#define STREAMS 60
#define STEPS 3000

struct gen {
	uint64_t seed;
	struct ftr_trace *trace;
	struct ftr_task *tasks[TASKS];
	const struct ftr_func *funcs[FUNCS];
	const struct ftr_func *stack[TASKS][DEPTH_MAX];
	uint32_t depth[TASKS];
	struct ftr_strbuf text[TASKS];
	uint64_t time_ns;
	struct writing out;
	uint8_t bytes[2048];
	struct ftr_payload payload;
	struct ftr_argspec *spec;
	uint64_t flow;		/* the last one that began */
	bool is_flowing;
};

static uint32_t rnd(struct gen *g, uint32_t below)
{
	g->seed = g->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((g->seed >> 33) % below);
}

static const struct ftr_arg arg_kinds[] = {
	{ .format = FTR_ARG_AUTO, .size = 8 },
	{ .format = FTR_ARG_AUTO, .size = 4 },
	{ .format = FTR_ARG_SIGNED, .size = 4 },
	{ .format = FTR_ARG_SIGNED, .size = 8 },
	{ .format = FTR_ARG_UNSIGNED, .size = 2 },
	{ .format = FTR_ARG_UNSIGNED, .size = 8 },
	{ .format = FTR_ARG_HEX, .size = 8 },
	{ .format = FTR_ARG_OCTAL, .size = 4 },
	{ .format = FTR_ARG_STRING },
	{ .format = FTR_ARG_STRING, .type_name = "string" },
	{ .format = FTR_ARG_CHAR, .size = 1 },
	{ .format = FTR_ARG_FLOAT, .size = 8, .is_float_reg = true },
	{ .format = FTR_ARG_FLOAT, .size = 4 },
	{ .format = FTR_ARG_POINTER, .size = 8 },
	{ .format = FTR_ARG_STRUCT, .size = 12, .type_name = "point" },
	{ .format = FTR_ARG_BOOL, .size = 4, .name = "is_ready" },
	{ .format = FTR_ARG_KOID, .size = 8, .name = "channel" },
	{ .format = FTR_ARG_NULL, .size = 4, .name = "nothing" },
	{ .format = FTR_ARG_STRING, .name = "query" },
	{ .format = FTR_ARG_WORD, .name = "flags" },
	{ .format = FTR_ARG_WORD },
	{ .format = FTR_ARG_SIGNED, .size = 8, .name = "arg" },
};

#define ARG_KINDS (sizeof(arg_kinds) / sizeof(arg_kinds[0]))

static unsigned put_string(struct gen *g, uint8_t *p, bool is_word)
{
	static const char *const samples[] = { "", "a", "hello", "k\xc3\xa4se", "\xe2\x82\xac 100",
					       "a longer text of more than eight bytes" };
	const char *s = samples[is_word + rnd(g, sizeof(samples) / sizeof(samples[0]) - is_word)];
	uint16_t len = (uint16_t)strlen(s);

	memcpy(p, &len, sizeof(len));
	memcpy(p + 2, s, len);
	return 2u + len;
}

static unsigned put_number(struct gen *g, uint8_t *p, const struct ftr_arg *arg)
{
	static const int64_t samples[] = { 0,         1,         -1,         42,
					   -70000,    100000,    100001,     -100001,
					   INT32_MAX, INT32_MIN, UINT32_MAX, 0x7fffdeadbeef,
					   INT64_MIN, INT64_MAX };
	int64_t value = samples[rnd(g, sizeof(samples) / sizeof(samples[0]))];
	double real = (double)(int32_t)value / 8;
	float narrow = (float)real;

	if (arg->format != FTR_ARG_FLOAT)
		memcpy(p, &value, arg->size > 8 ? 8 : arg->size);
	else if (arg->size == 8)
		memcpy(p, &real, 8);
	else
		memcpy(p, &narrow, 4);
	return arg->size;
}

/* Up to 40 arguments: more than a record holds. */
static const struct ftr_payload *make_payload(struct gen *g)
{
	unsigned nr = rnd(g, 10) == 0 ? 1 + rnd(g, 40) : 1 + rnd(g, 4);
	unsigned len = 0;

	memset(g->bytes, 0, sizeof(g->bytes));
	g->spec->nr = (uint16_t)nr;
	for (unsigned i = 0; i < nr; i++) {
		struct ftr_arg *arg = &g->spec->args[i];

		*arg = arg_kinds[rnd(g, ARG_KINDS)];
		arg->index = (uint8_t)(i + 1);
		if (arg->format == FTR_ARG_STRING || arg->format == FTR_ARG_WORD)
			len += put_string(g, g->bytes + len, arg->format == FTR_ARG_WORD);
		else
			len += put_number(g, g->bytes + len, arg);
		len = (len + 3) / 4 * 4;
	}
	g->payload = (struct ftr_payload){ .data = g->bytes, .spec = g->spec,
					   .len = (uint16_t)((len + 7) / 8 * 8) };
	return &g->payload;
}

static void emit(struct gen *g, struct ftr_event *ev, unsigned task)
{
	ev->time_ns = g->time_ns;
	ev->task = g->tasks[task];
	describe_event(&g->text[task], g->trace, ev);
	writing_event(&g->out, ev);
}

static void step_entry(struct gen *g, unsigned task)
{
	struct ftr_event ev = { .type = FTR_EVENT_ENTRY, .depth = g->depth[task] };

	if (g->depth[task] == DEPTH_MAX)
		return;
	ev.call.func = g->funcs[rnd(g, FUNCS)];
	g->stack[task][g->depth[task]++] = ev.call.func;
	if (rnd(g, 4) == 0)
		ev.payload = make_payload(g);
	emit(g, &ev, task);
}

static void step_exit(struct gen *g, unsigned task)
{
	struct ftr_event ev = { .type = FTR_EVENT_EXIT };

	if (g->depth[task] == 0)
		return;
	ev.depth = --g->depth[task];
	ev.call.func = g->stack[task][ev.depth];
	if (rnd(g, 6) == 0)
		ev.payload = make_payload(g);
	emit(g, &ev, task);
}

static const struct {
	const char *name;
	uint64_t id;
	uint8_t kind, data;	/* bytes of raw data; 1 = arguments */
} points[] = {
	{ "something", 0, FTR_POINT_INSTANT, 0 },
	{ "sdt:probe", 0, FTR_POINT_INSTANT, 1 },
	{ "read:proc/statm", 100001, FTR_POINT_INSTANT, 24 },
	{ "diff:page-fault", 100004, FTR_POINT_INSTANT, 16 },
	{ "watch:cpu", 100011, FTR_POINT_INSTANT, 4 },
	{ "linux:sched-out", FTR_EVENT_ID_SCHED_OUT, FTR_POINT_INSTANT, 0 },
	{ "linux:sched-in", FTR_EVENT_ID_SCHED_IN, FTR_POINT_INSTANT, 0 },
	{ "extern-data", FTR_EVENT_ID_EXTERN, FTR_POINT_INSTANT, 5 },
	{ "sched:sched_switch", 316, FTR_POINT_INSTANT, 24 },
	{ "syscalls:sys_enter_read", 99999, FTR_POINT_INSTANT, 8 },
	{ "irq:tasklet_entry", 1, FTR_POINT_INSTANT, 0 },
	{ "gfx:frames", 77, FTR_POINT_COUNTER, 1 },
	{ "io:request", 5, FTR_POINT_ASYNC_BEGIN, 1 },
	{ "io:request", 5, FTR_POINT_ASYNC_INSTANT, 0 },
	{ "io:request", 5, FTR_POINT_ASYNC_END, 0 },
	{ "io:arrow", 0, FTR_POINT_FLOW_BEGIN, 0 },
	{ "io:arrow", 0, FTR_POINT_FLOW_STEP, 1 },
	{ "io:arrow", 0, FTR_POINT_FLOW_END, 0 },
};

/* A flow goes on or ends only after it began, and its id is used once. */
static bool flow_fits(struct gen *g, struct ftr_event *ev)
{
	if (ev->point.kind < FTR_POINT_FLOW_BEGIN)
		return true;
	if (g->is_flowing != (ev->point.kind != FTR_POINT_FLOW_BEGIN))
		return false;
	g->flow += ev->point.kind == FTR_POINT_FLOW_BEGIN;
	g->is_flowing = ev->point.kind != FTR_POINT_FLOW_END;
	ev->point.id = g->flow;
	return true;
}

/* The id that is expected back of a counter is its own, of uftrace's the event's. */
static void step_point(struct gen *g, unsigned task)
{
	static const uint16_t cpus[] = { 0, 1, 200, UINT16_MAX };
	unsigned i = rnd(g, sizeof(points) / sizeof(points[0]));
	struct ftr_event ev = { .type = FTR_EVENT_POINT, .point.name = points[i].name,
				.point.id = points[i].id, .point.kind = points[i].kind };
	struct ftr_payload raw = { .data = (const uint8_t *)"abcdefghijklmnopqrstuvwx",
				   .len = points[i].data };

	if (!flow_fits(g, &ev))
		return;
	if (ftr_event_is_tracepoint(&ev))
		ev.point.cpu_nr = cpus[rnd(g, sizeof(cpus) / sizeof(cpus[0]))];
	if (points[i].data == 1)
		ev.payload = make_payload(g);
	else if (points[i].data > 1)
		ev.payload = &raw;
	ev.time_ns = g->time_ns;
	ev.task = g->tasks[task];
	writing_event(&g->out, &ev);
	describe_event(&g->text[task], g->trace, &ev);
}

static void step_other(struct gen *g, unsigned task)
{
	struct ftr_event ev = { .type = FTR_EVENT_LOST, .lost.nr = rnd(g, 1000) };

	ev.lost.source = (uint8_t)rnd(g, FTR_LOST_SOURCES);
	if (ev.lost.source != FTR_LOST_OF_TASK)
		ev.lost.cpu_nr = (uint16_t)(1 + rnd(g, 4));
	if (rnd(g, 3) == 0) {
		ev = (struct ftr_event){ .type = FTR_EVENT_MESSAGE, .message.text = "read it" };
	} else if (rnd(g, 2) == 0) {
		ev = (struct ftr_event){ .type = FTR_EVENT_FORK };
		ev.fork.peer = g->tasks[(task + 1) % TASKS];
	}
	emit(g, &ev, task);
}

static void step(struct gen *g)
{
	unsigned task = rnd(g, TASKS);
	uint32_t what = rnd(g, 100);

	g->time_ns += rnd(g, 3) == 0 ? 0 : rnd(g, 50);
	if (what < 45)
		step_entry(g, task);
	else if (what < 90)
		step_exit(g, task);
	else if (what < 98)
		step_point(g, task);
	else
		step_other(g, task);
}

static void gen_begin(struct gen *g, uint64_t seed)
{
	static const struct ftr_symbol symbols[FUNCS] = {
		[2] = { 0x1100, 16, 'T', "_Z1fi" },
		[5] = { 0x1200, 16, 'T', "_Z1fd" },
		[8] = { UINT64_C(0xffffffff81234560), 96, 'K', "do_syscall_64" },
		[11] = { 0x1400, 24, 'P', "malloc" },
	};

	memset(g, 0, sizeof(*g));
	g->seed = seed;
	g->spec = calloc(1, sizeof(*g->spec) + 64 * sizeof(g->spec->args[0]));
	g->trace = ftr_trace_new("made", NULL);
	assert_non_null(g->spec);
	assert_non_null(g->trace);
	for (unsigned i = 0; i < TASKS; i++) {
		g->tasks[i] = make_task(g->trace, i < 3 ? 100 : 200, 100 + (int)i,
					i < 3 ? "main" : "w");
		ftr_strbuf_init(&g->text[i]);
	}
	for (unsigned i = 0; i < FUNCS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "func%u", i);
		g->funcs[i] = i % 3 == 2 ?
				      make_symbol(g->trace, i == 8 ? FTR_KERNEL_PATH : "/bin/prog",
						  &symbols[i]) :
				      make_func(g->trace, i % 3 == 0 ? NULL : "prog", name);
	}
	g->time_ns = 1000 + rnd(g, 1000);
	writing_begin(&g->out, g->trace, "fxt");
}

static void gen_end(struct gen *g)
{
	for (unsigned i = 0; i < TASKS; i++)
		ftr_strbuf_fini(&g->text[i]);
	writing_free(&g->out);
	ftr_trace_free(g->trace);
	free(g->spec);
}

static void compare(struct gen *g, const struct ftr_strbuf *read)
{
	for (unsigned i = 0; i < TASKS; i++)
		assert_string_equal(ftr_strbuf_str(&g->text[i]), ftr_strbuf_str(&read[i]));
}

/*
 * With an event at its end that is earlier than all others, the file is read by an index and not in
 * the order in which it lies: the rest must come out the same.
 */
static void compare_by_index(const struct writing *w, const struct ftr_sort_sizes *sizes,
			     const struct ftr_strbuf *expected)
{
	/* instant:            type 4 | size 2 | event 0 | thread 1; no category or name; time */
	static const uint64_t early[] = { UINT64_C(0x0000000001000024), 0 };
	size_t len = w->out.len + sizeof(early);
	char *bytes = malloc(len);
	struct ftr_strbuf read[TASKS];
	unsigned with_early = 0;

	assert_non_null(bytes);
	memcpy(bytes, w->out.buf, w->out.len);
	memcpy(bytes + w->out.len, early, sizeof(early));
	for (unsigned i = 0; i < TASKS; i++)
		ftr_strbuf_init(&read[i]);
	assert_int_equal(reading_sorted(sizes, bytes, len, read, TASKS, NULL), 0);
	for (unsigned i = 0; i < TASKS; i++) {
		const char *text = ftr_strbuf_str(&read[i]);

		if (strcmp(text, ftr_strbuf_str(&expected[i])) != 0) {
			with_early++;
			text = strchr(text, '\n');
			assert_non_null(text);
			assert_string_equal(text + 1, ftr_strbuf_str(&expected[i]));
		}
		ftr_strbuf_fini(&read[i]);
	}
	assert_int_equal(with_early, 1);
	free(bytes);
}

static void one_stream(uint64_t seed, unsigned steps)
{
	struct ftr_strbuf read[TASKS];
	struct writing second, third;
	char name[32];
	struct gen g;

	gen_begin(&g, seed);
	for (unsigned i = 0; i < steps; i++)
		step(&g);
	writing_end(&g.out);
	snprintf(name, sizeof(name), "random-%u", steps);
	writing_keep(&g.out, name);
	for (unsigned i = 0; i < TASKS; i++)
		ftr_strbuf_init(&read[i]);
	assert_int_equal(reading(g.out.out.buf, g.out.out.len, read, TASKS, &second), 0);
	compare(&g, read);
	compare_by_index(&g.out, NULL, read);
	compare_by_index(&g.out, &(struct ftr_sort_sizes){ 500, 5 }, read);
	assert_int_equal(reading(second.out.buf, second.out.len, NULL, 0, &third), 0);
	assert_int_equal(second.out.len, third.out.len);
	assert_memory_equal(second.out.buf, third.out.buf, third.out.len);
	for (unsigned i = 0; i < TASKS; i++)
		ftr_strbuf_fini(&read[i]);
	writing_free(&second);
	writing_free(&third);
	gen_end(&g);
}

static void test_streams(void **state)
{
	for (uint64_t seed = 1; seed <= STREAMS; seed++)
		one_stream(seed * UINT64_C(0x9e3779b97f4a7c15), STEPS / (unsigned)seed + 3);
}

/* Long enough that the window is written out many times while calls are open. */
static void test_long_stream(void **state)
{
	one_stream(4711, 200000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_long_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
