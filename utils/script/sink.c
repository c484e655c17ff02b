/* SPDX-License-Identifier: MIT */
/* See sink.h. */
#include "utils/script/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/script/script.h"
#include "utils/script/values.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/event_text.h"
#include "utils/trace/func.h"
#include "utils/trace/task.h"

#define LOST_NAME "ftr:lost"

/* Of a function, by its id: does the script want its calls? */
enum choice { UNDECIDED, WANTED, UNWANTED };

struct script_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_script *script;
	const struct ftr_script_start *start;
	const struct ftr_trace *trace;
	FTR_VEC(struct ftr_pattern *) patterns;	/* (owned) of UFTRACE_FUNCS */
	FTR_VEC(uint8_t) choices;	/* enum choice */
	struct ftr_script_values values;
	struct ftr_strbuf name;
};

static int no_memory(struct script_sink *self)
{
	return ftr_err_set(self->base.err, ENOMEM, "%s: out of memory", self->script->path);
}

static bool is_wanted_name(const struct script_sink *self, const struct ftr_func *func)
{
	const struct ftr_pattern_names names = { .shown = func->name, .mangled = func->mangled };

	for (size_t i = 0; i < self->patterns.nr; i++)
		if (ftr_pattern_matches_symbol(self->patterns.v[i], &names))
			return true;
	return false;
}

/* 1, 0 or -errno. */
static int is_wanted(struct script_sink *self, const struct ftr_func *func)
{
	uint8_t *choice;

	if (self->patterns.nr == 0)
		return 1;
	if (ftr_vec_reach(&self->choices, func->id) < 0)
		return no_memory(self);
	choice = &self->choices.v[func->id];
	if (*choice == UNDECIDED)
		*choice = is_wanted_name(self, func) ? WANTED : UNWANTED;
	return *choice == WANTED;
}

static int call(struct script_sink *self, enum ftr_script_callback callback,
		const struct ftr_event *ev, struct ftr_script_context *context)
{
	context->tid = ev->task->tid;
	context->depth = ev->depth;
	context->time_ns = ev->time_ns;
	context->values = self->values.list.v;
	context->value_nr = self->values.list.nr;
	return self->script->engine->call(self->script, callback, context, self->base.err);
}

static int put_call(struct script_sink *self, const struct ftr_event *ev)
{
	bool is_entry = ev->type == FTR_EVENT_ENTRY;
	const struct ftr_func *func = ev->call.func;
	enum ftr_script_callback callback = is_entry ? FTR_SCRIPT_ENTRY : FTR_SCRIPT_EXIT;
	int ret;

	/* uftrace_exit is for calls that returned. */
	if (!ftr_script_has(self->script, callback) || (ev->flags & FTR_EVENT_UNFINISHED))
		return 0;
	ret = is_wanted(self, func);
	if (ret <= 0)
		return ret;
	if (ftr_script_values_decode(&self->values, ev, self->trace) < 0)
		return no_memory(self);
	return call(self, callback, ev, &(struct ftr_script_context){
		.duration_ns = is_entry ? 0 : ev->time_ns - ev->call.start_ns,
		.addr = ev->call.addr,
		.name = func->name,
		.name_len = func->name_len,
	});
}

/* self->values.texts has its data. */
static int put_event(struct script_sink *self, const struct ftr_event *ev, uint64_t id,
		     const char *name, size_t name_len)
{
	if (ftr_script_values_set_text(&self->values) < 0 || self->name.failed)
		return no_memory(self);
	return call(self, FTR_SCRIPT_EVENT, ev, &(struct ftr_script_context){
		.addr = id, .name = name, .name_len = name_len,
	});
}

static int put_point(struct script_sink *self, const struct ftr_event *ev)
{
	ftr_strbuf_clear(&self->name);
	ftr_event_title(ev, &self->name);
	ftr_strbuf_clear(&self->values.texts);
	ftr_event_data_text(ev, self->trace, false, &self->values.texts);
	return put_event(self, ev, ev->point.id, ftr_strbuf_str(&self->name), self->name.len);
}

/* Not uftrace's, which leaves them out: a script whose sums are too small has to know why. */
static int put_lost(struct script_sink *self, const struct ftr_event *ev)
{
	char text[FTR_EVENT_LOST_TEXT_MAX];

	ftr_event_lost_text(ev, text);
	ftr_strbuf_clear(&self->values.texts);
	ftr_strbuf_puts(&self->values.texts, text);
	return put_event(self, ev, 0, LOST_NAME, strlen(LOST_NAME));
}

static int script_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct script_sink *self = (struct script_sink *)sink;

	if (ev->type == FTR_EVENT_ENTRY || ev->type == FTR_EVENT_EXIT)
		return put_call(self, ev);
	if (!ftr_script_has(self->script, FTR_SCRIPT_EVENT))
		return 0;
	return ev->type == FTR_EVENT_POINT ? put_point(self, ev) : put_lost(self, ev);
}

static int script_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct script_sink *self = (struct script_sink *)sink;

	self->trace = trace;
	if (!ftr_script_has(self->script, FTR_SCRIPT_BEGIN))
		return 0;
	return self->script->engine->begin(self->script, self->start, sink->err);
}

static int script_end(struct ftr_sink *sink)
{
	struct script_sink *self = (struct script_sink *)sink;

	return self->script->engine->end(self->script, sink->err);
}

static void script_fini(struct ftr_sink *sink)
{
	struct script_sink *self = (struct script_sink *)sink;

	for (size_t i = 0; i < self->patterns.nr; i++)
		ftr_pattern_free(self->patterns.v[i]);
	ftr_vec_fini(&self->patterns);
	ftr_vec_fini(&self->choices);
	ftr_script_values_fini(&self->values);
	ftr_strbuf_fini(&self->name);
}

static const struct ftr_sink_ops script_ops = {
	.size	 = sizeof(struct script_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST),
	.begin	 = script_begin,
	.event	 = script_event,
	.end	 = script_end,
	.fini	 = script_fini,
};

static int patterns_make(struct script_sink *self, enum ftr_match match, struct ftr_err *err)
{
	const struct ftr_script *script = self->script;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < script->funcs.nr; i++) {
		const char *text = script->funcs.v[i];
		struct ftr_pattern *pattern;

		ret = ftr_pattern_new(&pattern, ftr_slice_make(text, strlen(text)), match, NULL,
				      err);
		if (ret < 0)
			return ftr_err_prefix(err, "%s: UFTRACE_FUNCS", script->path);
		ret = ftr_vec_push(&self->patterns, pattern);
		if (ret < 0)
			ftr_pattern_free(pattern);
	}
	return ret;
}

struct ftr_sink *ftr_script_sink_new(struct ftr_script *script,
				     const struct ftr_script_start *start, enum ftr_match match,
				     struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&script_ops, NULL, err);
	struct script_sink *self = (struct script_sink *)sink;

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "%s: out of memory", script->path);
		return NULL;
	}
	self->script = script;
	self->start = start;
	ftr_script_values_init(&self->values);
	ftr_strbuf_init(&self->name);
	if (patterns_make(self, match, err) == 0)
		return sink;
	if (err->code == 0)
		ftr_err_set(err, ENOMEM, "%s: out of memory", script->path);
	ftr_sink_free(sink);
	return NULL;
}
