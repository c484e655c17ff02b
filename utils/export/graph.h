/* SPDX-License-Identifier: MIT */
/* Exports of the call tree: flame graphs and drawings. */
#ifndef FTR_EXPORT_GRAPH_H
#define FTR_EXPORT_GRAPH_H

#include <stdint.h>

struct ftr_sink;

/*
 * Of a sink of the format flame-graph that has not begun: how much time a sample stands for; else 1
 * us.
 */
void ftr_flame_graph_sample_set(struct ftr_sink *sink, uint64_t sample_ns);

#endif /* FTR_EXPORT_GRAPH_H */
