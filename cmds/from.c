/* SPDX-License-Identifier: MIT */
/* --from: a fleet's database in the place of a trace. */
#include "cmds/from.h"

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "utils/fleet/http.h"
#include "utils/fleet/question.h"
#include "utils/fleet/tables.h"

#include <errno.h>

const struct ftr_option ftr_from_options[] = {
	FTR_OPTION("from", 0, "URL", "Ask a database that ftr load filled: http://HOST:PORT/DATABASE",
		   ftr_opt_string, struct ftr_from, url),
	FTR_OPTION("where", 0, "KEY=VALUE[,KEY=VALUE...]",
		   "Of --from: only these host, run, build, since, until; of reports module and function, too",
		   ftr_opt_string, struct ftr_from, where),
	FTR_OPTION("login", 0, "FILE", "Of --from: read USER:PASSWORD from FILE (default: FTR_LOGIN)",
		   ftr_opt_string, struct ftr_from, login),
	{ 0 }
};

int ftr_from_ask(const struct ftr_from *from, const char *command, const char *where,
		 int (*ask)(const struct ftr_asked *asked, void *arg, struct ftr_err *err),
		 void *arg)
{
	struct ftr_http_server server;
	struct ftr_fleet fleet = { .cluster = NULL };
	struct ftr_asked asked = { .fleet = &fleet, .where = where };
	struct ftr_err err = { 0 };
	int ret;

	if (ftr_http_server_parse(&server, from->url, from->login, &err) < 0) {
		ftr_error("%s: --from: %s", command, err.text);
		return FTR_EXIT_USAGE;
	}
	fleet.database = server.database;
	asked.http = ftr_http_new(&server, &err);
	ret = asked.http == NULL ? -err.code : ask(&asked, arg, &err);
	if (ret < 0)
		ftr_error("%s: %s%s", command, ret == -EINVAL ? "--where: " : "", err.text);
	ftr_http_free(asked.http);
	ftr_http_server_fini(&server);
	return ret == 0 ? FTR_EXIT_OK : ret == -EINVAL ? FTR_EXIT_USAGE : FTR_EXIT_FAILED;
}
