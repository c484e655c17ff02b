/* SPDX-License-Identifier: MIT */
/* The server of ftr view --serve: to this machine alone, over HTTP. */
#ifndef FTR_CMDS_VIEW_SERVE_H
#define FTR_CMDS_VIEW_SERVE_H

#include <stdint.h>

#include "utils/base/err.h"

struct ftr_ostream;

/* What a page asks for. */
struct ftr_view_request {
	enum { FTR_VIEW_SPANS, FTR_VIEW_CALL } what;
	uint64_t from_ns, to_ns;	/* a range, or when the call began and ended */
	int32_t tid;			/* of the call */
	uint32_t depth;
};

struct ftr_view_site {
	int page;			/* a file (borrowed) */
	const char *port;		/* "0" = any */
	/*
	 * In a process of its own: write JSON to @out.  @said has what was reported or warned of
	 * last.  0, or -errno after reporting it.
	 */
	int (*answer)(void *arg, const struct ftr_view_request *request, struct ftr_ostream *out,
		      const struct ftr_err *said);
	/* It is there. */
	void (*ready)(void *arg, const char *url);
	void *arg;
};

/* " libmicrohttpd" for --version, "" without. */
const char *ftr_view_serve_library(void);
/* -ENOTSUP: this ftr has no server; -ENOENT: its library is not here. */
int ftr_view_serve_check(struct ftr_err *err);
/* Serve until SIGINT, SIGTERM or SIGHUP.  0 or -errno. */
int ftr_view_serve(const struct ftr_view_site *site, struct ftr_err *err);

#endif /* FTR_CMDS_VIEW_SERVE_H */
