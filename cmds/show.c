/* SPDX-License-Identifier: MIT */
/* From opened data into a sink. */
#include "cmds/show.h"

#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "utils/base/strbuf.h"

static void warn_loss(const struct ftr_pump_stats *stats, const struct ftr_sink *sink)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	if (ftr_pump_describe_loss(stats, sink, &text))
		ftr_warn("%s", ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
}

int ftr_show(struct ftr_opened *opened, struct ftr_sink *sink, const struct ftr_output *output,
	     bool warns_loss)
{
	struct ftr_pump_stats stats = { 0 };
	struct ftr_err err = { 0 };
	int ret;

	sink->err = &err;
	ret = ftr_pump(opened->source, sink, opened->trace, &stats, &err);
	if (ret == 0 && warns_loss)
		warn_loss(&stats, sink);
	/* The output reports its own failures when it is closed. */
	if (ret < 0 && !(output != NULL && ftr_output_is_closed(output)))
		ftr_error("%s", err.text);
	ftr_sink_free(sink);
	ftr_verbose(1, "%llu events", (unsigned long long)stats.events);
	return ret < 0 ? FTR_EXIT_FAILED : FTR_EXIT_OK;
}
