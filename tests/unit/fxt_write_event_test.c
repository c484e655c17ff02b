/* SPDX-License-Identifier: MIT */
/* Bytes of FXT records that are written: events, counters, arrows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fxt_made.h"
#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"
#include "utils/format/fxt/layout.h"
#include "utils/trace/event_kind.h"

struct event_row {
	const char *what;
	struct ftr_event ev;
	uint64_t words[24];
	unsigned nr;
};

/* Records of events that are no calls, at time 1000; strings from index 3 on, then thread 1. */
static const struct event_row event_rows[] = {
	/* instant:            type 4 | size 2 | event 0 | thread 1 | category 3 | name 4 */
	{ "instant",
	  { .type = FTR_EVENT_POINT, .point.name = "c:n" },
	  { UINT64_C(0x0000000100030022), 'c', UINT64_C(0x0000000100040022), 'n', 0x10033, 100, 100,
	    UINT64_C(0x0004000301000024), 1000 },
	  9 },
	/* async begin:        event 5, its id behind the arguments */
	{ "async-begin",
	  { .type = FTR_EVENT_POINT,
	    .point = { .name = "c:n", .id = 9, .kind = FTR_POINT_ASYNC_BEGIN } },
	  { UINT64_C(0x0000000100030022), 'c', UINT64_C(0x0000000100040022), 'n', 0x10033, 100, 100,
	    UINT64_C(0x0004000301050034), 1000, 9 },
	  10 },
	/* without category:   the empty string is ref 0 */
	{ "flow-begin",
	  { .type = FTR_EVENT_POINT,
	    .point = { .name = "n", .id = 9, .kind = FTR_POINT_FLOW_BEGIN } },
	  { UINT64_C(0x0000000100030022), 'n', 0x10033, 100, 100, UINT64_C(0x0003000001080034),
	    1000, 9 },
	  8 },
	/*
	 * scheduling:         type 8 | size 5 | 1 argument at 16 | cpu 2 at 20 | state 3 at 36 |
	 *                     subtype 1 at 60; time; outgoing; incoming; weight of the idle thread
	 */
	{ "switch",
	  { .type = FTR_EVENT_POINT,
	    .point = { .name = "linux:sched-out", .cpu_nr = 3, .id = FTR_EVENT_ID_SCHED_OUT } },
	  { UINT64_C(0x0000000f00030032), TEXT('i', 'n', 'c', 'o', 'm', 'i', 'n', 'g'),
	    TEXT('_', 'w', 'e', 'i', 'g', 'h', 't', 0), UINT64_C(0x1000003000210058), 1000, 100, 0,
	    UINT64_C(0x8000000000030011) },
	  8 },
	/*
	 * log:                type 9 | size 3 | length 2 at 16 | thread 1 at 32; after an instant
	 */
	{ "message",
	  { .type = FTR_EVENT_MESSAGE, .message.text = "hi" },
	  { UINT64_C(0x0000000300030022), TEXT('f', 't', 'r', 0, 0, 0, 0, 0),
	    UINT64_C(0x0000000700040022), TEXT('m', 'e', 's', 's', 'a', 'g', 'e', 0),
	    UINT64_C(0x0000000400050022), TEXT('t', 'e', 'x', 't', 0, 0, 0, 0), 0x10033, 100, 100,
	    UINT64_C(0x0004000301100044), 1000, UINT64_C(0x0000800200050026),
	    TEXT('h', 'i', 0, 0, 0, 0, 0, 0), UINT64_C(0x0000000100020039), 1000,
	    TEXT('h', 'i', 0, 0, 0, 0, 0, 0) },
	  16 },
	/* a stall is said in the log, too */
	{ "stall",
	  { .type = FTR_EVENT_POINT, .point.name = "ftr:stall-end",
	    .point.id = FTR_EVENT_ID_STALL_END },
	  { UINT64_C(0x0000000300030022), TEXT('f', 't', 'r', 0, 0, 0, 0, 0),
	    UINT64_C(0x0000000900040032), TEXT('s', 't', 'a', 'l', 'l', '-', 'e', 'n'), 'd',
	    0x10033, 100, 100, UINT64_C(0x0004000301000024), 1000, UINT64_C(0x00000001000a0049),
	    1000, TEXT('s', 't', 'a', 'l', 'l', ':', ' ', 'e'), TEXT('n', 'd', 0, 0, 0, 0, 0, 0) },
	  14 },
	/* provider event:     type 0 | size 1 | metadata 3 | id 1 at 20 | event 0; between instant
	   and log */
	{ "lost",
	  { .type = FTR_EVENT_LOST, .lost.nr = 5 },
	  { UINT64_C(0x0000000300030022), TEXT('f', 't', 'r', 0, 0, 0, 0, 0),
	    UINT64_C(0x0000000400040022), TEXT('L', 'O', 'S', 'T', 0, 0, 0, 0),
	    UINT64_C(0x0000000700050022), TEXT('r', 'e', 'c', 'o', 'r', 'd', 's', 0), 0x10033, 100,
	    100, UINT64_C(0x0004000301100034), 1000, UINT64_C(0x0000000500050012), 0x130010,
	    UINT64_C(0x00000001000f0049), 1000, TEXT('r', 'e', 'c', 'o', 'r', 'd', 's', ' '),
	    TEXT('l', 'o', 's', 't', ':', ' ', '5', 0) },
	  17 },
};

static void events(void **state)
{
	for (size_t i = 0; i < sizeof(event_rows) / sizeof(event_rows[0]); i++) {
		struct ftr_event ev = event_rows[i].ev;
		struct made made;

		made_begin(&made);
		ev.time_ns = 1000;
		ev.task = made.task;
		writing_event(&made.w, &ev);
		writing_end(&made.w);
		writing_keep(&made.w, event_rows[i].what);
		assert_words(&made, 16, event_rows[i].words, event_rows[i].nr);
		made_end(&made);
	}
}

/*
 * A tracepoint of the kernel, in Perfetto an instant: what makes it more stands in its arguments.
 */
static void tracepoint(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(0x0000000500030022),
		TEXT('s', 'c', 'h', 'e', 'd', 0, 0, 0),
		UINT64_C(0x0000000400040022),
		TEXT('w', 'a', 'k', 'e', 0, 0, 0, 0),
		UINT64_C(0x0000000a00050032),
		TEXT('t', 'r', 'a', 'c', 'e', 'p', 'o', 'i'),
		TEXT('n', 't', 0, 0, 0, 0, 0, 0),
		UINT64_C(0x0000000300060022),
		TEXT('c', 'p', 'u', 0, 0, 0, 0, 0),
		UINT64_C(0x0000000400070022),
		TEXT('t', 'e', 'x', 't', 0, 0, 0, 0),
		0x10033,
		100,
		100,
		/* instant:            type 4 | size 6 | event 0 | 3 arguments | thread 1 | category
		   3 | name 4 */
		UINT64_C(0x0004000301300064),
		1000,
		/* uint32 arguments:   type 2 | size 1 | name 5, 6 | value at 32: its id, its CPU */
		UINT64_C(0x0000013c00050012),
		UINT64_C(0x0000000300060012),
		/* string argument:    type 6 | size 2 | name 7 | inline, length 5 at 32 */
		UINT64_C(0x0000800500070026),
		TEXT('p', 'i', 'd', '=', '7', 0, 0, 0),
	};
	struct ftr_payload payload = { .data = (const uint8_t *)"pid=7", .len = 5 };
	struct ftr_event ev = { .type = FTR_EVENT_POINT, .time_ns = 1000, .payload = &payload,
				.point = { .name = "sched:wake", .id = 316, .cpu_nr = 4 } };
	struct made made;

	made_begin(&made);
	ev.task = made.task;
	writing_event(&made.w, &ev);
	writing_end(&made.w);
	writing_keep(&made.w, "tracepoint");
	assert_words(&made, 16, WORDS(expected));
	made_end(&made);
}

/* A function of the kernel is one of a module [kernel], at an address of 64 bits. */
static void kernel_call(void **state)
{
	static const struct ftr_symbol symbol = { UINT64_C(0xffffffff81000010), 7, 'K', "fn" };
	static const char lines[] = "M\t1\tab12\t[kernel]\n"
				    "F\t1\tffffffff81000010\tffffffff81000010\t7\tK\tfn\tfn\t\n";
	static const uint64_t expected[] = {
		UINT64_C(0x0000000800040022), TEXT('[', 'k', 'e', 'r', 'n', 'e', 'l', ']'),
		UINT64_C(0x0000000200050022), TEXT('f', 'n', 0, 0, 0, 0, 0, 0),
		0x10033, 100, 100,
		UINT64_C(0x0005000401040034), 1000, 2000,
	};
	struct ftr_event ev = { .type = FTR_EVENT_ENTRY, .time_ns = 1000 };
	struct made made;
	/* behind string "ftr.symbols", of three words, and the blob's header */
	size_t at = 16 + 3 + 1;

	made_begin(&made);
	ev.task = made.task;
	ev.call.func = make_symbol(made.trace, FTR_KERNEL_PATH, &symbol);
	ev.call.addr = symbol.addr;
	writing_event(&made.w, &ev);
	writing_exit(&made.w, made.task, 2000, ev.call.func, 0, NULL);
	writing_end(&made.w);
	writing_keep(&made.w, "kernel");
	assert_memory_equal((const char *)made.w.out.buf + 8 * at, lines, sizeof(lines) - 1);
	assert_words(&made, at + (sizeof(lines) - 1 + 7) / 8, WORDS(expected));
	made_end(&made);
}

/* type 4 | size 5 | event 1 | 2 arguments | thread 1 | category 3 | name 4; values; id: the tid */
static void counter(void **state)
{
	static const uint64_t data[] = { 7, UINT64_C(1) << 32 };
	static const uint64_t expected[] = {
		UINT64_C(0x0000000400030022), TEXT('r', 'e', 'a', 'd', 0, 0, 0, 0),
		UINT64_C(0x0000000a00040032), TEXT('p', 'a', 'g', 'e', '-', 'f', 'a', 'u'),
		TEXT('l', 't', 0, 0, 0, 0, 0, 0),
		UINT64_C(0x0000000500050022), TEXT('m', 'a', 'j', 'o', 'r', 0, 0, 0),
		UINT64_C(0x0000000500060022), TEXT('m', 'i', 'n', 'o', 'r', 0, 0, 0),
		0x10033, 100, 100,
		UINT64_C(0x0004000301210064), 1000,
		UINT64_C(0x0000000700050012),
		UINT64_C(0x0000000000060024), UINT64_C(1) << 32,
		100,
	};
	struct ftr_payload payload = { .data = (const uint8_t *)data, .len = sizeof(data) };
	struct ftr_event ev = { .type = FTR_EVENT_POINT, .time_ns = 1000, .payload = &payload,
				.point = { .name = "read:page-fault", .id = 100002 } };
	struct made made;

	made_begin(&made);
	ev.task = made.task;
	writing_event(&made.w, &ev);
	writing_end(&made.w);
	assert_words(&made, 16, WORDS(expected));
	made_end(&made);
}

/* An event of uftrace's own at 1000, as the words behind the prologue. */
static void expect_point(const char *name, uint64_t id, const struct ftr_payload *payload,
			 const char *file, const uint64_t *words, size_t nr)
{
	struct ftr_event ev = { .type = FTR_EVENT_POINT, .time_ns = 1000, .payload = payload,
				.point = { .name = name, .id = id } };
	struct made made;

	made_begin(&made);
	ev.task = made.task;
	writing_event(&made.w, &ev);
	writing_end(&made.w);
	writing_keep(&made.w, file);
	assert_words(&made, 16, words, nr);
	made_end(&made);
}

/* type 4 | size 7 | event 1 | 3 arguments; kilobytes, as many words as they need; id: the tid */
static void memory_counter(void **state)
{
	static const uint64_t data[] = { UINT64_C(5) << 32, 4096, 0 };
	static const uint64_t expected[] = {
		UINT64_C(0x0000000400030022), TEXT('r', 'e', 'a', 'd', 0, 0, 0, 0),
		UINT64_C(0x0000000a00040032), TEXT('p', 'r', 'o', 'c', '/', 's', 't', 'a'),
		TEXT('t', 'm', 0, 0, 0, 0, 0, 0),
		UINT64_C(0x0000000600050022), TEXT('v', 'm', 's', 'i', 'z', 'e', 0, 0),
		UINT64_C(0x0000000500060022), TEXT('v', 'm', 'r', 's', 's', 0, 0, 0),
		UINT64_C(0x0000000600070022), TEXT('s', 'h', 'a', 'r', 'e', 'd', 0, 0),
		0x10033, 100, 100,
		UINT64_C(0x0004000301310074), 1000,
		UINT64_C(0x0000000000050024), UINT64_C(5) << 32,
		UINT64_C(0x0000100000060012),
		UINT64_C(0x0000000000070012),
		100,
	};
	const struct ftr_payload payload = { .data = (const uint8_t *)data, .len = sizeof(data) };

	expect_point("read:proc/statm", 100001, &payload, "memory", WORDS(expected));
}

/* Data that are cut are no values of a counter: an instant has them, as bytes. */
static void counter_that_is_cut(void **state)
{
	static const uint64_t data[] = { 7 };
	static const uint64_t expected[] = {
		UINT64_C(0x0000000400030022),
		TEXT('r', 'e', 'a', 'd', 0, 0, 0, 0),
		UINT64_C(0x0000000a00040032),
		TEXT('p', 'a', 'g', 'e', '-', 'f', 'a', 'u'),
		TEXT('l', 't', 0, 0, 0, 0, 0, 0),
		UINT64_C(0x0000000600050022),
		TEXT('d', 'a', 't', 'a', '/', 'x', 0, 0),
		0x10033,
		100,
		100,
		/*
		 * instant: event 0, 1 argument; string argument: type 6 | size 3 | name 5 | 16
		 * digits, inline
		 */
		UINT64_C(0x0004000301100054),
		1000,
		UINT64_C(0x0000801000050036),
		TEXT('0', '7', '0', '0', '0', '0', '0', '0'),
		TEXT('0', '0', '0', '0', '0', '0', '0', '0'),
	};
	const struct ftr_payload payload = { .data = (const uint8_t *)data, .len = sizeof(data) };

	expect_point("read:page-fault", 100002, &payload, "cut-counter", WORDS(expected));
}

/* Flow begin in the parent; flow end right behind the first call of the child. */
static void fork_arrow(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(0x0000000300030022), TEXT('f', 't', 'r', 0, 0, 0, 0, 0),
		UINT64_C(0x0000000400040022), TEXT('f', 'o', 'r', 'k', 0, 0, 0, 0),
		UINT64_C(0x0000000500050022), TEXT('c', 'h', 'i', 'l', 'd', 0, 0, 0),
		0x10033, 100, 100,
		/* flow begin: event 8, 1 argument; koid argument; id */
		UINT64_C(0x0004000301180054), 1000, UINT64_C(0x0000000000050028), 101,
		UINT64_C(0x666f726b00000001),
		UINT64_C(0x0000000100060022), 'p', UINT64_C(0x0000000100070022), 'f',
		0x20033, 100, 101,
		UINT64_C(0x0007000602040034), 1001, 1005,
		/* flow end: event 10 */
		UINT64_C(0x00040003020a0034), 1001, UINT64_C(0x666f726b00000001),
	};
	struct ftr_event ev = { .type = FTR_EVENT_FORK, .time_ns = 1000 };
	struct ftr_task *child;
	struct made made;

	made.trace = ftr_trace_new("made", NULL);
	made.task = make_task(made.trace, 100, 100, "t");
	child = make_task(made.trace, 100, 101, "t");
	made.func = make_func(made.trace, "p", "f");
	writing_begin(&made.w, made.trace, "fxt");
	ev.task = made.task;
	ev.fork.peer = child;
	writing_event(&made.w, &ev);
	writing_entry(&made.w, child, 1001, made.func, 0, NULL);
	writing_exit(&made.w, child, 1005, made.func, 0, NULL);
	writing_end(&made.w);
	writing_keep(&made.w, "fork");
	assert_words(&made, 20, WORDS(expected));
	made_end(&made);
}

/* An arrow of a file, from the call where it begins to the one where it ends. */
struct arrow {
	uint64_t id, begin_ns, end_ns;
};

static size_t arrows_of(const struct made *made, struct arrow *arrows, size_t max)
{
	size_t nr = 0;

	for (size_t at = 0; at + 24 <= made->w.out.len;) {
		uint64_t words[3];
		unsigned type;
		size_t i = 0;

		memcpy(words, made->w.out.buf + at, sizeof(words));
		at += 8 * fxt_record_words(words[0]);
		type = fxt_event_type(words[0]);
		if (fxt_record_type(words[0]) != FXT_EVENT ||
		    (type != FXT_FLOW_BEGIN && type != FXT_FLOW_END))
			continue;
		while (i < nr && arrows[i].id != words[2])
			i++;
		assert_int_equal(type == FXT_FLOW_BEGIN, i == nr);
		assert_true(i < max);
		if (i == nr)
			arrows[nr++] = (struct arrow){ words[2], words[1], 0 };
		assert_int_equal(arrows[i].end_ns, 0);
		if (type == FXT_FLOW_END)
			arrows[i].end_ns = words[1];
	}
	return nr;
}

static void put_call(struct made *made, struct ftr_task *task, uint64_t time_ns,
		     const struct ftr_func *func)
{
	writing_entry(&made->w, task, time_ns, func, 0, NULL);
	writing_exit(&made->w, task, time_ns + 1, func, 0, NULL);
}

/* From the call of pthread_create to the thread's first call, where the ids say whose it is. */
static void thread_arrows(void **state)
{
	const struct ftr_func *create, *start;
	struct ftr_task *tasks[3];
	struct arrow arrows[2];
	struct made made;

	made.trace = ftr_trace_new("made", NULL);
	for (int i = 0; i < 3; i++)
		tasks[i] = make_task(made.trace, 100, 100 + i, "t");
	create = make_func(made.trace, "p", "pthread_create");
	start = make_func(made.trace, "p", "start");
	writing_begin(&made.w, made.trace, "fxt");
	put_call(&made, tasks[0], 1000, create);
	put_call(&made, tasks[0], 1010, create);
	put_call(&made, tasks[2], 1980, start); /* the second thread is the first one that runs */
	put_call(&made, tasks[1], 1990, start);
	writing_end(&made.w);
	writing_keep(&made.w, "threads-made");
	assert_int_equal(arrows_of(&made, arrows, 2), 2);
	assert_int_equal(arrows[0].begin_ns, 1000);
	assert_int_equal(arrows[0].end_ns, 1990);
	assert_int_equal(arrows[1].begin_ns, 1010);
	assert_int_equal(arrows[1].end_ns, 1980);
	made_end(&made);
}

/* Two threads in pthread_create at once: the kernel said which of them made whom. */
static void thread_arrows_of_makers(void **state)
{
	static const uint64_t made_ns[] = { 0, 900, 1010, 1015, 1030 };
	const struct ftr_func *create, *start;
	struct ftr_task *tasks[5];
	struct arrow arrows[2];
	struct made made;

	made.trace = ftr_trace_new("made", NULL);
	for (int i = 0; i < 5; i++)
		tasks[i] = make_task(made.trace, 100, 100 + i, "t");
	tasks[1]->maker = tasks[0];	/* in no such call: no arrow leads to it */
	tasks[2]->maker = tasks[1];
	tasks[3]->maker = tasks[0];
	tasks[4]->maker = tasks[0];	/* nor to this one */
	create = make_func(made.trace, "p", "pthread_create");
	start = make_func(made.trace, "p", "start");
	writing_begin(&made.w, made.trace, "fxt");
	for (int i = 1; i < 5; i++) {
		writing_event(&made.w, &(struct ftr_event){
			.type = FTR_EVENT_POINT, .task = tasks[i], .time_ns = made_ns[i],
			.point = { .name = "linux:task-new", .id = FTR_EVENT_ID_TASK_NEW } });
		for (unsigned k = 0; i == 1 && k < 2; k++)
			writing_entry(&made.w, tasks[k], 1000 + k, create, 0, NULL);
		for (unsigned k = 0; i == 3 && k < 2; k++)
			writing_exit(&made.w, tasks[k], 1020 + k, create, 0, NULL);
	}
	for (unsigned i = 2; i < 5; i++)
		put_call(&made, tasks[i], 2000 + 10 * i, start);
	writing_end(&made.w);
	writing_keep(&made.w, "threads-known");
	assert_int_equal(arrows_of(&made, arrows, 2), 2);
	assert_int_equal(arrows[0].begin_ns, 1000);
	assert_int_equal(arrows[0].end_ns, 2030);
	assert_int_equal(arrows[1].begin_ns, 1001);
	assert_int_equal(arrows[1].end_ns, 2020);
	made_end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events),
		cmocka_unit_test(counter),
		cmocka_unit_test(memory_counter),
		cmocka_unit_test(counter_that_is_cut),
		cmocka_unit_test(tracepoint),
		cmocka_unit_test(kernel_call),
		cmocka_unit_test(fork_arrow),
		cmocka_unit_test(thread_arrows),
		cmocka_unit_test(thread_arrows_of_makers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
