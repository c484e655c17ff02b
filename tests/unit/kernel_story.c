/* SPDX-License-Identifier: MIT */
/* Traces with functions and tracepoints of the kernel, put together by hand. */
#include "tests/unit/kernel_story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/trace/calls.h"
#include "utils/trace/pump.h"

const int32_t story_tids[STORY_TASKS] = { 100, 101, 200 };
static char top[64];	/* the directory of one test */

int story_setup(void **state)
{
	snprintf(top, sizeof(top), "/tmp/ftr-kernel-XXXXXX");
	return mkdtemp(top) == NULL || chdir(top) < 0;
}

int story_teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	return chdir("/") < 0 || system(command) != 0;
}

static ssize_t story_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct story *story = (struct story *)source;
	size_t left = story->evs.nr - story->told;
	size_t nr = left < FTR_SOURCE_BATCH ? left : FTR_SOURCE_BATCH;

	*evs = &story->evs.v[story->told];
	story->told += nr;
	return (ssize_t)nr;
}

static void story_free(struct ftr_source *source)
{
	struct story *story = (struct story *)source;

	ftr_vec_fini(&story->evs);
	free(story);
}

static const struct ftr_source_ops story_ops = { .next = story_next, .free = story_free };

static struct story *story_new(void)
{
	static const struct ftr_symbol symbols[STORY_FUNCS] = {
		{ UINT64_C(0xffffffff81000010), 0x90, 'K', "do_syscall_64" },
		{ UINT64_C(0xffffffff812345f0), 0x40, 'K', "vfs_read" },
		{ UINT64_C(0xffffffffc0008000), 0x10, 'K', "ext4_read" },
		{ UINT64_C(0xffff800080001000), 0, 'K', "el0_svc" },
	};
	static const struct ftr_symbol main_symbol = { 0x1100, 0x30, 'T', "main" };
	struct story *story = calloc(1, sizeof(*story));

	assert_non_null(story);
	story->base.ops = &story_ops;
	story->time_ns = 1000;
	story->trace = ftr_trace_new("story", NULL);
	for (int i = 0; i < STORY_TASKS; i++)
		story->tasks[i] = make_task(story->trace, i < 2 ? 100 : 200, story_tids[i], "t");
	for (int i = 0; i < STORY_FUNCS; i++)
		story->kernel[i] = make_symbol(story->trace, FTR_KERNEL_PATH, &symbols[i]);
	story->user = make_symbol(story->trace, "/bin/prog", &main_symbol);
	return story;
}

static void story_put(struct story *story, int task, struct ftr_event ev)
{
	ev.time_ns = story->time_ns;
	ev.task = story->tasks[task];
	assert_int_equal(ftr_vec_push(&story->evs, ev), 0);
}

void story_entry(struct story *story, int task, const struct ftr_func *func)
{
	struct ftr_event ev = { .type = FTR_EVENT_ENTRY, .depth = FTR_DEPTH_UNKNOWN };

	ev.call.func = func;
	ev.call.addr = func->addr;
	story_put(story, task, ev);
}

void story_exit(struct story *story, int task, const struct ftr_func *func)
{
	struct ftr_event ev = { .type = FTR_EVENT_EXIT, .depth = FTR_DEPTH_UNKNOWN };

	ev.call.func = func;
	ev.call.addr = func->addr;
	story_put(story, task, ev);
}

/* @point: name, id and CPU plus 1.  Text and payload live as long as the trace. */
void story_point(struct story *story, int task, struct ftr_event point, const char *text)
{
	size_t len = strlen(text);
	struct ftr_payload *payload = ftr_arena_alloc(&story->trace->arena, sizeof(*payload));

	*payload = (struct ftr_payload){
		.data = (const uint8_t *)ftr_arena_strndup(&story->trace->arena, text, len),
		.len = (uint16_t)len,
	};
	point.type = FTR_EVENT_POINT;
	point.payload = payload;
	story_put(story, task, point);
}

void story_lost(struct story *story, int task, uint64_t nr, unsigned cpu)
{
	story_put(story, task, (struct ftr_event){
		.type = FTR_EVENT_LOST,
		.lost = { nr, (uint16_t)(cpu + 1), FTR_LOST_OF_KERNEL },
	});
}

struct ftr_source *story_tell(story_fn make, struct ftr_trace **trace)
{
	struct story *story = story_new();
	struct ftr_source *source;

	*trace = story->trace;
	make(story);
	source = ftr_calls_new(&story->base, *trace);
	assert_non_null(source);
	return source;
}

uint64_t story_write_source(const char *path, struct ftr_source *source, struct ftr_trace *trace,
			  struct ftr_strbuf *text)
{
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = ftr_uftrace_export_new(path, &err);
	uint64_t nr;

	if (sink == NULL || ftr_pump(source, sink, trace, NULL, &err) < 0)
		fail_msg("%s", err.text);
	nr = sink->cut_nr;
	if (text != NULL && sink->cut_what != NULL)
		ftr_strbuf_puts(text, sink->cut_what);
	ftr_sink_free(sink);
	ftr_source_free(source);
	return nr;
}

uint64_t story_write(const char *path, story_fn make, struct ftr_strbuf *text)
{
	struct ftr_trace *trace;
	struct ftr_source *source = story_tell(make, &trace);
	uint64_t nr = story_write_source(path, source, trace, text);

	ftr_trace_free(trace);
	return nr;
}

struct ftr_strbuf story_slurp(const char *path)
{
	struct ftr_strbuf text;
	FILE *file = fopen(path, "rb");
	char buf[4096];
	size_t nr;

	ftr_strbuf_init(&text);
	if (file == NULL)
		fail_msg("%s is not there", path);
	while ((nr = fread(buf, 1, sizeof(buf), file)) > 0)
		ftr_strbuf_put(&text, buf, nr);
	fclose(file);
	return text;
}

void story_nested(struct story *s)
{
	for (int task = 0; task < STORY_TASKS; task++) {
		int cpu = task == 1 ? 3 : 0;

		s->time_ns += 10;
		story_entry(s, task, s->user);
		s->time_ns += 10;
		story_point(s, task, STORY_POINT("raw_syscalls:sys_enter", 351, cpu),
			    "NR 0 (3, 7ffd0)");
		s->time_ns += 10;
		story_entry(s, task, s->kernel[0]);
		s->time_ns += 10;
		story_entry(s, task, s->kernel[1]);
		s->time_ns += UINT64_C(1) << 28;
		story_point(s, task, STORY_POINT("sched:sched_switch", 316, cpu),
			    "prev_comm=k\xc3\xa4se ==>\nnext_comm=\xe2\x82\xac");
		s->time_ns += UINT64_C(1) << 59;
		story_exit(s, task, s->kernel[1]);
		s->time_ns += 10;
		story_entry(s, task, s->kernel[2]);
		story_exit(s, task, s->kernel[2]);
		s->time_ns += 10;
		story_exit(s, task, s->kernel[0]);
		s->time_ns += 10;
		story_exit(s, task, s->user);
	}
	s->time_ns += 10;
	story_point(s, 0, STORY_POINT("irq:irq_handler_entry", 65535, 3), "");
}
