/* SPDX-License-Identifier: MIT */
/* Sums as text, made of runs or of events. */
#include "tests/fuzz/runs.h"

#include <inttypes.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/analysis/graph.h"
#include "utils/analysis/stats.h"
#include "utils/base/strbuf.h"
#include "utils/trace/func.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/pump.h"
#include "utils/trace/rule.h"
#include "utils/trace/rule_plan.h"
#include "utils/trace/trace.h"

static size_t in_runs;	/* of the pump at work */
static int (*sink_run)(struct ftr_sink *sink, const struct ftr_run *run);

static int counted_run(struct ftr_sink *sink, const struct ftr_run *run)
{
	in_runs += run->event_nr;
	return sink_run(sink, run);
}

static void stat_text(const struct ftr_func_stat *stat, struct ftr_strbuf *text)
{
	ftr_strbuf_printf(text, "%s %u: %" PRIu64 " calls, %" PRIu64 "+%" PRIu64 ", self %" PRIu64
			  ", of %" PRIu64 "\n", stat->name, stat->size, stat->calls,
			  stat->total.sum_ns, stat->total.nested_ns, stat->self.sum_ns,
			  stat->whole_ns);
}

static void stats_text(const struct ftr_stats *stats, struct ftr_strbuf *text)
{
	size_t nr;
	const struct ftr_func_stat **rows = ftr_stats_rows(stats, &nr);

	check(rows != NULL);
	for (size_t i = 0; i < nr; i++)
		stat_text(rows[i], text);
	free(rows);
	for (size_t i = 0; i < stats->tasks.nr; i++) {
		const struct ftr_task_stat *task = &stats->tasks.v[i];

		if (task->calls > 0)	/* who shows them lists these */
			ftr_strbuf_printf(text, "task %d: %" PRIu64 " calls, %" PRIu64 ", self %"
					  PRIu64 "\n", task->task->tid, task->calls,
					  task->total_ns, task->self_ns);
	}
}

/* In the order in which they are shown: that in which they were made may differ. */
static size_t nodes_text(const struct ftr_graph *graph, uint32_t at, unsigned depth,
			 struct ftr_strbuf *text)
{
	size_t nr = 0;

	for (; at != FTR_GRAPH_NONE; at = graph->nodes.v[at].next) {
		const struct ftr_graph_node *node = &graph->nodes.v[at];

		ftr_strbuf_printf(text, "%u %s %" PRIx64 ": %" PRIu64 " calls, %" PRIu64
				  ", self %" PRIu64 ", from %" PRIu64 "\n", depth, node->name,
				  node->addr, node->calls, node->total_ns, node->self_ns,
				  node->first_ns);
		nr += 1 + nodes_text(graph, node->first_child, depth + 1, text);
	}
	return nr;
}

static void graph_text(const struct ftr_graph *graph, struct ftr_strbuf *text)
{
	size_t nr = 0;

	for (size_t i = 0; i < graph->roots.nr; i++)
		nr += nodes_text(graph, graph->roots.v[i].node, 0, text);
	check(nr == graph->nodes.nr);
}

/* For events, what does without runs is not asked for. */
static struct ftr_sink *sink_new(const struct runs_way *way, const struct runs_what *what,
				 struct ftr_err *err)
{
	if (!what->is_tree)
		return ftr_stats_new(0, err);
	if (way->chunk_bytes != 0 && what->threshold_ns > 0)
		return ftr_graph_new_late(err);
	return ftr_graph_new(false, err);
}

/* "-F main -N exit" */
static void rules_parse(struct ftr_rules *rules, const char *text)
{
	static const char letters[FTR_RULE_KINDS + 1] = "FNCHLTAR";
	char copy[256], *left = copy, *option, *rule;
	struct ftr_err err = { 0 };

	ftr_rules_init(rules);
	check(strlen(text) < sizeof(copy));
	strcpy(copy, text);
	while ((option = strsep(&left, " ")) != NULL && (rule = strsep(&left, " ")) != NULL) {
		const char *letter = strchr(letters, option[1]);

		check(letter != NULL);
		check(ftr_rules_parse(rules, (enum ftr_rule_kind)(letter - letters), rule,
				      FTR_MATCH_REGEX, &err) == 0);
	}
}

size_t runs_text(struct ftr_trace *trace, const struct runs_way *way, const struct runs_what *what,
		 struct ftr_strbuf *text)
{
	struct ftr_pipeline_options options = {
		.kernel_full = true, .is_unordered = true, .threshold_ns = what->threshold_ns,
		.depth_max = what->depth_max,
	};
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = sink_new(way, what, &err);
	struct ftr_rule_plans plans;
	struct ftr_rules rules;
	struct ftr_source *source = NULL;
	struct ftr_sink_ops ops;

	check(sink != NULL);
	ops = *sink->ops;
	sink_run = ops.run;
	ops.run = way->chunk_bytes == 0 ? NULL : counted_run;
	sink->ops = &ops;
	in_runs = 0;
	trace->chunk_bytes = way->chunk_bytes;
	trace->thread_nr = way->thread_nr;
	if (what->rules != NULL) {
		rules_parse(&rules, what->rules);
		check(ftr_rule_plans_init(&plans, &rules, trace) == 0);
		options.plans = &plans;
	}
	check(ftr_trace_pipeline(trace, &options, &source, &err) == 0);
	check(ftr_pump(source, sink, trace, NULL, &err) == 0);
	if (what->is_tree)
		graph_text(ftr_graph_get(sink), text);
	else
		stats_text(ftr_stats_get(sink), text);
	for (size_t i = 0; i < trace->funcs.nr; i++)	/* found in the same order */
		ftr_strbuf_printf(text, "%s\n", trace->funcs.v[i]->name);
	ftr_strbuf_printf(text, "read %" PRIu64 "\n", trace->bytes_read);
	ftr_sink_free(sink);
	ftr_source_free(source);
	if (what->rules != NULL) {
		ftr_rule_plans_fini(&plans);
		ftr_rules_fini(&rules);
	}
	ftr_trace_free(trace);
	return in_runs;
}
