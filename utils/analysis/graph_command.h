/* SPDX-License-Identifier: MIT */
/* A command line out of the text of an argument list. */
#ifndef FTR_ANALYSIS_GRAPH_COMMAND_H
#define FTR_ANALYSIS_GRAPH_COMMAND_H

#include "utils/base/strbuf.h"
#include "utils/base/text.h"

/*
 * Append @argv, which reads ["gcc", "-c", "a b.c"], as gcc -c "a b.c": words that a shell would not
 * take as they are keep their quotes.  @path stands for what is no such list.
 */
void ftr_graph_put_command(struct ftr_strbuf *text, struct ftr_slice path, struct ftr_slice argv);

#endif /* FTR_ANALYSIS_GRAPH_COMMAND_H */
