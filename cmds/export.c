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
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ftr_opt_format(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	struct ftr_strbuf known;
	const char *name;
	size_t pos = 0;
	int ret;

	ftr_strbuf_init(&known);
	while ((name = ftr_option_next_word(opt, &pos)) != NULL && strcmp(name, arg) != 0)
		ftr_strbuf_printf(&known, " %s", name);
	*(const struct ftr_format **)value = name != NULL ? ftr_format_find(name) : NULL;
	ret = name != NULL ? 0 : ftr_err_set(err, EINVAL, "%s \"%s\"; choose one of:%s",
					     ftr_format_find(arg) ? "cannot write" :
								    "unknown format",
					     arg, ftr_strbuf_str(&known));
	ftr_strbuf_fini(&known);
	return ret;
}

/* The directory that a file stands in. */
static int stat_parent(const char *path, struct stat *st)
{
	const char *slash = strrchr(path, '/');
	char *parent;
	int ret;

	if (slash == NULL)
		return stat(".", st);
	parent = strndup(path, (size_t)(slash - path) + 1);
	if (parent == NULL)
		return -1;
	ret = stat(parent, st);
	free(parent);
	return ret;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool ftr_export_is_input(const struct ftr_trace *trace, const char *path)
{
	struct stat in, out, parent;

	if (path == NULL || stat(path, &out) < 0 || !S_ISREG(out.st_mode) ||
	    (strcmp(trace->path, "-") == 0 ? fstat(STDIN_FILENO, &in) :
					     stat(trace->path, &in)) < 0)
		return false;
	if (!is_same_file(&in, &out) &&
	    (!S_ISDIR(in.st_mode) || stat_parent(path, &parent) < 0 || !is_same_file(&in, &parent)))
		return false;
	ftr_error("%s: is part of the trace being read; name another file", path);
	return true;
}

static int to_file(struct ftr_opened *opened, const struct ftr_export *to)
{
	struct ftr_common plain = *to->common;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	struct ftr_sink *sink;
	int status = FTR_EXIT_FAILED, closed;

	plain.no_pager = true;
	if (ftr_export_is_input(opened->trace, to->path) ||
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
