/* SPDX-License-Identifier: MIT */
/* POINT events as text: the layouts of the data are those of the uftrace format. */
#include "utils/view/event_text.h"

#include "utils/base/bytes.h"
#include "utils/trace/args.h"
#include "utils/trace/trace.h"

#include <string.h>

#define VALUES_MAX 3

/* Data of up to three 64-bit numbers: a label for each and a unit for all. */
static const struct data_layout {
	uint32_t id;
	bool is_diff;
	const char *labels[VALUES_MAX];
	const char *unit;
} layouts[] = {
	{ FTR_ID_READ_STATM, false, { "vmsize", "vmrss", "shared" }, "KB" },
	{ FTR_ID_DIFF_STATM, true, { "vmsize", "vmrss", "shared" }, "KB" },
	{ FTR_ID_READ_FAULT, false, { "major", "minor", NULL }, "" },
	{ FTR_ID_DIFF_FAULT, true, { "major", "minor", NULL }, "" },
	{ FTR_ID_READ_CYCLE, false, { "cycles", "instructions", NULL }, "" },
	{ FTR_ID_DIFF_CYCLE, true, { "cycles", "instructions", NULL }, "" },
	{ FTR_ID_READ_CACHE, false, { "refers", "misses", NULL }, "" },
	{ FTR_ID_DIFF_CACHE, true, { "refers", "misses", NULL }, "" },
	{ FTR_ID_READ_BRANCH, false, { "branch", "misses", NULL }, "" },
	{ FTR_ID_DIFF_BRANCH, true, { "branch", "misses", NULL }, "" },
};

static const struct {
	const char *name;
	uint32_t id;
} sched_names[] = {
	{ "linux:sched-in", FTR_ID_SCHED_IN },
	{ "linux:sched-out", FTR_ID_SCHED_OUT },
	{ "linux:sched-out (pre-empted)", FTR_ID_SCHED_OUT_PREEMPT },
	{ "linux:schedule", FTR_ID_SCHED_BOTH },
	{ "linux:schedule (pre-empted)", FTR_ID_SCHED_BOTH_PREEMPT },
};

uint64_t ftr_event_point_id(const struct ftr_event *ev)
{
	if (ev->point.id != 0 || strncmp(ev->point.name, "linux:sched", 11) != 0)
		return ftr_point_event_id(ev);
	for (size_t i = 0; i < sizeof(sched_names) / sizeof(sched_names[0]); i++)
		if (strcmp(sched_names[i].name, ev->point.name) == 0)
			return sched_names[i].id;
	return 0;
}

void ftr_event_title(const struct ftr_event *ev, struct ftr_strbuf *text)
{
	static const char *const words[] = {
		[FTR_POINT_ASYNC_BEGIN]	  = "begin",	  [FTR_POINT_ASYNC_INSTANT] = "instant",
		[FTR_POINT_ASYNC_END]	  = "end",	  [FTR_POINT_FLOW_BEGIN]    = "flow begin",
		[FTR_POINT_FLOW_STEP]	  = "flow step",  [FTR_POINT_FLOW_END]	    = "flow end",
	};

	ftr_strbuf_clear(text);
	ftr_strbuf_puts(text, ev->point.name);
	if (ev->point.kind > FTR_POINT_COUNTER)
		ftr_strbuf_printf(text, " %s #%llu", words[ev->point.kind],
				  (unsigned long long)ev->point.id);
}

const char *ftr_event_schedule_name(uint64_t out_id)
{
	return out_id == FTR_ID_SCHED_OUT_PREEMPT ? "linux:schedule (pre-empted)" :
						    "linux:schedule";
}

static const struct data_layout *layout_find(uint64_t id)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].id == id)
			return &layouts[i];
	return NULL;
}

static void put_layout(const struct data_layout *layout, const struct ftr_payload *data,
		       bool is_signed_diff, struct ftr_strbuf *text)
{
	for (size_t i = 0; i < VALUES_MAX && layout->labels[i] != NULL; i++) {
		uint64_t value;

		if (data->len < (i + 1) * sizeof(value))
			return;
		value = ftr_get_u64(data->data + i * sizeof(value), data->is_big_endian);
		ftr_strbuf_printf(text, layout->is_diff && is_signed_diff ? "%s%s=%+lld%s"
									   : "%s%s=%lld%s",
				  i > 0 ? " " : "", layout->labels[i], (long long)value,
				  layout->unit);
	}
}

static void put_variable(const struct ftr_payload *data, bool is_64bit, struct ftr_strbuf *text)
{
	size_t addr_bytes = is_64bit ? 8 : 4;
	uint64_t addr, value = 0;

	if (data->len <= addr_bytes || data->len > addr_bytes + sizeof(value))
		return;
	addr = is_64bit ? ftr_get_u64(data->data, data->is_big_endian)
			: ftr_get_u32(data->data, data->is_big_endian);
	for (size_t i = 0; i < data->len - addr_bytes; i++) {
		size_t at = data->is_big_endian ? i : data->len - addr_bytes - 1 - i;

		value = value << 8 | data->data[addr_bytes + at];
	}
	ftr_strbuf_printf(text, "%#llx=%llu", (unsigned long long)addr, (unsigned long long)value);
}

static void put_printable(const struct ftr_payload *data, struct ftr_strbuf *text)
{
	for (size_t i = 0; i < data->len && data->data[i] != '\0'; i++) {
		uint8_t c = data->data[i];

		ftr_strbuf_putc(text, c < ' ' || c == 0x7f ? '?' : (char)c);
	}
}

static void put_comm(const struct ftr_payload *data, struct ftr_strbuf *text)
{
	ftr_strbuf_puts(text, "comm=\"");
	put_printable(data, text);
	ftr_strbuf_putc(text, '"');
}

void ftr_event_data_text(const struct ftr_event *ev, const struct ftr_trace *trace,
			 bool is_signed_diff, struct ftr_strbuf *text)
{
	const struct ftr_payload *data = ev->payload;
	const struct data_layout *layout;
	uint64_t id = ftr_point_event_id(ev);

	if (data == NULL || data->len == 0)
		return;
	layout = layout_find(id);
	if (layout != NULL)
		put_layout(layout, data, is_signed_diff, text);
	else if (id == FTR_ID_WATCH_CPU && data->len >= 4)
		ftr_strbuf_printf(text, "cpu=%d", (int32_t)ftr_get_u32(data->data,
								       data->is_big_endian));
	else if (id == FTR_ID_WATCH_VAR)
		put_variable(data, trace->info.elf_class != 1, text);
	else if (id == FTR_ID_TASK_NAME)
		put_comm(data, text);
	else if (data->spec != NULL)
		ftr_payload_format(data, (struct ftr_trace *)trace, NULL, text);
	else
		put_printable(data, text);
}
