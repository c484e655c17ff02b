/* SPDX-License-Identifier: MIT */
/* Functions and tracepoints of the kernel, written as a uftrace directory and read again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/kernel_story.h"
#include "tests/unit/unit.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/pump.h"

#define LONG_TEXT 6000

/* ---- what there is to see of a trace ---- */

static void describe(struct ftr_strbuf *text, const struct ftr_event *ev)
{
	const struct ftr_func *func = ev->call.func;

	ftr_strbuf_printf(text, "%" PRIu64 " %d ", ev->time_ns, ev->task->tid);
	if (ev->type == FTR_EVENT_POINT) {
		ftr_strbuf_printf(text, "%s %" PRIu64 " cpu %d: ", ev->point.name, ev->point.id,
				  ev->point.cpu_nr - 1);
		if (ev->payload != NULL)
			ftr_strbuf_put(text, ev->payload->data, ev->payload->len);
	} else if (ev->type == FTR_EVENT_LOST) {
		ftr_strbuf_printf(text, "lost %" PRIu64 " of %u cpu %d", ev->lost.nr,
				  ev->lost.source, ev->lost.cpu_nr - 1);
	} else {
		ftr_strbuf_printf(text, "%s%s %u %s %c flags %d",
				  ev->type == FTR_EVENT_ENTRY ? ">" : "<", func->name, ev->depth,
				  func->module->name, func->symbol_type, ev->flags);
		if (ftr_func_is_kernel(func))
			ftr_strbuf_printf(text, " %" PRIx64 "+%u %" PRIx64, func->addr, func->size,
					  ev->call.addr);
	}
	ftr_strbuf_putc(text, '\n');
}

/* A text per task. */
static void collect(struct ftr_source *source, struct ftr_strbuf *texts)
{
	struct ftr_event *evs;
	ssize_t nr;

	for (int i = 0; i < STORY_TASKS; i++)
		ftr_strbuf_init(&texts[i]);
	while ((nr = ftr_source_next(source, &evs, NULL)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			int task = 0;

			while (evs[i].task->tid != story_tids[task])
				task++;
			describe(&texts[task], &evs[i]);
		}
	}
	assert_int_equal(nr, 0);
	ftr_source_free(source);
}

static void say(void *arg, const char *text)
{
	print_message("warning: %s\n", text);
}

static struct ftr_trace *open_dir(const char *path, struct ftr_diag *diag,
				  struct ftr_source **source)
{
	const struct ftr_pipeline_options options = { .event_full = true, .kernel_full = true };
	struct ftr_err err = { 0 };
	struct ftr_trace *trace;

	diag->warn = say;
	if (ftr_trace_open(&trace, path, diag, &err) < 0 ||
	    ftr_trace_pipeline(trace, &options, source, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(diag->nr, 0);
	return trace;
}

static void convert(const char *from, const char *to)
{
	struct ftr_diag diag = { 0 };
	struct ftr_source *source;
	struct ftr_trace *trace = open_dir(from, &diag, &source);

	assert_int_equal(story_write_source(to, source, trace, NULL), 0);
	ftr_trace_free(trace);
}

static void expect_same(const char *path, const struct ftr_strbuf *expected)
{
	struct ftr_strbuf texts[STORY_TASKS];
	struct ftr_diag diag = { 0 };
	struct ftr_source *source;
	struct ftr_trace *trace = open_dir(path, &diag, &source);

	collect(source, texts);
	for (int i = 0; i < STORY_TASKS; i++) {
		assert_string_equal(ftr_strbuf_str(&texts[i]), ftr_strbuf_str(&expected[i]));
		ftr_strbuf_fini(&texts[i]);
	}
	ftr_trace_free(trace);
}

static void expect_equal_files(const char *name)
{
	char a[128], b[128];
	struct ftr_strbuf x, y;

	snprintf(a, sizeof(a), "a.data/%s", name);
	snprintf(b, sizeof(b), "b.data/%s", name);
	x = story_slurp(a);
	y = story_slurp(b);
	assert_int_equal(x.len, y.len);
	assert_memory_equal(x.s, y.s, x.len);
	ftr_strbuf_fini(&x);
	ftr_strbuf_fini(&y);
}

static void keep_fxt(story_fn make, const char *name)
{
	struct ftr_trace *trace;
	struct ftr_source *source = story_tell(make, &trace);
	struct writing fxt = { .trace = trace };

	assert_int_equal(ftr_ostream_to_memory(&fxt.out), 0);
	fxt.sink = ftr_sink_new(ftr_format_find("fxt")->write, &fxt.out, NULL);
	assert_int_equal(ftr_pump(source, fxt.sink, trace, NULL, &fxt.err), 0);
	writing_keep(&fxt, name);
	ftr_source_free(source);
	writing_free(&fxt);
	ftr_trace_free(trace);
}

static const char *const files[] = { "kernel_header", "kallsyms", "kernel-cpu0.dat",
				     "kernel-cpu3.dat" };

/*
 * What @make tells is the same when it is read from a directory, and from one that was made of
 * that.
 */
static void round_trip(story_fn make, const char *name)
{
	struct ftr_strbuf expected[STORY_TASKS];
	struct ftr_trace *trace;

	keep_fxt(make, name);
	collect(story_tell(make, &trace), expected);
	ftr_trace_free(trace);
	assert_int_equal(story_write("a.data", make, NULL), 0);
	expect_same("a.data", expected);
	convert("a.data", "b.data");
	expect_same("b.data", expected);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		expect_equal_files(files[i]);
	for (int i = 0; i < STORY_TASKS; i++)
		ftr_strbuf_fini(&expected[i]);
}

static void nested(void **state)
{
	round_trip(story_nested, "kernel-nested");
}

/* Many pages, and tasks that take turns. */
static void make_many(struct story *s)
{
	char text[64];

	for (int i = 0; i < STORY_TASKS; i++)
		story_entry(s, i, s->user);
	for (int i = 0; i < 25000; i++) {
		int task = i / 10 % STORY_TASKS;

		snprintf(text, sizeof(text), "number %d of many", i);
		s->time_ns += 1 + (uint64_t)i % 1000;
		story_point(s, task, STORY_POINT("made:number", 400, i / 7 % 4), text);
		s->time_ns += 1;
		story_entry(s, task, s->kernel[i % STORY_FUNCS]);
		s->time_ns += i % 1000 == 0 ? UINT64_C(1) << 27 : 3;
		story_exit(s, task, s->kernel[i % STORY_FUNCS]);
		s->time_ns += 1;
		if (i % 100 == 99) {
			story_exit(s, task, s->user);
			story_entry(s, task, s->user);
		}
	}
}

static void many(void **state)
{
	struct stat st;

	round_trip(make_many, "kernel-many");
	assert_int_equal(stat("a.data/kernel-cpu3.dat", &st), 0);
	assert_int_equal(st.st_size % 4096, 0);
	assert_true(st.st_size > 50 * 4096);
}

/* A loss goes back to where the reader found it. */
static void make_losses(struct story *s)
{
	story_entry(s, 0, s->user);
	s->time_ns += 10;
	story_point(s, 0, STORY_POINT("made:number", 400, 3), "1");
	s->time_ns += 10;
	story_lost(s, 0, 7, 3);
	s->time_ns += 10;
	story_point(s, 0, STORY_POINT("made:number", 400, 3), "2");
	s->time_ns += 10;
	story_lost(s, 0, 0, 3);
	s->time_ns += 10;
	story_point(s, 0, STORY_POINT("made:number", 400, 0), "3");
	s->time_ns += 10;
	story_exit(s, 0, s->user);
}

static void losses(void **state)
{
	round_trip(make_losses, "kernel-losses");
}

/* Names of one id, and an id that functions have. */
static void make_collisions(struct story *s)
{
	story_entry(s, 0, s->user);
	for (int i = 0; i < 2; i++) {
		s->time_ns += 10;
		story_point(s, 0, STORY_POINT("a:b", 316, 0), "1");
		story_point(s, 0, STORY_POINT("a:c", 316, 0), "2");
		story_point(s, 0, STORY_POINT("a:d", 11, 0), "3");
		story_point(s, 0, STORY_POINT("a:e", 99999, 0), "4");
		story_point(s, 0, STORY_POINT("a:f", 317, 0), "5");
	}
	s->time_ns += 10;
	story_exit(s, 0, s->user);
}

static void collisions(void **state)
{
	struct ftr_strbuf texts[STORY_TASKS];
	struct ftr_diag diag = { 0 };
	struct ftr_source *source;
	struct ftr_trace *trace;

	assert_int_equal(story_write("a.data", make_collisions, NULL), 0);
	trace = open_dir("a.data", &diag, &source);
	collect(source, texts);
	assert_string_equal(ftr_strbuf_str(&texts[0]),
			    "1000 100 >main 0 prog T flags 0\n"
			    "1010 100 a:b 316 cpu 0: 1\n"
			    "1010 100 a:c 32767 cpu 0: 2\n"
			    "1010 100 a:d 32766 cpu 0: 3\n"
			    "1010 100 a:e 32765 cpu 0: 4\n"
			    "1010 100 a:f 317 cpu 0: 5\n"
			    "1020 100 a:b 316 cpu 0: 1\n"
			    "1020 100 a:c 32767 cpu 0: 2\n"
			    "1020 100 a:d 32766 cpu 0: 3\n"
			    "1020 100 a:e 32765 cpu 0: 4\n"
			    "1020 100 a:f 317 cpu 0: 5\n"
			    "1030 100 <main 0 prog T flags 0\n");
	ftr_strbuf_fini(&texts[0]);
	ftr_trace_free(trace);
}

/* Longer than a page's room, the last character of three bytes. */
static void make_long(struct story *s)
{
	static char text[LONG_TEXT + 1];

	memset(text, 'x', LONG_TEXT);
	story_entry(s, 0, s->user);
	for (size_t at = 4046; at < 4054; at++) {
		s->time_ns += 10;
		memset(text + 4000, 'x', 100);
		memcpy(text + at, "\xe2\x82\xac", 3);
		story_point(s, 0, STORY_POINT("made:long", 400, 0), text);
	}
	s->time_ns += 10;
	story_exit(s, 0, s->user);
}

static void expect_cut(struct ftr_source *source)
{
	struct ftr_event *evs;
	unsigned at = 4046;
	ssize_t nr;

	while ((nr = ftr_source_next(source, &evs, NULL)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			/* room for 4051 bytes and their end */
			unsigned len = at + 3 <= 4051 || at >= 4051 ? 4051 : at;

			if (evs[i].type != FTR_EVENT_POINT)
				continue;
			assert_int_equal(evs[i].payload->len, len);
			assert_int_equal(evs[i].payload->data[len - 1], at + 3 == len ? 0xac : 'x');
			at++;
		}
	}
	assert_int_equal(at, 4054);
	ftr_source_free(source);
}

static void long_texts(void **state)
{
	struct ftr_diag diag = { 0 };
	struct ftr_source *source;
	struct ftr_trace *trace;
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	assert_int_equal(story_write("a.data", make_long, &text), 8);
	assert_string_equal(ftr_strbuf_str(&text),
			    "details: 8 texts of tracepoints cut at 4 KB");
	ftr_strbuf_fini(&text);
	trace = open_dir("a.data", &diag, &source);
	expect_cut(source);
	ftr_trace_free(trace);
}

/* A task of whom nothing but the kernel's is known. */
static void make_kernel_only(struct story *s)
{
	story_entry(s, 2, s->kernel[0]);
	s->time_ns += 10;
	story_point(s, 2, STORY_POINT("made:number", 400, 0), "1");
	s->time_ns += 10;
	story_exit(s, 2, s->kernel[0]);
	s->time_ns += 10;
	story_point(s, 0, STORY_POINT("made:number", 400, 3), "2");
}

static void kernel_only(void **state)
{
	round_trip(make_kernel_only, "kernel-only");
}

/* A clock that ticks rarely: what happens at one time stays in its order, as far as calls nest. */
static void make_ties(struct story *s)
{
	story_entry(s, 0, s->user);
	story_entry(s, 0, s->kernel[0]);
	story_entry(s, 0, s->kernel[1]);
	s->time_ns += 1000;
	story_exit(s, 0, s->kernel[1]);
	story_point(s, 0, STORY_POINT("made:number", 400, 0), "1");
	story_exit(s, 0, s->kernel[0]);
	story_exit(s, 0, s->user);
	story_entry(s, 0, s->user);
	story_entry(s, 0, s->kernel[2]);
	s->time_ns += 1000;
	story_exit(s, 0, s->kernel[2]);
	story_entry(s, 0, s->user);
	s->time_ns += 1000;
	story_entry(s, 0, s->kernel[1]);
	story_entry(s, 0, s->kernel[2]);
	story_exit(s, 0, s->kernel[2]);
	story_exit(s, 0, s->kernel[1]);
	story_point(s, 0, STORY_POINT("made:number", 400, 3), "2");
	story_exit(s, 0, s->user);
	story_entry(s, 0, s->kernel[1]);
	s->time_ns += 1000;
	story_exit(s, 0, s->kernel[1]);
	story_exit(s, 0, s->user);
	story_entry(s, 0, s->user);
	story_exit(s, 0, s->user);
}

static void ties(void **state)
{
	round_trip(make_ties, "kernel-ties");
}

/*
 * Time steps back on a CPU: calls, of which nobody knows where they were, go to another;
 * tracepoints wait.
 */
static void make_disorder(struct story *s)
{
	s->time_ns = 5000;
	story_point(s, 0, STORY_POINT("made:number", 400, 0), "1");
	s->time_ns = 4000;
	story_entry(s, 1, s->user);
	story_entry(s, 1, s->kernel[1]);
	s->time_ns = 4100;
	story_point(s, 1, STORY_POINT("made:number", 400, 0), "2");
	s->time_ns = 4200;
	story_exit(s, 1, s->kernel[1]);
	s->time_ns = 6000;
	story_entry(s, 1, s->kernel[2]);
	story_exit(s, 1, s->kernel[2]);
	story_exit(s, 1, s->user);
}

static void disorder(void **state)
{
	struct ftr_strbuf texts[STORY_TASKS], said;
	struct ftr_diag diag = { 0 };
	struct ftr_source *source;
	struct ftr_trace *trace;

	ftr_strbuf_init(&said);
	assert_int_equal(story_write("a.data", make_disorder, &said), 1);
	assert_non_null(strstr(ftr_strbuf_str(&said), "1 times of kernel events, raised"));
	ftr_strbuf_fini(&said);
	trace = open_dir("a.data", &diag, &source);
	collect(source, texts);
	assert_string_equal(
		ftr_strbuf_str(&texts[1]),
		"4000 101 >main 0 prog T flags 0\n"
		"4000 101 >vfs_read 1 [kernel] K flags 0 ffffffff812345f0+64 ffffffff812345f0\n"
		"4200 101 <vfs_read 1 [kernel] K flags 0 ffffffff812345f0+64 ffffffff812345f0\n"
		"5000 101 made:number 400 cpu 0: 2\n"
		"6000 101 >ext4_read 1 [kernel] K flags 0 ffffffffc0008000+16 ffffffffc0008000\n"
		"6000 101 <ext4_read 1 [kernel] K flags 0 ffffffffc0008000+16 ffffffffc0008000\n"
		"6000 101 <main 0 prog T flags 0\n");
	for (int i = 0; i < STORY_TASKS; i++)
		ftr_strbuf_fini(&texts[i]);
	ftr_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nested, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(many, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(losses, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(collisions, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(long_texts, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(ties, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(disorder, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(kernel_only, story_setup, story_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
