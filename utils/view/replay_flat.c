/* SPDX-License-Identifier: MIT */
/* replay --flat: a numbered line an event. */
#include "utils/view/replay_flat.h"

#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/trace.h"
#include "utils/trace/event_text.h"
#include "utils/view/unfinished.h"

#include <errno.h>
#include <string.h>

struct flat_sink {
	struct ftr_sink base;
	const struct ftr_trace *trace;
	struct unfinished unfinished;
	struct ftr_strbuf text;	/* of an event's data */
	struct ftr_strbuf title;	/* of an event */
	uint64_t nr;		/* of the next line */
};

static void put_head(struct flat_sink *self, const char *mark, const struct ftr_event *ev)
{
	struct ftr_ostream *out = self->base.out;

	ftr_ostream_putc(out, '[');
	ftr_ostream_u64(out, self->nr++);
	ftr_ostream_puts(out, mark);
	ftr_ostream_u64(out, (uint64_t)(uint32_t)ev->task->tid);
}

static void put_call(struct flat_sink *self, const struct ftr_event *ev)
{
	bool is_cut = (ev->flags & FTR_EVENT_NO_ENTRY) && !ev->task->is_forked;
	struct ftr_ostream *out = self->base.out;

	put_head(self, ev->type == FTR_EVENT_ENTRY ? "] ==> " : "] <== ", ev);
	ftr_ostream_putc(out, '/');
	ftr_ostream_u64(out, ev->depth);
	ftr_ostream_write(out, ": ip (", 6);
	ftr_ostream_write(out, ev->call.func->name, ev->call.func->name_len);
	ftr_ostream_write(out, "), time (", 9);
	ftr_ostream_u64(out, ev->time_ns);
	if (ev->type == FTR_EVENT_EXIT) {
		ftr_ostream_putc(out, ':');
		ftr_ostream_u64(out, is_cut ? 0 : ev->time_ns - ev->call.start_ns);
	}
	ftr_ostream_write(out, ")\n", 2);
}

static void put_point(struct flat_sink *self, const struct ftr_event *ev)
{
	const char *data;

	ftr_strbuf_clear(&self->text);
	ftr_event_data_text(ev, self->trace, true, &self->text);
	data = ftr_strbuf_str(&self->text);
	ftr_event_title(ev, &self->title);
	put_head(self, "] !!! ", ev);
	ftr_ostream_printf(self->base.out, ": %s%s%s%s time (%llu)\n", ftr_strbuf_str(&self->title),
			   *data ? " (" : "", data, *data ? ")" : "",
			   (unsigned long long)ev->time_ns);
}

static void put_lost(struct flat_sink *self, const struct ftr_event *ev)
{
	char text[FTR_EVENT_LOST_TEXT_MAX];

	put_head(self, "] XXX ", ev);
	if (ev->lost.source != FTR_LOST_OF_TASK) {
		ftr_event_lost_text(ev, text);
		ftr_ostream_printf(self->base.out, ": %s\n", text);
		return;
	}
	ftr_ostream_printf(self->base.out, ": lost %llu records\n",
			   (unsigned long long)ev->lost.nr);
}

static int flat_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct flat_sink *self = (struct flat_sink *)sink;

	if (sink->out->code != 0)
		return ftr_err_set(sink->err, sink->out->code, "%s: %s", sink->out->name,
				   strerror(sink->out->code));
	if (ev->type == FTR_EVENT_EXIT && (ev->flags & FTR_EVENT_UNFINISHED))
		return unfinished_add(&self->unfinished, ev);
	if (ev->flags & FTR_EVENT_INFERRED)
		return 0;
	if (ev->type <= FTR_EVENT_EXIT)
		put_call(self, ev);
	else if (ev->type == FTR_EVENT_LOST)
		put_lost(self, ev);
	else
		put_point(self, ev);
	return 0;
}

static int flat_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct flat_sink *self = (struct flat_sink *)sink;

	self->trace = trace;
	ftr_strbuf_init(&self->text);
	ftr_strbuf_init(&self->title);
	ftr_ostream_putc(sink->out, '\n');
	return 0;
}

static int flat_end(struct ftr_sink *sink)
{
	struct flat_sink *self = (struct flat_sink *)sink;

	unfinished_print(&self->unfinished, self->trace, sink->out);
	return 0;
}

static void flat_fini(struct ftr_sink *sink)
{
	struct flat_sink *self = (struct flat_sink *)sink;

	unfinished_fini(&self->unfinished);
	ftr_strbuf_fini(&self->text);
	ftr_strbuf_fini(&self->title);
}

static const struct ftr_sink_ops flat_sink_ops = {
	.size	 = sizeof(struct flat_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST),
	.begin	 = flat_begin,
	.event	 = flat_event,
	.end	 = flat_end,
	.fini	 = flat_fini,
};

struct ftr_sink *replay_flat_new(struct ftr_ostream *out, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&flat_sink_ops, out, err);

	if (sink == NULL)
		ftr_err_set(err, ENOMEM, "replay: out of memory");
	return sink;
}
