/* SPDX-License-Identifier: MIT */
/* The table of uftrace's events. */
#include "utils/format/fxt/builtin.h"

#include <string.h>

#include "utils/trace/event.h"

#define MEMORY { "vmsize", "vmrss", "shared" }

static const struct fxt_builtin builtins[] = {
	{ 100001, "read:proc/statm",  false, 3, MEMORY },
	{ 100002, "read:page-fault",  false, 2, { "major", "minor" } },
	{ 100003, "diff:proc/statm",  true,  3, MEMORY },
	{ 100004, "diff:page-fault",  true,  2, { "major", "minor" } },
	{ 100005, "read:pmu-cycle",   false, 2, { "cycles", "instructions" } },
	{ 100006, "diff:pmu-cycle",   true,  2, { "cycles", "instructions" } },
	{ 100007, "read:pmu-cache",   false, 2, { "references", "misses" } },
	{ 100008, "diff:pmu-cache",   true,  2, { "references", "misses" } },
	{ 100009, "read:pmu-branch",  false, 2, { "branches", "misses" } },
	{ 100010, "diff:pmu-branch",  true,  2, { "branches", "misses" } },
	{ .id = 100011, .name = "watch:cpu" },
	{ .id = 100012, .name = "watch:var" },
	{ .id = 100013, .name = "callsite" },
	{ .id = FTR_EVENT_ID_TASK_NEW, .name = "linux:task-new" },
	{ .id = FTR_EVENT_ID_TASK_EXIT, .name = "linux:task-exit" },
	{ .id = FTR_EVENT_ID_TASK_NAME, .name = "linux:task-name" },
	{ .id = FTR_EVENT_ID_EXTERN, .name = "extern-data" },
};

#define BUILTIN_NR (sizeof(builtins) / sizeof(builtins[0]))

const struct fxt_builtin *fxt_builtin_by_id(uint64_t id)
{
	for (size_t i = 0; i < BUILTIN_NR; i++) {
		if (builtins[i].id == id)
			return &builtins[i];
	}
	return NULL;
}

const struct fxt_builtin *fxt_builtin_by_name(const char *name)
{
	for (size_t i = 0; i < BUILTIN_NR; i++) {
		if (strcmp(builtins[i].name, name) == 0)
			return &builtins[i];
	}
	return NULL;
}
