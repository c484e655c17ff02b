/* SPDX-License-Identifier: MIT */
/* Calls added up by function and value: see value_sums.h. */
#include "utils/analysis/value_sums.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/base/text.h"
#include "utils/trace/args.h"
#include "utils/trace/func.h"
#include "utils/trace/task.h"
#include "utils/trace/trace.h"

#define ARGUMENT_MAX 100u
#define NO_ROW UINT32_MAX
#define TASKS_MAX UINT64_C(0x100000000)	/* ids of tasks have 32 bits */

/* A call that is open. */
struct open_call {
	uint32_t row;
	bool is_inner;			/* of another one of the same row */
};

struct task_calls {
	FTR_VEC(struct open_call) calls;
};

struct value_sums {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums;
	struct ftr_value_name name;
	struct ftr_value_name of_ranges[FTR_VALUE_RANGES_MAX]; /* sums.range_nr; 0: by value */
	struct ftr_trace *trace;	/* (borrowed) */
	struct ftr_strpool names;	/* id = row */
	struct ftr_strbuf text;
	FTR_VEC(struct task_calls) tasks; /* by task->id */
	struct ftr_hashmap open;	/* of a task and a row: how many calls are open */
};

static struct value_sums *sums_of(struct ftr_sink *sink)
{
	return (struct value_sums *)sink;
}

/* "argN", "fpargN": up to behind N; NULL = neither. */
static const char *argument_parse(struct ftr_value_name *name, const char *text)
{
	size_t head = strncmp(text, "fparg", 5) == 0 ? 5 : 3, digits;
	uint64_t nr;

	if (strncmp(text, "arg", 3) != 0 && head == 3)
		return NULL;
	digits = strspn(text + head, "0123456789");
	if (ftr_parse_u64(ftr_slice_make(text + head, digits), 10, &nr) < 0 || nr == 0 ||
	    nr > ARGUMENT_MAX)
		return NULL;
	name->is_float = head == 5;
	name->nr = (unsigned)nr;
	return text + head + digits;
}

bool ftr_value_name_parse(struct ftr_value_name *name, const char *text)
{
	const char *behind = text + strlen("retval");
	size_t len;

	*name = (struct ftr_value_name){ .text = text };
	name->is_retval = strncmp(text, "retval", strlen("retval")) == 0;
	if (!name->is_retval)
		behind = argument_parse(name, text);
	return behind != NULL && ftr_value_path_parse(&name->path, behind, &len) == NULL &&
	       behind[len] == '\0' && !(name->is_float && len > 0);
}

static bool is_wanted(const struct ftr_value_name *name, const struct ftr_arg *arg)
{
	return name->is_retval || (arg->index == name->nr && arg->is_float_reg == name->is_float);
}

/* Of the type *type, where a path leads to it. */
static bool value_find(const struct ftr_value_name *name, const struct ftr_event *ev,
		       struct ftr_arg *type, struct ftr_value *value)
{
	unsigned nr = 0, pos = 0;
	struct ftr_value whole;

	if (ev->payload == NULL || ev->payload->spec == NULL)
		return false;
	while (ftr_payload_next(ev->payload, &nr, &pos, &whole)) {
		if (!is_wanted(name, whole.arg))
			continue;
		*value = whole;
		return name->path.nr == 0 || ftr_value_path_find(&name->path, &whole, type, value);
	}
	return false;
}

/* "parse(arg1->n = 3)", "parse() = 3", "parse()->n = 3" */
static void put_name(struct value_sums *self, const struct ftr_event *ev,
		     const struct ftr_value *value)
{
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	const struct ftr_value_name *name = &self->name;

	ftr_strbuf_clear(&self->text);
	ftr_strbuf_printf(&self->text, "%s(", ev->call.func->name);
	if (name->is_retval)
		ftr_strbuf_printf(&self->text, ")%s = ", name->text + strlen("retval"));
	else
		ftr_strbuf_printf(&self->text, "%s = ", name->text);
	ftr_value_format(value, self->trace, session, &self->text);
	if (!name->is_retval)
		ftr_strbuf_putc(&self->text, ')');
}

/* The row that is called as self->text says.  0 or -ENOMEM. */
static int row_named(struct value_sums *self, uint32_t *row)
{
	const struct ftr_str *str;

	if (self->text.failed)
		return -ENOMEM;
	str = ftr_strpool_get(&self->names, self->text.s, self->text.len);
	if (str == NULL)
		return -ENOMEM;
	*row = str->id;
	if (str->id < self->sums.rows.nr)
		return 0;
	return ftr_vec_push(&self->sums.rows,
			    ((struct ftr_sum){ .name = str->s, .min_ns = UINT64_MAX }));
}

/* The row of the event's value; NO_ROW where it has none.  0 or -ENOMEM. */
static int row_of(struct value_sums *self, const struct ftr_event *ev, uint32_t *row)
{
	struct ftr_value value;
	struct ftr_arg type;

	*row = NO_ROW;
	if (!value_find(&self->name, ev, &type, &value))
		return 0;
	put_name(self, ev, &value);
	return row_named(self, row);
}

static bool number_of(const struct ftr_value *value, long double *number)
{
	switch (value->arg->format) {
	case FTR_ARG_AUTO:
	case FTR_ARG_SIGNED:
	case FTR_ARG_CHAR:
		*number = (long double)ftr_sign_extend(value->u, value->arg->size);
		return true;
	case FTR_ARG_UNSIGNED:
	case FTR_ARG_HEX:
	case FTR_ARG_OCTAL:
	case FTR_ARG_BOOL:
	case FTR_ARG_ENUM:
		*number = (long double)value->u;
		return true;
	case FTR_ARG_FLOAT:
		*number = value->f;
		return true;
	default:
		return false;
	}
}

static void range_add(struct ftr_value_range *range, long double number)
{
	range->min = range->nr == 0 || number < range->min ? number : range->min;
	range->max = range->nr == 0 || number > range->max ? number : range->max;
	range->sum += number;
	range->nr++;
}

/* The row of the event's function, with the values that the event has.  0 or -ENOMEM. */
static int ranges_add(struct value_sums *self, const struct ftr_event *ev, uint32_t *row)
{
	struct ftr_sums *sums = &self->sums;
	struct ftr_value value;
	struct ftr_arg type;
	long double number;

	ftr_strbuf_clear(&self->text);
	ftr_strbuf_puts(&self->text, ev->call.func->name);
	if (row_named(self, row) < 0)
		return -ENOMEM;
	if (ftr_vec_extend(&sums->ranges, sums->rows.nr * sums->range_nr) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < sums->range_nr; i++) {
		if (self->of_ranges[i].is_retval == (ev->type == FTR_EVENT_EXIT) &&
		    value_find(&self->of_ranges[i], ev, &type, &value) &&
		    number_of(&value, &number))
			range_add(&sums->ranges.v[*row * sums->range_nr + i], number);
	}
	return 0;
}

static struct task_calls *calls_of(struct value_sums *self, const struct ftr_task *task)
{
	if (ftr_vec_reach(&self->tasks, task->id) < 0)
		return NULL;
	return &self->tasks.v[task->id];
}

static uint64_t key_of(const struct ftr_event *ev, uint32_t row)
{
	return ((uint64_t)row * TASKS_MAX + ev->task->id) + 1;
}

/* One more or one less of the row is open in the task; *before there were so many. */
static int open_count(struct value_sums *self, uint64_t key, int change, uintptr_t *before)
{
	uintptr_t after;

	*before = (uintptr_t)ftr_hashmap_take(&self->open, key);
	after = *before + (uintptr_t)change;
	return after == 0 ? 0 : ftr_hashmap_set(&self->open, key, (void *)after);
}

static int entry(struct value_sums *self, const struct ftr_event *ev)
{
	struct task_calls *task = calls_of(self, ev->task);
	struct open_call call = { .row = NO_ROW };
	uintptr_t before;

	if (task == NULL)
		return -ENOMEM;
	if (self->sums.range_nr > 0 ? ranges_add(self, ev, &call.row) < 0 :
	    !self->name.is_retval && row_of(self, ev, &call.row) < 0)
		return -ENOMEM;
	if (call.row != NO_ROW) {
		if (open_count(self, key_of(ev, call.row), 1, &before) < 0)
			return -ENOMEM;
		call.is_inner = before > 0;
	}
	return ftr_vec_push(&task->calls, call);
}

static void row_add(struct ftr_sum *sum, const struct ftr_event *ev, bool is_inner)
{
	uint64_t ns = ev->time_ns - ev->call.start_ns;

	if (sum->calls++ == 0)
		sum->start_ns = ev->call.start_ns;
	sum->end_ns = ev->time_ns;
	sum->total_ns += is_inner ? 0 : ns;
	sum->min_ns = ns < sum->min_ns ? ns : sum->min_ns;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
}

static int leave(struct value_sums *self, const struct ftr_event *ev)
{
	struct task_calls *task = calls_of(self, ev->task);
	struct open_call call = { .row = NO_ROW };
	uintptr_t before;

	if (task == NULL)
		return -ENOMEM;
	if (task->calls.nr > 0)
		call = task->calls.v[--task->calls.nr];
	if (call.row != NO_ROW && open_count(self, key_of(ev, call.row), -1, &before) < 0)
		return -ENOMEM;
	if (self->sums.range_nr > 0 ? ranges_add(self, ev, &call.row) < 0 :
	    self->name.is_retval && row_of(self, ev, &call.row) < 0)
		return -ENOMEM;
	if (call.row != NO_ROW)
		row_add(&self->sums.rows.v[call.row], ev, call.is_inner);
	return 0;
}

static int value_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	sums_of(sink)->trace = (struct ftr_trace *)trace;	/* functions are found as needed */
	return 0;
}

static int value_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct value_sums *self = sums_of(sink);
	int ret = 0;

	if (ev->type == FTR_EVENT_ENTRY)
		ret = entry(self, ev);
	else if (ev->type == FTR_EVENT_EXIT)
		ret = leave(self, ev);
	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") : 0;
}

static void value_fini(struct ftr_sink *sink)
{
	struct value_sums *self = sums_of(sink);
	size_t i;

	for (i = 0; i < self->tasks.nr; i++)
		ftr_vec_fini(&self->tasks.v[i].calls);
	ftr_vec_fini(&self->tasks);
	ftr_vec_fini(&self->sums.rows);
	ftr_vec_fini(&self->sums.ranges);
	ftr_hashmap_fini(&self->open);
	ftr_strbuf_fini(&self->text);
	ftr_strpool_fini(&self->names);
}

static const struct ftr_sink_ops value_ops = {
	.size	 = sizeof(struct value_sums),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST) | FTR_BIT(FTR_EVENT_FORK) | FTR_BIT(FTR_EVENT_MESSAGE),
	.begin	 = value_begin,
	.event	 = value_event,
	.fini	 = value_fini,
};

struct ftr_sink *ftr_value_sums_new(const struct ftr_value_name *name, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&value_ops, NULL, err);
	struct value_sums *self = sums_of(sink);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	self->name = *name;
	ftr_strpool_init(&self->names);
	ftr_strbuf_init(&self->text);
	ftr_hashmap_init(&self->open);
	return sink;
}

struct ftr_sink *ftr_value_ranges_new(const struct ftr_value_name *names, unsigned nr,
				      struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_value_sums_new(&names[0], err);
	struct value_sums *self = sums_of(sink);

	assert(nr > 0 && nr <= FTR_VALUE_RANGES_MAX);
	for (unsigned i = 0; sink != NULL && i < nr; i++) {
		self->of_ranges[i] = names[i];
		self->sums.range_names[i] = names[i].text;
		self->sums.range_nr++;
	}
	return sink;
}

const struct ftr_sums *ftr_value_sums_get(const struct ftr_sink *sink)
{
	return &((const struct value_sums *)sink)->sums;
}
