/* SPDX-License-Identifier: MIT */
/* SWAP writer: the sink, and how messages are put together.  doc/swap.md says what becomes what. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/ostream.h"
#include "utils/format/format.h"
#include "utils/format/swap/read.h"
#include "utils/format/swap/write.h"

int swap_no_memory(struct swap_writer *w)
{
	return ftr_err_set(w->base.err, ENOMEM, "swap: out of memory");
}

void swap_values_begin(struct swap_writer *w)
{
	w->values.all.nr = 0;
}

int swap_put_number(struct swap_writer *w, uint64_t number)
{
	return ftr_vec_push(&w->values.all, ((struct swap_value){ .u = number }));
}

int swap_put_numbers(struct swap_writer *w, const uint64_t *numbers, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = swap_put_number(w, numbers[i]);
	return ret;
}

int swap_put_text(struct swap_writer *w, const char *s)
{
	return ftr_vec_push(&w->values.all,
			    ((struct swap_value){ .s = s, .len = (uint32_t)strlen(s) }));
}

int swap_put_arg(struct swap_writer *w, char type, uint64_t number)
{
	return ftr_vec_push(&w->values.all, ((struct swap_value){ .u = number, .type = type }));
}

int swap_write_message(struct swap_writer *w, const struct swap_message *message, uint32_t id,
		       uint64_t time_ns)
{
	uint8_t header[SWAP_HEADER_BYTES];
	int ret;

	ftr_strbuf_clear(&w->bytes);
	ret = swap_encode(message, &w->values, &w->layout, &w->bytes);
	if (ret < 0)
		return ret == -ENOMEM ? swap_no_memory(w) : ret;
	ftr_put_u64(header, (uint64_t)w->sequence << SWAP_HEADER_SEQUENCE_SHIFT | id, false);
	swap_time_put(header + 8, swap_time_of(time_ns + (uint64_t)w->offset_ns),
		      w->layout.time_form);
	ftr_put_u16(header + 16, (uint16_t)w->bytes.len, false);
	ftr_put_u16(header + 18, (uint16_t)(w->bytes.len / (UINT16_MAX + 1)), false);
	w->sequence++;
	w->written_bytes += sizeof(header) + w->bytes.len;
	ftr_ostream_write(w->base.out, header, sizeof(header));
	ftr_ostream_write(w->base.out, ftr_strbuf_str(&w->bytes), w->bytes.len);
	return 0;
}

int swap_write(struct swap_writer *w, uint32_t id, uint64_t time_ns)
{
	return swap_write_message(w, swap_message_find(id), id, time_ns);
}

static struct swap_writer *writer_of(struct ftr_sink *sink)
{
	return (struct swap_writer *)sink;
}

static int swap_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct swap_writer *w = writer_of(sink);
	const struct swap_options *options = sink->values;

	w->trace = trace;
	ftr_io_init(&w->io);
	ftr_strpool_init(&w->series);
	swap_leaks_init(&w->leaks);
	w->layout.time_form = options == NULL ? SWAP_TIME_DOCUMENT :
						(enum swap_time_form)options->time_form;
	w->layout.cpu_nr = trace->info.cpus_online == 0 ? 1 : trace->info.cpus_online;
	w->layout.device_nr = 3;
	if (trace->info.info_mask & FTR_INFO_UTC_OFFSET)
		w->offset_ns = trace->info.utc_offset_s * (int64_t)SWAP_NS_PER_S;
	return 0;
}

static int swap_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct swap_writer *w = writer_of(sink);
	int ret = 0;

	if (sink->out->code != 0)
		return ftr_ostream_flush(sink->out, sink->err);
	if (!w->is_begun)
		ret = swap_write_system_begin(w, ev->time_ns);
	else if (w->system.is_open && ev->time_ns > w->system.time_ns)
		ret = swap_write_system(w);
	w->is_begun = true;
	w->last_ns = ev->time_ns;
	if (ret == 0)
		ret = swap_write_program(w, ev);
	return ret == 0 ? swap_write_event(w, ev) : ret;
}

static void describe_cuts(struct swap_writer *w)
{
	const struct {
		uint64_t nr;
		const char *what;
	} rows[] = {
		{ w->point_cut_nr, "events without a message" },
		{ w->arg_cut_nr, "names and formats of arguments" },
		{ w->stack_cut_nr, "callers of samples" },
		{ w->syscall_cut_nr, "details of system calls" },
		{ w->mark_cut_nr, "marks of calls that were inferred or left" },
	};

	ftr_strbuf_clear(&w->cut_text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ftr_sink_cut(&w->base, &w->cut_text, rows[i].nr, rows[i].what);
}

static int swap_end(struct ftr_sink *sink)
{
	struct swap_writer *w = writer_of(sink);
	int ret = w->system.is_open ? swap_write_system(w) : 0;

	if (ret == 0)
		ret = swap_write_ends(w);
	describe_cuts(w);
	return ret == 0 && sink->out->owns_fd ? swap_write_side(w) : ret;
}

static void swap_fini(struct ftr_sink *sink)
{
	struct swap_writer *w = writer_of(sink);

	for (size_t i = 0; i < w->tasks.nr; i++)
		ftr_vec_fini(&w->tasks.v[i].open);
	for (size_t i = 0; i < w->order.nr; i++)
		free(w->order.v[i]);
	ftr_vec_fini(&w->order);
	ftr_vec_fini(&w->programs);
	ftr_vec_fini(&w->tasks);
	ftr_vec_fini(&w->funcs);
	ftr_vec_fini(&w->values.all);
	ftr_vec_fini(&w->room);
	ftr_hashmap_fini(&w->processes);
	ftr_strbuf_fini(&w->bytes);
	ftr_strbuf_fini(&w->text);
	ftr_strbuf_fini(&w->cut_text);
	ftr_io_fini(&w->io);
	ftr_strpool_fini(&w->series);
	swap_leaks_fini(&w->leaks);
	ftr_strbuf_fini(&w->system.side);
	ftr_vec_fini(&w->system.loads);
	ftr_vec_fini(&w->system.tasks);
}

static const struct ftr_sink_ops swap_ops = {
	.size	 = sizeof(struct swap_writer),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST) | FTR_BIT(FTR_EVENT_MESSAGE),
	.begin	 = swap_begin,
	.event	 = swap_event,
	.end	 = swap_end,
	.fini	 = swap_fini,
};

static const char *const time_words[] = { "document", "legacy", NULL };

static const struct ftr_option options[] = {
	FTR_OPTION("swap-time", 0, "FORM",
		   "Order of a time's words: document (default), or legacy, as old hosts read",
		   ftr_opt_choice, struct swap_options, time_form, .words = time_words),
	{ 0 }
};

const struct ftr_format ftr_format_swap = {
	.name	 = "swap",
	.summary = "messages of the SWAP protocol (doc/swap.md)",
	.suffix	 = ".swap",
	.dump_option = FTR_FORMAT_DUMP_OPTION("swap"),
	.kind	 = FTR_FORMAT_FILE,
	.detect	 = ftr_swap_detect,
	.read_file = ftr_swap_read,
	.needs_file = true,
	.may_grow = true,
	.write	 = &swap_ops,
	.options = options,
	.values_bytes = sizeof(struct swap_options),
};
