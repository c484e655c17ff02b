/* SPDX-License-Identifier: MIT */
/* Records become sums of functions, and these a file and sums again. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/proto/record.h"
#include "utils/record/summing.h"

#define TID 7
#define RANDOM_RECORDS 4000
#define FUNCS 12
#define MORE_THAN_KEPT (FTR_SUMMING_KEPT_MAX + 100)

static struct ftr_summing summing;
static struct ftr_summary_block block;
static struct ftr_strbuf file;

static int setup(void **state)
{
	ftr_summing_init(&summing);
	memset(&block, 0, sizeof(block));
	ftr_strbuf_init(&block.rows);
	ftr_strbuf_init(&file);
	return 0;
}

static int teardown(void **state)
{
	ftr_summing_fini(&summing);
	ftr_summary_block_fini(&block);
	ftr_strbuf_fini(&file);
	return 0;
}

struct step {
	uint64_t time;
	enum ftr_record_type type;
	unsigned depth;
	uint64_t addr;
};

static void take(const struct step *steps, size_t nr)
{
	static const struct ftr_summing_from from = { .sid = 1 };
	struct ftr_record records[64];

	assert_true(nr <= 64);
	for (size_t i = 0; i < nr; i++)
		records[i] = (struct ftr_record){
			steps[i].time,
			ftr_record_word(steps[i].type, steps[i].depth, steps[i].addr),
		};
	ftr_summing_take(&summing, TID, &from, records, nr * sizeof(records[0]));
}

#define TAKE(...) do { \
	const struct step steps_[] = { __VA_ARGS__ }; \
	take(steps_, sizeof(steps_) / sizeof(steps_[0])); \
} while (0)
#define IN  FTR_RECORD_ENTRY
#define OUT FTR_RECORD_EXIT

/* By address: what a block, written and read again, adds to it. */
struct sums {
	struct ftr_call_sum of[FUNCS];
	struct ftr_time_span total[FUNCS];
};

static void read_rows(struct sums *sums)
{
	struct ftr_summary_cursor cursor;
	struct ftr_summary_place place;
	struct ftr_summary_row row;
	uint64_t addr;
	size_t pos = 0;

	assert_int_equal(ftr_summary_block_end(&block, &file), 0);
	assert_int_equal(ftr_summary_block_get((const uint8_t *)file.s, file.len, &pos, &cursor),
			 1);
	assert_int_equal(pos, file.len);
	while (ftr_summary_get(&cursor, &place, &addr, &row)) {
		assert_int_equal(place.sid, 1);
		assert_true(addr < FUNCS);
		if (sums->of[addr].calls == 0 || row.total.min_ns < sums->total[addr].min_ns)
			sums->total[addr].min_ns = row.total.min_ns;
		if (row.total.max_ns > sums->total[addr].max_ns)
			sums->total[addr].max_ns = row.total.max_ns;
		sums->total[addr].squares += row.total.squares;
		for (unsigned i = 0; i < FTR_SUMMARY_OCTAVES; i++) {
			const struct ftr_call_sum *sum = &row.octaves[i];

			if ((row.used >> i & 1) == 0)
				continue;
			sums->of[addr].calls += sum->calls;
			sums->of[addr].total_ns += sum->total_ns;
			sums->of[addr].self_ns += sum->self_ns;
			sums->of[addr].nested_ns += sum->nested_ns;
			sums->of[addr].outermost_ns += sum->outermost_ns;
		}
	}
	assert_false(cursor.is_bad);
	assert_int_equal(cursor.p - cursor.end, 0);
}

/* What was counted since the last time. */
static void flush(struct sums *sums)
{
	if (ftr_summing_flush(&summing, &block))
		read_rows(sums);
}

static void expect(const struct sums *sums, unsigned addr, uint64_t calls, uint64_t total_ns,
		   uint64_t self_ns)
{
	assert_int_equal(sums->of[addr].calls, calls);
	assert_int_equal(sums->of[addr].total_ns - sums->of[addr].nested_ns, total_ns);
	assert_int_equal(sums->of[addr].self_ns, self_ns);
}

static void test_calls(void **state)
{
	struct sums sums = { .of = { { 0 } } };

	TAKE({ 10, IN, 0, 1 }, { 12, IN, 1, 2 }, { 15, OUT, 1, 2 }, { 16, IN, 1, 2 },
	     { 18, OUT, 1, 2 }, { 20, OUT, 0, 1 });
	flush(&sums);
	expect(&sums, 1, 1, 10, 5);
	expect(&sums, 2, 2, 5, 5);
	assert_int_equal(sums.of[1].outermost_ns, 10);
	assert_int_equal(sums.of[2].outermost_ns, 0);
	assert_int_equal(sums.total[2].min_ns, 2);
	assert_int_equal(sums.total[2].max_ns, 3);
	assert_true(sums.total[2].squares == 13.0);
}

static void test_recursion(void **state)
{
	struct sums sums = { .of = { { 0 } } };

	TAKE({ 10, IN, 0, 1 }, { 11, IN, 1, 2 }, { 12, IN, 2, 1 }, { 15, OUT, 2, 1 },
	     { 17, OUT, 1, 2 }, { 20, OUT, 0, 1 });
	flush(&sums);
	expect(&sums, 1, 2, 10, 7);
	expect(&sums, 2, 1, 6, 3);
	assert_int_equal(sums.of[1].nested_ns, 3);
}

/* A call counts in the interval in which it ends, with all of its time. */
static void test_intervals(void **state)
{
	struct sums first = { .of = { { 0 } } }, second = { .of = { { 0 } } };

	TAKE({ 10, IN, 0, 1 }, { 12, IN, 1, 2 }, { 15, OUT, 1, 2 });
	flush(&first);
	TAKE({ 20, OUT, 0, 1 });
	flush(&second);
	expect(&first, 1, 0, 0, 0);
	expect(&first, 2, 1, 3, 3);
	expect(&second, 1, 1, 10, 7);
	expect(&second, 2, 0, 0, 0);
	assert_false(ftr_summing_flush(&summing, &block));
}

/* What never returned took until its task's last record. */
static void test_open_at_the_end(void **state)
{
	struct sums sums = { .of = { { 0 } } };

	TAKE({ 10, IN, 0, 1 }, { 12, IN, 1, 2 }, { 15, OUT, 1, 2 }, { 18, IN, 1, 3 });
	ftr_summing_end_task(&summing, TID);
	flush(&sums);
	expect(&sums, 1, 1, 8, 5);
	expect(&sums, 3, 1, 0, 0);
}

/* Records that are missing: depths tell what ended, and what had begun. */
static void test_lost(void **state)
{
	struct sums sums = { .of = { { 0 } } };

	TAKE({ 10, IN, 0, 1 }, { 12, IN, 1, 2 }, { 12, FTR_RECORD_LOST, 0, 5 },
	     { 20, IN, 1, 3 }, { 25, OUT, 1, 3 }, { 25, FTR_RECORD_LOST, 0, 9 },
	     { 30, OUT, 2, 4 }, { 35, OUT, 1, 5 }, { 40, OUT, 0, 1 });
	flush(&sums);
	expect(&sums, 1, 1, 30, 15);
	expect(&sums, 2, 1, 0, 0);
	expect(&sums, 3, 1, 5, 5);
	expect(&sums, 4, 1, 5, 5);	/* from the last record on */
	expect(&sums, 5, 1, 10, 5);
}

/* setjmp (2) returns again by a longjmp from 4, in 3. */
static void test_jump(void **state)
{
	struct sums sums = { .of = { { 0 } } };

	TAKE({ 10, IN, 0, 1 }, { 11, IN, 1, 2 }, { 12, OUT, 1, 2 }, { 13, IN, 1, 3 },
	     { 14, IN, 2, 4 }, { 17, OUT, 1, 2 }, { 18, IN, 1, 5 }, { 19, OUT, 1, 5 },
	     { 20, OUT, 0, 1 });
	flush(&sums);
	expect(&sums, 1, 1, 10, 4);
	expect(&sums, 2, 1, 1, 1);
	expect(&sums, 3, 1, 4, 1);
	expect(&sums, 4, 1, 3, 3);
	expect(&sums, 5, 1, 1, 1);
}

static uint64_t stack_id(uint32_t nr, bool is_new)
{
	return ftr_record_stack_id(nr, is_new, 0);
}

/* Of two coroutines that take turns each has its calls, and what waits has no time of its own. */
static void test_coroutines(void **state)
{
	struct sums sums = { .of = { { 0 } } };

	TAKE({ 10, IN, 0, 1 }, { 12, FTR_RECORD_EVENT, 0, stack_id(1, true) }, { 12, IN, 1, 2 },
	     { 15, FTR_RECORD_EVENT, 0, stack_id(0, false) }, { 16, IN, 1, 3 },
	     { 18, OUT, 1, 3 }, { 20, FTR_RECORD_EVENT, 0, stack_id(1, false) },
	     { 24, OUT, 1, 2 }, { 24, FTR_RECORD_EVENT, 0, stack_id(0, false) },
	     { 30, OUT, 0, 1 });
	flush(&sums);
	expect(&sums, 2, 1, 12, 7);
	expect(&sums, 3, 1, 2, 2);
	expect(&sums, 1, 1, 20, 11);	/* without 3 + 4 of the coroutine, and 2 of [3] */
}

/* What a forked child begins in is its parent's, whether it returns there or jumps out of it. */
static void test_forked(void **state)
{
	static const struct ftr_summing_from from = { .sid = 1, .is_forked = true };
	const struct ftr_record records[] = {
		{ 10, ftr_record_word(OUT, 3, 7) },	/* fork, in 1, 2 and 3 */
		{ 12, ftr_record_word(IN, 3, 4) },
		{ 15, ftr_record_word(OUT, 3, 4) },
		{ 20, ftr_record_word(OUT, 2, 3) },
		{ 22, ftr_record_word(IN, 2, 4) },
		{ 30, ftr_record_word(OUT, 1, 5) },	/* setjmp, which the parent called in 1 */
		{ 31, ftr_record_word(IN, 1, 6) },
		{ 33, ftr_record_word(OUT, 1, 6) },
		{ 40, ftr_record_word(OUT, 0, 1) },
		{ 50, ftr_record_word(IN, 0, 3) },
		{ 51, ftr_record_word(OUT, 0, 3) },
	};
	struct sums sums = { .of = { { 0 } } };

	ftr_summing_take(&summing, TID, &from, records, sizeof(records));
	ftr_summing_end_task(&summing, TID);
	flush(&sums);
	for (uint64_t addr = 0; addr < FUNCS; addr++)
		assert_int_equal(sums.of[addr].calls, addr == 4 ? 2 : addr == 6 || addr == 3);
	expect(&sums, 3, 1, 1, 1);
	expect(&sums, 6, 1, 2, 2);
}

/* Functions that were forgotten are found again, and open calls keep theirs. */
static void test_many_functions(void **state)
{
	static const struct ftr_summing_from from = { .sid = 1 };
	struct sums sums = { .of = { { 0 } } };
	struct ftr_record pair[2];

	TAKE({ 10, IN, 0, 1 }, { 11, IN, 1, 2 });
	for (uint64_t i = 0; i < MORE_THAN_KEPT; i++) {
		uint64_t time = 100 + 2 * i, addr = 1000 + i;

		pair[0] = (struct ftr_record){ time, ftr_record_word(IN, 2, addr) };
		pair[1] = (struct ftr_record){ time + 1, ftr_record_word(OUT, 2, addr) };
		ftr_summing_take(&summing, TID, &from, pair, sizeof(pair));
	}
	assert_true(ftr_summing_flush(&summing, &block));
	assert_int_equal(block.row_nr, MORE_THAN_KEPT);
	assert_true(summing.funcs.nr < FUNCS);
	TAKE({ 200000, IN, 2, 1 }, { 200001, OUT, 2, 1 }, { 200002, OUT, 1, 2 },
	     { 200010, OUT, 0, 1 });
	flush(&sums);
	expect(&sums, 1, 2, 200000, 10);
	expect(&sums, 2, 1, 199991, 199991 - MORE_THAN_KEPT - 1);
	assert_int_equal(sums.of[1].nested_ns, 1);
	assert_false(summing.has_failed);
}

/* The same address in two images, and in one before and after a library was loaded. */
static void test_places(void **state)
{
	struct ftr_record pair[2] = {
		{ 50, ftr_record_word(IN, 0, 1) }, { 60, ftr_record_word(OUT, 0, 1) },
	};
	struct ftr_summing_from from = { .sid = 1, .before_ns = 0, .since_ns = 60 };

	ftr_summing_take(&summing, TID, &from, pair, sizeof(pair));
	from.before_ns = from.since_ns = 40;
	ftr_summing_take(&summing, TID, &from, pair, sizeof(pair));
	from.sid = 2;
	ftr_summing_take(&summing, TID, &from, pair, sizeof(pair));
	assert_true(ftr_summing_flush(&summing, &block));
	assert_int_equal(block.row_nr, 3);
	assert_int_equal(block.places.nr, 3);
}

/* ---- the sums of parts are those of the whole ---- */

/* A tree of calls of random functions, times and depths. */
static size_t random_calls(struct ftr_record *records, unsigned *seed)
{
	uint64_t open[8], time = 1000;
	size_t nr, depth = 0;

	for (nr = 0; nr < RANDOM_RECORDS || depth > 0; nr++) {
		bool is_entry = nr < RANDOM_RECORDS &&
				(depth == 0 || (depth < 8 && rand_r(seed) % 2));

		time += (uint64_t)rand_r(seed) % (rand_r(seed) % 8 == 0 ? 100000 : 10);
		if (is_entry)
			open[depth++] = (uint64_t)rand_r(seed) % FUNCS;
		else
			depth--;
		records[nr] = (struct ftr_record){
			time, ftr_record_word(is_entry ? IN : OUT,
					      (unsigned)(is_entry ? depth - 1 : depth),
					      open[is_entry ? depth - 1 : depth]),
		};
	}
	return nr;
}

static void sum_up(const struct ftr_record *records, size_t nr, size_t step, struct sums *sums)
{
	static const struct ftr_summing_from from = { .sid = 1 };

	for (size_t i = 0; i < nr; i += step) {
		ftr_summing_take(&summing, TID, &from, &records[i],
				 (nr - i < step ? nr - i : step) * sizeof(records[0]));
		flush(sums);
	}
	ftr_summing_end_task(&summing, TID);
	flush(sums);
}

static void test_parts(void **state)
{
	static struct ftr_record records[RANDOM_RECORDS + 8];

	for (unsigned round = 0; round < 50; round++) {
		struct sums whole = { .of = { { 0 } } }, parts = { .of = { { 0 } } };
		unsigned seed = round;
		size_t nr = random_calls(records, &seed);

		sum_up(records, nr, nr, &whole);
		sum_up(records, nr, 1 + (size_t)rand_r(&seed) % nr, &parts);
		assert_memory_equal(&whole.of, &parts.of, sizeof(whole.of));
		for (unsigned i = 0; i < FUNCS; i++) {
			assert_int_equal(whole.total[i].min_ns, parts.total[i].min_ns);
			assert_int_equal(whole.total[i].max_ns, parts.total[i].max_ns);
			assert_true(whole.total[i].squares == parts.total[i].squares);
		}
	}
}

/* ---- damage ---- */

static void test_damage(void **state)
{
	struct ftr_summary_cursor cursor;
	char *copy;
	size_t pos;

	TAKE({ 10, IN, 0, 1 }, { 12, IN, 1, 2 }, { 15, OUT, 1, 2 }, { 20, OUT, 0, 1 });
	assert_true(ftr_summing_flush(&summing, &block));
	assert_int_equal(ftr_summary_block_end(&block, &file), 0);
	for (size_t i = 0; i < file.len; i++) {
		pos = 0;
		assert_int_equal(ftr_summary_block_get((uint8_t *)file.s, i, &pos, &cursor),
				 i == 0 ? 0 : -EBADMSG);
		assert_int_equal(pos, i);
		file.s[i] ^= 0x10;
		pos = 0;
		assert_int_equal(ftr_summary_block_get((uint8_t *)file.s, file.len, &pos, &cursor),
				 -EBADMSG);
		assert_true(i < 4 ? pos <= file.len : pos == file.len);	/* 4: of the length */
		file.s[i] ^= 0x10;
	}
	/* What comes behind a damaged block is read. */
	file.s[9] ^= 1;
	pos = file.len;
	copy = malloc(pos);
	assert_non_null(copy);
	memcpy(copy, file.s, pos);
	ftr_strbuf_put(&file, copy, pos);
	free(copy);
	file.s[pos + 9] ^= 1;
	pos = 0;
	assert_int_equal(ftr_summary_block_get((uint8_t *)file.s, file.len, &pos, &cursor),
			 -EBADMSG);
	assert_int_equal(ftr_summary_block_get((uint8_t *)file.s, file.len, &pos, &cursor), 1);
	assert_int_equal(cursor.row_nr, 2);
}

static void test_head(void **state)
{
	uint8_t head[FTR_SUMMARY_HEAD_BYTES];

	ftr_summary_head(head, 60);
	assert_int_equal(ftr_summary_head_get(head, sizeof(head)), 60);
	assert_int_equal(ftr_summary_head_get(head, sizeof(head) - 1), 0);
	head[8]++;
	assert_int_equal(ftr_summary_head_get(head, sizeof(head)), 0);
	head[8]--;
	head[0]++;
	assert_int_equal(ftr_summary_head_get(head, sizeof(head)), 0);
}

/* Values, which have no length of their own in a record, are not taken for records. */
static void test_payload(void **state)
{
	static const struct ftr_summing_from from = { .sid = 1 };
	struct ftr_record records[2] = {
		{ 10, ftr_record_word(IN, 0, 1) | FTR_RECORD_MORE },
		{ 0, 0 },
	};

	ftr_summing_take(&summing, TID, &from, records, sizeof(records));
	assert_int_equal(summing.not_counted, 1);
	assert_false(ftr_summing_flush(&summing, &block));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_calls), TEST(test_recursion), TEST(test_intervals),
		TEST(test_open_at_the_end), TEST(test_lost), TEST(test_jump),
		TEST(test_coroutines), TEST(test_forked), TEST(test_many_functions),
		TEST(test_places), TEST(test_parts), TEST(test_damage), TEST(test_head),
		TEST(test_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
