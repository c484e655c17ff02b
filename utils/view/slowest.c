/* SPDX-License-Identifier: MIT */
/*
 * The slowest calls of a function as text:
 *
 *	# Call 1 of 2: middle(5) = 7 took 3.085 us
 *	# replay --tid=31092 --time-range=5014.068243909~5014.068246994
 *	# TOTAL TIME   FUNCTION
 *	    3.085 us : (1) middle
 */
#include "utils/view/slowest.h"

#include <errno.h>
#include <string.h>

#include "utils/analysis/slowest.h"
#include "utils/base/duration.h"
#include "utils/base/strbuf.h"
#include "utils/trace/args_text.h"
#include "utils/trace/func.h"
#include "utils/trace/trace.h"
#include "utils/view/graph.h"

struct view {
	const struct ftr_trace *trace;
	const struct ftr_graph_opts *opts;
	struct ftr_ostream *out;
	struct ftr_strbuf text;
};

static void put_time_stamp(struct ftr_ostream *out, uint64_t ns)
{
	ftr_ostream_printf(out, "%llu.%09llu", (unsigned long long)ns / 1000000000,
			   (unsigned long long)ns % 1000000000);
}

/* Behind @before: the arguments or the return value, if they were recorded. */
static void put_values(struct view *view, const char *before, const struct ftr_event *ev)
{
	if (ev->payload == NULL)
		return;
	ftr_strbuf_clear(&view->text);
	ftr_event_args_text(ev, view->trace, view->opts->use_color, &view->text);
	ftr_ostream_puts(view->out, before);
	ftr_ostream_write(view->out, ftr_strbuf_str(&view->text), view->text.len);
}

static const char *end_of(const struct ftr_event *exit)
{
	if (exit->flags & FTR_EVENT_UNFINISHED)
		return " until the end of the trace";
	return exit->flags & FTR_EVENT_NO_ENTRY ? " from the beginning of the data on" : "";
}

static void put_title(struct view *view, const struct ftr_slowest *slowest, size_t i)
{
	const struct ftr_slow_call *call = slowest->calls[i];
	const struct ftr_func *func = call->entry.ev.call.func;
	char text[FTR_DURATION_BYTES];

	ftr_ostream_printf(view->out, "# Call %zu of %llu: ", i + 1,
			   (unsigned long long)slowest->seen_nr);
	ftr_ostream_write(view->out, func->name, func->name_len);
	put_values(view, "(", &call->entry.ev);
	ftr_ostream_puts(view->out, call->entry.ev.payload == NULL ? "" : ")");
	put_values(view, " = ", &call->exit.ev);
	*ftr_duration_put(text, ftr_slow_call_ns(call), view->opts->use_color) = '\0';
	ftr_ostream_printf(view->out, " took %s%s\n",
			   ftr_slow_call_ns(call) == 0 ? "0 us" : text + strspn(text, " "),
			   end_of(&call->exit.ev));
	ftr_ostream_printf(view->out, "# replay --tid=%d --time-range=", call->entry.ev.task->tid);
	put_time_stamp(view->out, call->exit.ev.call.start_ns);
	ftr_ostream_putc(view->out, '~');
	put_time_stamp(view->out, call->exit.ev.time_ns);
	ftr_ostream_putc(view->out, '\n');
}

int ftr_slowest_print(const struct ftr_slowest *slowest, const struct ftr_trace *trace,
		      const struct ftr_graph_opts *opts, struct ftr_ostream *out,
		      struct ftr_err *err)
{
	struct view view = { .trace = trace, .opts = opts, .out = out };
	int ret = slowest->nr == 0 ? -ENOENT : 0;

	ftr_strbuf_init(&view.text);
	for (size_t i = 0; ret == 0 && i < slowest->nr; i++) {
		put_title(&view, slowest, i);
		ret = ftr_graph_print_root(&slowest->calls[i]->tree, opts, out, err);
	}
	if (view.text.failed)
		ret = ftr_err_set(err, ENOMEM, "slowest: out of memory");
	ftr_strbuf_fini(&view.text);
	return ret;
}
