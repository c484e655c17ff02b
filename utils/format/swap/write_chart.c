/* SPDX-License-Identifier: MIT */
/* SWAP writer: series that the program records (libmcount/ftr.h), as custom charts. */
#include <errno.h>
#include <string.h>

#include "utils/format/swap/probe.h"
#include "utils/format/swap/write.h"
#include "utils/trace/args.h"

struct chart {
	struct ftr_slice name;
	uint64_t type, color, caller, value_bits;
	bool is_chart;			/* how it is drawn, no value */
};

static bool value_of(const struct ftr_event *ev, struct chart *chart)
{
	size_t prefix = strlen(SWAP_CHART_PREFIX);
	struct ftr_value value;
	unsigned nr = 0, pos = 0;
	double number;

	if (ev->payload->spec->nr != 1 || strncmp(ev->point.name, SWAP_CHART_PREFIX, prefix) != 0 ||
	    !ftr_payload_next(ev->payload, &nr, &pos, &value) ||
	    value.arg->format != FTR_ARG_FLOAT)
		return false;
	number = (double)value.f;
	memcpy(&chart->value_bits, &number, sizeof(number));
	chart->name = ftr_slice_make(ev->point.name + prefix, strlen(ev->point.name + prefix));
	return true;
}

static bool chart_of(const struct ftr_event *ev, struct chart *chart)
{
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	*chart = (struct chart){ .is_chart = ftr_event_kind_id(ev) == FTR_EVENT_ID_USER_CHART };
	if (ev->payload == NULL || ev->payload->spec == NULL)
		return false;
	if (!chart->is_chart)
		return ev->point.kind == FTR_POINT_COUNTER && value_of(ev, chart);
	while (ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		if (value.arg->name == NULL)
			continue;
		if (value.arg->format == FTR_ARG_STRING)
			chart->name = ftr_slice_make(value.str.s,
						     strnlen(value.str.s, value.str.len));
		else if (strcmp(value.arg->name, "type") == 0)
			chart->type = value.u;
		else if (strcmp(value.arg->name, "color") == 0)
			chart->color = value.u;
		else
			chart->caller = value.u;
	}
	return chart->name.s != NULL;
}

bool swap_is_of_chart(const struct ftr_event *ev)
{
	struct chart chart;

	return chart_of(ev, &chart);
}

/* A series has the number of its name, which stands in the first message alone. */
static const struct ftr_str *series_get(struct swap_writer *w, struct ftr_slice name, bool *is_new)
{
	const struct ftr_str *str = ftr_strpool_get(&w->series, name.s, name.len);

	if (str == NULL)
		return NULL;
	*is_new = str->id >= w->series_nr;
	if (*is_new)
		w->series_nr = str->id + 1;
	return str;
}

int swap_write_chart(struct swap_writer *w, const struct ftr_event *ev)
{
	const struct ftr_str *series;
	struct chart chart;
	bool is_new = false;

	if (!chart_of(ev, &chart))
		return 0;
	series = series_get(w, chart.name, &is_new);
	if (series == NULL)
		return swap_no_memory(w);
	const uint64_t head[] = { chart.is_chart ? SWAP_API_CHART : SWAP_API_COUNTER,
				  (uint32_t)ev->task->pid, (uint32_t)ev->task->tid, 0 };
	const uint64_t tail[] = { 0, SWAP_CALL_NOT_KNOWN, chart.caller, 0, 0, series->id + 1,
				  chart.type };

	swap_load_symbols(w, ev, chart.caller);
	swap_values_begin(w);
	if (swap_put_numbers(w, head, sizeof(head) / sizeof(head[0])) < 0 ||
	    swap_put_arg(w, 'v', 0) < 0 ||
	    swap_put_numbers(w, tail, sizeof(tail) / sizeof(tail[0])) < 0 ||
	    swap_put_text(w, is_new || chart.is_chart ? series->s : "") < 0 ||
	    swap_put_number(w, chart.color) < 0 || swap_put_number(w, chart.value_bits) < 0)
		return swap_no_memory(w);
	return swap_write(w, SWAP_MSG_PROBE_CUSTOM, ev->time_ns);
}
