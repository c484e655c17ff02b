/* SPDX-License-Identifier: MIT */
/* What the gate decides, by rules that stand here, and how rules are found by address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "libmcount/gate.h"
#include "libmcount/gated.h"
#include "libmcount/module.h"
#include "libmcount/probe.h"
#include "libmcount/rules.h"
#include "libmcount/sections.h"

#define BASE UINT64_C(0x7f0000001000)
#define RULES 16

/* Functions of the module: rule n is about those in BASE + n * 256. */
#define FUNC(n) (BASE + 256 * (n) + 5)

extern const struct ftr_probe ftr_probe_rules;

struct image {
	struct ftr_sections head;
	struct ftr_section table[1];
	struct ftr_call_rules rules;
	struct ftr_call_rule rule[RULES];
	struct ftr_call_rule_start start[RULES];
};

static struct image *image;
static unsigned lookups;

const struct ftr_sections *ftr_module_sections(uintptr_t addr, uintptr_t *base)
{
	lookups++;
	if (addr < BASE)
		return NULL;
	*base = BASE;
	return image != NULL ? &image->head : NULL;
}

void ftr_module_check(struct ftr_thread *self, uintptr_t func)
{
}

void ftr_sections_refresh_slow(void)
{
	atomic_store(&ftr_state.generation, ftr_state.control->generation);
}

uint32_t ftr_values_run(const struct ftr_value_op *program,
			const struct ftr_values_programs *programs, const struct ftr_call *call,
			uint8_t *to)
{
	return 0;
}

struct ftr_values_programs ftr_values_find(uintptr_t func)
{
	return (struct ftr_values_programs){ 0 };
}

void ftr_gated_put_waiting(struct ftr_thread *self, const struct ftr_frame *frame)
{
}

void ftr_record_put_wanted(struct ftr_thread *self, uint64_t word, const void *payload,
			   uint32_t bytes)
{
}

struct fixture {
	struct ftr_control control;
	struct ftr_thread thread;
	struct ftr_gate_state start;
};

#define FRAMES 16

/* Rules 1 .. RULES - 1, whose flags the test sets. */
static struct image *image_new(uint32_t flags)
{
	struct image *new = calloc(1, sizeof(*new));
	uint32_t i;

	assert_non_null(new);
	new->head = (struct ftr_sections){ .magic = FTR_SECTIONS_MAGIC, .section_nr = 1,
					   .total_bytes = sizeof(*new) };
	new->table[0] = (struct ftr_section){
		.kind = FTR_SECTION_RULES, .offset = offsetof(struct image, rules),
		.bytes = sizeof(*new) - offsetof(struct image, rules),
	};
	new->rules = (struct ftr_call_rules){ .flags = flags, .rule_nr = RULES,
					      .start_nr = RULES };
	for (i = 0; i < RULES; i++)
		new->start[i] = (struct ftr_call_rule_start){ i * 256, i };
	return new;
}

static void image_publish(struct image *new)
{
	image = new;
	ftr_probe_rules.update(0, new != NULL ? &new->head : NULL);
}

static struct fixture *setup(struct image *new)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	memset(&ftr_state, 0, sizeof(ftr_state));
	f->control.clock = FTR_CONTROL_CLOCK_VDSO;	/* ticks are nanoseconds */
	ftr_state.control = &f->control;
	image_publish(new);
	f->thread.gate = ftr_gate_init(calloc(1, ftr_gate_bytes(FRAMES)), FRAMES);
	f->start = (*ftr_gate_start(f->thread.gate));
	return f;
}

static void teardown(struct fixture *f)
{
	free(f->thread.gate);
	free(f);
	free(image);
	image = NULL;
}

static enum ftr_gate_way way(struct fixture *f, const struct ftr_gate_state *before, unsigned n,
			     struct ftr_gate_state *after)
{
	struct ftr_gate_passage passage = { .after = *before };
	const struct ftr_call call = { .func = FUNC(n) };
	enum ftr_gate_way made = ftr_gate_decide(&f->thread, before, &call, &passage);

	if (after != NULL)
		*after = passage.after;
	return made;
}

static void test_without_rules_all_is_recorded(void **state)
{
	struct fixture *f = setup(image_new(0));
	struct ftr_gate_state after;

	assert_int_equal(way(f, &f->start, 3, &after), FTR_GATE_RECORD);
	assert_int_equal(after.recorded, 1);
	teardown(f);
}

static void test_filter_lets_in(void **state)
{
	struct image *rules = image_new(FTR_CALLS_OPT_IN);
	struct ftr_gate_state after;
	struct fixture *f;

	rules->rule[1].flags = FTR_CALL_FILTER;
	f = setup(rules);
	assert_int_equal(way(f, &f->start, 2, NULL), FTR_GATE_PASS);
	assert_int_equal(way(f, &f->start, 1, &after), FTR_GATE_RECORD);
	assert_int_equal(way(f, &after, 2, NULL), FTR_GATE_RECORD);
	teardown(f);
}

static void test_notrace_keeps_out(void **state)
{
	struct image *rules = image_new(0);
	struct ftr_gate_state after;
	struct fixture *f;

	rules->rule[1].flags = FTR_CALL_NOTRACE;
	rules->rule[2].flags = FTR_CALL_FILTER | FTR_CALL_TRACE;
	f = setup(rules);
	assert_int_equal(way(f, &f->start, 1, &after), FTR_GATE_KEEP);
	assert_int_equal(way(f, &after, 2, NULL), FTR_GATE_PASS);
	assert_int_equal(way(f, &f->start, 2, NULL), FTR_GATE_RECORD);
	teardown(f);
}

static void test_depth_counts_what_is_recorded(void **state)
{
	struct image *rules = image_new(0);
	struct ftr_gate_state one, two;
	struct fixture *f;

	rules->rule[1].flags = FTR_CALL_DEPTH;
	rules->rule[1].depth = 2;
	rules->rule[2].flags = FTR_CALL_HIDE;
	f = setup(rules);
	assert_int_equal(way(f, &f->start, 1, &one), FTR_GATE_RECORD);
	assert_int_equal(way(f, &one, 2, NULL), FTR_GATE_PASS);
	assert_int_equal(way(f, &one, 3, &two), FTR_GATE_RECORD);
	assert_int_equal(way(f, &two, 3, NULL), FTR_GATE_PASS);
	assert_int_equal(way(f, &f->start, 3, NULL), FTR_GATE_RECORD);
	teardown(f);
}

static void test_filter_begins_depth_anew(void **state)
{
	struct image *rules = image_new(FTR_CALLS_OPT_IN);
	struct ftr_gate_state one, two;
	struct fixture *f;

	rules->rule[1].flags = FTR_CALL_FILTER;
	f = setup(rules);
	f->control.depth_max = 1;
	(*ftr_gate_start(f->thread.gate)).depth = 1;
	assert_int_equal(way(f, &f->start, 1, &one), FTR_GATE_RECORD);
	assert_int_equal(one.depth, 0);
	assert_int_equal(way(f, &one, 3, NULL), FTR_GATE_PASS);
	assert_int_equal(way(f, &one, 1, &two), FTR_GATE_RECORD);
	teardown(f);
}

static void test_time_makes_calls_wait(void **state)
{
	struct image *rules = image_new(0);
	struct ftr_gate_state after;
	struct fixture *f;

	rules->rules.time_ns = 500;
	rules->rule[1].flags = FTR_CALL_TRACE;
	rules->rule[2].flags = FTR_CALL_TIME;
	rules->rule[2].time_ns = 7;
	f = setup(rules);
	assert_int_equal(f->start.time, 500);
	assert_int_equal(way(f, &f->start, 3, NULL), FTR_GATE_WAIT);
	assert_int_equal(way(f, &f->start, 1, NULL), FTR_GATE_RECORD);
	assert_int_equal(way(f, &f->start, 2, &after), FTR_GATE_WAIT);
	assert_int_equal(after.time, 7);
	teardown(f);
}

static void test_size_is_of_the_function(void **state)
{
	struct image *rules = image_new(0);
	struct fixture *f;

	rules->rules.size_min = 64;
	rules->rule[1].size = 63;
	rules->rule[2].size = 64;
	f = setup(rules);
	assert_int_equal(way(f, &f->start, 1, NULL), FTR_GATE_PASS);
	assert_int_equal(way(f, &f->start, 2, NULL), FTR_GATE_RECORD);
	teardown(f);
}

static void test_callers_wait_for_the_called(void **state)
{
	struct image *rules = image_new(FTR_CALLS_CALLERS);
	struct fixture *f;

	rules->rule[1].flags = FTR_CALL_CALLER;
	f = setup(rules);
	assert_int_equal(way(f, &f->start, 2, NULL), FTR_GATE_WAIT);
	assert_int_equal(way(f, &f->start, 1, NULL), FTR_GATE_RECORD);
	teardown(f);
}

static void test_tracing_is_switched(void **state)
{
	struct image *rules = image_new(FTR_CALLS_OFF);
	struct fixture *f;

	rules->rule[1].flags = FTR_CALL_TRACE_ON;
	rules->rule[2].flags = FTR_CALL_TRACE_OFF;
	rules->rule[3].flags = FTR_CALL_FINISH;
	f = setup(rules);
	assert_int_equal(way(f, &f->start, 4, NULL), FTR_GATE_PASS);
	assert_int_equal(way(f, &f->start, 1, NULL), FTR_GATE_RECORD);
	assert_int_equal(way(f, &f->start, 4, NULL), FTR_GATE_RECORD);
	assert_int_equal(way(f, &f->start, 2, NULL), FTR_GATE_PASS);
	assert_int_equal(way(f, &f->start, 3, NULL), FTR_GATE_PASS);
	assert_int_equal(way(f, &f->start, 1, NULL), FTR_GATE_PASS);
	teardown(f);
}

/* A function is looked up once, and again when there may be other rules. */
static void test_rules_are_remembered_and_replaced(void **state)
{
	struct fixture *f = setup(image_new(0));
	struct image *old = image, *new = image_new(0);

	way(f, &f->start, 1, NULL);
	lookups = 0;
	assert_int_equal(way(f, &f->start, 1, NULL), FTR_GATE_RECORD);
	assert_int_equal(lookups, 0);
	new->rule[1].flags = FTR_CALL_NOTRACE;
	image_publish(new);
	assert_int_equal(way(f, &f->start, 1, NULL), FTR_GATE_KEEP);
	atomic_fetch_add(&ftr_state.module_generation, 1);
	lookups = 0;
	assert_int_equal(way(f, &f->start, 1, NULL), FTR_GATE_KEEP);
	assert_int_equal(lookups, 1);
	free(old);
	teardown(f);
}

static void test_addresses_between_starts(void **state)
{
	struct image *rules = image_new(0);
	struct ftr_call_rules_view view;

	rules->rules.start_nr = 2;
	rules->start[0] = (struct ftr_call_rule_start){ 16, 1 };
	rules->start[1] = (struct ftr_call_rule_start){ 32, 0 };
	assert_true(ftr_call_rules_read(&view, &rules->head));
	assert_null(ftr_call_rules_at(&view, 0));
	assert_null(ftr_call_rules_at(&view, 15));
	assert_ptr_equal(ftr_call_rules_at(&view, 16), &rules->rule[1]);
	assert_ptr_equal(ftr_call_rules_at(&view, 31), &rules->rule[1]);
	assert_null(ftr_call_rules_at(&view, 32));
	assert_null(ftr_call_rules_at(&view, UINT64_MAX));
	free(rules);
}

/* A frame of @n that is open and has been decided about. */
static void open_frame(struct fixture *f, struct ftr_frame *frames, unsigned n,
		       enum ftr_gate_status status)
{
	struct ftr_frame *frame = f->thread.top++;
	const struct ftr_gate_state *before =
		frame > frames ? &f->thread.gate->frames[frame - frames - 1].after : &f->start;
	struct ftr_gate_passage passage = { .after = *before };

	ftr_gate_decide(&f->thread, before, &(struct ftr_call){ .func = FUNC(n) }, &passage);
	frame->loc = (uintptr_t *)(0x1000 - 64 * (frame - frames));
	frame->func = FUNC(n);
	f->thread.gate->frames[frame - frames] = (struct ftr_gate_frame){
		.after = passage.after, .status = status,
	};
}

static void test_open_calls_obey_new_rules(void **state)
{
	struct image *rules = image_new(FTR_CALLS_CHANGE), *other = image_new(FTR_CALLS_CHANGE);
	struct ftr_frame frames[FRAMES] = { 0 };
	struct ftr_gate_frame *gated;
	struct ftr_gate_state before;
	struct fixture *f;

	rules->rule[2].flags = FTR_CALL_NOTRACE;
	other->rules.time_ns = 700;
	other->rule[1].flags = FTR_CALL_DEPTH | FTR_CALL_CALLER;
	other->rule[1].depth = 5;
	f = setup(rules);
	gated = f->thread.gate->frames;
	f->thread.frames = f->thread.top = frames;
	open_frame(f, frames, 1, FTR_GATE_BEGUN);
	open_frame(f, frames, 2, FTR_GATE_UNRECORDED);
	before = gated[1].after;
	assert_int_equal(before.inside, FTR_CALL_NOTRACE);
	assert_int_equal(way(f, &gated[1].after, 3, NULL), FTR_GATE_PASS);

	f->control.depth_max = 9;
	f->control.generation++;
	image_publish(other);
	assert_int_equal(way(f, &gated[1].after, 3, NULL), FTR_GATE_WAIT);
	assert_true(gated[0].is_caller);
	assert_int_equal(gated[0].after.depth, 4);
	assert_int_equal(gated[0].after.time, 700);
	assert_int_equal(gated[0].after.recorded, 1);
	assert_int_equal(gated[1].after.inside, 0);
	assert_int_equal(gated[1].after.depth, 4);
	assert_int_equal(gated[1].after.recorded, 1);

	f->thread.is_mixed = true;	/* whose callers are not known */
	image_publish(rules);
	assert_int_equal(way(f, &gated[1].after, 3, NULL), FTR_GATE_WAIT);
	assert_int_equal(gated[1].after.depth, 4);
	free(other);
	teardown(f);
}

/* What was counted out when it was called stays so. */
static void test_counted_out_stays(void **state)
{
	struct image *rules = image_new(FTR_CALLS_CHANGE | FTR_CALLS_COUNTED);
	struct ftr_frame frames[FRAMES] = { 0 };
	struct fixture *f;

	rules->rule[1].flags = FTR_CALL_SAMPLE;
	rules->rule[1].sample_nr = 2;
	f = setup(rules);
	f->thread.frames = f->thread.top = frames;
	assert_int_equal(way(f, &f->start, 1, NULL), FTR_GATE_RECORD);
	open_frame(f, frames, 1, FTR_GATE_UNRECORDED);
	image_publish(rules);
	assert_int_equal(way(f, &f->thread.gate->frames[0].after, 3, NULL), FTR_GATE_PASS);
	teardown(f);
}

static void test_damaged_rules_are_none(void **state)
{
	struct image *rules = image_new(0);
	struct ftr_call_rules_view view;

	assert_false(ftr_call_rules_read(&view, NULL));
	rules->rules.rule_nr = UINT32_MAX;
	assert_false(ftr_call_rules_read(&view, &rules->head));
	rules->rules.rule_nr = RULES;
	rules->rules.start_nr = RULES + 1;
	assert_false(ftr_call_rules_read(&view, &rules->head));
	rules->rules.start_nr = RULES;
	rules->start[1].rule = RULES;
	assert_true(ftr_call_rules_read(&view, &rules->head));
	assert_null(ftr_call_rules_at(&view, 300));
	rules->table[0].bytes = sizeof(rules->rules) - 1;
	assert_false(ftr_call_rules_read(&view, &rules->head));
	free(rules);
}

/* The recorder may have emptied the ring, and not looked at who asked yet. */
static void test_a_dump_waits_for_the_last(void **state)
{
	struct ftr_ring_header header = { .tail = 4096, .dump_at = 17 };
	struct ftr_producer producer = { .header = &header, .head = 64 };
	const struct ftr_thread self = { .producer = &producer };

	ftr_gate_dump(&self);
	assert_int_equal(header.dump_at, 17);
	header.dump_seen = 17;
	ftr_gate_dump(&self);
	assert_int_equal(header.dump_at, 65);
	producer.header = NULL;			/* a forked child's */
	ftr_gate_dump(&self);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_rules_all_is_recorded),
		cmocka_unit_test(test_filter_lets_in),
		cmocka_unit_test(test_notrace_keeps_out),
		cmocka_unit_test(test_depth_counts_what_is_recorded),
		cmocka_unit_test(test_filter_begins_depth_anew),
		cmocka_unit_test(test_time_makes_calls_wait),
		cmocka_unit_test(test_size_is_of_the_function),
		cmocka_unit_test(test_callers_wait_for_the_called),
		cmocka_unit_test(test_tracing_is_switched),
		cmocka_unit_test(test_rules_are_remembered_and_replaced),
		cmocka_unit_test(test_addresses_between_starts),
		cmocka_unit_test(test_open_calls_obey_new_rules),
		cmocka_unit_test(test_counted_out_stays),
		cmocka_unit_test(test_damaged_rules_are_none),
		cmocka_unit_test(test_a_dump_waits_for_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
