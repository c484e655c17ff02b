/* SPDX-License-Identifier: MIT */
/* FXT files out of order: sorted in bounded memory, with what tables held where a record lies. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fxt_util.h"
#include "utils/base/istream.h"
#include "utils/format/fxt/fxt.h"

#define ARRAY_NR(a) (sizeof(a) / sizeof((a)[0]))

/* Memory that the reader has, and the most it had; the linker's --wrap leads here. */
static struct { ptrdiff_t now, most; } memory;
static unsigned reads_left;	/* until one fails; 0 = none does */

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_calloc(size_t nr, size_t bytes);
void *__wrap_calloc(size_t nr, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void __real_free(void *p);
void __wrap_free(void *p);
ssize_t __real_pread(int fd, void *data, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t offset);

static void *counted(void *p)
{
	memory.now += p == NULL ? 0 : (ptrdiff_t)malloc_usable_size(p);
	if (memory.now > memory.most)
		memory.most = memory.now;
	return p;
}

static void uncount(void *p)
{
	memory.now -= p == NULL ? 0 : (ptrdiff_t)malloc_usable_size(p);
}

void *__wrap_malloc(size_t bytes)
{
	return counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t nr, size_t bytes)
{
	return counted(__real_calloc(nr, bytes));
}

void *__wrap_realloc(void *p, size_t bytes)
{
	uncount(p);
	return counted(__real_realloc(p, bytes));
}

void __wrap_free(void *p)
{
	uncount(p);
	__real_free(p);
}

ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t offset)
{
	if (reads_left > 0 && --reads_left == 0) {
		errno = EIO;
		return -1;
	}
	return __real_pread(fd, data, bytes, offset);
}

/* A file in the making. */
struct made {
	uint64_t words[1 << 20];
	size_t nr;
};

static struct made file;

static void word(uint64_t value)
{
	assert_true(file.nr < ARRAY_NR(file.words));
	file.words[file.nr++] = value;
}

static void string(uint64_t index, const char *s)	/* up to 8 characters */
{
	uint64_t text = 0;

	memcpy(&text, s, strlen(s));
	word(2 | 2 << 4 | index << 16 | (uint64_t)strlen(s) << 32);
	word(text);
}

static void provider(uint64_t id)
{
	word(1 << 4 | 1 << 16 | id << 20);
}

static void section(uint64_t id)
{
	word(1 << 4 | 2 << 16 | id << 20);
}

static void thread(uint64_t index, uint64_t koid)
{
	word(3 | 3 << 4 | index << 16);
	word(10);
	word(koid);
}

/* An event of thread 1, category 1, and a name; with @more words behind its time. */
static void event(uint64_t type, uint64_t name, uint64_t more, uint64_t time)
{
	word(4 | (2 + more) << 4 | type << 16 | 1 << 24 | UINT64_C(1) << 32 | name << 48);
	word(time);
}

static void call(uint64_t name, uint64_t begin, uint64_t end)
{
	event(4, name, 1, begin);
	word(end);
}

static void begin(void)
{
	file.nr = 0;
	word(UINT64_C(0x0016547846040010));
	string(1, "cat");
	string(2, "f");
	string(3, "g");
	thread(1, 11);
}

static const struct ftr_sort_sizes sizes[] = { { 0, 0 }, { 2, 2 }, { 7, 3 }, { 50, 50 } };

static void expect(const char *expected)
{
	for (size_t i = 0; i < ARRAY_NR(sizes); i++) {
		struct ftr_strbuf read = { 0 };

		assert_int_equal(reading_sorted(&sizes[i], file.words, file.nr * 8, &read, 1, NULL),
				 0);
		assert_string_equal(ftr_strbuf_str(&read), expected);
		ftr_strbuf_fini(&read);
	}
}

/*
 * Calls that hold two others, by @order: where in the file the one lies that is the i-th in time.
 */
static void put_calls(const size_t *order, size_t nr)
{
	begin();
	for (size_t i = 0; i < nr; i++) {
		uint64_t at = order[i], time = at / 3 * 100;

		if (at % 3 == 0)
			call(2, time, time + 90);
		else
			call(3, time + 30 * (at % 3), time + 30 * (at % 3) + 30);
	}
}

static void any_order(void **state)
{
	struct ftr_strbuf ordered = { 0 };
	size_t order[300];
	uint64_t random = 1;

	for (size_t i = 0; i < ARRAY_NR(order); i++)
		order[i] = i;
	put_calls(order, ARRAY_NR(order));
	assert_int_equal(reading(file.words, file.nr * 8, &ordered, 1, NULL), 0);
	for (unsigned round = 0; round < 20; round++) {
		for (size_t i = ARRAY_NR(order) - 1; i > 0; i--) {
			size_t other, swap = order[i];

			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			other = round == 0 ? 0 : (random >> 33) % (i + 1);
			order[i] = order[other];
			order[other] = swap;
		}
		put_calls(order, ARRAY_NR(order));
		expect(ftr_strbuf_str(&ordered));
	}
	ftr_strbuf_fini(&ordered);
}

static void equal_times_keep_the_order_of_the_file(void **state)
{
	struct ftr_strbuf expected = { 0 };

	begin();
	for (int i = 0; i < 100; i++)
		event(0, 2 + i % 3 % 2, 0, 7);
	event(0, 2, 0, 6);
	ftr_strbuf_puts(&expected, "6 10/11 point cat:f kind 0 id 0\n");
	for (int i = 0; i < 100; i++)
		ftr_strbuf_printf(&expected, "7 10/11 point cat:%s kind 0 id 0\n",
				  i % 3 % 2 ? "g" : "f");
	expect(ftr_strbuf_str(&expected));
	ftr_strbuf_fini(&expected);
}

/*
 * Slots are assigned anew before the events, by two providers in turn; at last to what they held
 * first.
 */
static void put_tables(bool is_ordered)
{
	begin();
	for (uint64_t id = 5; id <= 6; id++) {
		provider(id);
		string(1, id == 5 ? "five" : "six");
		thread(1, 11);
	}
	for (uint64_t i = 0; i < 60; i++) {
		char name[8];

		section(5 + i % 2);
		snprintf(name, sizeof(name), "n%u", (unsigned)i / 4);
		string(2, name);
		event(0, 2, 0, is_ordered ? 1000 + i : 1000 - i);
	}
	for (uint64_t id = 5; id <= 6; id++) {
		section(id);
		string(2, "n0");
	}
}

static void describe_tables(struct ftr_strbuf *text, unsigned i, unsigned time)
{
	ftr_strbuf_printf(text, "%u 10/11 point %s:n%u kind 0 id 0\n", time,
			  i % 2 == 0 ? "five" : "six", i / 4);
}

static void tables_of_the_place(void **state)
{
	struct ftr_strbuf ordered = { 0 }, reversed = { 0 };

	for (unsigned i = 0; i < 60; i++) {
		describe_tables(&ordered, i, 1000 + i);
		describe_tables(&reversed, 59 - i, 1000 - 59 + i);
	}
	put_tables(true);
	expect(ftr_strbuf_str(&ordered));
	put_tables(false);
	expect(ftr_strbuf_str(&reversed));
	ftr_strbuf_fini(&ordered);
	ftr_strbuf_fini(&reversed);
}

/*
 * A provider that begins anew under its number has empty tables, in each walk: its slot 2 is not
 * known.
 */
static void provider_begins_anew(void **state)
{
	static const char *const expected[] = {
		"5 10/11 point new:new kind 0 id 0\n10 10/11 point old:old kind 0 id 0\n"
		"20 10/11 point old:f kind 0 id 0\n30 10/11 point new:new kind 0 id 0\n",
		"10 10/11 point old:old kind 0 id 0\n20 10/11 point old:f kind 0 id 0\n"
		"30 10/11 point new:new kind 0 id 0\n45 10/11 point new:new kind 0 id 0\n",
	};

	for (size_t last = 0; last < 2; last++) {
		struct ftr_strbuf read = { 0 };

		begin();
		for (uint64_t i = 0; i < 2; i++) {
			provider(5);
			string(1, i == 0 ? "old" : "new");
			thread(1, 11);
			if (i == 0)
				string(2, "f");
			section(5);
			event(0, 1, 0, 10 + 20 * i);
			event(0, 2, 0, 20 + 20 * i);
		}
		event(0, 1, 0, last == 0 ? 5 : 45);	/* out of order, or in order */
		assert_int_equal(reading_sorted(&sizes[1], file.words, file.nr * 8, &read, 1, NULL),
				 1);
		assert_string_equal(ftr_strbuf_str(&read), expected[last]);
		ftr_strbuf_fini(&read);
	}
}

/* Read until the end or a failure, @batches at most; what came last, and why. */
static ssize_t pull(unsigned batches, struct ftr_err *err)
{
	struct ftr_trace *trace = ftr_trace_new("memory", NULL);
	struct ftr_event *evs;
	struct ftr_istream in;
	ssize_t ret;

	ftr_istream_from_memory(&in, "memory.fxt", file.words, file.nr * 8);
	ret = ftr_fxt_read_stream(trace, &in, &(struct ftr_sort_sizes){ 64, 4 }, err);
	while (ret >= 0 && batches-- > 0) {
		ret = ftr_source_next(trace->sources.v[0], &evs, err);
		if (ret == 0)
			break;
	}
	ftr_trace_free(trace);
	return ret;
}

static void put_descending(void)
{
	begin();
	for (uint64_t i = 0; i < 5000; i++)
		event(0, 2, 0, 10000 - i);
}

static void stopped_midway(void **state)
{
	struct ftr_err err;

	put_descending();
	assert_int_equal(pull(0, &err), 0);
	assert_true(pull(1, &err) > 0);
	assert_true(pull(3, &err) > 0);
	assert_int_equal(pull(1000, &err), 0);
}

static void no_room(void **state)
{
	char *old = getenv("TMPDIR") == NULL ? NULL : strdup(getenv("TMPDIR"));
	struct ftr_err err = { 0 };

	put_descending();
	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_int_equal(pull(1000, &err), -ENOENT);
	assert_int_equal(strncmp(err.text, "memory.fxt: ", 12), 0);
	assert_non_null(strstr(err.text, "/nowhere/at/all"));
	assert_non_null(strstr(err.text, "TMPDIR"));
	if (old == NULL)
		unsetenv("TMPDIR");
	else
		setenv("TMPDIR", old, 1);
	free(old);
}

static void unreadable_midway(void **state)
{
	struct ftr_err err = { 0 };

	put_descending();
	for (unsigned at = 1; at < 300; at += 7) {
		reads_left = at;
		assert_int_equal(pull(1000, &err), -EIO);
		assert_int_equal(strncmp(err.text, "memory.fxt: ", 12), 0);
	}
	reads_left = 0;
}

/* What memory is needed must not depend on how many events of each kind there are. */
static void put_call(uint64_t i)
{
	call(2 + i % 2, 10 * i, 10 * i + 5);
}

static void put_async(uint64_t i)
{
	event(5, 2, 1, 10 * i);
	word(i);
	event(7, 2, 1, 10 * i + 5);
	word(i);
}

/* A call whose argument "f" is a text of its own, inline. */
static void put_string_value(uint64_t i)
{
	word(4 | 5 << 4 | 4 << 16 | 1 << 20 | 1 << 24 | UINT64_C(1) << 32 | UINT64_C(2) << 48);
	word(10 * i);
	word(6 | 2 << 4 | 2 << 16 | UINT64_C(0x8008) << 32);
	word(UINT64_C(0x3030303030303030) + i);
	word(10 * i + 5);
}

/* Categories 1 and 3 take turns at a name. */
static void put_category(uint64_t i)
{
	word(4 | 2 << 4 | 1 << 24 | (1 + i % 2 * 2) << 32 | UINT64_C(2) << 48);
	word(10 * i);
}

static void put_repeated_string(uint64_t i)
{
	string(2, "f");
	thread(1, 11);
	put_call(i);
}

static void put_log(uint64_t i)
{
	word(9 | 3 << 4 | 8 << 16 | UINT64_C(1) << 32);
	word(10 * i);
	word(UINT64_C(0x3030303030303030) + i);
}

static void put_string(uint64_t i)
{
	string(2, i % 2 == 0 ? "f" : "g");
	thread(1, 11 + i % 2);
	put_call(i);
}

static void put_section(uint64_t i)
{
	section(5 + i % 2);
	put_call(i);
}

static void put_same_section(uint64_t i)
{
	section(5);
	put_call(i);
}

static const struct {
	const char *name;
	void (*put)(uint64_t i);
	bool keeps_history;	/* out of order, tables grow */
} kinds[] = {
	{ "calls", put_call, false },
	{ "async operations", put_async, false },
	{ "values", put_string_value, false },
	{ "categories", put_category, false },
	{ "strings said again", put_repeated_string, false },
	{ "logs", put_log, false },
	{ "sections of one provider", put_same_section, false },
	{ "strings that change", put_string, true },
	{ "sections", put_section, true },
};

static ptrdiff_t memory_of(void (*put)(uint64_t i), uint64_t nr, bool is_late)
{
	struct ftr_err err;

	begin();
	for (uint64_t id = 5; id <= 6; id++) {
		provider(id);
		string(1, "cat");
		string(2, "f");
		string(3, "g");
		thread(1, 11);
	}
	for (uint64_t i = 1; i <= nr; i++)
		put(i);
	if (is_late)
		put_call(0);
	memory.now = memory.most = 0;
	assert_int_equal(pull(UINT32_MAX, &err), 0);
	return memory.most;
}

static void memory_is_bounded(void **state)
{
	for (size_t i = 0; i < 2 * ARRAY_NR(kinds); i++) {
		bool is_late = i % 2 == 1, keeps = is_late && kinds[i / 2].keeps_history;
		ptrdiff_t few = memory_of(kinds[i / 2].put, 1000, is_late);
		ptrdiff_t many = memory_of(kinds[i / 2].put, 50000, is_late);

		if (keeps ? many - few > 49000 * 48 : many - few > 49000 / 2)
			fail_msg("%s%s: %td bytes more", kinds[i / 2].name,
				 is_late ? ", one late" : "", many - few);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),
		cmocka_unit_test(equal_times_keep_the_order_of_the_file),
		cmocka_unit_test(tables_of_the_place),
		cmocka_unit_test(provider_begins_anew),
		cmocka_unit_test(stopped_midway),
		cmocka_unit_test(no_room),
		cmocka_unit_test(unreadable_midway),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
