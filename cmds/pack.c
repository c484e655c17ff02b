/* SPDX-License-Identifier: MIT */
/* ftr pack: make a data directory small, in place. */
#include "cmds/pack.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/progress.h"
#include "utils/cli/common.h"
#include "utils/format/uftrace/pack_dir.h"

const struct ftr_option ftr_pack_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct ftr_common, data),
	{ 0 }
};

static volatile sig_atomic_t is_ending;

static void on_signal(int signal_nr)
{
	is_ending = signal_nr;
}

/* The first one is heard; a second one ends us at once, which harms nothing either. */
static void signals_take(void)
{
	static const int nrs[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	for (size_t i = 0; i < sizeof(nrs) / sizeof(nrs[0]); i++) {
		if (sigaction(nrs[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(nrs[i], &action, NULL);
	}
	signal(SIGXFSZ, SIG_IGN);	/* a limit is a write that fails */
}

static void on_tick(const struct ftr_pack_watch *watch)
{
	ftr_progress_bytes(watch->done, watch->all);
}

static void say(const char *path, const struct ftr_pack_result *result, bool is_packing)
{
	uint64_t from = is_packing ? result->bytes : result->packed_bytes;
	uint64_t to = is_packing ? result->packed_bytes : result->bytes;

	if (result->file_nr == 0)
		ftr_verbose(0, "%s: nothing to %s", path, is_packing ? "pack" : "unpack");
	else
		ftr_verbose(0, "%s: %llu bytes of records became %llu", path,
			    (unsigned long long)from, (unsigned long long)to);
	if (result->left_nr > 0)
		ftr_verbose(1, "%s: %zu files stay as they are: packed they would take more room",
			    path, result->left_nr);
	if (result->cut_nr > 0)
		ftr_warn("%s: %zu of the files had no index: the recorder was killed, or they were "
			 "cut; they are what was packed until then", path, result->cut_nr);
}

int ftr_pack_run(const struct ftr_common *common, int argc, char **argv, bool is_packing)
{
	const char *path = argc > 0 ? argv[0] : common->data;
	const char *name = is_packing ? "pack" : "unpack";
	struct ftr_pack_watch watch = { .is_ending = &is_ending, .tick = on_tick };
	struct ftr_pack_result result;
	struct ftr_err err = { 0 };
	int ret;

	if (argc > 1 || (argc > 0 && common->data != NULL)) {
		ftr_error("%s: takes one data directory at a time", name);
		return FTR_EXIT_USAGE;
	}
	if (path == NULL)
		path = ftr_cmd_data_dir();
	signals_take();
	ftr_progress_of_bytes(is_packing ? "packing" : "unpacking");
	ret = is_packing ? ftr_pack_dir(path, &watch, &result, &err) :
			   ftr_unpack_dir(path, &watch, &result, &err);
	ftr_progress_end();
	if (ret == 0) {
		say(path, &result, is_packing);
		return FTR_EXIT_OK;
	}
	if (ret == -EINTR && is_ending != 0) {
		ftr_warn("%s: %s: interrupted; nothing was changed", name, path);
		return 128 + (int)is_ending;
	}
	ftr_error("%s: %s", name, err.text);
	return FTR_EXIT_FAILED;
}

static int pack_run(void *values, int argc, char **argv)
{
	return ftr_pack_run(values, argc, argv, true);
}

const struct ftr_cmd ftr_cmd_pack = {
	.name	      = "pack",
	.usage	      = "[OPTION...] [DIRECTORY]",
	.summary      = "Make a data directory small, in place",
	.options      = ftr_pack_options,
	.values_bytes = sizeof(struct ftr_common),
	.run	      = pack_run,
};
