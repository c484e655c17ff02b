/* SPDX-License-Identifier: MIT */
/* POINT events as text: the layouts of the data are those of the uftrace format. */
#include "utils/trace/event_text.h"

#include "utils/base/bytes.h"
#include "utils/base/text.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/sample.h"
#include "utils/trace/trace.h"

#include <string.h>

#define STACK_SHOWN_MAX 8	/* functions of a sample */

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

static void put_values(const struct ftr_event_kind *kind, const struct ftr_payload *data,
		       bool is_signed, struct ftr_strbuf *text)
{
	for (size_t i = 0; i < kind->value_nr; i++) {
		uint64_t value;

		if (data->len < (i + 1) * sizeof(value))
			return;
		value = ftr_get_u64(data->data + i * sizeof(value), data->is_big_endian);
		ftr_strbuf_printf(text, is_signed ? "%s%s=%+lld%s" : "%s%s=%lld%s",
				  i > 0 ? " " : "", kind->labels[i], (long long)value,
				  kind->unit == NULL ? "" : kind->unit);
	}
}

/* "main+0x1c", or the number where no symbol covers it. */
static void put_symbol(const struct ftr_event *ev, struct ftr_trace *trace, uint64_t addr,
		       struct ftr_strbuf *text)
{
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	const struct ftr_func *func;
	uint64_t offset = 0;

	func = ftr_trace_find(trace, session, ev->time_ns, addr, &offset);
	if (func == NULL)
		ftr_strbuf_printf(text, "%#llx", (unsigned long long)addr);
	else if (offset == 0)
		ftr_strbuf_puts(text, func->name);
	else
		ftr_strbuf_printf(text, "%s+%#llx", func->name, (unsigned long long)offset);
}

static void put_variable(const struct ftr_event *ev, struct ftr_trace *trace,
			 struct ftr_strbuf *text)
{
	const struct ftr_payload *data = ev->payload;
	bool is_64bit = trace->info.elf_class != 1;
	size_t addr_bytes = is_64bit ? 8 : 4;
	uint64_t addr, value;

	if (data->len <= addr_bytes || data->len > addr_bytes + sizeof(value))
		return;
	addr = is_64bit ? ftr_get_u64(data->data, data->is_big_endian)
			: ftr_get_u32(data->data, data->is_big_endian);
	value = ftr_get_unsigned(data->data + addr_bytes, data->len - addr_bytes,
				 data->is_big_endian);
	put_symbol(ev, trace, addr, text);
	ftr_strbuf_printf(text, "=%llu", (unsigned long long)value);
}

/* A text that ends at a NUL, and may have anything in it. */
static void put_printable(const struct ftr_payload *data, struct ftr_strbuf *text)
{
	size_t at = text->len;

	ftr_strbuf_put(text, data->data, strnlen((const char *)data->data, data->len));
	if (ftr_text_is_printable(text->s + at, text->len - at))
		return;
	for (; at < text->len; at++) {
		uint8_t c = (uint8_t)text->s[at];

		if (c < ' ' || c == 0x7f)
			text->s[at] = '?';
	}
}

static void put_comm(const struct ftr_payload *data, struct ftr_strbuf *text)
{
	ftr_strbuf_puts(text, "comm=\"");
	put_printable(data, text);
	ftr_strbuf_putc(text, '"');
}

/* "leaf < caller < its caller". */
static void put_stack(const struct ftr_event *ev, struct ftr_trace *trace, struct ftr_strbuf *text)
{
	struct ftr_sample sample;

	if (ftr_sample_read(&sample, ev, trace) < 0) {
		text->failed = true;
		return;
	}
	for (unsigned i = 0; i < sample.nr; i++) {
		if (i == STACK_SHOWN_MAX) {
			ftr_strbuf_puts(text, " < ...");
			return;
		}
		if (i == 0 && sample.frames[i]->module == NULL)
			ftr_strbuf_printf(text, "%#llx", (unsigned long long)ftr_get_u64(
					  ev->payload->data, ev->payload->is_big_endian));
		else
			ftr_strbuf_printf(text, "%s%s", i == 0 ? "" : " < ",
					  sample.frames[i]->name);
	}
}

void ftr_event_data_text(const struct ftr_event *ev, const struct ftr_trace *trace,
			 bool is_signed_diff, struct ftr_strbuf *text)
{
	const struct ftr_payload *data = ev->payload;
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(ftr_event_kind_id(ev));

	if (data == NULL || data->len == 0)
		return;
	switch (kind == NULL ? FTR_EVENT_DATA_BYTES : (enum ftr_event_data)kind->data) {
	case FTR_EVENT_DATA_VALUES:
		put_values(kind, data, false, text);
		return;
	case FTR_EVENT_DATA_DIFFERENCES:
		put_values(kind, data, is_signed_diff, text);
		return;
	case FTR_EVENT_DATA_CPU:
		if (data->len >= 4)
			ftr_strbuf_printf(text, "cpu=%d",
					  (int32_t)ftr_get_u32(data->data, data->is_big_endian));
		return;
	case FTR_EVENT_DATA_VARIABLE:
		put_variable(ev, (struct ftr_trace *)trace, text);
		return;
	case FTR_EVENT_DATA_ADDRESS:
		if (data->len >= sizeof(uint64_t))
			put_symbol(ev, (struct ftr_trace *)trace,
				   ftr_get_u64(data->data, data->is_big_endian), text);
		return;
	case FTR_EVENT_DATA_TASK_NAME:
		put_comm(data, text);
		return;
	case FTR_EVENT_DATA_STACK:
		if (data->spec != NULL)
			break;
		put_stack(ev, (struct ftr_trace *)trace, text);
		return;
	case FTR_EVENT_DATA_BYTES:
	case FTR_EVENT_DATA_TEXT:
	case FTR_EVENT_DATA_SPEC:
	case FTR_EVENT_DATA_SDT:
		break;
	}
	if (data->spec != NULL)
		ftr_payload_format(data, (struct ftr_trace *)trace,
				   ftr_task_session_at(ev->task, ev->time_ns), text);
	else
		put_printable(data, text);
}

/* Nothing but a text, which people can see. */
static bool data_is_plain(const struct ftr_event *ev)
{
	const struct ftr_payload *data = ev->payload;

	return data->spec == NULL && ftr_event_kind_by_id(ftr_event_kind_id(ev)) == NULL &&
	       ftr_text_is_printable((const char *)data->data, data->len);
}

struct ftr_slice ftr_event_data_slice(const struct ftr_event *ev, const struct ftr_trace *trace,
				      bool is_signed_diff, struct ftr_strbuf *text)
{
	if (ev->payload == NULL)
		return ftr_slice_make("", 0);
	if (data_is_plain(ev))
		return ftr_slice_make((const char *)ev->payload->data, ev->payload->len);
	ftr_strbuf_clear(text);
	ftr_event_data_text(ev, trace, is_signed_diff, text);
	return ftr_slice_make(ftr_strbuf_str(text), text->len);
}
