/* SPDX-License-Identifier: MIT */
/* Without libcurl no database can be reached. */
#include "utils/fleet/http.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct ftr_http *ftr_http_new(const struct ftr_http_server *server, struct ftr_err *err)
{
	ftr_err_set(err, ENOTSUP,
		    "ftr was built without libcurl; install it with \"apt-get install "
		    "libcurl4-openssl-dev\", and configure and build ftr again");
	return NULL;
}

void ftr_http_free(struct ftr_http *http)
{
	assert(http == NULL);
}

enum ftr_http_outcome ftr_http_send(struct ftr_http *http, const char *sql,
				    const struct ftr_http_body *body, struct ftr_strbuf *answer,
				    struct ftr_err *err)
{
	abort();	/* there is no struct ftr_http */
}
