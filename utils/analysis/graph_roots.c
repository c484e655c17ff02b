/* SPDX-License-Identifier: MIT */
/* See graph_roots.h. */
#include "utils/analysis/graph_roots.h"

#include <string.h>

#include "utils/trace/session.h"
#include "utils/trace/trace.h"

void ftr_graph_roots_init(struct ftr_graph_roots *roots, const struct ftr_trace *trace)
{
	*roots = (struct ftr_graph_roots){ .trace = trace, .of_none = FTR_GRAPH_NONE };
}

void ftr_graph_roots_fini(struct ftr_graph_roots *roots)
{
	ftr_vec_fini(&roots->by_session);
}

static const char *last_component(const char *path)
{
	const char *slash = path == NULL ? NULL : strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

const char *ftr_graph_root_name(const struct ftr_trace *trace,
				const struct ftr_session *session)
{
	const char *name = last_component(session != NULL ? session->exename : trace->info.exename);

	if (name == NULL || *name == '\0')
		name = last_component(trace->path);
	return name;
}

static uint32_t root_get(struct ftr_graph_roots *roots, struct ftr_graph *graph,
			 const struct ftr_session *session)
{
	uint32_t *root = &roots->of_none;

	if (session != NULL) {
		while (roots->by_session.nr <= session->id)
			if (ftr_vec_push(&roots->by_session, FTR_GRAPH_NONE) < 0)
				return FTR_GRAPH_NONE;
		root = &roots->by_session.v[session->id];
	}
	if (*root == FTR_GRAPH_NONE)
		*root = ftr_graph_add_root(graph, session,
					   ftr_graph_root_name(roots->trace, session));
	return *root;
}

uint32_t ftr_graph_root_at(struct ftr_graph_roots *roots, struct ftr_graph *graph,
			   struct ftr_graph_image *image, const struct ftr_task *task,
			   uint64_t time_ns)
{
	uint32_t nr = image->session_nr;

	while (nr < task->session_nr && (nr == 0 || task->sessions[nr]->start_ns <= time_ns))
		nr++;
	if (image->has_root && nr == image->session_nr)
		return image->root;
	image->session_nr = nr;
	image->root = root_get(roots, graph, nr == 0 ? NULL : task->sessions[nr - 1]);
	image->has_root = image->root != FTR_GRAPH_NONE;
	return image->root;
}
