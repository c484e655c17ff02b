/* SPDX-License-Identifier: MIT */
/*
 * Where modules lie: one library at several places, and the addresses of its calls, through an FXT
 * file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"

#define CALL_AT 0x105		/* of the function's calls, from where its module begins */

struct made {
	struct ftr_trace *trace;
	struct ftr_task *a, *b;
	const struct ftr_func *func;
	struct ftr_session *first, *second, *other;
};

static void map(struct ftr_session *session, struct ftr_mapping mapping)
{
	assert_int_equal(ftr_session_map(session, &mapping), 0);
}

static struct ftr_session *image(struct made *made, struct ftr_task *task, const char *sid,
				 uint64_t start_ns)
{
	struct ftr_session *session = ftr_trace_session_new(made->trace, sid, task->pid, start_ns);

	assert_non_null(session);
	session->exename = "/prog";
	assert_int_equal(ftr_trace_task_add_session(made->trace, task, session), 0);
	return session;
}

/*
 * Process a runs two images, which have the library at 10000 and at 50000; process b has it at
 * 70000 from 1500 on, and at 90000 from 5500 on.  Of the module behind it nothing is called.
 */
static void made_begin(struct made *made)
{
	static const struct ftr_symbol symbol = { 0x100, 0x20, 'T', "f" };
	struct ftr_module *lib, *idle;

	made->trace = ftr_trace_new("made", NULL);
	assert_non_null(made->trace);
	made->a = make_task(made->trace, 100, 100, "a");
	made->b = make_task(made->trace, 200, 200, "b");
	made->first = image(made, made->a, "00000000000000a1", 500);
	made->second = image(made, made->a, "00000000000000a2", 4000);
	made->other = image(made, made->b, "00000000000000b1", 600);
	made->func = make_symbol(made->trace, "/lib", &symbol);
	lib = (struct ftr_module *)made->func->module;
	idle = ftr_trace_module_get(made->trace, "/idle", NULL);
	map(made->first, (struct ftr_mapping){ .start = 0x10000, .end = 0x20000, .module = lib });
	map(made->first, (struct ftr_mapping){ .start = 0x20000, .end = 0x21000, .module = idle });
	map(made->second, (struct ftr_mapping){ .start = 0x50000, .end = 0x60000, .module = lib });
	map(made->other, (struct ftr_mapping){ .start = 0x70000, .end = 0x80000, .module = lib,
					       .since_ns = 1500, .is_open = true });
	map(made->other, (struct ftr_mapping){ .start = 0x90000, .end = 0xa0000, .module = lib,
					       .since_ns = 5500 });
}

static void put_call(struct made *made, struct writing *w, struct ftr_task *task, uint64_t time_ns,
		     uint64_t base)
{
	struct ftr_event ev = { .time_ns = time_ns, .task = task, .type = FTR_EVENT_ENTRY,
				.call = { .func = made->func, .addr = base + CALL_AT } };

	writing_event(w, &ev);
	ev.time_ns = time_ns + 100;
	ev.type = FTR_EVENT_EXIT;
	writing_event(w, &ev);
}

static void put_calls(struct made *made, struct writing *w)
{
	const struct {
		struct ftr_task *task;
		uint64_t time_ns, base;
	} rows[] = {
		{ made->a, 1000, 0x10000 }, { made->a, 1200, 0x10000 }, { made->b, 2000, 0x70000 },
		{ made->a, 3000, 0x10000 }, { made->a, 4000, 0x50000 }, { made->b, 5000, 0x70000 },
		{ made->a, 5200, 0x50000 }, { made->b, 5500, 0x90000 }, { made->b, 6000, 0x90000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		put_call(made, w, rows[i].task, rows[i].time_ns, rows[i].base);
}

/* A blob of the file holds this text and no more. */
static void assert_blob(const struct writing *w, const char *text)
{
	uint64_t header = (1 + (strlen(text) + 7) / 8) << 4 | 5 | (uint64_t)strlen(text) << 32;
	const char *at = memmem(w->out.buf, w->out.len, text, strlen(text));
	uint64_t word;

	assert_non_null(at);
	memcpy(&word, at - 8, 8);
	/* blob: type 5 | size | name at 16, of the table | length at 32 | data 1 at 48 */
	assert_int_equal(word & UINT64_C(0x00007fff0000ffff), header);
	assert_int_equal(word >> 48, 1);
}

static void maps_are_lines(void **state)
{
	struct made made;
	struct writing w;

	made_begin(&made);
	writing_begin(&w, made.trace, "fxt");
	put_calls(&made, &w);
	writing_end(&w);
	writing_keep(&w, "maps");
	assert_blob(&w, "S\t00000000000000a1\n"
			"M\t1\tab12\t/lib\n"
			"B\t1\t10000\t20000\t0\n"
			"M\t2\t\t/idle\n"
			"B\t2\t20000\t21000\t0\n"
			"S\t00000000000000a2\n"
			"B\t1\t50000\t60000\t0\n"
			"S\t00000000000000b1\n"
			"B\t1\t70000\t0\t1500\n"
			"B\t1\t90000\ta0000\t5500\n");
	assert_blob(&w, "F\t1\t100\t105\t32\tT\tf\tf\t\n");
	writing_free(&w);
	ftr_trace_free(made.trace);
}

static void addresses_are_read(void **state)
{
	static const char *const expected[2] = {
		"1000 100/100 > 0 lib f /lib f 100+32 T at 10105\n"
		"1100 100/100 < 0 lib f /lib f 100+32 T at 10105\n"
		"1200 100/100 > 0 lib f /lib f 100+32 T at 10105\n"
		"1300 100/100 < 0 lib f /lib f 100+32 T at 10105\n"
		"3000 100/100 > 0 lib f /lib f 100+32 T at 10105\n"
		"3100 100/100 < 0 lib f /lib f 100+32 T at 10105\n"
		"4000 100/100 > 0 lib f /lib f 100+32 T at 50105\n"
		"4100 100/100 < 0 lib f /lib f 100+32 T at 50105\n"
		"5200 100/100 > 0 lib f /lib f 100+32 T at 50105\n"
		"5300 100/100 < 0 lib f /lib f 100+32 T at 50105\n",
		"2000 200/200 > 0 lib f /lib f 100+32 T at 70105\n"
		"2100 200/200 < 0 lib f /lib f 100+32 T at 70105\n"
		"5000 200/200 > 0 lib f /lib f 100+32 T at 70105\n"
		"5100 200/200 < 0 lib f /lib f 100+32 T at 70105\n"
		"5500 200/200 > 0 lib f /lib f 100+32 T at 90105\n"
		"5600 200/200 < 0 lib f /lib f 100+32 T at 90105\n"
		"6000 200/200 > 0 lib f /lib f 100+32 T at 90105\n"
		"6100 200/200 < 0 lib f /lib f 100+32 T at 90105\n",
	};
	struct ftr_strbuf text[2];
	struct writing w, again;
	struct made made;

	made_begin(&made);
	writing_begin(&w, made.trace, "fxt");
	put_calls(&made, &w);
	writing_end(&w);
	for (int i = 0; i < 2; i++)
		ftr_strbuf_init(&text[i]);
	assert_int_equal(reading(w.out.buf, w.out.len, text, 2, &again), 0);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(ftr_strbuf_str(&text[i]), expected[i]);
		ftr_strbuf_fini(&text[i]);
	}
	assert_int_equal(again.out.len, w.out.len);
	assert_memory_equal(again.out.buf, w.out.buf, w.out.len);
	writing_free(&again);
	writing_free(&w);
	ftr_trace_free(made.trace);
}

/* A file without lines S and B, as earlier versions wrote it: one address for all images. */
static void files_without_maps(void **state)
{
	struct ftr_strbuf text[1];
	struct writing w;
	struct made made;

	made_begin(&made);
	for (size_t i = 0; i < made.trace->sessions.nr; i++)
		made.trace->sessions.v[i]->mappings.nr = 0;
	writing_begin(&w, made.trace, "fxt");
	put_call(&made, &w, made.a, 1000, 0x10000);
	put_call(&made, &w, made.a, 5000, 0x10000);
	writing_end(&w);
	assert_blob(&w, "M\t1\tab12\t/lib\nF\t1\t100\t10105\t32\tT\tf\tf\t\n");
	ftr_strbuf_init(&text[0]);
	assert_int_equal(reading(w.out.buf, w.out.len, text, 1, NULL), 0);
	assert_string_equal(ftr_strbuf_str(&text[0]),
			    "1000 100/100 > 0 lib f /lib f 100+32 T at 10105\n"
			    "1100 100/100 < 0 lib f /lib f 100+32 T at 10105\n"
			    "5000 100/100 > 0 lib f /lib f 100+32 T at 10105\n"
			    "5100 100/100 < 0 lib f /lib f 100+32 T at 10105\n");
	ftr_strbuf_fini(&text[0]);
	writing_free(&w);
	ftr_trace_free(made.trace);
}

/* Lines that say nothing are counted, and the rest is read. */
static void damaged_lines(void **state)
{
	static const struct { const char *line, *damaged;
	} rows[] = {
		{ "B\t1\t10000\t20000\t0\n", "B\t9\t10000\t20000\t0\n" }, /* no such module */
		{ "B\t1\t10000\t20000\t0\n",
		  "B\t1\t10000\t01000\t0\n" }, /* ends before it begins */
		{ "B\t1\t10000\t20000\t0\n", "B\t1\tx0000\t20000\t0\n" },
		{ "B\t1\t10000\t20000\t0\n", "B\t1\t10000\t20000 0\n" },
		{ "S\t00000000000000a1\n", "S\t00000000000000\na\n" },
		{ "S\t00000000000000a1\n", "S 00000000000000a1\n" },
	};
	struct writing w;
	struct made made;

	made_begin(&made);
	writing_begin(&w, made.trace, "fxt");
	put_calls(&made, &w);
	writing_end(&w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].line);
		char *at = memmem(w.out.buf, w.out.len, rows[i].line, len);

		assert_non_null(at);
		memcpy(at, rows[i].damaged, len);
		assert_int_equal(reading(w.out.buf, w.out.len, NULL, 0, NULL), 1);
		memcpy(at, rows[i].line, len);
	}
	assert_int_equal(reading(w.out.buf, w.out.len, NULL, 0, NULL), 0);
	writing_free(&w);
	ftr_trace_free(made.trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_are_lines),
		cmocka_unit_test(addresses_are_read),
		cmocka_unit_test(files_without_maps),
		cmocka_unit_test(damaged_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
