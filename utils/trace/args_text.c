/* SPDX-License-Identifier: MIT */
/* Arguments and return values with colours: strings, enumerators and names stand out. */
#include "utils/trace/args_text.h"

#include <string.h>

#include "utils/base/color.h"
#include "utils/trace/args.h"
#include "utils/trace/trace.h"

/* The program that the task ran at that time: pointers become names of its functions. */
static struct ftr_session *session_of(const struct ftr_event *ev)
{
	const struct ftr_task *task = ev->task;
	struct ftr_session *session = NULL;

	for (uint32_t i = 0; i < task->session_nr; i++)
		if (session == NULL || task->sessions[i]->start_ns <= ev->time_ns)
			session = task->sessions[i];
	return session;
}

static const char *color_of(const struct ftr_value *value, const char *plain)
{
	switch (value->arg->format) {
	case FTR_ARG_STRING:
	case FTR_ARG_CHAR:
		return FTR_SGR_MAGENTA;
	case FTR_ARG_ENUM:
		return FTR_SGR_BLUE;
	case FTR_ARG_POINTER:
		return *plain == '&' ? FTR_SGR_CYAN : NULL;
	default:
		return NULL;
	}
}

static void put_colored(const struct ftr_value *value, const char *plain, struct ftr_strbuf *text)
{
	const struct ftr_arg *arg = value->arg;
	const char *color = color_of(value, plain);

	if (arg->format == FTR_ARG_STRUCT && arg->shape == NULL && arg->type_name != NULL)
		ftr_strbuf_printf(text, FTR_SGR_CYAN "%s" FTR_SGR_RESET "%s", arg->type_name,
				  plain + strlen(arg->type_name));
	else if (color != NULL)
		ftr_strbuf_printf(text, "%s%s" FTR_SGR_RESET, color, plain);
	else
		ftr_strbuf_puts(text, plain);
}

void ftr_event_args_text(const struct ftr_event *ev, const struct ftr_trace *trace, bool use_color,
			 struct ftr_strbuf *text)
{
	struct ftr_session *session = session_of(ev);
	struct ftr_strbuf plain;
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	if (!use_color) {
		ftr_payload_format(ev->payload, (struct ftr_trace *)trace, session, text);
		return;
	}
	ftr_strbuf_init(&plain);
	while (ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		ftr_strbuf_clear(&plain);
		ftr_value_format(&value, (struct ftr_trace *)trace, session, &plain);
		if (nr > 1)
			ftr_strbuf_puts(text, ", ");
		if (value.arg->name != NULL)
			ftr_strbuf_printf(text, "%s=", value.arg->name);
		put_colored(&value, ftr_strbuf_str(&plain), text);
	}
	ftr_strbuf_fini(&plain);
}

void ftr_event_value_text(const struct ftr_event *ev, const struct ftr_value *value,
			  const struct ftr_trace *trace, struct ftr_strbuf *text)
{
	ftr_value_format(value, (struct ftr_trace *)trace, session_of(ev), text);
}
