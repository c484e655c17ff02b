/* SPDX-License-Identifier: MIT */
/* Trees by weight of made-up events: waits inside of others, without an end, left by a jump. */
#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "utils/analysis/weights.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/trace.h"

#define NONE UINT64_MAX

static struct ftr_trace *trace;
static struct ftr_sink *sink;

static void begin(enum ftr_weight_by by, uint32_t depth_max)
{
	trace = ftr_trace_new("/data/made-up", NULL);
	sink = ftr_weights_new(by, depth_max, NULL);
	assert_non_null(sink);
	assert_int_equal(sink->ops->begin(sink, trace), 0);
}

static void end(void)
{
	assert_int_equal(sink->ops->end(sink), 0);
}

static void finish(void)
{
	ftr_sink_free(sink);
	ftr_trace_free(trace);
}

static void put(struct ftr_event ev, int tid, uint64_t ns)
{
	ev.task = ftr_trace_task_get(trace, 10, tid);
	ev.time_ns = ns;
	assert_int_equal(sink->ops->event(sink, &ev), 0);
}

static void call(int tid, uint64_t ns, const char *name)
{
	const struct ftr_func *func = ftr_trace_func_by_name(trace, NULL, name, strlen(name));

	put((struct ftr_event){ .type = FTR_EVENT_ENTRY, .call.func = func }, tid, ns);
}

static void leave(int tid, uint64_t ns, uint8_t flags)
{
	put((struct ftr_event){ .type = FTR_EVENT_EXIT, .flags = flags }, tid, ns);
}

/* With values, in the order of the kind's spec. */
static void point(int tid, uint64_t ns, uint64_t id, const uint64_t *values, size_t nr)
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(id);
	const struct ftr_payload payload = { .data = (const uint8_t *)values, .spec = kind->spec,
					     .len = (uint16_t)(nr * sizeof(*values)) };

	put((struct ftr_event){ .type = FTR_EVENT_POINT, .payload = &payload,
				.point = { .name = kind->name, .id = id } }, tid, ns);
}

/* Without a caller: it is what is traced. */
static void wait_event(int tid, uint64_t ns, uint64_t id)
{
	point(tid, ns, id, (const uint64_t[]){ 1, 0 }, 2);
}

static void given(int tid, uint64_t ns, uint64_t address, uint64_t bytes)
{
	point(tid, ns, FTR_EVENT_ID_MALLOC, (const uint64_t[]){ address, bytes, 0 }, 3);
}

static void freed(int tid, uint64_t ns, uint64_t address)
{
	point(tid, ns, FTR_EVENT_ID_FREE, (const uint64_t[]){ address, 0 }, 2);
}

/* What the first node of that name has: NONE, there is none. */
static uint64_t total_of(const char *name)
{
	const struct ftr_graph *graph = ftr_weights_graph(sink);

	for (size_t i = 0; i < graph->nodes.nr; i++) {
		if (strcmp(graph->nodes.v[i].name, name) == 0)
			return graph->nodes.v[i].total_ns;
	}
	return NONE;
}

static uint64_t root_total(void)
{
	const struct ftr_graph *graph = ftr_weights_graph(sink);

	return graph->nodes.v[graph->roots.v[0].node].total_ns;
}

/* A handler's wait is its own time. */
static void waits_inside_of_others(void **state)
{
	begin(FTR_WEIGHT_WAIT, 0);
	call(1, 10, "main");
	wait_event(1, 20, FTR_EVENT_ID_FILE_READ);
	call(1, 25, "handler");
	wait_event(1, 30, FTR_EVENT_ID_SYNC_MUTEX);
	wait_event(1, 70, FTR_EVENT_ID_SYNC_MUTEX + 1);
	leave(1, 75, 0);
	wait_event(1, 100, FTR_EVENT_ID_FILE_READ + 1);
	leave(1, 110, 0);
	end();
	assert_int_equal(total_of("file:read"), 80 - 40);
	assert_int_equal(total_of("sync:mutex-wait"), 40);
	assert_int_equal(total_of("handler"), 40);
	assert_int_equal(root_total(), 80);
	finish();
}

static void waits_without_an_end(void **state)
{
	begin(FTR_WEIGHT_WAIT, 0);
	call(1, 10, "hangs");
	wait_event(1, 20, FTR_EVENT_ID_SYNC_MUTEX);
	leave(1, 20, FTR_EVENT_UNFINISHED | FTR_EVENT_INFERRED);
	call(2, 30, "other");
	leave(2, 120, 0);
	wait_event(3, 50, FTR_EVENT_ID_SYNC_SEM);	/* in no call */
	wait_event(4, 60, FTR_EVENT_ID_SYNC_SEM + 1);	/* its begin is not there */
	end();
	assert_int_equal(total_of("hangs"), 100);
	assert_int_equal(total_of("sync:sem-wait"), 70);
	assert_int_equal(root_total(), 170);
	finish();
}

static void waits_left_by_a_jump(void **state)
{
	begin(FTR_WEIGHT_WAIT, 0);
	call(1, 10, "main");
	call(1, 20, "jumps");
	wait_event(1, 30, FTR_EVENT_ID_SYNC_COND);
	leave(1, 45, FTR_EVENT_LEFT);
	leave(1, 90, 0);
	end();
	assert_int_equal(total_of("jumps"), 15);
	assert_int_equal(total_of("main"), 15);
	finish();
}

static void threads_do_not_mix(void **state)
{
	begin(FTR_WEIGHT_BYTES, 0);
	call(1, 10, "one");
	call(2, 11, "two");
	given(1, 12, 0x100, 7);
	given(2, 13, 0x200, 30);
	leave(1, 14, 0);
	given(2, 15, 0x300, 30);
	given(2, 16, 0, 1000);				/* in vain */
	leave(2, 17, 0);
	call(1, 18, "idle");
	leave(1, 19, 0);
	end();
	assert_int_equal(total_of("one"), 7);
	assert_int_equal(total_of("two"), 60);
	assert_int_equal(total_of("idle"), NONE);
	assert_int_equal(root_total(), 67);
	finish();
}

static void blocks_given_back_by_others(void **state)
{
	begin(FTR_WEIGHT_LEAK, 0);
	call(1, 10, "keeps");
	given(1, 11, 0x100, 7);
	given(1, 12, 0x200, 8);
	leave(1, 13, 0);
	call(1, 14, "clean");
	given(1, 15, 0x300, 9);
	leave(1, 16, 0);
	call(2, 17, "frees");
	freed(2, 18, 0x100);
	freed(2, 19, 0x300);
	freed(2, 20, 0x400);				/* of before */
	leave(2, 21, 0);
	end();
	assert_int_equal(total_of("keeps"), 8);
	assert_int_equal(total_of("clean"), NONE);
	assert_int_equal(total_of("frees"), NONE);
	finish();
}

static void what_is_deeper_counts(void **state)
{
	begin(FTR_WEIGHT_BYTES, 1);
	call(1, 10, "top");
	call(1, 11, "deep");
	given(1, 12, 0x100, 7);
	leave(1, 13, 0);
	leave(1, 14, 0);
	end();
	assert_int_equal(total_of("top"), 7);
	assert_int_equal(total_of("deep"), NONE);
	finish();
}

static void nothing_is_said(void **state)
{
	struct ftr_err err = { 0 };

	begin(FTR_WEIGHT_BYTES, 0);
	sink->err = &err;
	call(1, 10, "main");
	leave(1, 20, 0);
	assert_int_equal(sink->ops->end(sink), -ENODATA);
	assert_non_null(strstr(err.text, "--probe=memory"));
	finish();
}

static void leaks_need_everything(void **state)
{
	struct ftr_err err = { 0 };

	trace = ftr_trace_new("/data/made-up", NULL);
	trace->is_narrowed = true;
	sink = ftr_weights_new(FTR_WEIGHT_LEAK, 0, NULL);
	sink->err = &err;
	assert_int_equal(sink->ops->begin(sink, trace), -EINVAL);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_inside_of_others),
		cmocka_unit_test(waits_without_an_end),
		cmocka_unit_test(waits_left_by_a_jump),
		cmocka_unit_test(threads_do_not_mix),
		cmocka_unit_test(blocks_given_back_by_others),
		cmocka_unit_test(what_is_deeper_counts),
		cmocka_unit_test(nothing_is_said),
		cmocka_unit_test(leaks_need_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
