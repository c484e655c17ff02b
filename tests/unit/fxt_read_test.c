/* SPDX-License-Identifier: MIT */
/*
 * FXT files of others: every record and argument type, byte orders, providers, ticks, disorder and
 * damage.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"
#include "utils/format/fxt/layout.h"

#define TASKS 4

/* A file in the making. */
struct made {
	uint8_t bytes[1 << 16];
	size_t len;
	bool is_big;
	const char *name;	/* of the file that is kept, in the corpus of the fuzz target */
};

static void word(struct made *m, uint64_t value)
{
	if (m->is_big)
		value = __builtin_bswap64(value);
	memcpy(m->bytes + m->len, &value, 8);
	m->len += 8;
}

static void text(struct made *m, const char *s)
{
	size_t len = strlen(s);

	memset(m->bytes + m->len, 0, (len + 7) / 8 * 8);
	memcpy(m->bytes + m->len, s, len);
	m->len += (len + 7) / 8 * 8;
}

static void magic(struct made *m)
{
	word(m, UINT64_C(0x0016547846040010));
}

static void provider(struct made *m, uint64_t id, const char *name)
{
	word(m,
	     (1 + (strlen(name) + 7) / 8) << 4 | 1 << 16 | id << 20 | (uint64_t)strlen(name) << 52);
	text(m, name);
}

static void section(struct made *m, uint64_t id)
{
	word(m, 1 << 4 | 2 << 16 | id << 20);
}

static void init(struct made *m, uint64_t ticks)
{
	word(m, 1 | 2 << 4);
	word(m, ticks);
}

static void string(struct made *m, uint64_t index, const char *s)
{
	word(m, 2 | (1 + (strlen(s) + 7) / 8) << 4 | index << 16 | (uint64_t)strlen(s) << 32);
	text(m, s);
}

static void thread(struct made *m, uint64_t index, uint64_t process, uint64_t koid)
{
	word(m, 3 | 3 << 4 | index << 16);
	word(m, process);
	word(m, koid);
}

/* An event's header and time, with @more words behind them. */
static void event(struct made *m, uint64_t type, uint64_t args, uint64_t more, uint64_t time)
{
	word(m, 4 | (2 + more) << 4 | type << 16 | args << 20 | 1 << 24 | UINT64_C(1) << 32 |
		UINT64_C(2) << 48);
	word(m, time);
}

static void complete(struct made *m, uint64_t begin, uint64_t end)
{
	event(m, 4, 0, 1, begin);
	word(m, end);
}

/* Strings 1 "cat" and 2 "f", thread 1 = 10/11. */
static void begin(struct made *m)
{
	m->len = 0;
	magic(m);
	init(m, 1000000000);
	string(m, 1, "cat");
	string(m, 2, "f");
	thread(m, 1, 10, 11);
}

/* Read the file; all that it says of the tasks, one after the other, must be @expected. */
static void expect(struct made *m, const char *expected, int warnings)
{
	struct ftr_strbuf read[TASKS] = { { 0 } };
	struct ftr_strbuf all = { 0 };

	writing_keep(&(struct writing){ .out = { .buf = (char *)m->bytes, .len = m->len } },
		     m->name);
	assert_int_equal(reading(m->bytes, m->len, read, TASKS, NULL), warnings);
	for (size_t i = 0; i < TASKS; i++) {
		ftr_strbuf_puts(&all, ftr_strbuf_str(&read[i]));
		ftr_strbuf_fini(&read[i]);
	}
	assert_string_equal(ftr_strbuf_str(&all), expected);
	ftr_strbuf_fini(&all);
}

static void put_durations(struct made *m)
{
	begin(m);
	complete(m, 100, 200);
	complete(m, 110, 120);
	event(m, 2, 0, 0, 130);
	event(m, 3, 0, 0, 140);
	complete(m, 200, 210);
}

static const char durations[] =
	"100 10/11 > 0 cat f\n"
	"110 10/11 > 1 cat f\n"
	"120 10/11 < 1 cat f\n"
	"130 10/11 > 1 cat f\n"
	"140 10/11 < 1 cat f\n"
	"200 10/11 < 0 cat f\n"
	"200 10/11 > 0 cat f\n"
	"210 10/11 < 0 cat f\n";

static void both_byte_orders(void **state)
{
	struct made m = { .name = "little" };

	put_durations(&m);
	expect(&m, durations, 0);
	m.name = "big";
	m.is_big = true;
	put_durations(&m);
	expect(&m, durations, 0);
}

static void inline_refs(void **state)
{
	struct made m = { .name = "inline-refs" };

	magic(&m);
	word(&m, 4 | 8 << 4 | 4 << 16 | UINT64_C(0x8003) << 32 | UINT64_C(0x800a) << 48);
	word(&m, 5);
	word(&m, 10);
	word(&m, 11);
	text(&m, "abc");
	text(&m, "0123456789");
	word(&m, 6);
	expect(&m, "5 10/11 > 0 abc 0123456789\n6 10/11 < 0 abc 0123456789\n", 0);
}

static void tables_are_reassigned(void **state)
{
	struct made m = { .name = "tables-are-reassigned" };

	begin(&m);
	complete(&m, 1, 2);
	string(&m, 2, "g");
	thread(&m, 1, 10, 12);
	complete(&m, 3, 4);
	expect(&m, "1 10/11 > 0 cat f\n2 10/11 < 0 cat f\n3 10/12 > 0 cat g\n4 10/12 < 0 cat g\n",
	       0);
}

static void providers_have_their_own_tables(void **state)
{
	struct made m = { .name = "providers-have-their-own-tables" };

	magic(&m);
	provider(&m, 1, "one");
	string(&m, 1, "cat");
	string(&m, 2, "f");
	thread(&m, 1, 10, 11);
	provider(&m, 2, "two");
	init(&m, 1000);			/* a tick is a millisecond */
	string(&m, 1, "cat");
	string(&m, 2, "g");
	thread(&m, 1, 20, 21);
	section(&m, 1);
	complete(&m, 5, 6);
	section(&m, 2);
	complete(&m, 1, 2);
	expect(&m, "5 10/11 > 0 cat f\n6 10/11 < 0 cat f\n"
	       "1000000 20/21 > 0 cat g\n2000000 20/21 < 0 cat g\n", 0);
}

static void ticks_of_any_rate(void **state)
{
	struct made m = { .name = "ticks-of-any-rate" };

	magic(&m);
	word(&m, 1 | 4 << 4);		/* a longer record than specified: base ticks, base time */
	word(&m, 2500000000);
	word(&m, 77);
	word(&m, 78);
	string(&m, 1, "cat");
	string(&m, 2, "f");
	thread(&m, 1, 10, 11);
	complete(&m, 5, UINT64_C(10000000000000000));
	expect(&m, "2 10/11 > 0 cat f\n4000000000000000 10/11 < 0 cat f\n", 0);
}

static void events_out_of_order(void **state)
{
	struct made m = { .name = "events-out-of-order" };

	begin(&m);
	complete(&m, 200, 210);
	complete(&m, 110, 120);
	event(&m, 3, 0, 0, 140);
	event(&m, 2, 0, 0, 130);
	complete(&m, 100, 200);
	expect(&m, durations, 0);
}

static void every_event(void **state)
{
	struct made m = { .name = "every-event" };

	begin(&m);
	event(&m, 0, 0, 0, 1);
	event(&m, 1, 1, 2, 2);
	word(&m, 2 | 1 << 4 | 2 << 16 | UINT64_C(7) << 32);	/* f=7 */
	word(&m, 99);
	for (uint64_t type = 5; type <= 10; type++) {
		event(&m, type, 0, 1, type);
		word(&m, 42);
	}
	expect(&m,
	       "1 10/11 point cat:f kind 0 id 0\n"
	       "2 10/11 point cat:f kind 1 id 99 (f=7)\n"
	       "5 10/11 point cat:f kind 2 id 42\n"
	       "6 10/11 point cat:f kind 3 id 42\n"
	       "7 10/11 point cat:f kind 4 id 42\n"
	       "8 10/11 point cat:f kind 5 id 42\n"
	       "9 10/11 point cat:f kind 6 id 42\n"
	       "10 10/11 point cat:f kind 7 id 42\n", 0);
}

static void every_argument(void **state)
{
	struct made m = { .name = "every-argument" };
	double real = -2.5;
	uint64_t bits;

	memcpy(&bits, &real, 8);
	begin(&m);
	event(&m, 0, 13, 21, 1);
	word(&m, 0 | 1 << 4 | 2 << 16);						/* null */
	word(&m, 1 | 1 << 4 | 2 << 16 | UINT64_C(0xffffffff) << 32);		/* int32 */
	word(&m, 2 | 1 << 4 | 2 << 16 | UINT64_C(0xffffffff) << 32);		/* uint32 */
	word(&m, 3 | 2 << 4 | 2 << 16);						/* int64 */
	word(&m, (uint64_t)-9);
	word(&m, 4 | 2 << 4 | 2 << 16);						/* uint64 */
	word(&m, UINT64_MAX);
	word(&m, 5 | 2 << 4 | 2 << 16);						/* double */
	word(&m, bits);
	word(&m, 6 | 1 << 4 | 2 << 16 | UINT64_C(1) << 32);			/* string "cat" */
	word(&m, 6 | 2 << 4 | 2 << 16 | UINT64_C(0x8002) << 32);		/* string "hi" */
	text(&m, "hi");
	word(&m, 7 | 2 << 4 | 2 << 16);						/* pointer */
	word(&m, 0x1234);
	word(&m, 8 | 2 << 4 | 2 << 16);						/* koid */
	word(&m, 55);
	word(&m, 9 | 1 << 4 | 2 << 16 | UINT64_C(1) << 32);			/* bool */
	word(&m, 10 | 2 << 4 | 2 << 16 | UINT64_C(3) << 32);			/* blob */
	text(&m, "xyz");
	word(&m, 6 | 2 << 4 | UINT64_C(0x8004) << 16); /* empty; inline name */
	text(&m, "name");
	expect(&m,
	       "1 10/11 point cat:f kind 0 id 0 (f=null, f=-1, f=4294967295, f=-9, "
	       "f=18446744073709551615, f=-2.500000, f=\"cat\", f=\"hi\", f=0x1234, f=55, f=true, "
	       "f={...}, name=\"\")\n", 0);
}

static void unknown_argument(void **state)
{
	struct made m = { .name = "unknown-argument" };

	begin(&m);
	event(&m, 0, 2, 3, 1);
	word(&m, 13 | 2 << 4 | 2 << 16);
	word(&m, 77);
	word(&m, 2 | 1 << 4 | 2 << 16 | UINT64_C(7) << 32);
	expect(&m, "1 10/11 point cat:f kind 0 id 0 (f=7)\n", 0);
}

/*
 * "cat:f" at @time, with arguments tracepoint=@id, cpu=@cpu (UINT64_MAX: none) and @key="hi" (NULL:
 * none).
 */
static void put_tracepoint(struct made *m, uint64_t time, uint64_t id, uint64_t cpu,
			   const char *key)
{
	event(m, 0, 1u + (cpu != UINT64_MAX) + (key != NULL),
	      1u + (cpu != UINT64_MAX) + 3u * (key != NULL), time);
	word(m, 2 | 1 << 4 | 3 << 16 | id << 32);
	if (cpu != UINT64_MAX)
		word(m, 2 | 1 << 4 | 4 << 16 | cpu << 32);
	if (key == NULL)
		return;
	word(m, 6 | 3 << 4 | (UINT64_C(0x8000) | strlen(key)) << 16 | UINT64_C(0x8002) << 32);
	text(m, key);
	text(m, "hi");
}

/*
 * Only what ftr wrote, as it writes it, is a tracepoint; anything else is an event with arguments.
 */
static void tracepoints(void **state)
{
	struct made m = { .name = "tracepoints" };

	begin(&m);
	string(&m, 3, "tracepoint");
	string(&m, 4, "cpu");
	put_tracepoint(&m, 1, 5, 2, "text");
	provider(&m, 1, "ftr");
	init(&m, 1000000000);
	string(&m, 1, "cat");
	string(&m, 2, "f");
	string(&m, 3, "tracepoint");
	string(&m, 4, "cpu");
	thread(&m, 1, 10, 11);
	put_tracepoint(&m, 2, 5, 2, "text");
	put_tracepoint(&m, 3, 99999, UINT64_MAX, NULL);
	put_tracepoint(&m, 4, 0, 2, "text");
	put_tracepoint(&m, 5, 100000, 2, "text");
	put_tracepoint(&m, 6, 5, 65535, "text");
	put_tracepoint(&m, 7, 5, 2, "texts");
	expect(&m,
	       "1 10/11 point cat:f kind 0 id 0 (tracepoint=5, cpu=2, text=\"hi\")\n"
	       "2 10/11 point cat:f kind 0 id 5 cpu 2 (6869)\n"
	       "3 10/11 point cat:f kind 0 id 99999 cpu -1\n"
	       "4 10/11 point cat:f kind 0 id 0 (tracepoint=0, cpu=2, text=\"hi\")\n"
	       "5 10/11 point cat:f kind 0 id 0 (tracepoint=100000, cpu=2, text=\"hi\")\n"
	       "6 10/11 point cat:f kind 0 id 0 (tracepoint=5, cpu=65535, text=\"hi\")\n"
	       "7 10/11 point cat:f kind 0 id 0 (tracepoint=5, cpu=2, texts=\"hi\")\n", 0);
}

static void scheduling(void **state)
{
	struct made m = { .name = "scheduling" };

	begin(&m);
	thread(&m, 2, 10, 12);
	/* legacy: cpu 3, 1 leaves blocked, 2 comes */
	word(&m, 8 | 2 << 4 | 3 << 16 | 3 << 24 | 1 << 28 | UINT64_C(2) << 36);
	word(&m, 5);
	/* switch: 12 leaves, ready to run, for nobody (the idle thread) */
	word(&m, 8 | 4 << 4 | UINT64_C(1) << 60);
	word(&m, 6);
	word(&m, 12);
	word(&m, 0);
	/* wakeup of 11 */
	word(&m, 8 | 3 << 4 | UINT64_C(2) << 60);
	word(&m, 7);
	word(&m, 11);
	/* a subtype that nobody knows */
	word(&m, 8 | 2 << 4 | UINT64_C(7) << 60);
	word(&m, 8);
	expect(&m,
	       "5 10/11 point linux:sched-out kind 0 id 200002\n"
	       "7 10/11 point linux:sched-wakeup kind 0 id 0\n"
	       "5 10/12 point linux:sched-in kind 0 id 200001\n"
	       "6 10/12 point linux:sched-out (pre-empted) kind 0 id 200007\n", 1);
}

static void log_and_objects(void **state)
{
	struct made m = { .name = "log-and-objects" };

	begin(&m);
	/*
	 * kernel object: thread 12 of process 20 is called "f"; then a job, which is none of ours
	 */
	word(&m, 7 | 5 << 4 | 2 << 16 | 2 << 24 | UINT64_C(1) << 40);
	word(&m, 12);
	word(&m, 8 | 3 << 4 | UINT64_C(0x8007) << 16);
	text(&m, "process");
	word(&m, 20);
	word(&m, 7 | 2 << 4 | 17 << 16 | 2 << 24);
	word(&m, 13);
	/* log of an inline thread, which by now is known */
	word(&m, 9 | 5 << 4 | 3 << 16);
	word(&m, 1);
	word(&m, 20);
	word(&m, 12);
	text(&m, "hey");
	expect(&m, "1 20/12 message hey\n", 1);
}

/*
 * Records of types that say nothing about calls, or that nobody knows, are stepped over by their
 * size.
 */
static void other_records(void **state)
{
	struct made m = { .name = "other-records" };

	begin(&m);
	complete(&m, 1, 2);
	word(&m, 10 | 2 << 4);			/* profiler */
	word(&m, 4 | 1 << 4);
	word(&m, 15 | 4 << 4);			/* large: 32 bits of size */
	word(&m, 1);
	word(&m, 2);
	word(&m, 3);
	word(&m, 12 | 2 << 4);			/* not assigned */
	word(&m, 1);
	word(&m, 6 | 2 << 4 | 1 << 16 | 2 << 24);	/* userspace object */
	word(&m, 0x1000);
	word(&m, 5 | 2 << 4 | 1 << 16 | UINT64_C(3) << 32 | UINT64_C(1) << 48);	/* blob */
	text(&m, "abc");
	complete(&m, 3, 4);
	expect(&m, "1 10/11 > 0 cat f\n2 10/11 < 0 cat f\n3 10/11 > 0 cat f\n4 10/11 < 0 cat f\n",
	       1);
}

/* The bytes between two good calls are no records: what follows is found again. */
static void resynchronisation(void **state)
{
	struct made m = { .name = "resynchronisation" };

	begin(&m);
	complete(&m, 1, 2);
	word(&m, 0);
	word(&m, UINT64_C(0xfff4));		/* a record that is longer than the file */
	word(&m, UINT64_C(0xffffffffffffffff));
	complete(&m, 3, 4);
	complete(&m, 5, 6);
	expect(&m, "1 10/11 > 0 cat f\n2 10/11 < 0 cat f\n3 10/11 > 0 cat f\n4 10/11 < 0 cat f\n"
	       "5 10/11 > 0 cat f\n6 10/11 < 0 cat f\n", 1);
}

static void cut_anywhere(void **state)
{
	struct made m = { .name = "cut-anywhere" };
	struct made cut;

	put_durations(&m);
	for (size_t len = 8; len < m.len; len++) {
		struct ftr_strbuf read[TASKS] = { { 0 } };

		cut = m;
		cut.len = len;
		assert_true(reading(cut.bytes, cut.len, read, TASKS, NULL) >= 0);
		/* What is read is a beginning of what is read of the whole file, but for ends. */
		assert_true(read[0].len <= sizeof(durations));
		for (size_t i = 0; i < TASKS; i++)
			ftr_strbuf_fini(&read[i]);
	}
	m.len = 7;
	assert_int_equal(reading(m.bytes, m.len, NULL, 0, NULL), -EBADMSG);
}

static void refs_to_nothing(void **state)
{
	struct made m = { .name = "refs-to-nothing" };

	magic(&m);
	complete(&m, 1, 2);		/* no such strings, no such thread */
	string(&m, 1, "cat");
	string(&m, 2, "f");
	complete(&m, 3, 4);		/* no such thread */
	thread(&m, 1, 10, 11);
	complete(&m, 5, 6);
	expect(&m, "5 10/11 > 0 cat f\n6 10/11 < 0 cat f\n", 1);
}

static void ends_without_begin(void **state)
{
	struct made m = { .name = "ends-without-begin" };

	begin(&m);
	event(&m, 3, 0, 0, 1);
	complete(&m, 2, 3);
	event(&m, 3, 0, 0, 4);
	event(&m, 2, 0, 0, 5);
	expect(&m, "2 10/11 > 0 cat f\n3 10/11 < 0 cat f\n5 10/11 > 0 cat f\n", 1);
}

/* A call that lasts longer than the one around it is cut; an end in the middle of one ends both. */
static void overlaps(void **state)
{
	struct made m = { .name = "overlaps" };

	begin(&m);
	complete(&m, 1, 10);
	complete(&m, 5, 15);
	event(&m, 2, 0, 0, 20);
	complete(&m, 21, 40);
	event(&m, 3, 0, 0, 30);
	expect(&m,
	       "1 10/11 > 0 cat f\n5 10/11 > 1 cat f\n10 10/11 < 1 cat f\n10 10/11 < 0 cat f\n"
	       "20 10/11 > 0 cat f\n21 10/11 > 1 cat f\n30 10/11 < 1 cat f\n30 10/11 < 0 cat f\n",
	       1);
}

static void full_buffer(void **state)
{
	struct made m = { .name = "full-buffer" };

	begin(&m);
	word(&m, 1 << 4 | 3 << 16 | 1 << 20);
	complete(&m, 1, 2);
	expect(&m, "1 10/11 > 0 cat f\n2 10/11 < 0 cat f\n", 1);
}

/* Two processes may number their threads alike; the tasks of a trace have numbers of their own. */
static void equal_thread_ids(void **state)
{
	struct made m = { .name = "equal-thread-ids" };

	begin(&m);
	complete(&m, 1, 2);
	thread(&m, 1, 20, 11);
	complete(&m, 3, 4);
	expect(&m, "1 10/11 > 0 cat f\n2 10/11 < 0 cat f\n"
	       "3 20/1000014 > 0 cat f\n4 20/1000014 < 0 cat f\n", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_byte_orders),
		cmocka_unit_test(inline_refs),
		cmocka_unit_test(tables_are_reassigned),
		cmocka_unit_test(providers_have_their_own_tables),
		cmocka_unit_test(ticks_of_any_rate),
		cmocka_unit_test(events_out_of_order),
		cmocka_unit_test(every_event),
		cmocka_unit_test(every_argument),
		cmocka_unit_test(unknown_argument),
		cmocka_unit_test(tracepoints),
		cmocka_unit_test(scheduling),
		cmocka_unit_test(log_and_objects),
		cmocka_unit_test(other_records),
		cmocka_unit_test(resynchronisation),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(refs_to_nothing),
		cmocka_unit_test(ends_without_begin),
		cmocka_unit_test(overlaps),
		cmocka_unit_test(full_buffer),
		cmocka_unit_test(equal_thread_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
