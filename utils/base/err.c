/* SPDX-License-Identifier: MIT */
/* Failures and warnings as texts. */
#include "utils/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int ftr_err_set(struct ftr_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err != NULL) {
		char text[sizeof(err->text)];	/* an argument may be err->text itself */

		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		memcpy(err->text, text, sizeof(text));
		err->code = code;
	}
	return -code;
}

int ftr_err_prefix(struct ftr_err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;
	int len;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len >= 0 && (size_t)len < sizeof(text))
		snprintf(text + len, sizeof(text) - (size_t)len, ": %.*s",
			 (int)sizeof(text) - len - 3, err->text);
	memcpy(err->text, text, sizeof(text));
	return -err->code;
}

const char *ftr_err_remedy(int code)
{
	return code == EFBIG ? "; raise ulimit -f" : "";
}

void ftr_diag_warn(struct ftr_diag *diag, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (diag == NULL)
		return;
	if (diag->nr++ >= FTR_DIAG_MAX || diag->warn == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag->warn(diag->arg, text);
}
