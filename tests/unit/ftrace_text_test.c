/* SPDX-License-Identifier: MIT */
/* The steps of print fmts write what libtraceevent writes, whatever the records hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "utils/base/bytes.h"
#include "utils/base/istream.h"
#include "utils/format/ftrace/ftrace.h"
#include "utils/format/ftrace/page_layout.h"
#include "utils/format/ftrace/print.h"
#include "utils/object/symtab.h"

#define RECORD_BYTES 104u
#define DATA_AT 88u			/* of dynamic fields */
#define RECORDS 400
#define EVENT_ID 700

/* Every size, arrays, text, and data that a field points to. */
static const char fields[] =
	"name: made\nID: 700\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u8 a;\toffset:8;\tsize:1;\tsigned:0;\n"
	"\tfield:s8 b;\toffset:9;\tsize:1;\tsigned:1;\n"
	"\tfield:u16 c;\toffset:10;\tsize:2;\tsigned:0;\n"
	"\tfield:int d;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 e;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:void * p;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:char name[16];\toffset:32;\tsize:16;\tsigned:1;\n"
	"\tfield:u32 words[4];\toffset:48;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:64;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] near;\toffset:68;\tsize:4;\tsigned:0;\n"
	"\tfield:int f;\toffset:72;\tsize:4;\tsigned:1;\n"
	"\tfield:const char * text;\toffset:76;\tsize:%u;\tsigned:0;\n\n";

/* These have steps. */
static const char *const covered[] = {
	"\"plain %% text\\t\"",
	"\"%d %i %u %x %X %o\", REC->d, REC->d, REC->d, REC->d, REC->d, REC->d",
	"\"%ld %lu %lx %lld %llu %llx\", REC->e, REC->e, REC->e, REC->e, REC->e, REC->e",
	"\"%zu %zd %Lu\", REC->e, REC->e, REC->e",
	"\"%hd %hu %hhd %hhu %hhx\", REC->c, REC->c, REC->b, REC->b, REC->b",
	"\"[%5d|%-5d|%05d|%#x|%#lx|%08llx|%#010x|%-8x|]\", REC->a, REC->a, REC->b, REC->a, "
	"REC->e, REC->e, REC->d, REC->a",
	"\"%d %d %d %lld\", REC->a, REC->b, REC->c, REC->d",
	"\"%016llx|%017llx|%04hx|%02hhx|%20llx|%-020llx|%08x\", REC->e, REC->e, REC->d, REC->d, "
	"REC->e, REC->e, REC->d & 0",
	"\"sixteen letters:%dsixteen letters:\", REC->d",
	"\"seventeen letters%dseventeen letters%u\", REC->d, REC->a",
	"\"%p\", REC->p",
	"\"%p\", (void *)REC->e",
	"\"%ps and %pS.\", (void *)REC->p, (void *)REC->e",
	"\"%s|%10s|%-10s|%.3s|\", REC->name, REC->name, REC->name, REC->name",
	"\"%s %s\", __get_str(path), __get_rel_str(near)",
	"\"%d %llx %x\", REC->words[0], REC->words[3], REC->words[2]",
	"\"%s\", __print_symbolic(REC->a & 7, { 0, \"zero\" }, { 1, \"one\" }, { 2, \"two\" })",
	"\"%10s\", __print_symbolic(REC->a & 3, { 0, \"zero\" }, { 1, \"one\" })",
	"\"%s\", __print_flags(REC->a, \"|\", { 1, \"A\" }, { 6, \"BC\" }, { 8, \"D\" })",
	"\"%s\", __print_flags(REC->a & 3, \"\", { 1, \"A\" }, { 2, \"B\" })",
	"\"%s\", __print_flags(REC->a & 3, \"|\", { 0, \"none\" }, { 1, \"A\" }, { 2, \"B\" })",
	"\"%s\", __print_flags(REC->a & 3, \"|\", { 1, \"A\" }, { -1, \"minus\" }, { 2, \"B\" })",
	"\"%6s.\", __print_flags(REC->e, \"|\", { 1, \"A\" }, { 0x8000000000000000, \"top\" })",
	"\"%s\", __print_symbolic(REC->a & 1, { NAMED, \"named\" }, { 1, \"one\" })",
	"\"%s\", __print_flags(REC->a & 3, \"|\", { NAMED, \"named\" }, { 1, \"one\" })",
	"\"%s\", REC->a & 1 ? \"odd\" : \"even\"",
	"\"%s\", REC->a > 5 ? REC->c < 9 ? \"x\" : __get_str(path) : REC->name",
	"\"%s%s\", REC->d & 0x100 ? __print_flags(REC->d & 3, \"|\", { 1, \"S\" }, { 2, \"D\" }) : "
	"\"R\", REC->d & 0x200 ? \"+\" : \"\"",
	"\"%d\", REC->a ? REC->c : REC->d",
	"\"%u %u %u %u\", REC->a + REC->c, REC->a - REC->c, REC->a * REC->c, REC->d / 3",
	"\"%llu %llu\", REC->e >> 12, REC->e << 3",
	"\"%d %d %d %d %d %d\", REC->a == REC->c, REC->a != REC->c, REC->a < REC->b, "
	"REC->a <= REC->b, REC->a > REC->b, REC->a >= REC->b",
	"\"%d %d %x %x\", REC->a && REC->b, REC->a || REC->b, REC->d | REC->c, REC->d & REC->c",
	"\"%d %x\", !REC->a, ~REC->d",
	"\"%d %d %u %llu\", (u8)REC->d, (s16)REC->d, (unsigned int)REC->e, "
	"(unsigned long long)REC->e",
	"\"%d %d %lld\", (char)REC->e, (unsigned short)REC->e, (s64)REC->e",
	"\"%u,%u sector %llu\", ((unsigned int) ((REC->d) >> 20)), "
	"((unsigned int) ((REC->d) & ((1U << 20) - 1))), (unsigned long long)REC->e",
	"\"%d\", __get_dynamic_array_len(path)",
	"\"  leading and trailing %d  \\n\", REC->a",
};

/* These, too, but libtraceevent takes addresses of another byte order as they lie there. */
static const char *const of_host[] = {
	"\"%s|%s|%12s|\", REC->text, REC->a ? REC->text : \"nothing\", REC->text",
};

/* These are left to libtraceevent. */
static const char *const uncovered[] = {
	"\"%*d\", REC->a & 7, REC->d",
	"\"%pM\", REC->name",
	"\"%s\", __print_hex(REC->name, 4)",
	"\"%s\", __print_array(REC->words, 4, 4)",
	"\"%5c\", REC->a",
	"\"%.3d\", REC->a",
	"\"%s\", __print_symbolic(REC->a & 1, { HI_SOFTIRQ, \"HI\" }, { 1, \"one\" })",
	"\"%d\", REC->d % 7",
};

static struct ftr_ftrace *ftrace_new(struct ftr_trace *trace, unsigned long_bytes, bool is_big,
				     const char *print_fmt)
{
	const struct ftr_ftrace_layout layout = {
		.page_bytes = 4096, .long_bytes = (uint8_t)long_bytes, .is_big = is_big,
	};
	struct ftr_ftrace *ftrace = calloc(1, sizeof(*ftrace));
	static const char printks[] = "0x1000 : \"Start of it\\n\"\n0xffffffff : \"End of it\"\n";
	uint64_t damaged_nr;
	char text[4096];
	int len = snprintf(text, sizeof(text), fields, long_bytes);

	len += snprintf(text + len, sizeof(text) - (size_t)len, "print fmt: %s\n", print_fmt);
	assert_non_null(ftrace);
	assert_int_equal(ftr_ftrace_init(ftrace, trace, &layout), 0);
	assert_int_equal(ftr_ftrace_format_add(ftrace, ftr_slice_make("test", 4),
					       ftr_slice_make("made", 4),
					       ftr_slice_make(text, (size_t)len), NULL), 0);
	assert_int_equal(ftr_ftrace_printk_formats(ftrace, ftr_slice_make(printks, strlen(printks)),
						   &damaged_nr), 0);
	assert_int_equal(damaged_nr, 0);
	return ftrace;
}

static void ftrace_free(struct ftr_ftrace *ftrace)
{
	ftr_ftrace_fini(ftrace);
	free(ftrace);
}

/* The kernel has functions at 0x1000 and 0x1100. */
static struct ftr_trace *trace_new(void)
{
	static const char symbols[] = "0000000000001000 T first_function\n"
				      "0000000000001100 T second_function\n"
				      "0000000000001200 T __sym_end\n";
	struct ftr_trace *trace = ftr_trace_new("made", NULL);
	struct ftr_module *module = ftr_trace_module_get(trace, FTR_KERNEL_PATH, NULL);
	struct ftr_istream in;

	assert_non_null(module);
	module->is_loaded = true;
	module->symtab = calloc(1, sizeof(*module->symtab));
	assert_non_null(module->symtab);
	ftr_istream_from_memory(&in, "kallsyms", symbols, sizeof(symbols) - 1);
	assert_int_equal(ftr_ftrace_kallsyms(module->symtab, &in, NULL), 0);
	ftr_istream_close(&in);
	return trace;
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Numbers are often small or all ones; text is often short. */
static void record_make(uint8_t *record, bool is_big)
{
	static const uint64_t values[] = { 0, 1, 2, 3, 7, 0x80, 0xff, 0x1000, 0x1010, 0x11ff,
					   0x7fffffff, 0x80000000, 0xffffffff,
					   UINT64_C(0x8000000000000000), UINT64_MAX };
	const size_t values_nr = sizeof(values) / sizeof(values[0]);

	for (size_t i = 0; i < RECORD_BYTES; i++)
		record[i] = (uint8_t)(' ' + random_next() % 95);
	ftr_put_u16(record, EVENT_ID, is_big);
	record[8] = (uint8_t)random_next();
	record[9] = (uint8_t)values[random_next() % values_nr];
	ftr_put_u16(record + 10, (uint16_t)values[random_next() % values_nr], is_big);
	ftr_put_u32(record + 12, (uint32_t)values[random_next() % values_nr], is_big);
	ftr_put_u64(record + 16, values[random_next() % values_nr], is_big);
	ftr_put_u64(record + 24, values[random_next() % values_nr], is_big);
	ftr_put_u64(record + 76, values[random_next() % values_nr], is_big);
	record[32 + random_next() % 16] = '\0';
	ftr_put_u32(record + 64, ftr_kpage_dynamic(DATA_AT, 8), is_big);
	ftr_put_u32(record + 68, ftr_kpage_dynamic(DATA_AT + 8 - 72, 8), is_big);
	record[DATA_AT + random_next() % 8] = '\0';
	if (random_next() % 4 > 0)		/* else it ends where the record does */
		record[DATA_AT + 8 + random_next() % 8] = '\0';
}

static void expect_same(struct ftr_ftrace *ftrace, const char *print_fmt, uint8_t *record)
{
	struct ftr_ftrace_page page = { .ftrace = ftrace, .data = record, .bytes = RECORD_BYTES };
	const struct ftr_ftrace_event *event = ftrace->events.v[0];
	struct ftr_strbuf made, expected;

	ftr_strbuf_init(&made);
	ftr_strbuf_init(&expected);
	assert_true(ftr_ftrace_fits(&page, event));
	ftr_strbuf_puts(&made, "before:");
	ftr_strbuf_puts(&expected, "before:");
	assert_int_equal(ftr_ftrace_text(ftrace, &page, event, &made), 0);
	assert_int_equal(ftr_ftrace_text_by_library(ftrace, &page, event, &expected), 0);
	if (made.len != expected.len || memcmp(made.s, expected.s, made.len) != 0)
		fail_msg("%s: \"%s\", expected \"%s\"", print_fmt, made.s, expected.s);
	ftr_strbuf_fini(&made);
	ftr_strbuf_fini(&expected);
}

static void format_try(const char *print_fmt, bool is_covered, unsigned long_bytes, bool is_big)
{
	struct ftr_trace *trace = trace_new();
	struct ftr_ftrace *ftrace = ftrace_new(trace, long_bytes, is_big, print_fmt);
	uint8_t *record = malloc(RECORD_BYTES);		/* of its size: sanitizers watch its end */

	assert_non_null(record);
	if ((ftrace->events.v[0]->print != NULL) != is_covered)
		fail_msg("%s: %s", print_fmt, is_covered ? "has no steps" : "has steps");
	for (int i = 0; i < RECORDS; i++) {
		record_make(record, is_big);
		expect_same(ftrace, print_fmt, record);
	}
	free(record);
	ftrace_free(ftrace);
	ftr_trace_free(trace);
}

static void formats_try(const char *const *formats, size_t nr, bool is_covered)
{
	for (size_t i = 0; i < nr; i++) {
		for (int layout = 0; layout < 4; layout++)
			format_try(formats[i], is_covered, layout & 1 ? 4 : 8, layout & 2);
	}
}

static void test_covered(void **state)
{
	formats_try(covered, sizeof(covered) / sizeof(covered[0]), true);
}

static void test_of_host(void **state)
{
	for (size_t i = 0; i < sizeof(of_host) / sizeof(of_host[0]); i++) {
		format_try(of_host[i], true, 8, FTR_HOST_IS_BIG);
		format_try(of_host[i], true, 4, FTR_HOST_IS_BIG);
	}
}

static void test_uncovered(void **state)
{
	formats_try(uncovered, sizeof(uncovered) / sizeof(uncovered[0]), false);
}

/* Longer than the room that is taken at a time, and than a payload holds. */
static void test_long(void **state)
{
	struct ftr_trace *trace = trace_new();
	struct ftr_ftrace *ftrace;
	uint8_t record[RECORD_BYTES];
	char print_fmt[3000] = "\"";

	memset(print_fmt + 1, 'x', 2900);
	strcpy(print_fmt + 2901, "%d %s\", REC->a, REC->name");
	ftrace = ftrace_new(trace, 8, FTR_HOST_IS_BIG, print_fmt);
	assert_non_null(ftrace->events.v[0]->print);
	record_make(record, FTR_HOST_IS_BIG);
	expect_same(ftrace, print_fmt, record);
	ftrace_free(ftrace);
	ftr_trace_free(trace);
}

static void expect_text(const char *print_fmt, bool is_big, const uint8_t *record,
			const char *expected)
{
	struct ftr_trace *trace = trace_new();
	struct ftr_ftrace *ftrace = ftrace_new(trace, 8, is_big, print_fmt);
	struct ftr_ftrace_page page = { .ftrace = ftrace, .data = record, .bytes = RECORD_BYTES };
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	assert_int_equal(ftr_ftrace_text(ftrace, &page, ftrace->events.v[0], &text), 0);
	assert_string_equal(ftr_strbuf_str(&text), expected);
	ftr_strbuf_fini(&text);
	ftrace_free(ftrace);
	ftr_trace_free(trace);
}

/* libtraceevent 1.7 writes ">c<" for a character. */
static void test_character(void **state)
{
	static const char print_fmt[] = "\"%c%c.\", REC->a, REC->a == 65 ? 120 : 121";
	uint8_t record[RECORD_BYTES];

	record_make(record, FTR_HOST_IS_BIG);
	record[8] = 'A';
	expect_text(print_fmt, FTR_HOST_IS_BIG, record, "Ax.");
}

/* An address in a record of the other byte order. */
static void test_pointed(void **state)
{
	static const char print_fmt[] = "\"%s, %s\", REC->text, REC->text";
	uint8_t record[RECORD_BYTES];

	for (int is_big = 0; is_big < 2; is_big++) {
		record_make(record, is_big);
		ftr_put_u64(record + 76, 0x1000, is_big);
		expect_text(print_fmt, is_big, record, "Start of it, Start of it");
		ftr_put_u64(record + 76, 0x1001, is_big);
		expect_text(print_fmt, is_big, record, "1001, 1001");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_covered),
		cmocka_unit_test(test_of_host),
		cmocka_unit_test(test_uncovered),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_character),
		cmocka_unit_test(test_pointed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
