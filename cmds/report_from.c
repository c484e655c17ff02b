/* SPDX-License-Identifier: MIT */
/* Options of reports on a fleet's database, and asking it. */
#include "cmds/report_from.h"

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "utils/base/text.h"
#include "utils/fleet/ask.h"
#include "utils/fleet/http.h"
#include "utils/fleet/tables.h"

#include <errno.h>
#include <string.h>

const struct ftr_option ftr_report_from_options[] = {
	FTR_OPTION("from", 0, "URL", "Ask a database that ftr load filled: http://HOST:PORT/DATABASE",
		   ftr_opt_string, struct ftr_report_from, url),
	FTR_OPTION("where", 0, "KEY=VALUE[,KEY=VALUE...]",
		   "Of --from: only these host, run, build, module, function, since, until",
		   ftr_opt_string, struct ftr_report_from, where),
	FTR_OPTION("login", 0, "FILE", "Of --from: read USER:PASSWORD from FILE (default: FTR_LOGIN)",
		   ftr_opt_string, struct ftr_report_from, login),
	{ 0 }
};

static const char *const not_there[] = {
	"size", "total-min-ts", "total-max-ts", "self-min-ts", "self-max-ts", "cpu-count",
	"cpu-mask", "cpu-list", "total-p50", "total-p90", "total-p99", "self-p50", "self-p90",
	"self-p99", "total-cpu", "self-cpu", "all",
};

static const char *find_lacking(const char *words)
{
	struct ftr_slice rest, word;

	if (words == NULL)
		return NULL;
	rest = ftr_slice_make(words + (*words == '+'), strlen(words + (*words == '+')));
	while (ftr_slice_split(&rest, ',', &word)) {
		for (size_t i = 0; i < sizeof(not_there) / sizeof(not_there[0]); i++) {
			if (ftr_slice_eq(word, not_there[i]))
				return not_there[i];
		}
	}
	return NULL;
}

const char *ftr_report_from_lacks(const char *fields, const char *keys)
{
	const char *lacking = find_lacking(fields);

	return lacking != NULL ? lacking : find_lacking(keys);
}

int ftr_report_ask(const struct ftr_report_from *from, const char *where, bool has_details,
		   struct ftr_fleet_stats *stats)
{
	struct ftr_http_server server;
	struct ftr_http *http;
	struct ftr_err err = { 0 };
	int ret;

	memset(stats, 0, sizeof(*stats));
	if (ftr_http_server_parse(&server, from->url, from->login, &err) < 0) {
		ftr_error("report: --from: %s", err.text);
		return FTR_EXIT_USAGE;
	}
	http = ftr_http_new(&server, &err);
	ret = http == NULL ? -err.code :
			     ftr_fleet_ask_stats(&(struct ftr_fleet){ server.database, NULL }, http,
						 where, has_details, stats, &err);
	if (ret < 0)
		ftr_error("report: %s%s", ret == -EINVAL ? "--where: " : "", err.text);
	ftr_http_free(http);
	ftr_http_server_fini(&server);
	return ret == 0 ? FTR_EXIT_OK : ret == -EINVAL ? FTR_EXIT_USAGE : FTR_EXIT_FAILED;
}
