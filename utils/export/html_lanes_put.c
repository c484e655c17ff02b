/* SPDX-License-Identifier: MIT */
/* What html_lanes.c collected, as JSON: numbers in a row, times counted from the one before. */
#include <math.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/export/html_put.h"
#include "utils/export/html_lanes.h"
#include "utils/export/html_lanes_data.h"
#include "utils/trace/task.h"

#define EXACT_MAX 9007199254740992.0	/* integers above are not exact in JavaScript */

static const char *const lane_names[HTML_LANES] = {
	[HTML_LANE_RUNS] = "runs",	[HTML_LANE_SYSCALLS] = "syscalls",
	[HTML_LANE_WAITS] = "waits",	[HTML_LANE_SPANS] = "spans",
	[HTML_LANE_KERNEL] = "kernel",	[HTML_LANE_BLOCKS] = "blocks",
};

struct writer {
	const struct ftr_html_lanes *lanes;
	struct ftr_ostream *out, *text;
	uint64_t first_ns;
};

static void put_string(const struct writer *to, const char *s)
{
	ftr_html_put_string(to->out, to->text, s, strlen(s));
}

static void put_number(const struct writer *to, double value)
{
	bool is_exact = value == trunc(value) && fabs(value) <= EXACT_MAX;

	if (!isfinite(value))
		ftr_ostream_puts(to->out, ",null");
	else
		ftr_ostream_printf(to->out, is_exact ? ",%.0f" : ",%.9g", value);
}

/* Of times that may go back, by a little. */
static void put_time(const struct writer *to, const char *separator, uint64_t time_ns,
		     uint64_t *last_ns)
{
	ftr_ostream_printf(to->out, "%s%lld", separator, (long long)(time_ns - *last_ns));
	*last_ns = time_ns;
}

static void put_items(const struct writer *to, const struct html_lane_task *task,
		      enum html_lane lane)
{
	uint64_t last_ns = to->first_ns;

	if (task->lanes[lane].nr == 0)
		return;
	ftr_ostream_printf(to->out, ",\n\"%s\":[", lane_names[lane]);
	for (size_t i = 0; i < task->lanes[lane].nr; i++) {
		const struct html_item *item = &task->lanes[lane].v[i];

		put_time(to, i > 0 ? "," : "", item->at_ns, &last_ns);
		ftr_ostream_printf(to->out, ",%llu,%u", (unsigned long long)item->size, item->what);
	}
	ftr_ostream_putc(to->out, ']');
}

static void put_marks(const struct writer *to, const struct html_lane_task *task)
{
	uint64_t last_ns = to->first_ns;

	if (task->marks.nr == 0)
		return;
	ftr_ostream_puts(to->out, ",\n\"marks\":[");
	for (size_t i = 0; i < task->marks.nr; i++) {
		const struct html_mark *mark = &task->marks.v[i];

		put_time(to, i > 0 ? "," : "", mark->time_ns, &last_ns);
		ftr_ostream_printf(to->out, ",%u,", mark->name);
		put_string(to, mark->text != NULL ? mark->text : "");
	}
	ftr_ostream_putc(to->out, ']');
}

static bool task_is_empty(const struct html_lane_task *task)
{
	size_t nr = task->marks.nr;

	for (size_t i = 0; i < HTML_LANES; i++)
		nr += task->lanes[i].nr;
	return nr == 0;
}

static void put_tasks(const struct writer *to)
{
	const char *separator = "";

	ftr_ostream_puts(to->out, "\"tasks\":[");
	for (size_t i = 0; i < to->lanes->tasks.nr; i++) {
		const struct html_lane_task *task = &to->lanes->tasks.v[i];

		if (task->task == NULL || task_is_empty(task))
			continue;
		ftr_ostream_printf(to->out, "%s\n{\"pid\":%d,\"tid\":%d,\"name\":", separator,
				   task->task->pid, task->task->tid);
		put_string(to, task->task->name);
		for (unsigned lane = 0; lane < HTML_LANES; lane++)
			put_items(to, task, lane);
		put_marks(to, task);
		ftr_ostream_putc(to->out, '}');
		separator = ",";
	}
	ftr_ostream_puts(to->out, "],\n");
}

static void put_values(const struct writer *to, const struct html_values *values)
{
	uint64_t last_ns = to->first_ns;

	ftr_ostream_printf(to->out, "\n{\"pid\":%d,\"tid\":%d,\"name\":%u,\"unit\":",
			   values->owner.pid, values->owner.tid, values->name);
	put_string(to, values->unit != NULL ? values->unit : "");
	ftr_ostream_puts(to->out, ",\"points\":[");
	for (size_t i = 0; i < values->series.points.nr; i++) {
		const struct ftr_html_point *point = &values->series.points.v[i];

		put_time(to, i > 0 ? "," : "", point->time_ns, &last_ns);
		put_number(to, point->low);
		put_number(to, point->high);
		put_number(to, point->last);
	}
	ftr_ostream_puts(to->out, "]}");
}

static void put_names(const struct writer *to)
{
	ftr_ostream_puts(to->out, "\"names\":[");
	for (size_t i = 0; i < to->lanes->names.nr; i++) {
		const struct html_name *name = &to->lanes->names.v[i];

		ftr_ostream_puts(to->out, i > 0 ? ",\n[" : "\n[");
		put_string(to, to->lanes->name_texts.v[i]);
		ftr_ostream_printf(to->out, ",%llu,%llu]", (unsigned long long)name->seen,
				   (unsigned long long)name->every);
	}
	ftr_ostream_puts(to->out, "],\n");
}

static void put_left_out(const struct writer *to)
{
	const char *separator = "";

	ftr_ostream_puts(to->out, "\"leftOut\":{");
	for (size_t i = 0; i < HTML_LANES; i++) {
		const struct html_lane_state *lane = &to->lanes->lanes[i];

		uint64_t nr = i == HTML_LANE_BLOCKS ? to->lanes->block_nr - lane->nr :
						      lane->left_out;

		if (nr == 0)
			continue;
		ftr_ostream_printf(to->out, "%s\"%s\":[%llu,%llu]", separator, lane_names[i],
				   (unsigned long long)nr, (unsigned long long)lane->least);
		separator = ",";
	}
	ftr_ostream_puts(to->out, "}}");
}

void ftr_html_lanes_put(const struct ftr_html_lanes *lanes, struct ftr_ostream *out,
			struct ftr_ostream *text, uint64_t first_ns)
{
	const struct writer to = { lanes, out, text, first_ns };

	ftr_ostream_puts(out, "\"lanes\":{");
	put_names(&to);
	put_tasks(&to);
	ftr_ostream_puts(out, "\"values\":[");
	for (size_t i = 0; i < lanes->values.nr; i++) {
		ftr_ostream_puts(out, i > 0 ? "," : "");
		put_values(&to, &lanes->values.v[i]);
	}
	ftr_ostream_puts(out, "],\n");
	put_left_out(&to);
}
