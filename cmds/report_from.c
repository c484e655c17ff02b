/* SPDX-License-Identifier: MIT */
/* What of a report a fleet's database can be asked. */
#include "cmds/report_from.h"

#include "cmds/cmd.h"
#include "cmds/from.h"
#include "cmds/message.h"
#include "utils/base/text.h"
#include "utils/fleet/ask.h"
#include "utils/fleet/question.h"

#include <string.h>

/* The last one is known of the symbols of a trace, a summary's, too. */
static const char *const not_there[] = {
	"total-min-ts", "total-max-ts", "self-min-ts", "self-max-ts", "cpu-count",
	"cpu-mask", "cpu-list", "total-cpu", "self-cpu", "all", "size",
};
#define NOT_THERE (sizeof(not_there) / sizeof(not_there[0]))

/* Of the first @nr fields of not_there. */
static const char *find_lacking(const char *words, size_t nr)
{
	struct ftr_slice rest, word;

	if (words == NULL)
		return NULL;
	rest = ftr_slice_make(words + (*words == '+'), strlen(words + (*words == '+')));
	while (ftr_slice_split(&rest, ',', &word)) {
		for (size_t i = 0; i < nr; i++) {
			if (ftr_slice_eq(word, not_there[i]))
				return not_there[i];
		}
	}
	return NULL;
}

const char *ftr_report_from_lacks(const char *fields, const char *keys)
{
	const char *lacking = find_lacking(fields, NOT_THERE);

	return lacking != NULL ? lacking : find_lacking(keys, NOT_THERE);
}

const char *ftr_report_summary_lacks(const char *fields, const char *keys)
{
	const char *lacking = find_lacking(fields, NOT_THERE - 1);

	return lacking != NULL ? lacking : find_lacking(keys, NOT_THERE - 1);
}

struct wanted {
	struct ftr_fleet_stats *stats;
	unsigned flags;
};

static int ask_stats(const struct ftr_asked *asked, void *arg, struct ftr_err *err)
{
	const struct wanted *wanted = arg;

	return ftr_fleet_ask_stats(asked, wanted->flags, wanted->stats, err);
}

/* The details are of calls, which those of record --summary are not. */
static void warn_summed(const struct ftr_fleet_stats *stats)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < stats->stats.funcs.nr; i++)
		calls += stats->stats.funcs.v[i].calls;
	if (stats->summed_calls > calls)
		ftr_warn("report: %llu calls were recorded with --summary, and are left out of columns "
			 "that need each call; ask for total, self and call to have them",
			 (unsigned long long)(stats->summed_calls - calls));
}

int ftr_report_ask(const struct ftr_from *from, const char *where, unsigned flags,
		   struct ftr_fleet_stats *stats)
{
	struct wanted wanted = { stats, flags };
	int status;

	memset(stats, 0, sizeof(*stats));
	status = ftr_from_ask(from, "report", where, ask_stats, &wanted);
	if (status == FTR_EXIT_OK)
		warn_summed(stats);
	return status;
}
