/* SPDX-License-Identifier: MIT */
/*
 * FXT beyond its limits: more names and threads than the tables hold, texts that are too long or no
 * texts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"

static struct ftr_trace *trace_new(void)
{
	struct ftr_trace *trace = ftr_trace_new("made", NULL);

	assert_non_null(trace);
	return trace;
}

/* Write, keep, read, and compare with what was described while writing. */
static void finish(struct writing *w, struct ftr_strbuf *text, size_t task_nr, const char *name)
{
	struct ftr_strbuf *read = calloc(task_nr, sizeof(*read));

	assert_non_null(read);
	writing_end(w);
	writing_keep(w, name);
	assert_int_equal(reading(w->out.buf, w->out.len, read, task_nr, NULL), 0);
	for (size_t i = 0; i < task_nr; i++) {
		assert_string_equal(ftr_strbuf_str(&text[i]), ftr_strbuf_str(&read[i]));
		ftr_strbuf_fini(&read[i]);
		ftr_strbuf_fini(&text[i]);
	}
	free(read);
}

static void put(struct writing *w, struct ftr_strbuf *text, struct ftr_event ev)
{
	describe_event(text, w->trace, &ev);
	writing_event(w, &ev);
}

static void put_pair(struct writing *w, struct ftr_strbuf *text, struct ftr_task *task,
		     uint64_t time_ns, const struct ftr_func *func)
{
	put(w, text, (struct ftr_event){ .type = FTR_EVENT_ENTRY, .time_ns = time_ns, .task = task,
					 .call.func = func });
	put(w, text, (struct ftr_event){ .type = FTR_EVENT_EXIT, .time_ns = time_ns + 1,
					 .task = task, .call.func = func });
}

/* The one name that is used all the time keeps its slot; the others take turns. */
static void forty_thousand_names(void **state)
{
	const unsigned nr = 40000;
	struct ftr_strbuf text[1] = { { 0 } };
	struct ftr_trace *trace = trace_new();
	struct ftr_task *task = make_task(trace, 1, 1, "t");
	const struct ftr_func *often = make_func(trace, "prog", "often");
	size_t before, often_nr = 0;
	struct writing w;

	writing_begin(&w, trace, "fxt");
	before = w.out.len;
	for (unsigned i = 0; i < 2 * nr; i++) {
		char name[32];

		snprintf(name, sizeof(name), "name%u", i % nr);
		put_pair(&w, text, task, 10 + 4 * i, make_func(trace, "prog", name));
		put_pair(&w, text, task, 12 + 4 * i, often);
	}
	finish(&w, text, 1, "names");
	for (size_t i = before; i + 16 <= w.out.len; i += 8)
		often_nr += memcmp(w.out.buf + i, "often\0\0", 8) == 0;
	assert_int_equal(often_nr, 1);
	writing_free(&w);
	ftr_trace_free(trace);
}

static void thousand_threads(void **state)
{
	const unsigned nr = 1000;
	struct ftr_strbuf *text = calloc(nr, sizeof(*text));
	struct ftr_trace *trace = trace_new();
	const struct ftr_func *func = make_func(trace, NULL, "work");
	struct ftr_task **tasks = calloc(nr, sizeof(struct ftr_task *));
	struct writing w;

	assert_non_null(text);
	assert_non_null(tasks);
	for (unsigned i = 0; i < nr; i++)
		tasks[i] = make_task(trace, 500, 500 + (int)i, "worker");
	writing_begin(&w, trace, "fxt");
	for (unsigned i = 0; i < 3 * nr; i++)
		put_pair(&w, &text[i % nr], tasks[i % nr], 10 + 2 * i, func);
	for (unsigned i = 0; i < nr; i++)
		put(&w, &text[i], (struct ftr_event){ .type = FTR_EVENT_ENTRY, .call.func = func,
						      .time_ns = 10000 + i, .task = tasks[i] });
	for (unsigned i = 0; i < nr; i++)
		put(&w, &text[i], (struct ftr_event){ .type = FTR_EVENT_EXIT, .call.func = func,
						      .time_ns = 20000 + i, .task = tasks[i] });
	finish(&w, text, nr, "threads");
	writing_free(&w);
	free(text);
	free(tasks);
	ftr_trace_free(trace);
}

struct text_row {
	const char *what;
	const char *in;
	size_t len;
	const char *out;	/* what is read again */
	unsigned cut_nr;
};

static const struct text_row text_rows[] = {
	{ "plain", "main", 4, "main", 0 },
	{ "utf8", "gr\xc3\xbc\xc3\x9f\x65", 7, "gr\xc3\xbc\xc3\x9f\x65", 0 },
	{ "invalid-utf8", "a\xff" "b\xc3", 4, "a\xef\xbf\xbd" "b\xef\xbf\xbd", 1 },
	{ "surrogate", "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 1 },
	{ "overlong", "\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd", 1 },
	{ "nul", "a\0b", 3, NULL, 0 },
};

static void name_as(const struct text_row *row, const char *out, size_t out_len)
{
	struct ftr_trace *trace = trace_new();
	struct ftr_task *task = make_task(trace, 1, 1, "t");
	const struct ftr_func *func = ftr_trace_func_by_name(trace, NULL, row->in, row->len);
	struct ftr_strbuf text = { 0 }, read = { 0 };
	struct ftr_event as_read = { .time_ns = 10, .task = task };
	struct writing w;

	writing_begin(&w, trace, "fxt");
	put_pair(&w, &text, task, 10, func);
	writing_end(&w);
	ftr_strbuf_clear(&text);
	as_read.call.func = ftr_trace_func_by_name(trace, NULL, out, out_len);
	describe_event(&text, trace, &as_read);
	as_read.type = FTR_EVENT_EXIT;
	as_read.time_ns++;
	describe_event(&text, trace, &as_read);
	writing_keep(&w, row->what);
	assert_int_equal(w.sink->cut_nr, row->cut_nr);
	assert_int_equal(reading(w.out.buf, w.out.len, &read, 1, NULL), 0);
	assert_int_equal(read.len, text.len);
	assert_memory_equal(read.s, text.s, text.len);
	ftr_strbuf_fini(&text);
	ftr_strbuf_fini(&read);
	writing_free(&w);
	ftr_trace_free(trace);
}

static void texts(void **state)
{
	for (size_t i = 0; i < sizeof(text_rows) / sizeof(text_rows[0]); i++) {
		const struct text_row *row = &text_rows[i];
		const char *out = row->out == NULL ? row->in : row->out;

		name_as(row, out, row->out == NULL ? row->len : strlen(row->out));
	}
}

/* 33,000 bytes: cut at 32,000, and not within a character: one of two bytes begins at 31,999. */
static void long_name(void **state)
{
	struct text_row row = { "long-name", NULL, 33000, NULL, 1 };
	char *name = malloc(row.len);

	assert_non_null(name);
	memset(name, 'x', row.len);
	memcpy(name + 31999, "\xc3\xbc", 2);
	row.in = name;
	name_as(&row, name, 31999);
	free(name);
}

/* A payload whose strings do not fit into one record, nor all of their texts. */
static void long_arguments(void **state)
{
	const unsigned nr = 18;
	struct ftr_argspec *spec = calloc(1, sizeof(*spec) + nr * sizeof(spec->args[0]));
	uint8_t *bytes = calloc(1, 65536);
	struct ftr_payload payload = { .data = bytes, .spec = spec };
	struct ftr_trace *trace = trace_new();
	struct ftr_strbuf text[1] = { { 0 } };
	struct ftr_event ev = { .type = FTR_EVENT_ENTRY, .time_ns = 10, .payload = &payload };
	struct writing w;

	assert_non_null(spec);
	assert_non_null(bytes);
	spec->nr = (uint16_t)nr;
	for (unsigned i = 0; i < nr; i++) {
		uint16_t len = i == 0 ? 31998 : i == 1 ? 30002 : 10;

		spec->args[i] = (struct ftr_arg){ .format = FTR_ARG_STRING,
						  .index = (uint8_t)(i + 1) };
		memcpy(bytes + payload.len, &len, 2);
		memset(bytes + payload.len + 2, 'a' + (int)i, len);
		payload.len = (uint16_t)(payload.len + (2 + len + 3) / 4 * 4);
	}
	ev.task = make_task(trace, 1, 1, "t");
	ev.call.func = make_func(trace, NULL, "f");
	writing_begin(&w, trace, "fxt");
	put(&w, text, ev);
	finish(&w, text, 1, "long-arguments");
	assert_int_equal(w.sink->cut_nr, 0);	/* but the list was split */
	assert_string_equal(w.sink->note, "1 argument lists split into several records");
	writing_free(&w);
	ftr_trace_free(trace);
	free(spec);
	free(bytes);
}

/* Every call of a recursion is kept; a note reports those deeper than 512, which viewers hide. */
static void recursion(unsigned nr, const char *name)
{
	char deeper[64];
	struct ftr_strbuf text[1] = { { 0 } };
	struct ftr_trace *trace = trace_new();
	struct ftr_task *task = make_task(trace, 1, 1, "t");
	const struct ftr_func *func = make_func(trace, NULL, "deeper");
	struct writing w;

	writing_begin(&w, trace, "fxt");
	for (unsigned i = 0; i < nr; i++)
		put(&w, text, (struct ftr_event){ .type = FTR_EVENT_ENTRY, .time_ns = 10 + i,
						  .task = task, .call.func = func, .depth = i });
	for (unsigned i = nr; i-- > 0;)
		put(&w, text, (struct ftr_event){ .type = FTR_EVENT_EXIT, .time_ns = 1000000 - i,
						  .task = task, .call.func = func, .depth = i });
	finish(&w, text, 1, name);
	assert_int_equal(w.sink->cut_nr, 0);
	snprintf(deeper, sizeof(deeper), "%u calls deeper than 512;", nr - 512);
	if (nr > 512)
		assert_non_null(strstr(w.sink->note, deeper));
	else
		assert_null(w.sink->note);
	writing_free(&w);
	ftr_trace_free(trace);
}

/* The outer ones are begun and ended apart, as their records were gone when they ended. */
static void deep_recursion(void **state)
{
	recursion(200000, "deep");
}

static void shallow_recursion(void **state)
{
	recursion(512, "depth-512");
	recursion(600, "depth-600");
}

/*
 * Functions of one name stay what they are: overloads, statics of several files, of several
 * modules.
 */
static void same_names(void **state)
{
	static const struct ftr_symbol symbols[] = {
		{ 0x1000, 16, 'T', "_ZN2ns1fEi" }, { 0x1010, 32, 'T', "_ZN2ns1fEd" },
		{ 0x1030, 0, 't', "_ZN2ns1fEd" },  { 0x2000, 8, 't', "init" },
		{ 0x2008, 8, 't', "init" },        { 0x2010, 8, 'P', "init" },
		{ 0x1010, 0, 'w', "_ZN2ns1fEi" },
	};
	const size_t nr = sizeof(symbols) / sizeof(symbols[0]);
	struct ftr_trace *trace = ftr_trace_new("made", NULL);
	struct ftr_task *task = make_task(trace, 100, 100, "t");
	struct ftr_strbuf text;
	struct writing w;

	ftr_strbuf_init(&text);
	writing_begin(&w, trace, "fxt");
	for (size_t i = 0; i < 3 * nr; i++) {
		const struct ftr_symbol *symbol = &symbols[i % nr];
		const char *module = i % nr == nr - 1 ? "/lib/other.so" : "/bin/prog";

		put_pair(&w, &text, task, 1000 + 10 * i, make_symbol(trace, module, symbol));
	}
	finish(&w, &text, 1, "same-names");
	writing_free(&w);
	ftr_strbuf_fini(&text);
	ftr_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forty_thousand_names),
		cmocka_unit_test(thousand_threads),
		cmocka_unit_test(texts),
		cmocka_unit_test(same_names),
		cmocka_unit_test(long_name),
		cmocka_unit_test(long_arguments),
		cmocka_unit_test(deep_recursion),
		cmocka_unit_test(shallow_recursion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
