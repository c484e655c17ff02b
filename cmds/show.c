/* SPDX-License-Identifier: MIT */
/* From opened data into a sink. */
#include "cmds/show.h"

#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "cmds/progress.h"
#include "cmds/rules.h"
#include "utils/base/closest.h"
#include "utils/base/strbuf.h"
#include "utils/trace/func.h"
#include "utils/trace/trace.h"

static void warn_loss(const struct ftr_pump_stats *stats, const struct ftr_sink *sink)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	if (ftr_pump_describe_loss(stats, sink, &text))
		ftr_warn("%s", ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
}

int ftr_opened_pump(struct ftr_opened *opened, struct ftr_sink *sink, struct ftr_pump_stats *stats,
		    struct ftr_err *err)
{
	int ret;

	opened->trace->record_max = sink->ops->record_max;
	ftr_progress_begin(opened->trace);
	ret = ftr_pump(opened->source, sink, opened->trace, stats, err);
	ftr_progress_end();
	if (ret == 0)
		ftr_opened_warn_rules(opened);
	return ret;
}

int ftr_show(struct ftr_opened *opened, struct ftr_sink *sink, const struct ftr_output *output,
	     bool warns_loss)
{
	struct ftr_pump_stats stats = { 0 };
	struct ftr_err err = { 0 };
	int ret;

	sink->err = &err;
	ret = ftr_opened_pump(opened, sink, &stats, &err);
	if (ret == 0 && warns_loss)
		warn_loss(&stats, sink);
	/* The output reports its own failures when it is closed. */
	if (ret < 0 && !(output != NULL && ftr_output_is_closed(output)))
		ftr_error("%s", err.text);
	ftr_sink_free(sink);
	ftr_verbose(1, "%llu events", (unsigned long long)stats.events);
	return ret < 0 ? FTR_EXIT_FAILED : FTR_EXIT_OK;
}

/* Every function that was called is known by name by now. */
void ftr_error_not_called(const struct ftr_trace *trace, const char *func)
{
	struct ftr_closest closest = { .distance = 0 };

	if (func == NULL) {
		ftr_error("%s: no calls to show", trace->path);
		return;
	}
	for (size_t i = 0; i < trace->funcs.nr; i++)
		ftr_closest_try(&closest, func, trace->funcs.v[i]->name);
	ftr_error("%s: no calls of \"%s\"%s", trace->path, func,
		  ftr_closest_ask(&closest, "", "; \"ftr report\" lists the functions called"));
}
