/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks for flame graphs: "main;middle;leaf 12", a line a node that has samples: so much of
 * its time, or of what else it weighs.
 */
#include <errno.h>
#include <stdlib.h>

#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/export/call_tree.h"
#include "utils/trace/format.h"

struct flame_values {
	uint64_t sample_ns;
	int by;			/* enum ftr_weight_by */
};

static const struct flame_values flame_defaults = { .sample_ns = 1000 };

static int parse_samples(const struct ftr_option *opt, void *value, const char *arg,
			 struct ftr_err *err)
{
	*(int *)value = FTR_WEIGHT_SAMPLES;
	return 0;
}

static const struct ftr_option flame_options[] = {
	FTR_OPTION("sample-time", 0, "TIME", "Time that a sample stands for (default: 1us)",
		   ftr_opt_time, struct flame_values, sample_ns, .min = 1),
	FTR_CALL_TREE_BY(struct flame_values, by),
	FTR_OPTION("samples", 0, NULL, "Same as --by=samples", parse_samples, struct flame_values,
		   by),
	{ 0 }
};

static const struct flame_values *values_of(const struct ftr_sink *sink)
{
	return sink->values != NULL ? sink->values : &flame_defaults;
}

static int flame_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	return ftr_call_tree_begin_by(sink, trace, (enum ftr_weight_by)values_of(sink)->by);
}

/*
 * Samples of each node: its own time, and what was left of its callees' times because it made no
 * whole sample, so that no time is lost and none counts twice.  Children stand behind their
 * parents.
 */
static uint64_t *samples_of(const struct ftr_graph *graph, uint64_t sample_ns)
{
	uint64_t *samples = malloc((graph->nodes.nr + 1) * sizeof(*samples));

	if (samples == NULL)
		return NULL;
	for (size_t i = 0; i < graph->nodes.nr; i++)
		samples[i] = graph->nodes.v[i].self_ns;
	for (size_t i = graph->nodes.nr; i-- > 0;) {
		uint32_t parent = graph->nodes.v[i].parent;

		if (parent != FTR_GRAPH_NONE)
			samples[parent] += samples[i] % sample_ns;
		samples[i] /= sample_ns;
	}
	return samples;
}

/* A semicolon would be a level. */
static void put_level(struct ftr_strbuf *path, const char *name)
{
	if (path->len > 0)
		ftr_strbuf_putc(path, ';');
	for (; *name != '\0'; name++)
		ftr_strbuf_putc(path, *name == ';' || *name == '\n' ? ':' : *name);
}

static void path_cut(struct ftr_strbuf *path, size_t len)
{
	if (len < path->len) {
		path->len = len;
		path->s[len] = '\0';
	}
}

/* Lengths of the path's beginnings are kept, as names can hold what separates them. */
static int put_folded(const struct ftr_graph *graph, uint32_t root, const uint64_t *samples,
		      struct ftr_ostream *out)
{
	FTR_VEC(size_t) lengths = { 0 };
	struct ftr_strbuf path;
	unsigned up;
	int ret = 0;

	ftr_strbuf_init(&path);
	for (uint32_t at = ftr_call_tree_next(graph, root, &up);
	     at != FTR_GRAPH_NONE && ret == 0;) {
		ret = ftr_vec_push(&lengths, path.len);
		put_level(&path, graph->nodes.v[at].name);
		if (samples[at] > 0) {
			ftr_ostream_write(out, ftr_strbuf_str(&path), path.len);
			ftr_ostream_putc(out, ' ');
			ftr_ostream_u64(out, samples[at]);
			ftr_ostream_putc(out, '\n');
		}
		at = ftr_call_tree_next(graph, at, &up);
		for (; ret == 0 && up > 0 && lengths.nr > 0; up--)
			path_cut(&path, lengths.v[--lengths.nr]);
	}
	if (path.failed)
		ret = -ENOMEM;
	ftr_strbuf_fini(&path);
	ftr_vec_fini(&lengths);
	return ret;
}

static int flame_end(struct ftr_sink *sink)
{
	const struct ftr_graph *graph = ftr_call_tree_finish(sink);
	bool is_time = graph != NULL && (graph->weight == NULL || graph->weight->unit == NULL);
	uint64_t *samples;
	int ret = 0;

	if (graph == NULL)
		return -ENODATA;
	samples = samples_of(graph, is_time ? values_of(sink)->sample_ns : 1);
	if (samples == NULL)
		ret = -ENOMEM;
	for (size_t i = 0; ret == 0 && i < graph->roots.nr; i++)
		ret = put_folded(graph, graph->roots.v[i].node, samples, sink->out);
	free(samples);
	return ret == 0 ? 0 : ftr_err_set(sink->err, ENOMEM, "flame-graph: out of memory");
}

static const struct ftr_sink_ops flame_ops = FTR_CALL_TREE_OPS_BY(flame_begin, flame_end);

const struct ftr_format ftr_format_flame_graph = {
	.name	      = "flame-graph",
	.other_name   = "folded",
	.summary      = "folded stacks with own times, for flamegraph.pl and speedscope",
	.suffix	      = ".folded",
	.dump_option  = FTR_FORMAT_DUMP_OPTION("flame-graph"),
	.kind	      = FTR_FORMAT_FILE,
	.write	      = &flame_ops,
	.options      = flame_options,
	.values_bytes = sizeof(struct flame_values),
	.defaults     = &flame_defaults,
};
