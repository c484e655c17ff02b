/* SPDX-License-Identifier: MIT */
/* record's option --Event: events by their uftrace names. */
#include "cmds/record_event.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "utils/record/perf_ring.h"

/*
 * Which the kernel records together: the halves of a schedule, beginnings and ends, these with
 * names.
 */
static const struct {
	const char *name;
	unsigned kinds;
} events[] = {
	{ "linux:schedule",  FTR_PERF_SCHED },
	{ "linux:sched-in",  FTR_PERF_SCHED },
	{ "linux:sched-out", FTR_PERF_SCHED },
	{ "linux:task-new",  FTR_PERF_TASK },
	{ "linux:task-exit", FTR_PERF_TASK },
	{ "linux:task-name", FTR_PERF_NAME | FTR_PERF_TASK },
};

static unsigned kinds_of(const char *pattern)
{
	unsigned kinds = 0;
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (fnmatch(pattern, events[i].name, 0) == 0)
			kinds |= events[i].kinds;
	}
	return kinds;
}

static int event_add(unsigned *kinds, const char *word, size_t len, struct ftr_err *err)
{
	unsigned of_word = 0;
	char pattern[64];

	if (len < sizeof(pattern)) {
		snprintf(pattern, sizeof(pattern), "%.*s", (int)len, word);
		of_word = kinds_of(pattern);
	}
	if (of_word == 0)
		return ftr_err_set(
			err, EINVAL,
			"\"%.*s\" is none of the events that can be recorded: "
			"linux:schedule, linux:task-new, linux:task-exit, linux:task-name",
			(int)len, word);
	*kinds |= of_word;
	return 0;
}

int ftr_record_opt_event(const struct ftr_option *opt, void *value, const char *arg,
			 struct ftr_err *err)
{
	static const char separators[] = ",;";
	int ret = 0;

	for (;;) {
		size_t len = strcspn(arg, separators);

		ret = event_add(value, arg, len, err);
		if (ret < 0 || arg[len] == '\0')
			return ret;
		arg += len + 1;
	}
}
