/* SPDX-License-Identifier: MIT */
/*
 * Failures are -errno upwards and a text in the caller's struct ftr_err; warnings go to a ftr_diag.
 */
#ifndef FTR_BASE_ERR_H
#define FTR_BASE_ERR_H

#include <stdarg.h>

struct ftr_err {
	int  code;		/* positive errno of the last failure, 0 = none */
	char text[400]; /* "what: where: remedy", one line, no newline; of a text that the user
			 * gave, two more: it, and a caret below what is wrong in it */
};

/* Describe a failure (a later one replaces an earlier).  @err may be NULL.  Returns -@code. */
int ftr_err_set(struct ftr_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "text: " before the description that stands there.  Returns -err->code. */
int ftr_err_prefix(struct ftr_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* How the description of a file that cannot be written ends: "; REMEDY", or "". */
const char *ftr_err_remedy(int code);

/*
 * Where warnings about damaged input go.  Library code never prints: cmds/ supplies @warn.
 * The first FTR_DIAG_MAX texts are delivered, the rest are only counted.
 */
#define FTR_DIAG_MAX 20

struct ftr_diag {
	void (*warn)(void *arg, const char *text);	/* (nullable: count only) */
	void *arg;
	unsigned nr;					/* warnings so far, delivered or not */
};

/* @diag may be NULL. */
void ftr_diag_warn(struct ftr_diag *diag, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* FTR_BASE_ERR_H */
