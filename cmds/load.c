/* SPDX-License-Identifier: MIT */
/* ftr load: traces into the database of a fleet. */
#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "cmds/progress.h"
#include "cmds/show.h"
#include "utils/cli/common.h"
#include "utils/fleet/http.h"
#include "utils/fleet/load.h"
#include "utils/fleet/tables.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define JOBS_MAX 16

struct load_values {
	struct ftr_common common;
	const char *url;
	const char *cluster, *login, *run;
	uint64_t jobs;
	bool no_compress, only_tables;
};

static const struct load_values load_defaults = { .jobs = 4 };

static const struct ftr_option load_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct load_values, common),
	FTR_OPTION("to", 0, "URL", "The database: http://HOST:PORT/DATABASE", ftr_opt_string,
		   struct load_values, url),
	FTR_OPTION("cluster", 0, "NAME", "Of several servers: the cluster's name in their configuration",
		   ftr_opt_string, struct load_values, cluster),
	FTR_OPTION("login", 0, "FILE", "Read USER:PASSWORD from FILE (default: FTR_LOGIN)",
		   ftr_opt_string, struct load_values, login),
	FTR_OPTION("run", 0, "NAME", "Name the run of a trace that has no session",
		   ftr_opt_string, struct load_values, run),
	FTR_OPTION("jobs", 'j', "NUM", "Send so many blocks at a time (default: 4)", ftr_opt_u64,
		   struct load_values, jobs, .min = 1, .max = JOBS_MAX),
	FTR_OPTION("no-compress", 0, NULL, "Send rows as they are, not compressed by gzip",
		   ftr_opt_flag, struct load_values, no_compress),
	FTR_OPTION("make-tables", 0, NULL, "Make the tables, and load nothing", ftr_opt_flag,
		   struct load_values, only_tables),
	{ 0 }
};

/* All that is there of something, as reading traces lets through unasked. */
static const struct ftr_selection everything = { .event_full = true, .kernel_full = true };

/* A part of a run is worth nothing, and is not seen. */
static void on_interrupt(int signal_nr)
{
	static const char text[] = "\nftr: interrupted: nothing of this run was loaded\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(128 + signal_nr);
	_exit(128 + signal_nr);
}

static int send_run(struct ftr_opened *opened, const struct ftr_load_options *options)
{
	struct ftr_load_result result;
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = ftr_load_new(options, &result, &err);
	int ret = -1;

	if (sink != NULL)
		ret = ftr_opened_pump(opened, sink, NULL, &err);
	ftr_sink_free(sink);
	if (ret < 0) {
		ftr_error("%s: %s; nothing of it was loaded", opened->trace->path, err.text);
		return FTR_EXIT_FAILED;
	}
	printf("%s: loaded %llu calls, %llu events (%.1f MB of rows)\n", opened->trace->path,
	       (unsigned long long)result.calls, (unsigned long long)result.events,
	       (double)result.bytes / 1e6);
	return FTR_EXIT_OK;
}

static int load_opened(struct ftr_opened *opened, const struct ftr_load_options *options,
		       struct ftr_http *http)
{
	struct ftr_fleet_run run = ftr_load_run(opened->trace, options->run);
	struct ftr_err err = { 0 };
	int known;

	if (run.name[0] == '\0') {
		ftr_error("%s: no session ID tells this run from others; name it with --run=NAME",
			  opened->trace->path);
		return FTR_EXIT_FAILED;
	}
	known = ftr_fleet_has_run(options->fleet, http, &run, &err);
	if (known < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	if (known > 0) {
		printf("%s: run %s of %s is loaded already\n", opened->trace->path, run.name,
		       run.host);
		return FTR_EXIT_OK;
	}
	return send_run(opened, options);
}

static int load_path(struct load_values *values, const char *path,
		     const struct ftr_load_options *options, struct ftr_http *http)
{
	struct ftr_opened opened;
	int status;

	if (path != NULL)
		values->common.data = path;
	status = ftr_opened_open(&opened, &values->common, &everything, FTR_ORDER_TIME);
	if (status != FTR_EXIT_OK)
		return status;
	status = load_opened(&opened, options, http);
	ftr_opened_close(&opened);
	return status;
}

static int load_all(struct load_values *values, const struct ftr_load_options *options,
		    char **paths)
{
	struct ftr_err err = { 0 };
	struct ftr_http *http = ftr_http_new(options->server, &err);
	int status = FTR_EXIT_OK, ret;

	if (http == NULL || ftr_fleet_make_tables(options->fleet, http, &err) < 0) {
		ftr_error("%s", err.text);
		status = FTR_EXIT_FAILED;
	} else if (!values->only_tables) {
		if (paths[0] == NULL)
			status = load_path(values, NULL, options, http);
		for (; *paths != NULL; paths++) {
			ret = load_path(values, *paths, options, http);
			status = ret != FTR_EXIT_OK ? ret : status;
		}
	}
	ftr_http_free(http);
	return status;
}

static int load_run(void *all, int argc, char **argv)
{
	struct load_values *values = all;
	struct ftr_http_server server;
	struct ftr_fleet fleet = { .cluster = values->cluster };
	const struct ftr_load_options options = {
		.server = &server, .fleet = &fleet, .run = values->run,
		.threads = (unsigned)values->jobs, .is_gzip = !values->no_compress,
	};
	struct ftr_err err = { 0 };
	int status;

	if (values->url == NULL) {
		ftr_error("load: name the database with --to=http://HOST:PORT/DATABASE");
		return FTR_EXIT_USAGE;
	}
	if (values->run != NULL && argc > 1) {
		ftr_error("load: --run names one run, but there are %d traces", argc);
		return FTR_EXIT_USAGE;
	}
	if (values->cluster != NULL && !ftr_sql_is_name(values->cluster)) {
		ftr_error("load: --cluster: \"%s\" is no name of letters, digits and _",
			  values->cluster);
		return FTR_EXIT_USAGE;
	}
	if (ftr_http_server_parse(&server, values->url, values->login, &err) < 0) {
		ftr_error("load: %s", err.text);
		return FTR_EXIT_USAGE;
	}
	fleet.database = server.database;
	signal(SIGINT, on_interrupt);
	status = load_all(values, &options, argv);
	ftr_http_server_fini(&server);
	return status;
}

const struct ftr_cmd ftr_cmd_load = {
	.name	      = "load",
	.usage	      = "--to=URL [OPTION...] [TRACE...]",
	.summary      = "Load traces into a ClickHouse database",
	.options      = load_options,
	.values_bytes = sizeof(struct load_values),
	.defaults     = &load_defaults,
	.run	      = load_run,
};
