/* SPDX-License-Identifier: MIT */
/* Opened data written in another format: to a file, or to a directory. */
#include "cmds/export.h"

#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "cmds/show.h"
#include "utils/base/strbuf.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ftr_opt_format(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	const struct ftr_format *format = ftr_format_find(arg);
	struct ftr_strbuf known;
	const char *name;
	size_t pos = 0;
	int ret;

	ftr_strbuf_init(&known);
	while ((name = ftr_option_next_word(opt, &pos)) != NULL &&
	       (format == NULL || strcmp(name, format->name) != 0))
		ftr_strbuf_printf(&known, " %s", name);
	*(const struct ftr_format **)value = name != NULL ? format : NULL;
	ret = name != NULL ? 0 : ftr_err_set(err, EINVAL, "%s \"%s\"; choose one of:%s",
					     format != NULL ? "cannot write" : "unknown format",
					     arg, ftr_strbuf_str(&known));
	ftr_strbuf_fini(&known);
	return ret;
}

static int to_file(struct ftr_opened *opened, const struct ftr_export *to)
{
	struct ftr_common plain = *to->common;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	struct ftr_sink *sink;
	int status = FTR_EXIT_FAILED, closed;

	plain.no_pager = true;
	if (ftr_output_is_input(opened->trace->path, to->path) ||
	    ftr_output_open(&output, &plain, to->path) < 0)
		return FTR_EXIT_FAILED;
	sink = ftr_sink_new(to->format->write, &output.out, &err);
	if (sink == NULL)
		ftr_error("out of memory");
	if (sink != NULL) {
		sink->values = to->values;
		status = ftr_show(opened, sink, &output, true);
	}
	closed = ftr_output_close(&output);
	return output.is_quiet_end ? FTR_EXIT_OK : status != FTR_EXIT_OK ? status : closed;
}

static int to_directory(struct ftr_opened *opened, const struct ftr_export *to)
{
	struct ftr_err err = { 0 };
	struct ftr_sink *sink;

	if (strcmp(to->path, "-") == 0) {
		ftr_error("%s writes a directory, not standard output; name one",
			      to->format->name);
		return FTR_EXIT_USAGE;
	}
	signal(SIGXFSZ, SIG_IGN);	/* a limit is a write that fails */
	sink = to->format->write_new(to->path, &err);
	if (sink == NULL) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	sink->values = to->values;
	return ftr_show(opened, sink, NULL, true);
}

int ftr_export(struct ftr_opened *opened, const struct ftr_export *to)
{
	return to->format->kind == FTR_FORMAT_FILE ? to_file(opened, to) : to_directory(opened, to);
}
