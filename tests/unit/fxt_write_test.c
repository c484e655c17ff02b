/* SPDX-License-Identifier: MIT */
/* Bytes of FXT records that are written: prologue, calls, arguments, instances. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fxt_made.h"
#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"
#include "utils/format/fxt/layout.h"
#include "utils/trace/event_kind.h"

static void prologue(void **state)
{
	static const uint64_t expected[] = {
		/* trace info, magic:  type 0 | size 1 | metadata 4 | info 0 | 0x16547846 */
		UINT64_C(0x0016547846040010),
		/* provider info:      type 0 | size 2 | metadata 1 | id 1 at 20 | name length 3 at
		   52 */
		UINT64_C(0x0030000000110020),
		TEXT('f', 't', 'r', 0, 0, 0, 0, 0),
		/* provider section:   type 0 | size 1 | metadata 2 | id 1 at 20 */
		UINT64_C(0x0000000000120010),
		/* initialization:     type 1 | size 2; ticks per second */
		0x21,
		1000000000,
		/* string:             type 2 | size 2 | index 1 at 16 | length 1 at 32 */
		UINT64_C(0x0000000100010022),
		TEXT('t', 0, 0, 0, 0, 0, 0, 0),
		/* kernel object:      type 7 | size 2 | process 1 at 16 | name 1 at 24; koid */
		UINT64_C(0x0000000001010027),
		100,
		/* string "process":   index 2 | length 7 */
		UINT64_C(0x0000000700020022),
		TEXT('p', 'r', 'o', 'c', 'e', 's', 's', 0),
		/* kernel object:      type 7 | size 4 | thread 2 at 16 | name 1 at 24 | 1 argument
		   at 40 */
		UINT64_C(0x0000010001020047),
		100,
		/* koid argument:      type 8 | size 2 | name 2 at 16; the process */
		UINT64_C(0x0000000000020028),
		100,
	};
	struct made made;

	made_begin(&made);
	writing_end(&made.w);
	assert_words(&made, 0, WORDS(expected));
	made_end(&made);
}

static void call(void **state)
{
	static const uint64_t expected[] = {
		/* string "p": index 3, "f": index 4 */
		UINT64_C(0x0000000100030022), 'p',
		UINT64_C(0x0000000100040022), 'f',
		/* thread:             type 3 | size 3 | index 1 at 16; process, thread */
		0x10033, 100, 100,
		/*
		 * duration complete:  type 4 | size 3 | event 4 at 16 | 0 arguments at 20 |
		 *                     thread 1 at 24 | category 3 at 32 | name 4 at 48; begin; end
		 */
		UINT64_C(0x0004000301040034), 1000, 2000,
	};
	struct made made;

	made_begin(&made);
	writing_entry(&made.w, made.task, 1000, made.func, 0, NULL);
	writing_exit(&made.w, made.task, 2000, made.func, 0, NULL);
	writing_end(&made.w);
	assert_words(&made, 16, WORDS(expected));
	made_end(&made);
}

/* What a function has beyond its name stands in a blob before its first call. */
static void call_of_a_symbol(void **state)
{
	static const struct ftr_symbol symbol = { 0x1a0, 7, 'T', "_Z1fi" };
	static const uint64_t expected[] = {
		/*
		 * strings "p" (3) and "f" (4) are assigned when they are used: first "ftr.symbols"
		 */
		UINT64_C(0x0000000b00030032),
		TEXT('f', 't', 'r', '.', 's', 'y', 'm', 'b'),
		TEXT('o', 'l', 's', 0, 0, 0, 0, 0),
		/* blob:               type 5 | size 6 | name 3 at 16 | length 35 at 32 | data 1 at
		   48 */
		UINT64_C(0x0001002300030065),
		TEXT('M', '\t', '1', '\t', 'a', 'b', '1', '2'),
		TEXT('\t', '/', 'p', '\n', 'F', '\t', '1', '\t'),
		TEXT('1', 'a', '0', '\t', '0', '\t', '7', '\t'),
		TEXT('T', '\t', 'f', '\t', '_', 'Z', '1', 'f'),
		TEXT('i', '\t', '\n', 0, 0, 0, 0, 0),
		UINT64_C(0x0000000100040022),
		'p',
		UINT64_C(0x0000000100050022),
		'f',
		0x10033,
		100,
		100,
		UINT64_C(0x0005000401040034),
		1000,
		2000,
	};
	struct made made;

	made_begin(&made);
	made.func = make_symbol(made.trace, "/p", &symbol);
	writing_entry(&made.w, made.task, 1000, made.func, 0, NULL);
	writing_exit(&made.w, made.task, 2000, made.func, 0, NULL);
	writing_end(&made.w);
	writing_keep(&made.w, "symbol");
	assert_words(&made, 16, WORDS(expected));
	made_end(&made);
}

/* A reader may learn the line of a function after another event has named it. */
static void line_that_is_known_late(void **state)
{
	static const struct ftr_symbol symbol = { 0x1a0, 7, 'T', "f" };
	struct ftr_event named = { .type = FTR_EVENT_ENTRY, .flags = FTR_EVENT_INFERRED,
				   .time_ns = 1000 };
	struct ftr_func *func;
	struct made made;

	made_begin(&made);
	func = (struct ftr_func *)make_symbol(made.trace, "/p", &symbol);
	named.task = made.task;
	named.call.func = func;
	writing_event(&made.w, &named);
	func->src_file = "f.c";
	func->src_line = 38;
	writing_entry(&made.w, made.task, 1001, func, 1, NULL);
	writing_end(&made.w);
	writing_keep(&made.w, "late-line");
	assert_non_null(memmem(made.w.out.buf, made.w.out.len, "f.c:38", 6));
	made_end(&made);
}

static void call_that_does_not_end(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(0x0000000100030022), 'p',
		UINT64_C(0x0000000100040022), 'f',
		0x10033, 100, 100,
		/* duration begin:     as complete, but size 2 and event 2 */
		UINT64_C(0x0004000301020024), 1000,
	};
	struct ftr_event unfinished = { .type = FTR_EVENT_EXIT, .flags = FTR_EVENT_UNFINISHED,
					.time_ns = 2000 };
	struct made made;

	made_begin(&made);
	writing_entry(&made.w, made.task, 1000, made.func, 0, NULL);
	unfinished.task = made.task;
	unfinished.call.func = made.func;
	writing_event(&made.w, &unfinished);
	writing_end(&made.w);
	assert_words(&made, 16, WORDS(expected));
	made_end(&made);
}

/* A call without duration could be taken for one inside of what follows: it keeps both ends. */
static void call_of_no_time(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(0x0000000100030022), 'p',
		UINT64_C(0x0000000100040022), 'f',
		0x10033, 100, 100,
		UINT64_C(0x0004000301020024), 1000,
		/* duration end:       type 4 | size 2 | event 3 | thread 1 */
		UINT64_C(0x0000000001030024), 1000,
	};
	struct made made;

	made_begin(&made);
	writing_entry(&made.w, made.task, 1000, made.func, 0, NULL);
	writing_exit(&made.w, made.task, 1000, made.func, 0, NULL);
	writing_end(&made.w);
	assert_words(&made, 16, WORDS(expected));
	made_end(&made);
}

struct arg_row {
	const char *what;
	struct ftr_arg arg;
	uint64_t raw[3];
	uint64_t type_size;	/* lowest half of the header but for the name */
	uint64_t upper;		/* upper half of the header */
	uint64_t value[3];
	unsigned value_nr;
};

static const struct arg_row arg_rows[] = {
	{ "int32",
	  { .format = FTR_ARG_AUTO, .size = 8 },
	  { (uint64_t)-5 },
	  0x11,
	  0xfffffffb,
	  { 0 },
	  0 },
	{ "uint32", { .format = FTR_ARG_UNSIGNED, .size = 4 }, { 7 }, 0x12, 7, { 0 }, 0 },
	{ "int64",
	  { .format = FTR_ARG_AUTO, .size = 8 },
	  { (uint64_t)-500000000000 },
	  0x23,
	  0,
	  { (uint64_t)-500000000000 },
	  1 },
	{ "uint64",
	  { .format = FTR_ARG_UNSIGNED, .size = 8 },
	  { UINT64_C(1) << 40 },
	  0x24,
	  0,
	  { UINT64_C(1) << 40 },
	  1 },
	{ "double",
	  { .format = FTR_ARG_FLOAT, .size = 8 },
	  { UINT64_C(0x3ff8000000000000) },
	  0x25,
	  0,
	  { UINT64_C(0x3ff8000000000000) },
	  1 },
	{ "string",
	  { .format = FTR_ARG_STRING },
	  { TEXT(9, 0, 'a', 'b', 'c', 'd', 'e', 'f'), TEXT('g', 'h', 'i', 0, 0, 0, 0, 0) },
	  0x36,
	  0x8009,
	  { TEXT('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), 'i' },
	  2 },
	{ "pointer",
	  { .format = FTR_ARG_HEX, .size = 8 },
	  { 0x7fffdeadbeef },
	  0x27,
	  0,
	  { 0x7fffdeadbeef },
	  1 },
	{ "koid",
	  { .format = FTR_ARG_KOID, .size = 8, .name = "arg1" },
	  { 77 },
	  0x28,
	  0,
	  { 77 },
	  1 },
	{ "null", { .format = FTR_ARG_NULL, .size = 4, .name = "arg1" }, { 0 }, 0x10, 0, { 0 }, 0 },
	{ "bool", { .format = FTR_ARG_BOOL, .size = 4, .name = "arg1" }, { 1 }, 0x19, 1, { 0 }, 0 },
	{ "blob",
	  { .format = FTR_ARG_STRUCT, .size = 12, .name = "arg1" },
	  { 1, 2 },
	  0x3a,
	  12,
	  { 1, 2 },
	  2 },
};

/* Each argument hangs at a duration begin of name "f"; its own name is string 5. */
static void arguments(void **state)
{
	for (size_t i = 0; i < sizeof(arg_rows) / sizeof(arg_rows[0]); i++) {
		const struct arg_row *row = &arg_rows[i];
		struct ftr_argspec *spec = calloc(1, sizeof(*spec) + sizeof(row->arg));
		struct ftr_payload payload = { .data = (const uint8_t *)row->raw, .spec = spec,
					       .len = sizeof(row->raw) };
		uint64_t size = 3 + row->value_nr;
		uint64_t expected[16] = {
			UINT64_C(0x0000000100030022), 'p',
			UINT64_C(0x0000000100040022), 'f',
			UINT64_C(0x0000000400050022), TEXT('a', 'r', 'g', '1', 0, 0, 0, 0),
			0x10033, 100, 100,
			UINT64_C(0x0004000301120004) | size << 4, 1000,
			row->type_size | 5 << 16 | row->upper << 32,
		};
		struct made made;

		spec->nr = 1;
		spec->args[0] = row->arg;
		spec->args[0].index = 1;
		memcpy(expected + 12, row->value, 8 * row->value_nr);
		made_begin(&made);
		writing_entry(&made.w, made.task, 1000, made.func, 0, &payload);
		writing_end(&made.w);
		writing_keep(&made.w, row->what);
		assert_words(&made, 16, expected, 12 + row->value_nr);
		made_end(&made);
		free(spec);
	}
}

/* What this of a const method points to is of its class; said once. */
static void instance(void **state)
{
	static const struct ftr_symbol symbol = { 0x1a0, 7, 'T', "_ZNK2ns3cls3getEv" };
	static const uint64_t data[] = { 0x7ffed370 };
	struct ftr_argspec *spec = calloc(1, sizeof(*spec) + sizeof(spec->args[0]));
	struct ftr_payload payload = { .data = (const uint8_t *)data, .len = 8, .spec = spec };
	/* userspace object:   type 6 | size 3 | thread 1 at 16 | name 6 at 24 | 1 argument at 40 */
	const uint64_t expected[] = { UINT64_C(0x0000010006010036), 0x7ffed370,
		/* bool argument: type 9 | size 1 | name 7 at 16 | 1 at 32 */
		UINT64_C(0x0000000100070019) };
	unsigned found = 0;
	struct made made;

	spec->nr = 1;
	spec->args[0] = (struct ftr_arg){ .format = FTR_ARG_POINTER, .size = 8, .index = 1 };
	made_begin(&made);
	made.func = make_symbol(made.trace, "/p", &symbol);
	for (unsigned i = 0; i < 2; i++) {
		writing_entry(&made.w, made.task, 1000 + 10 * i, made.func, 0, &payload);
		writing_exit(&made.w, made.task, 1001 + 10 * i, made.func, 0, NULL);
	}
	writing_end(&made.w);
	writing_keep(&made.w, "instance");
	for (size_t at = 0; at < made.w.out.len;) {
		uint64_t words[3] = { 0 };

		memcpy(words, made.w.out.buf + at, made.w.out.len - at < 24 ? 8 : 24);
		at += 8 * fxt_record_words(words[0]);
		if (fxt_record_type(words[0]) != FXT_USER_OBJECT)
			continue;
		found++;
		assert_memory_equal(words, expected, sizeof(expected));
	}
	assert_int_equal(found, 1);
	free(spec);
	made_end(&made);
}

/* A call that lasts longer than the window is Begin and End; the short ones stay Complete. */
static void long_call(void **state)
{
	const unsigned nr = 50000;
	uint64_t word;
	struct made made;
	size_t calls;

	made_begin(&made);
	writing_entry(&made.w, made.task, 1000, made.func, 0, NULL);
	for (unsigned i = 0; i < nr; i++) {
		writing_entry(&made.w, made.task, 1001 + 2 * i, made.func, 1, NULL);
		writing_exit(&made.w, made.task, 1002 + 2 * i, made.func, 1, NULL);
	}
	writing_exit(&made.w, made.task, 200000, made.func, 0, NULL);
	writing_end(&made.w);
	writing_keep(&made.w, "long-call");
	calls = 16 + 7;
	memcpy(&word, made.w.out.buf + 8 * calls, 8);
	assert_int_equal(word, UINT64_C(0x0004000301020024));
	memcpy(&word, made.w.out.buf + made.w.out.len - 16, 8);
	assert_int_equal(word, UINT64_C(0x0000000001030024));
	assert_int_equal(made.w.out.len, 8 * calls + 24 * (nr + 1) + 8);
	made_end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prologue),
		cmocka_unit_test(call),
		cmocka_unit_test(call_of_a_symbol),
		cmocka_unit_test(line_that_is_known_late),
		cmocka_unit_test(call_that_does_not_end),
		cmocka_unit_test(call_of_no_time),
		cmocka_unit_test(arguments),
		cmocka_unit_test(instance),
		cmocka_unit_test(long_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
