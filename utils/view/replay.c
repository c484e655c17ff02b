/* SPDX-License-Identifier: MIT */
/* The calls of a trace as an indented listing, as uftrace replay prints it. */
#include "utils/view/replay.h"

#include "utils/base/color.h"
#include "utils/base/strbuf.h"
#include "utils/trace/args_text.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/event_text.h"
#include "utils/trace/stacks.h"
#include "utils/trace/text_ahead.h"
#include "utils/trace/trace.h"
#include "utils/view/replay_flat.h"
#include "utils/view/replay_json.h"
#include "utils/view/replay_page.h"
#include "utils/view/unfinished.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * What waits for the next event: an entry and its exit are one line when nothing stands between
 * them, and so are the two halves of a scheduling event.
 */
enum pending {
	PENDING_NONE,
	PENDING_ENTRY,
	PENDING_SCHED_OUT,
};

struct replay_sink {
	struct ftr_sink base;
	struct ftr_replay_opts opts;
	const struct ftr_trace *trace;
	struct replay_page page;
	struct unfinished unfinished;
	struct ftr_text_ahead *ahead;	/* (owned, nullable) */
	enum pending pending;
	struct ftr_event held;		/* its payload is not valid any more: see args */
	bool held_has_values;		/* recorded for it, shown or not */
	struct ftr_strbuf args;		/* of the held entry */
	struct ftr_strbuf place;	/* where its function is */
	struct ftr_strbuf text;		/* of a return value or an event's data */
	struct ftr_strbuf title;	/* of an event */
};

static const struct ftr_slice no_data;

static struct replay_sink *replay_of(struct ftr_sink *sink)
{
	return (struct replay_sink *)sink;
}

static inline void format_payload(struct replay_sink *self, const struct ftr_event *ev,
				  struct ftr_strbuf *text)
{
	if (text->len > 0)
		ftr_strbuf_clear(text);
	if (__builtin_expect(ev->payload != NULL, 0) && !self->opts.no_args)
		ftr_event_args_text(ev, self->trace, self->opts.use_color, text);
}

static void line_of_call(struct replay_line *line, const struct ftr_event *ev)
{
	const struct ftr_module *module = ev->call.func->module;

	*line = (struct replay_line){
		.task = ev->task, .time_ns = ev->time_ns, .addr = ev->call.addr,
		.module = module != NULL ? module->name : NULL,
	};
}

static bool ends_with(const struct ftr_func *func, const char *suffix)
{
	size_t len = strlen(suffix);

	return func->name_len >= len &&
	       memcmp(func->name + func->name_len - len, suffix, len) == 0;
}

#define COLOR_BYTES (sizeof(FTR_SGR_FUNC FTR_SGR_RESET))

/* With --demangle=full a name has parentheses, and its parameters' types in them. */
static char *put_name(char *p, const struct replay_sink *self)
{
	const struct ftr_func *func = self->held.call.func;
	bool has_params = ends_with(func, ")") && !ends_with(func, "operator()");
	size_t len = func->name_len;

	if (self->held_has_values && has_params && ends_with(func, "()"))
		len -= 2;
	if (self->opts.use_color) {
		const char *sgr = ftr_sgr_of_rule(self->held.color);

		p = replay_put(p, sgr, strlen(sgr));
	}
	p = replay_put(p, func->name, len);
	if (self->opts.use_color)
		p = replay_put(p, FTR_SGR_RESET, sizeof(FTR_SGR_RESET) - 1);
	if (has_params && !self->held_has_values)
		return p;
	*p++ = '(';
	if (self->args.len > 0)
		p = replay_put(p, self->args.s, self->args.len);
	*p++ = ')';
	return p;
}

/* " slash-star main.c:7 star-slash", of the entry that is held. */
static void place_set(struct replay_sink *self)
{
	const struct ftr_func *func = self->held.call.func;
	bool use_color = self->opts.use_color;

	ftr_strbuf_clear(&self->place);
	if (func->src_file == NULL)
		return;
	ftr_strbuf_printf(&self->place, "%s /* %s:%u */%s", use_color ? FTR_SGR_GRAY : "",
			  func->src_file, func->src_line, use_color ? FTR_SGR_RESET : "");
}

static char *put_place(char *p, const struct replay_sink *self)
{
	return self->place.len == 0 ? p : replay_put(p, self->place.s, self->place.len);
}

static char *put_retval(char *p, const struct replay_sink *self)
{
	if (self->text.len == 0)
		return p;
	p = replay_put(p, " = ", 3);
	return replay_put(p, self->text.s, self->text.len);
}

/* "name() {" */
static int put_entry(struct replay_sink *self)
{
	const struct ftr_event *ev = &self->held;
	struct replay_line line;
	char *p;

	if (self->opts.has_srcline)
		place_set(self);
	line_of_call(&line, ev);
	p = replay_page_begin(&self->page, &line, ev->depth,
		  ev->call.func->name_len + self->args.len + COLOR_BYTES + 5 + self->place.len);
	if (p == NULL)
		return replay_page_out_of_memory(&self->page);
	p = put_name(p, self);
	p = replay_put(p, " {", 2);
	p = put_place(p, self);
	*p++ = '\n';
	replay_line_end(&self->page.layout, p);
	return 0;
}

/* "name();", at the time of its entry */
static int put_leaf(struct replay_sink *self, const struct ftr_event *exit)
{
	const struct ftr_event *ev = &self->held;
	struct replay_line line;
	char *p;

	format_payload(self, exit, &self->text);
	if (self->opts.has_srcline)
		place_set(self);
	line_of_call(&line, ev);
	line.duration_ns = exit->time_ns - ev->time_ns;
	p = replay_page_begin(&self->page, &line, ev->depth,
		  ev->call.func->name_len + self->args.len + self->text.len + COLOR_BYTES + 8 +
			  self->place.len);
	if (p == NULL)
		return replay_page_out_of_memory(&self->page);
	p = put_name(p, self);
	p = put_retval(p, self);
	*p++ = ';';
	p = put_place(p, self);
	*p++ = '\n';
	replay_line_end(&self->page.layout, p);
	return 0;
}

static char *put_comment(char *p, const struct replay_sink *self, const struct ftr_func *func)
{
	if (self->opts.use_color)
		p = replay_put(p, FTR_SGR_GRAY, sizeof(FTR_SGR_GRAY) - 1);
	p = replay_put(p, " /* ", 4);
	p = replay_put(p, func->name, func->name_len);
	p = replay_put(p, " */", 3);
	if (self->opts.use_color)
		p = replay_put(p, FTR_SGR_RESET, sizeof(FTR_SGR_RESET) - 1);
	return p;
}

/* "} = 5; slash-star name star-slash" */
static int put_exit(struct replay_sink *self, const struct ftr_event *ev)
{
	struct replay_line line;
	char *p;

	format_payload(self, ev, &self->text);
	line_of_call(&line, ev);
	/* The place of a missing entry is unknown; a forked child at least began with its data. */
	if (!(ev->flags & FTR_EVENT_NO_ENTRY) || ev->task->is_forked)
		line.duration_ns = ev->time_ns - ev->call.start_ns;
	p = replay_page_begin(&self->page, &line, ev->depth,
			      ev->call.func->name_len + self->text.len + 32);
	if (p == NULL)
		return replay_page_out_of_memory(&self->page);
	*p++ = '}';
	if (self->text.len > 0) {
		p = put_retval(p, self);
		*p++ = ';';
	}
	if (!self->opts.no_comment)
		p = put_comment(p, self, ev->call.func);
	*p++ = '\n';
	replay_line_end(&self->page.layout, p);
	return 0;
}

static int put_point(struct replay_sink *self, const struct ftr_event *ev)
{
	struct replay_line line = { .task = ev->task, .time_ns = ev->time_ns };
	struct replay_task *view = replay_page_task(&self->page, ev->task);
	const char *title = ev->point.name;	/* of most */
	struct ftr_slice data;

	if (view == NULL)
		return replay_page_out_of_memory(&self->page);
	data = ftr_event_data_slice(ev, self->trace, true, &self->text);
	if (ev->point.kind > FTR_POINT_COUNTER) {
		ftr_event_title(ev, &self->title);
		title = ftr_strbuf_str(&self->title);
	}
	if (ev->point.start_ns != 0)
		line.duration_ns = ev->time_ns - ev->point.start_ns;
	if (ftr_event_ends_schedule(ev)) {
		line.addr = view->sched_out_id;
		line.module = "[event]";
	}
	return replay_page_put_remark(&self->page, &line, ev->depth, title, data);
}

/* Out and in as one line, at the time of the out. */
static int put_schedule(struct replay_sink *self, const struct ftr_event *in)
{
	uint32_t out_id = (uint32_t)ftr_event_kind_id(&self->held);
	struct replay_line line = {
		.task = in->task, .time_ns = self->held.time_ns,
		.duration_ns = in->time_ns - self->held.time_ns,
		.addr = out_id, .module = "[event]",
	};

	return replay_page_put_remark(&self->page, &line, self->held.depth,
				      ftr_event_pair_name(out_id), no_data);
}

static int put_message(struct replay_sink *self, const struct ftr_event *ev)
{
	struct replay_line line = { .task = ev->task, .time_ns = ev->time_ns };

	return replay_page_put_remark(&self->page, &line, ev->depth, ev->message.text, no_data);
}

/* Of a backtrace; the outermost call is 0. */
static int put_caller(struct replay_sink *self, const struct ftr_event *ev)
{
	struct replay_line line = { .task = ev->task, .time_ns = ev->time_ns, .what = "backtrace" };

	ftr_strbuf_clear(&self->title);
	ftr_strbuf_printf(&self->title, "[%2u] %s", ev->message.caller_nr - 1, ev->message.text);
	return replay_page_put_remark(&self->page, &line, 0, ftr_strbuf_str(&self->title), no_data);
}

/* Of a system call: as a backtrace. */
static int put_stack(struct replay_sink *self, const struct ftr_event *entry)
{
	uint32_t number = entry->payload != NULL ? entry->payload->stack : 0;
	const struct ftr_func *const *funcs = NULL;
	size_t nr = ftr_stack_funcs(self->trace->stacks, number, &funcs);
	struct ftr_event ev = { .type = FTR_EVENT_MESSAGE, .time_ns = entry->time_ns,
				.task = entry->task };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nr; i++) {
		ev.message.text = funcs[nr - 1 - i]->name;
		ev.message.caller_nr = (uint32_t)i + 1;
		ret = put_caller(self, &ev);
	}
	return ret;
}

static int put_cpu_lost(struct replay_sink *self, const struct ftr_event *ev)
{
	struct replay_line line = { .task = ev->task, .time_ns = ev->time_ns };
	char text[FTR_EVENT_LOST_TEXT_MAX];

	ftr_event_lost_text(ev, text);
	return replay_page_put_remark(&self->page, &line, ev->depth, text, no_data);
}

static void hold(struct replay_sink *self, const struct ftr_event *ev, enum pending pending)
{
	self->held = *ev;
	self->held_has_values = ev->payload != NULL;
	self->held.payload = NULL;
	self->pending = pending;
}

static int note_sched_out(struct replay_sink *self, const struct ftr_event *ev)
{
	struct replay_task *view = replay_page_task(&self->page, ev->task);

	if (view == NULL)
		return -ENOMEM;
	view->sched_out_id = ftr_event_kind_id(ev);
	return 0;
}

static int show(struct replay_sink *self, const struct ftr_event *ev)
{
	switch (ev->type) {
	case FTR_EVENT_ENTRY:
		if (put_stack(self, ev) < 0)
			return replay_page_out_of_memory(&self->page);
		format_payload(self, ev, &self->args);
		if (self->opts.no_merge) {
			self->held = *ev;
			return put_entry(self);
		}
		hold(self, ev, PENDING_ENTRY);
		return 0;
	case FTR_EVENT_EXIT:
		return put_exit(self, ev);
	case FTR_EVENT_POINT:
		if (!ftr_event_is_sched_out(ev))
			return put_point(self, ev);
		if (note_sched_out(self, ev) < 0)
			return replay_page_out_of_memory(&self->page);
		if (self->opts.no_merge)
			return put_point(self, ev);
		hold(self, ev, PENDING_SCHED_OUT);
		return 0;
	case FTR_EVENT_LOST:
		return ev->lost.source == FTR_LOST_OF_TASK ? replay_page_put_lost(&self->page, ev) :
							     put_cpu_lost(self, ev);
	case FTR_EVENT_MESSAGE:
		return ev->message.caller_nr != 0 ? put_caller(self, ev) : put_message(self, ev);
	default:
		return 0;
	}
}

static int flush_held(struct replay_sink *self)
{
	enum pending pending = self->pending;

	self->pending = PENDING_NONE;
	if (pending == PENDING_ENTRY)
		return put_entry(self);
	if (pending == PENDING_SCHED_OUT)
		return put_point(self, &self->held);
	return 0;
}

static bool completes_held(const struct replay_sink *self, const struct ftr_event *ev)
{
	if (ev->task != self->held.task)
		return false;
	if (self->pending == PENDING_ENTRY)
		return ev->type == FTR_EVENT_EXIT;
	return ev->type == FTR_EVENT_POINT && ftr_event_is_sched_in(ev);
}

/* What calls made up was never there to see; what did not return is listed at the end. */
static int skip_inferred(struct replay_sink *self, const struct ftr_event *ev)
{
	int ret = flush_held(self);

	if (ret == 0 && (ev->flags & FTR_EVENT_UNFINISHED) && ev->type == FTR_EVENT_EXIT &&
	    unfinished_add(&self->unfinished, ev) < 0)
		ret = replay_page_out_of_memory(&self->page);
	return ret;
}

static int complete_held(struct replay_sink *self, const struct ftr_event *ev)
{
	enum pending pending = self->pending;

	self->pending = PENDING_NONE;
	return pending == PENDING_ENTRY ? put_leaf(self, ev) : put_schedule(self, ev);
}

static inline int output_check(const struct ftr_sink *sink)
{
	if (__builtin_expect(sink->out->code == 0, 1))
		return 0;
	return ftr_err_set(sink->err, sink->out->code, "%s: %s", sink->out->name,
			   strerror(sink->out->code));
}

static int replay_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct replay_sink *self = replay_of(sink);
	int ret;

	if (self->page.first_ns == 0)
		self->page.first_ns = ev->time_ns;
	if (ev->flags & (FTR_EVENT_INFERRED | FTR_EVENT_UNFINISHED))
		return skip_inferred(self, ev);
	if (self->pending != PENDING_NONE) {
		if (completes_held(self, ev))
			return complete_held(self, ev);
		ret = flush_held(self);
		if (ret < 0)
			return ret;
	}
	ret = output_check(sink);
	return ret < 0 ? ret : show(self, ev);
}

/* ---- text of calls that is made ahead ---- */

/*
 * Does each line depend on its own events alone, but for an ENTRY that is held?  The one place that
 * knows which options need the lines before.
 */
static bool lines_are_apart(const struct replay_sink *self)
{
	return !self->opts.is_column_view && !self->opts.has_task_newline &&
	       !(self->page.layout.mask & FTR_BIT64(REPLAY_DELTA));
}

/* As if @ev, a plain call, had been the last event. */
static void go_on_behind(struct replay_sink *self, const struct ftr_event *ev)
{
	self->pending = PENDING_NONE;
	ftr_strbuf_clear(&self->args);
	if (ev->type == FTR_EVENT_ENTRY && !self->opts.no_merge)
		hold(self, ev, PENDING_ENTRY);
}

static void *maker_new(const void *owner, struct ftr_ostream *out, struct ftr_err *err)
{
	const struct replay_sink *of = owner;
	struct ftr_sink *sink = ftr_replay_new(&of->opts, out, err);
	struct replay_sink *self = replay_of(sink);

	if (self == NULL)
		return NULL;
	self->trace = of->trace;
	self->page.first_ns = of->page.first_ns;
	return self;
}

static void maker_free(void *maker)
{
	ftr_sink_free(maker);
}

/* What is held at the end is the next maker's, as @before. */
static int maker_make(void *maker, const struct ftr_event *before, const struct ftr_event *evs,
		      size_t nr)
{
	struct replay_sink *self = maker;
	int ret = 0;

	self->pending = PENDING_NONE;
	if (before != NULL)
		go_on_behind(self, before);
	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = replay_event(&self->base, &evs[i]);
	return ret;
}

static const struct ftr_text_ops text_ops = {
	.maker_new = maker_new,
	.maker_free = maker_free,
	.make = maker_make,
};

/* 1 when threads make the lines of @evs, else 0, or -errno. */
static int take_ahead(struct replay_sink *self, const struct ftr_event *evs, size_t nr)
{
	bool is_entry_held = self->pending == PENDING_ENTRY;
	int ret;

	/* Nothing was taken since an ENTRY with values, nor before the first event. */
	if (self->ahead == NULL || self->page.first_ns == 0 ||
	    (is_entry_held && self->held_has_values))
		return 0;
	if (self->pending == PENDING_SCHED_OUT && evs[0].type <= FTR_EVENT_EXIT &&
	    (ret = flush_held(self)) < 0)	/* no call completes it */
		return ret;
	ret = ftr_text_ahead_take(self->ahead, is_entry_held ? &self->held : NULL, evs, nr,
				  self->base.err);
	if (ret > 0)
		go_on_behind(self, &evs[nr - 1]);
	return ret;
}

static int replay_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	int ret = take_ahead(replay_of(sink), evs, nr);

	if (ret > 0)
		return output_check(sink);
	for (size_t i = 0; ret == 0 && i < nr; i++) {
		if (sink->ops->accepts & FTR_BIT(evs[i].type))
			ret = replay_event(sink, &evs[i]);
	}
	return ret;
}

static int replay_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct replay_sink *self = replay_of(sink);

	self->trace = trace;
	self->page.first_ns = trace->first_ns;
	replay_layout_put_header(&self->page.layout, self->opts.has_srcline);
	if (lines_are_apart(self))
		self->ahead = ftr_text_ahead_new(trace, &text_ops, self, sink->out);
	return 0;
}

static int replay_end(struct ftr_sink *sink)
{
	struct replay_sink *self = replay_of(sink);
	int ret = ftr_text_ahead_drain(self->ahead, sink->err);

	if (ret == 0)
		ret = flush_held(self);
	if (ret == 0)
		unfinished_print(&self->unfinished, self->trace, sink->out);
	return ret;
}

static void replay_fini(struct ftr_sink *sink)
{
	struct replay_sink *self = replay_of(sink);

	ftr_text_ahead_drain(self->ahead, NULL);	/* when reading failed */
	ftr_text_ahead_free(self->ahead);
	replay_page_fini(&self->page);
	unfinished_fini(&self->unfinished);
	ftr_strbuf_fini(&self->args);
	ftr_strbuf_fini(&self->place);
	ftr_strbuf_fini(&self->text);
	ftr_strbuf_fini(&self->title);
}

static const struct ftr_sink_ops replay_sink_ops = {
	.size	 = sizeof(struct replay_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST) | FTR_BIT(FTR_EVENT_MESSAGE),
	.begin	 = replay_begin,
	.event	 = replay_event,
	.batch	 = replay_batch,
	.end	 = replay_end,
	.fini	 = replay_fini,
};

struct ftr_sink *ftr_replay_new(const struct ftr_replay_opts *opts, struct ftr_ostream *out,
				struct ftr_err *err)
{
	static const unsigned extras[] = {
		[FTR_REPLAY_NO_TIMES]	 = REPLAY_FIELDS,
		[FTR_REPLAY_TIME_STAMPS] = REPLAY_TIME,
		[FTR_REPLAY_ELAPSED]	 = REPLAY_ELAPSED,
	};
	struct ftr_sink *sink;
	struct replay_sink *self;

	if (opts->is_json)
		return replay_json_new(out, err);
	if (opts->is_flat)
		return replay_flat_new(out, err);
	sink = ftr_sink_new(&replay_sink_ops, out, err);
	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "replay: out of memory");
		return NULL;
	}
	self = replay_of(sink);
	self->opts = *opts;
	self->page.opts = &self->opts;
	self->page.err = err;
	self->page.layout.out = out;
	self->page.layout.use_color = opts->use_color;
	ftr_strbuf_init(&self->args);
	ftr_strbuf_init(&self->place);
	ftr_strbuf_init(&self->text);
	ftr_strbuf_init(&self->title);
	if (replay_layout_init(&self->page.layout, opts->fields, extras[opts->times], err) < 0) {
		ftr_sink_free(sink);
		return NULL;
	}
	return sink;
}
