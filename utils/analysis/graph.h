/* SPDX-License-Identifier: MIT */
/*
 * Which function called which, how often and how long: a tree of calls as data, one root per
 * session.  All calls of a function (by its displayed name) out of the same line of callers are one
 * node.
 *
 * Nodes are kept by index: a parent's is less than its children's, so one pass over the array is
 * enough for whatever is inherited.
 */
#ifndef FTR_ANALYSIS_GRAPH_H
#define FTR_ANALYSIS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/trace/sink.h"

struct ftr_session;
struct ftr_trace;
struct ftr_weight;

#define FTR_GRAPH_NONE UINT32_MAX

/*
 * Of one kind of time (total or self) of a node's calls; only with details.  UINT64_MAX, 0: of
 * none.
 */
struct ftr_graph_span {
	uint64_t min_ns, max_ns;
};

struct ftr_graph_node {
	uint32_t name_id;       /* with parent: identifies a node; func->name_id or
				   FTR_GRAPH_SCHEDULE */
	uint32_t parent;	/* FTR_GRAPH_NONE: a root */
	uint32_t first_child;	/* or FTR_GRAPH_NONE */
	uint32_t last_child;
	uint32_t next;		/* sibling, or FTR_GRAPH_NONE */
	uint64_t calls;		/* without those that a forked child inherited */
	uint64_t total_ns;
	uint64_t self_ns;	/* of that: not in callees */
	uint64_t first_ns;	/* the first one began */
	const char *name;	/* (borrowed from the trace) */
	uint64_t addr;		/* of the first one, as recorded */
	struct ftr_graph_span total_span, self_span;
};

/* Name ids of the time that a task was scheduled out: the second one pre-empted. */
#define FTR_GRAPH_SCHEDULE	     (UINT32_MAX - 2)
#define FTR_GRAPH_SCHEDULE_PREEMPTED (UINT32_MAX - 1)
/* That of the kind of a wait: by its id, of those from FTR_EVENT_ID_SYNC_MUTEX on. */
#define FTR_GRAPH_WAITS		     (UINT32_MAX - 4096)

struct ftr_graph_root {
	const struct ftr_session *session;	/* (borrowed, nullable) */
	uint32_t node;
};

struct ftr_graph {
	FTR_VEC(struct ftr_graph_node) nodes;
	FTR_VEC(struct ftr_graph_root) roots;
	uint32_t *slots; /* (owned) hash table of the nodes by parent and name_id; never full */
	unsigned slot_bits;	/* it has 2^slot_bits slots */
	/*
	 * (borrowed) NULL: total_ns and self_ns are times of calls; else what weight.h says, in its
	 * unit, and calls are what happened in the node or below.
	 */
	const struct ftr_weight *weight;
};

/* 0 or -ENOMEM; ftr_graph_fini() in either case. */
int  ftr_graph_init(struct ftr_graph *graph);
void ftr_graph_fini(struct ftr_graph *graph);
/* Empty it, for another tree.  0 or -ENOMEM. */
int  ftr_graph_clear(struct ftr_graph *graph);

/* What the root of @session (nullable: of none) is called: the program's name. */
const char *ftr_graph_root_name(const struct ftr_trace *trace, const struct ftr_session *session);
/* A new root; its index, or FTR_GRAPH_NONE when out of memory. */
uint32_t ftr_graph_add_root(struct ftr_graph *graph, const struct ftr_session *session,
			    const char *name);

/* What is needed to make a node. */
struct ftr_graph_key {
	uint32_t name_id;
	const char *name;
	uint64_t addr;
	uint64_t time_ns;
};

uint32_t ftr_graph_child_add(struct ftr_graph *graph, uint32_t parent,
			     const struct ftr_graph_key *key);

static inline size_t ftr_graph_slot(const struct ftr_graph *graph, uint32_t parent,
				    uint32_t name_id)
{
	return ftr_high_bits(ftr_u64_of(parent, name_id) * FTR_HASH_FACTOR, graph->slot_bits);
}

/* Find or add; FTR_GRAPH_NONE when out of memory.  Adding moves the nodes. */
static inline uint32_t ftr_graph_child(struct ftr_graph *graph, uint32_t parent,
				       const struct ftr_graph_key *key)
{
	size_t mask = ((size_t)1 << graph->slot_bits) - 1;
	size_t at = ftr_graph_slot(graph, parent, key->name_id);

	for (; graph->slots[at] != FTR_GRAPH_NONE; at = (at + 1) & mask) {
		struct ftr_graph_node *node = &graph->nodes.v[graph->slots[at]];

		if (node->name_id != key->name_id || node->parent != parent)
			continue;
		if (__builtin_expect(key->time_ns < node->first_ns, 0))
			node->first_ns = key->time_ns;
		return graph->slots[at];
	}
	return ftr_graph_child_add(graph, parent, key);
}

static inline void ftr_graph_span_add(struct ftr_graph_span *span, uint64_t ns)
{
	if (ns < span->min_ns)
		span->min_ns = ns;
	if (ns > span->max_ns)
		span->max_ns = ns;
}

/* Count a call with all details. */
static inline void ftr_graph_node_count(struct ftr_graph_node *node, uint64_t total_ns,
					uint64_t self_ns)
{
	node->calls++;
	node->total_ns += total_ns;
	node->self_ns += self_ns;
	ftr_graph_span_add(&node->total_span, total_ns);
	ftr_graph_span_add(&node->self_span, self_ns);
}

/* Of a POINT that ends the time for which its task was scheduled out, which is like a call. */
bool ftr_graph_schedule_key(const struct ftr_event *ev, struct ftr_graph_key *key);

/*
 * A sink that makes the tree of everything; the tasks of the stream may come one after the other.
 * NULL = out of memory.  @has_details: least and most, too.  What a forked child inherited counts
 * as no call, but its time does.
 */
struct ftr_sink *ftr_graph_new(bool has_details, struct ftr_err *err);
/*
 * The same tree without details, for streams without calls that are short (-t): made without
 * waiting for them, a node when the first call of it turns out to be none.
 */
struct ftr_sink *ftr_graph_new_late(struct ftr_err *err);
/*
 * After the pump: the tree, siblings in the order of their first calls, the roots' times summed up;
 * roots are in uftrace's order: processes and their sessions, the last ones first.  Valid as long
 * as the sink.
 */
struct ftr_graph *ftr_graph_get(struct ftr_sink *sink);

/* Which of two siblings comes first: < 0 the first one, 0 the one that was called first. */
struct ftr_graph_order {
	int (*compare)(const struct ftr_graph_node *x, const struct ftr_graph_node *y,
		       const void *arg);
	const void *arg;
};

/* Order roots, and siblings by @order (nullable).  0 or -ENOMEM. */
int ftr_graph_sort(struct ftr_graph *graph, const struct ftr_graph_order *order);

/* All calls are there: sum up the roots, and order them and siblings.  0 or -ENOMEM. */
int ftr_graph_finish(struct ftr_graph *graph);

#endif /* FTR_ANALYSIS_GRAPH_H */
