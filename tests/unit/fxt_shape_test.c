/* SPDX-License-Identifier: MIT */
/* FXT: structs keep their shapes, enumerations their values, also where modules share names. */
#include <string.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"
#include "utils/trace/shape.h"

static const struct ftr_arg_enumerator warm[] = { { "RED", 1 } }, cold[] = { { "BLUE", 1 } };
static const struct ftr_arg_enum colors[] = { { "color", warm, 1 }, { "color", cold, 1 } };

/* Of the modules "a" and "b": types of the same names that are others, and one that is the same. */
static const struct row {
	const char *module, *type_name, *words, *text;
	const struct ftr_arg_enum *values;
	uint8_t bytes[8];
} rows[] = {
	{ "a", "pair", "{x:0:i16,c:4:e32:color}", "{.x = 5, .c = RED}", &colors[0], "\5\0\0\0\1" },
	{ "b", "pair", "{y:0:u8,c:4:e32:color}", "{.y = 5, .c = BLUE}", &colors[1], "\5\0\0\0\1" },
	{ "a", "same", "{n:0:u64}", "{.n = 7}", NULL, "\7" },
	{ "b", "same", "{n:0:u64}", "{.n = 8}", NULL, "\10" },
	{ "b", "dull", NULL, "dull{...}", NULL, "\1" },
	{ "a", "dull", "{t:0:a8}", "{.t = \"text\"}", NULL, "text" },
	{ "a", "lost", "{c:0:e32:nowhere,n:4:i32}", "{.c = 1, .n = 2}", NULL, "\1\0\0\0\2" },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct ftr_arg_enum *find_enum(const void *arg, struct ftr_slice name)
{
	return ftr_slice_eq(name, "color") ? arg : NULL;
}

static void put_row(struct writing *w, struct ftr_task *task, const struct row *row, uint64_t at_ns)
{
	struct ftr_trace *trace = w->trace;
	const struct ftr_func *func = make_func(trace, row->module, "take");
	struct ftr_argspec *spec = ftr_arena_alloc(&trace->arena,
						   sizeof(*spec) + 2 * sizeof(spec->args[0]));
	uint8_t bytes[16] = { 1 };
	struct ftr_payload payload = { .data = bytes, .len = sizeof(bytes), .spec = spec };

	assert_non_null(spec);
	memcpy(bytes + 8, row->bytes, sizeof(row->bytes));
	spec->nr = 2;
	spec->args[0] = (struct ftr_arg){ .index = 1, .format = FTR_ARG_ENUM, .size = 8,
					  .type_name = "color", .values = row->values };
	spec->args[1] = (struct ftr_arg){ .index = 2, .format = FTR_ARG_STRUCT, .size = 8,
					  .type_name = row->type_name };
	if (row->words != NULL)
		assert_int_equal(ftr_shape_parse(&spec->args[1].shape,
						 ftr_slice_make(row->words, strlen(row->words)),
						 &trace->arena, find_enum, row->values), 0);
	writing_entry(w, task, at_ns, func, 0, &payload);
	writing_exit(w, task, at_ns + 1, func, 0, NULL);
}

static void write_rows(struct writing *w)
{
	struct ftr_trace *trace = ftr_trace_new("made", NULL);
	struct ftr_task *task;

	assert_non_null(trace);
	task = make_task(trace, 1, 1, "t");
	writing_begin(w, trace, "fxt");
	for (size_t i = 0; i < ROWS; i++)
		put_row(w, task, &rows[i], 10 * i);
	writing_end(w);
	assert_int_equal(w->sink->cut_nr, 0);
}

static void expected_text(struct ftr_strbuf *text)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct ftr_arg_enum *values = rows[i].values;

		ftr_strbuf_printf(text, "%zu 1/1 > 0 %s take (%s, %s)\n", 10 * i, rows[i].module,
				  values == NULL ? "1" : values->values[0].name, rows[i].text);
		ftr_strbuf_printf(text, "%zu 1/1 < 0 %s take\n", 10 * i + 1, rows[i].module);
	}
}

static void test_names_of_modules(void **state)
{
	struct ftr_strbuf text = { 0 }, expected = { 0 };
	struct writing w, again;

	write_rows(&w);
	assert_int_equal(reading(w.out.buf, w.out.len, &text, 1, &again), 0);
	expected_text(&expected);
	assert_string_equal(ftr_strbuf_str(&text), ftr_strbuf_str(&expected));
	assert_int_equal(again.out.len, w.out.len);
	assert_memory_equal(again.out.buf, w.out.buf, w.out.len);
	writing_keep(&w, "shapes-of-modules");
	ftr_strbuf_fini(&text);
	ftr_strbuf_fini(&expected);
	writing_free(&again);
	writing_free(&w);
	ftr_trace_free(w.trace);
}

/* Replace @old, which the file has once, by as many bytes. */
static void damage(struct writing *w, const char *old, const char *new)
{
	char *at = memmem(w->out.buf, w->out.len, old, strlen(old));

	assert_int_equal(strlen(old), strlen(new));
	assert_non_null(at);
	memcpy(at, new, strlen(new));
}

/* It is said, and the value shown as any without a shape. */
static void test_damage(void **state)
{
	static const struct {
		const char *old, *new, *shown;
		int warnings;
	} edits[] = {
		{ "{x:0:i16", "{x:0:q16", "(RED, pair{...})", 1 },
		{ "pair {x", " pair{x", "(RED, pair{...})", 1 },
		{ "{x:0:i16", "{x:9:i16", "(RED, {...})", 0 },
		{ "same {n:0:u64}\n", "pair {n:0:u8}\n\n", "(RED, pair{...})", 1 },
	};

	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		struct ftr_strbuf text = { 0 };
		struct writing w;

		write_rows(&w);
		damage(&w, edits[i].old, edits[i].new);
		assert_int_equal(reading(w.out.buf, w.out.len, &text, 1, NULL), edits[i].warnings);
		if (strstr(ftr_strbuf_str(&text), edits[i].shown) == NULL)
			fail_msg("%s: %s", edits[i].new, ftr_strbuf_str(&text));
		ftr_strbuf_fini(&text);
		writing_free(&w);
		ftr_trace_free(w.trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_modules),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
