/* SPDX-License-Identifier: MIT */
/* uftrace's option names, letters, and the commands on which they have an effect. */
#include "utils/cli/uftrace_options.h"

#include <string.h>

enum {
	RECORD = 1, REPLAY = 2, REPORT = 4, GRAPH = 8, INFO = 16, DUMP = 32, LIVE = 64,
	SCRIPT = 128,
	READERS = REPLAY | REPORT | GRAPH | DUMP | SCRIPT, ALL = ~0,
};

static const struct {
	const char *name;
	unsigned bits;
} commands[] = {
	{ "record", RECORD }, { "live", RECORD | REPLAY | LIVE }, { "replay", REPLAY },
	{ "report", REPORT }, { "graph", GRAPH }, { "info", INFO }, { "dump", DUMP },
	{ "script", SCRIPT },
};

static const struct ftr_uftrace_option known[] = {
	{ "agent", 'g', false, RECORD },
	{ "argument", 'A', true, RECORD },
	{ "auto-args", 'a', false, RECORD },
	{ "avg-self", 0, false, REPORT },
	{ "avg-total", 0, false, REPORT },
	{ "buffer", 'b', true, RECORD },
	{ "caller-filter", 'C', true, RECORD | READERS },
	{ "chrome", 0, false, DUMP },
	{ "clock", 0, true, RECORD },
	{ "color", 0, true, ALL },
	{ "column-offset", 0, true, REPLAY },
	{ "column-view", 0, false, REPLAY },
	{ "data", 'd', true, ALL },
	{ "debug", 0, false, ALL },
	{ "debug-domain", 0, true, ALL },
	{ "demangle", 0, true, READERS | INFO },
	{ "depth", 'D', true, RECORD | READERS },
	{ "diff", 0, true, REPORT },
	{ "diff-policy", 0, true, REPORT },
	{ "disable", 0, false, RECORD | REPLAY },
	{ "estimate-return", 'e', false, RECORD },
	{ "Event", 'E', true, RECORD },
	{ "event-full", 0, false, READERS },
	{ "filter", 'F', true, RECORD | READERS },
	{ "flame-graph", 0, false, DUMP },
	{ "flat", 0, false, REPLAY },
	{ "force", 0, false, RECORD },
	{ "format", 0, true, READERS },
	{ "graphviz", 0, false, DUMP },
	{ "hide", 'H', true, READERS },
	{ "host", 0, true, RECORD },
	{ "keep-pid", 0, false, RECORD },
	{ "kernel", 'k', false, RECORD },
	{ "kernel-buffer", 0, true, RECORD },
	{ "kernel-depth", 'K', true, RECORD },
	{ "kernel-full", 0, false, READERS },
	{ "kernel-only", 0, false, READERS },
	{ "kernel-skip-out", 0, false, READERS },
	{ "libmcount-path", 0, true, RECORD },
	{ "libmcount-single", 0, false, RECORD },
	{ "libname", 0, false, READERS },
	{ "library-path", 0, true, RECORD },
	{ "list-event", 0, false, RECORD },
	{ "loc-filter", 'L', true, RECORD | READERS },
	{ "logfile", 0, true, ALL },
	{ "match", 0, true, RECORD | READERS },
	{ "max-stack", 0, true, RECORD },
	{ "mermaid", 0, false, DUMP },
	{ "nest-libcall", 'l', false, RECORD },
	{ "no-args", 0, false, RECORD | REPLAY | DUMP | SCRIPT },
	{ "no-callsite", 0, false, REPLAY },
	{ "no-comment", 0, false, REPLAY },
	{ "no-event", 0, false, RECORD | READERS },
	{ "no-libcall", 0, false, RECORD | READERS },
	{ "no-merge", 0, false, REPLAY },
	{ "no-pager", 0, false, ALL },
	{ "no-pltbind", 0, false, RECORD },
	{ "no-randomize-addr", 0, false, RECORD },
	{ "no-sched", 0, false, RECORD | READERS },
	{ "no-sched-preempt", 0, false, READERS },
	{ "nop", 0, false, RECORD },
	{ "notrace", 'N', true, RECORD | READERS },
	{ "num-thread", 0, true, RECORD },
	{ "opt-file", 0, true, ALL },
	{ "output-fields", 'f', true, REPLAY | REPORT | GRAPH },
	{ "patch", 'P', true, RECORD },
	{ "pid", 'p', true, RECORD },
	{ "port", 0, true, RECORD },
	{ "record", 0, false, LIVE | SCRIPT },
	{ "report", 0, false, LIVE },
	{ "retval", 'R', true, RECORD },
	{ "rt-prio", 0, true, RECORD },
	{ "run-cmd", 0, true, 0 },
	{ "sample-time", 0, true, DUMP },
	{ "script", 'S', true, RECORD | SCRIPT },
	{ "size-filter", 'Z', true, RECORD | READERS },
	{ "sort", 's', true, REPORT | GRAPH },
	{ "sort-column", 0, true, REPORT },
	{ "srcline", 0, false, REPLAY | REPORT | GRAPH },
	{ "symbols", 0, false, INFO },
	{ "system", 0, false, INFO },
	{ "task", 0, false, REPORT | GRAPH | INFO },
	{ "task-newline", 0, false, REPLAY },
	{ "tid", 0, true, READERS },
	{ "time", 0, false, RECORD },
	{ "time-filter", 't', true, RECORD | READERS },
	{ "time-range", 'r', true, READERS },
	{ "trace", 0, true, RECORD | REPLAY },
	{ "trigger", 'T', true, RECORD | READERS },
	{ "unpatch", 'U', true, RECORD },
	{ "verbose", 0, false, ALL },
	{ "watch", 'W', true, RECORD },
	{ "with-syms", 0, true, RECORD | READERS | INFO },
};

const struct ftr_uftrace_option *ftr_uftrace_option_next(size_t *pos)
{
	return *pos < sizeof(known) / sizeof(known[0]) ? &known[(*pos)++] : NULL;
}

bool ftr_uftrace_option_matters(const struct ftr_uftrace_option *option, const char *command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, command) == 0)
			return (option->commands & commands[i].bits) != 0;
	return true;
}
