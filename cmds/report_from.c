/* SPDX-License-Identifier: MIT */
/* What of a report a fleet's database can be asked. */
#include "cmds/report_from.h"

#include "cmds/from.h"
#include "utils/base/text.h"
#include "utils/fleet/ask.h"
#include "utils/fleet/question.h"

#include <string.h>

static const char *const not_there[] = {
	"size", "total-min-ts", "total-max-ts", "self-min-ts", "self-max-ts", "cpu-count",
	"cpu-mask", "cpu-list", "total-cpu", "self-cpu", "all",
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

struct wanted {
	struct ftr_fleet_stats *stats;
	unsigned flags;
};

static int ask_stats(const struct ftr_asked *asked, void *arg, struct ftr_err *err)
{
	const struct wanted *wanted = arg;

	return ftr_fleet_ask_stats(asked, wanted->flags, wanted->stats, err);
}

int ftr_report_ask(const struct ftr_from *from, const char *where, unsigned flags,
		   struct ftr_fleet_stats *stats)
{
	struct wanted wanted = { stats, flags };

	memset(stats, 0, sizeof(*stats));
	return ftr_from_ask(from, "report", where, ask_stats, &wanted);
}
