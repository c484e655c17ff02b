/* SPDX-License-Identifier: MIT */
/* The server of ftr view, where ftr was built without libmicrohttpd. */
#include "cmds/view_serve.h"

#include <errno.h>

const char *ftr_view_serve_library(void)
{
	return "";
}

int ftr_view_serve_check(struct ftr_err *err)
{
	return ftr_err_set(err, ENOTSUP, "this ftr was built without libmicrohttpd: install "
			   "libmicrohttpd-dev and build it again, or leave --serve out and look "
			   "closer with -r");
}

int ftr_view_serve(const struct ftr_view_site *site, struct ftr_err *err)
{
	(void)site;
	return ftr_view_serve_check(err);
}
