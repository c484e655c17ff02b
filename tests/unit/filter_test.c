/* SPDX-License-Identifier: MIT */
/* Rules applied to streams: by example, and random ones beside a model that takes its time. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/stream.h"
#include "utils/base/strbuf.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/rule.h"
#include "utils/trace/rule_plan.h"

static struct ftr_trace *trace;
static struct ftr_rules rules;

static int setup(void **state)
{
	trace = ftr_trace_new("made-up", NULL);
	ftr_rules_init(&rules);
	return trace == NULL;
}

static int teardown(void **state)
{
	ftr_trace_free(trace);
	ftr_rules_fini(&rules);
	return 0;
}

/* "F:a N:b@depth=1": each word a rule, after the letter of its option. */
static void rules_set(const char *words)
{
	static const char letters[] = "FNCHLT";
	char *copy = strdup(words), *save = NULL;
	struct ftr_err err = { 0 };

	ftr_rules_fini(&rules);
	ftr_rules_init(&rules);
	for (char *word = strtok_r(copy, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		enum ftr_rule_kind kind =
			(enum ftr_rule_kind)(strchr(letters, word[0]) - letters);

		assert_int_equal(ftr_rules_parse(&rules, kind, word + 2, FTR_MATCH_REGEX, &err),
				 0);
	}
	free(copy);
}

/* What the pipeline makes of @words. */
static void filtered(const char *words, const struct ftr_pipeline_options *given, size_t batch,
		     struct ftr_strbuf *text)
{
	struct ftr_pipeline_options options = *given;
	struct ftr_source *source = stream_new(trace, words, batch);
	struct ftr_rule_plans plans;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_rule_plans_init(&plans, &rules, trace), 0);
	options.plans = &plans;
	assert_int_equal(ftr_vec_push(&trace->sources, source), 0);
	assert_int_equal(ftr_trace_pipeline(trace, &options, &source, &err), 0);
	stream_text(source, true, text);
	ftr_rule_plans_fini(&plans);
}

static void expect_with(const struct ftr_pipeline_options *options, const char *given,
			const char *words, const char *want)
{
	rules_set(given);
	for (size_t batch = 1; batch < 8; batch++) {
		struct ftr_strbuf text;

		ftr_strbuf_init(&text);
		filtered(words, options, batch, &text);
		assert_string_equal(ftr_strbuf_str(&text), want);
		ftr_strbuf_fini(&text);
	}
}

static void expect(const char *given, const char *words, const char *want)
{
	static const struct ftr_pipeline_options all = { .event_full = true };

	expect_with(&all, given, words, want);
}

static void durations_stay(void **state)
{
	static const char words[] = "1:a( 2:b( 3:c( 7:c) 8:b) 9:c( 10:c) 20:a)";

	expect("F:b", words, "2:b(d0 3:c(d1 7:c)d1=4-0 8:b)d0=6-4");
	expect("N:b", words, "1:a(d0 9:c(d1 10:c)d1=1-0 20:a)d0=19-7");
	expect("H:b", words, "1:a(d0 3:c(d1 7:c)d1=4-0 9:c(d1 10:c)d1=1-0 20:a)d0=19-7");
	expect("F:nobody", words, "");
	expect("N:.", words, "");
}

static void what_thresholds_drop_is_the_callers(void **state)
{
	static const char words[] = "1:a( 2:b( 3:c( 7:c) 8:b) 9:c( 10:c) 20:a)";

	expect("C:b", words, "1:a(d0 2:b(d1 8:b)d1=6-0 20:a)d0=19-6");
	expect("T:a@time=5", words, "1:a(d0 2:b(d1 8:b)d1=6-0 20:a)d0=19-6");
	expect("T:a@time=5 T:b@time=1", words,
	       "1:a(d0 2:b(d1 3:c(d2 7:c)d2=4-0 8:b)d1=6-4 20:a)d0=19-6");
	expect("T:a@time=9 T:c@trace", words,
	       "1:a(d0 2:b(d1 3:c(d2 7:c)d2=4-0 8:b)d1=6-4 9:c(d1 10:c)d1=1-0 20:a)d0=19-7");
	expect("C:nobody", words, "");
}

static void sizes_count_where_they_are_known(void **state)
{
	static const char words[] = "1:a( 2:b( 3:c( 7:c) 8:b) 9:c( 10:c) 20:a)";
	struct ftr_pipeline_options options = { .size_bytes = 10 };

	ftr_trace_func_by_name(trace, NULL, "b", 1)->size = 9;
	ftr_trace_func_by_name(trace, NULL, "c", 1)->size = 10;
	expect_with(&options, "", words,
		    "1:a(d0 3:c(d1 7:c)d1=4-0 9:c(d1 10:c)d1=1-0 20:a)d0=19-5");
	expect_with(&options, "T:b@size=9", words,
		    "1:a(d0 2:b(d1 3:c(d2 7:c)d2=4-0 8:b)d1=6-4 9:c(d1 10:c)d1=1-0 20:a)d0=19-7");
	options.size_bytes = 11;
	expect_with(&options, "", words, "1:a(d0 20:a)d0=19-0");
}

static void switches_are_of_a_process(void **state)
{
	expect("T:off@trace_off T:on@trace_on",
	       "1:a( 2:b( 3:off( 4:off) 5:c( 6:c) 7:b) 8:on( 9:c( 10:c) 11:on) 12:a)",
	       "1:a(d0 2:b(d1 7:b)d1=5-2 8:on(d1 9:c(d2 10:c)d2=1-0 11:on)d1=3-1 12:a)d0=11-8");
	/* Of one thread for the other. */
	expect("T:off@trace_off T:on@trace_on",
	       "1:a( T2 2:off( 3:off) T1 4:b( T2 5:on( 6:on) T1 7:c( 8:c) 9:b) 10:a)",
	       "1:a(d0 T2 5:on(d0 6:on)d0=1-0 T1 7:c(d1 8:c)d1=1-0 10:a)d0=9-5");
}

static void what_happens_elsewhere_is_not_shown(void **state)
{
	static const char words[] = "1:a( 2:out 3:in 4:b( 5:out 6:in 7:!5 8:b) 9:a)";
	static const struct ftr_pipeline_options none = { 0 };

	expect("F:b", words, "4:b(d0 5:outd1 6:ind1 7:!5d1 8:b)d0=4-1");
	expect("N:b", words, "1:a(d0 2:outd1 3:ind1 7:!5d1 9:a)d0=8-5");
	expect("T:a@depth=1", words, "1:a(d0 7:!5d1 9:a)d0=8-5");
	expect_with(&none, "H:a", words, "4:b(d0 5:outd1 6:ind1 7:!5d1 8:b)d0=4-1");
	expect("F:nobody", words, "7:!5d0");
}

static void a_rule_may_end_the_stream(void **state)
{
	expect("T:c@finish", "1:a( T2 2:b( T1 3:b( 4:b) 5:c( 6:c) T2 7:b) T1 8:a)",
	       "1:a(d0 T2 2:b(d0 T1 3:b(d1 4:b)d1=1-0 5:c(d1 5:c)~?d1=0-0 5:a)~?d0=4-1 "
	       "T2 5:b)~?d0=3-0");
	/* Where nothing is shown, no rule counts but -F and -N. */
	expect("F:b T:c@finish", "1:a( 2:c( 3:c) 4:b( 5:c( 6:c) 7:b) 8:a)",
	       "4:b(d0 5:c(d1 5:c)~?d1=0-0 5:b)~?d0=1-0");
	expect("N:b T:c@finish", "1:a( 2:b( 3:c( 4:c) 5:b) 6:a)", "1:a(d0 6:a)d0=5-3");
	expect("H:c T:c@finish", "1:a( 2:c( 3:c) 4:a)", "1:a(d0 1:a)~?d0=0-0");
}

static void conditions_are_of_each_call(void **state)
{
	static const char words[] = "1:a( 2:b( 3:c( 7:c) 8:b) 9:b( 10:c( 11:c) 12:b) 20:a)";

	expect("F:b@if:duration>5", words, "2:b(d0 3:c(d1 7:c)d1=4-0 8:b)d0=6-4");
	expect("N:b@if:duration>5", words,
	       "1:a(d0 9:b(d1 10:c(d2 11:c)d2=1-0 12:b)d1=3-1 20:a)d0=19-9");
	expect("F:b@if:duration>5 N:b@if:duration>=6", words, "");
	expect("F:a N:b@if:duration<5 H:b@if:duration>5", words,
	       "1:a(d0 3:c(d1 7:c)d1=4-0 20:a)d0=19-9");
	expect("C:c@if:duration>1", words,
	       "1:a(d0 2:b(d1 3:c(d2 7:c)d2=4-0 8:b)d1=6-4 20:a)d0=19-6");
	/* Of what is not known nothing is true, nor is its opposite. */
	expect("F:b@if:arg1==0", words, "");
	expect("F:b@if:!(arg1==0)", words, "");
	expect("F:b@if:duration>0", "1:a( 2:b( 3:c(", "");
	/* A call that a range cuts is what it was. */
	struct ftr_pipeline_options options = { .event_full = true, .from_ns = 5, .to_ns = 7 };

	expect_with(&options, "F:b@if:duration>5", words,
		    "7:b(~<d0 7:c(~<d1 7:c)<d1=0-0 7:b)~?<d0=0-0");
}

static void calls_without_end_stay_balanced(void **state)
{
	expect("F:b", "1:a( 2:b( 3:c(", "2:b(d0 3:c(d1 3:c)~?d1=0-0 3:b)~?d0=1-0");
	expect("N:b", "1:a( 2:b( 3:c(", "1:a(d0 3:a)~?d0=2-1");
	expect("C:c", "1:a( 2:b( 3:c(", "1:a(d0 2:b(d1 3:c(d2 3:c)~?d2=0-0 3:b)~?d1=1-0 3:a)~?d0=2-1");
	expect("C:b", "1:a( 2:b( 3:b) 4:c(", "1:a(d0 2:b(d1 3:b)d1=1-0 4:a)~?d0=3-1");
}

/* ---- random rules on random calls, beside a model ---- */

#define FUNCS 5		/* a .. e */
#define CALLS 60
#define DEPTH_MAX 7

static uint64_t seed;

static unsigned below(unsigned limit)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(seed >> 33) % limit;
}

/* A call of the model. */
struct call {
	int func, parent;	/* parent -1 = none */
	unsigned task;
	uint64_t begin, end;
	bool is_kept;		/* by what is known at its end */
	bool is_shown;
	unsigned depth;
	uint64_t child_ns;
};

struct moment {
	uint64_t time;
	int call;
	bool is_exit;
};

static struct call calls[CALLS];
static struct moment moments[2 * CALLS];
static int call_nr, moment_nr;

/* What the rules say of a function, in the model's words. */
struct wish {
	bool filter, notrace, caller, hide, trace, on, off;
	int depth;		/* 0 = not said */
	int64_t time;		/* -1 = not said */
	int64_t size;		/* -1 = not said */
};

static struct wish wishes[FUNCS];
/* One rule says so, even if a later one of the same function does not. */
static bool has_filter, has_caller;
static bool starts_off;
static unsigned depth_max;	/* 0 = no limit */
static uint64_t threshold, size_least;
static const unsigned sizes[FUNCS] = { 10, 20, 30, 40, 0 };

static void random_calls(void)
{
	int open[2][DEPTH_MAX], nr[2] = { 0, 0 };
	uint64_t now = 1;

	call_nr = moment_nr = 0;
	while (call_nr < CALLS || nr[0] + nr[1] > 0) {
		unsigned task = nr[0] == 0 && call_nr == CALLS ? 1 : below(2);
		bool opens = call_nr < CALLS && nr[task] < DEPTH_MAX && below(5) < 3;

		now += 1 + below(4);
		if (opens) {
			calls[call_nr] = (struct call){
				.func = (int)below(FUNCS), .task = task, .begin = now,
				.parent = nr[task] > 0 ? open[task][nr[task] - 1] : -1,
			};
			moments[moment_nr++] = (struct moment){ now, call_nr, false };
			open[task][nr[task]++] = call_nr++;
		} else if (nr[task] > 0) {
			int call = open[task][--nr[task]];

			calls[call].end = now;
			moments[moment_nr++] = (struct moment){ now, call, true };
		}
	}
}

static void random_rule(struct ftr_strbuf *words)
{
	int func = (int)below(FUNCS);
	struct wish *wish = &wishes[func];
	char name = (char)('a' + func);
	unsigned n = below(4);

	switch (below(11)) {
	case 0:
		wish->filter = has_filter = true;
		wish->notrace = false;
		ftr_strbuf_printf(words, " F:%c", name);
		break;
	case 1:
		wish->notrace = true;
		wish->filter = false;
		ftr_strbuf_printf(words, " N:%c", name);
		break;
	case 2:
		wish->caller = has_caller = true;
		ftr_strbuf_printf(words, " C:%c", name);
		break;
	case 3:
	case 4:
		wish->hide = true;
		ftr_strbuf_printf(words, " H:%c", name);
		break;
	case 5:
	case 6:
		wish->depth = (int)n + 1;
		ftr_strbuf_printf(words, " T:%c@depth=%u", name, n + 1);
		break;
	case 7:
		wish->time = n * 3;
		ftr_strbuf_printf(words, " T:%c@time=%u", name, n * 3);
		break;
	case 8:
		wish->size = n * 15;
		ftr_strbuf_printf(words, " T:%c@size=%u", name, n * 15);
		break;
	case 9:
		wish->trace = true;
		ftr_strbuf_printf(words, " T:%c@trace", name);
		break;
	default:
		wish->on = n % 2 == 0;
		wish->off = n % 2 == 1;
		ftr_strbuf_printf(words, " T:%c@trace_%s", name, wish->on ? "on" : "off");
	}
}

static void random_rules(struct ftr_strbuf *words)
{
	unsigned nr = 1 + below(4);

	for (int i = 0; i < FUNCS; i++)
		wishes[i] = (struct wish){ .time = -1, .size = -1 };
	has_filter = has_caller = false;
	while (nr-- > 0)
		random_rule(words);
	depth_max = below(3) == 0 ? 1 + below(3) : 0;
	threshold = below(3) == 0 ? 1 + below(10) : 0;
	size_least = below(4) == 0 ? 5 + below(40) : 0;
	starts_off = below(6) == 0;
}

/* Nothing counts in a call of NOTRACE, and only FILTER and NOTRACE outside of FILTER. */
static bool counts(int call)
{
	const struct wish *own = &wishes[calls[call].func];
	bool is_chosen = !has_filter || own->filter || own->notrace;

	for (int i = calls[call].parent; i >= 0; i = calls[i].parent) {
		const struct wish *wish = &wishes[calls[i].func];

		if ((wish->notrace || wish->filter) && counts(i)) {
			if (wish->notrace)
				return false;
			is_chosen = true;
		}
	}
	return is_chosen;
}

/* Does it have limits, and count for others? */
static bool has_say(int call)
{
	return counts(call) && !wishes[calls[call].func].notrace;
}

/* The innermost wish of the call or its callers. */
static uint64_t in_force(int call, bool is_size)
{
	for (int i = call; i >= 0; i = calls[i].parent) {
		const struct wish *wish = &wishes[calls[i].func];

		if (!has_say(i))
			continue;
		if ((is_size ? wish->size : wish->time) >= 0)
			return (uint64_t)(is_size ? wish->size : wish->time);
	}
	return is_size ? size_least : threshold;
}

static bool is_small(int call)
{
	unsigned size = sizes[calls[call].func];

	return has_say(call) && size > 0 && size < in_force(call, true);
}

/* What is known at ENTRYs, uftrace's way: counters that each ENTRY saves and each EXIT restores. */
static void model_begin(void)
{
	unsigned left[2], in[2] = { 0, 0 }, out[2] = { 0, 0 }, saved[CALLS];
	bool is_on = !starts_off, was_in[CALLS] = { false }, was_out[CALLS] = { false };

	left[0] = left[1] = depth_max > 0 ? depth_max : 1000;
	for (int i = 0; i < moment_nr; i++) {
		struct call *call = &calls[moments[i].call];
		const struct wish *wish = &wishes[call->func];
		unsigned t = call->task;
		int at = moments[i].call;

		if (moments[i].is_exit) {
			in[t] -= was_in[at];
			out[t] -= was_out[at];
			left[t] = saved[at];
			continue;
		}
		saved[at] = left[t];
		if (out[t] > 0)
			continue;
		if (wish->notrace) {
			was_out[at] = true;
			out[t]++;
			continue;
		}
		if (wish->filter) {
			was_in[at] = true;
			in[t]++;
			left[t] = depth_max > 0 ? depth_max : 1000;
		} else if (has_filter && in[t] == 0) {
			continue;
		}
		if (wish->depth > 0)
			left[t] = (unsigned)wish->depth;
		if (wish->on || wish->off)
			is_on = wish->on;
		if (wish->hide || !is_on || left[t] == 0 || is_small(at))
			continue;
		left[t]--;
		call->is_shown = true;
	}
}

/* What is known at EXITs.  Children come after their parents. */
static void model_end(void)
{
	bool stays[CALLS];

	for (int i = call_nr - 1; i >= 0; i--) {
		struct call *call = &calls[i];
		const struct wish *wish = &wishes[call->func];
		bool leads = !has_caller || (has_say(i) && wish->caller);

		stays[i] = leads && call->end - call->begin >= in_force(i, false);
		call->is_kept |= call->is_shown && (stays[i] || (has_say(i) && wish->trace));
		if (call->is_kept && call->parent >= 0)
			calls[call->parent].is_kept = true;
	}
	for (int i = 0; i < call_nr; i++) {
		int parent = calls[i].parent;

		/* What is left out for other reasons is still somebody's callee. */
		stays[i] = (calls[i].is_kept || (!calls[i].is_shown && stays[i])) &&
			   (parent < 0 || stays[parent]);
		calls[i].is_shown &= calls[i].is_kept;
		while (parent >= 0 && is_small(parent))
			parent = calls[parent].parent;
		if (stays[i] && parent >= 0 && !is_small(i))
			calls[parent].child_ns += calls[i].end - calls[i].begin;
	}
	for (int i = 0; i < call_nr; i++) {
		for (int k = calls[i].parent; k >= 0; k = calls[k].parent)
			calls[i].depth += calls[k].is_shown;
	}
}

static void put_moment(const struct moment *moment, bool has_details, struct ftr_strbuf *text)
{
	const struct call *call = &calls[moment->call];

	ftr_strbuf_printf(text, "%llu:%c%c", (unsigned long long)moment->time, 'a' + call->func,
			  moment->is_exit ? ')' : '(');
	if (!has_details)
		return;
	ftr_strbuf_printf(text, "d%u", call->depth);
	if (moment->is_exit)
		ftr_strbuf_printf(text, "=%llu-%llu", (unsigned long long)(call->end - call->begin),
				  (unsigned long long)call->child_ns);
}

static void put_moments(bool has_details, struct ftr_strbuf *text)
{
	unsigned task = has_details ? 2 : 0;	/* none: the first is named by what follows */

	for (int i = 0; i < moment_nr; i++) {
		const struct call *call = &calls[moments[i].call];

		if (has_details && !call->is_shown)
			continue;
		if (text->len > 0)
			ftr_strbuf_putc(text, ' ');
		if (task != call->task && task != 2)
			ftr_strbuf_printf(text, "T%u ", call->task + 1);
		task = call->task;
		put_moment(&moments[i], has_details, text);
	}
}

static void one_random_case(void)
{
	struct ftr_strbuf words, given, want, got;
	struct ftr_pipeline_options options = { .event_full = true };

	ftr_strbuf_init(&words);
	ftr_strbuf_init(&given);
	ftr_strbuf_init(&want);
	ftr_strbuf_init(&got);
	random_calls();
	random_rules(&given);
	put_moments(false, &words);
	model_begin();
	model_end();
	put_moments(true, &want);
	options.depth_max = depth_max;
	options.threshold_ns = threshold;
	options.size_bytes = size_least;
	options.starts_off = starts_off;
	rules_set(ftr_strbuf_str(&given));
	filtered(ftr_strbuf_str(&words), &options, 1 + below(8), &got);
	if (strcmp(ftr_strbuf_str(&want), ftr_strbuf_str(&got)) != 0)
		fail_msg("rules%s, depth %u, time %u, size %u, %s:\n%s\nare\n%s\ninstead of\n%s",
			 ftr_strbuf_str(&given), depth_max, (unsigned)threshold,
			 (unsigned)size_least, starts_off ? "off" : "on", ftr_strbuf_str(&words),
			 ftr_strbuf_str(&got), ftr_strbuf_str(&want));
	ftr_strbuf_fini(&words);
	ftr_strbuf_fini(&given);
	ftr_strbuf_fini(&want);
	ftr_strbuf_fini(&got);
}

static void random_rules_are_as_the_model(void **state)
{
	for (int i = 0; i < FUNCS; i++) {
		char name[] = { (char)('a' + i), '\0' };

		ftr_trace_func_by_name(trace, NULL, name, 1)->size = sizes[i];
	}
	seed = 1;
	for (int i = 0; i < 3000; i++)
		one_random_case();
}

/* In each task, and no further than the second that the first of them begins. */
static void rules_count_calls(void **state)
{
	expect("T:b@sample=2", "1:b( 2:b) 3:b( 4:c( 5:c) 6:b) T2 7:b( 8:b) T1 9:b( 10:b)",
	       "1:b(d0 2:b)d0=1-0 T2 7:b(d0 8:b)d0=1-0 T1 9:b(d0 10:b)d0=1-0");
	expect("F:b@sample=3 N:c", "1:a( 2:b( 3:b) 4:b( 5:b) 6:b( 7:b) 8:b( 9:c( 10:c) 11:b) 12:a)",
	       "2:b(d0 3:b)d0=1-0 8:b(d0 11:b)d0=3-1");
	expect("F:b@rate=2/s", "1:b( 2:b) 3:b( 4:b) 5:b( 6:b) 1000000000:b( 1000000000:b) "
	       "1000000001:b( 1000000002:b)",
	       "1:b(d0 2:b)d0=1-0 3:b(d0 4:b)d0=1-0 1000000001:b(d0 1000000002:b)d0=1-0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(durations_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(what_thresholds_drop_is_the_callers, setup,
						teardown),
		cmocka_unit_test_setup_teardown(sizes_count_where_they_are_known, setup, teardown),
		cmocka_unit_test_setup_teardown(switches_are_of_a_process, setup, teardown),
		cmocka_unit_test_setup_teardown(what_happens_elsewhere_is_not_shown, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_rule_may_end_the_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(conditions_are_of_each_call, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_without_end_stay_balanced, setup, teardown),
		cmocka_unit_test_setup_teardown(rules_count_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(random_rules_are_as_the_model, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
