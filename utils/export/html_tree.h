/* SPDX-License-Identifier: MIT */
/* The call tree of a whole trace, for a page: all that can be seen of it in a flame graph. */
#ifndef FTR_EXPORT_HTML_TREE_H
#define FTR_EXPORT_HTML_TREE_H

struct ftr_graph;
struct ftr_ostream;

/*
 * Base64 of LEB128 numbers, four for each node, parents first: how many nodes before it its parent
 * is (node 0, which is not written, is the root of all), its function's name_id + 2, its time and
 * its calls.  Instead of the function 0 says that the task was not running, and 1 that this is all
 * of the parent's callees that take too little time to be seen.  Writes how many nodes, and then
 * the numbers: 2,"tree":"...".  0 or -ENOMEM.
 */
int ftr_html_tree_put(const struct ftr_graph *graph, struct ftr_ostream *out);

#endif /* FTR_EXPORT_HTML_TREE_H */
