/* SPDX-License-Identifier: MIT */
/* Messages of ftr itself: "ftr: text" to standard error, or to --logfile. */
#include "cmds/message.h"

#include "utils/cli/common.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static FILE *log_file;		/* NULL = standard error */
static unsigned verbosity;
static struct ftr_err *captured;	/* (borrowed, nullable) */

void ftr_message_capture(struct ftr_err *err)
{
	captured = err;
}

int ftr_message_init(const struct ftr_common *common, struct ftr_err *err)
{
	verbosity = common->verbose;
	if (common->logfile == NULL)
		return 0;
	log_file = fopen(common->logfile, "ae");
	if (log_file == NULL)
		return ftr_err_set(err, errno, "%s: %s", common->logfile, strerror(errno));
	return 0;
}

static void print(const char *prefix, const char *fmt, va_list ap)
{
	FILE *to = log_file != NULL ? log_file : stderr;
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	if (captured != NULL)
		ftr_err_set(captured, EINVAL, "%s%s", prefix, text);
	if (captured != NULL && log_file == NULL)
		return;
	fprintf(to, "ftr: %s%s\n", prefix, text);
	fflush(to);
}

void ftr_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print("", fmt, ap);
	va_end(ap);
}

void ftr_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print("warning: ", fmt, ap);
	va_end(ap);
}

void ftr_verbose(unsigned level, const char *fmt, ...)
{
	va_list ap;

	if (verbosity < level)
		return;
	va_start(ap, fmt);
	print("", fmt, ap);
	va_end(ap);
}

static void print_warning(void *arg, const char *text)
{
	ftr_warn("%s", text);
}

struct ftr_diag ftr_message_diag(void)
{
	return (struct ftr_diag){ .warn = print_warning };
}

void ftr_message_diag_end(const struct ftr_diag *diag)
{
	if (diag->nr > FTR_DIAG_MAX)
		ftr_warn("%u more warnings not shown", diag->nr - FTR_DIAG_MAX);
}
