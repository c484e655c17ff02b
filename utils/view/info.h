/* SPDX-License-Identifier: MIT */
/* The machine, program and recording of a trace, as uftrace info prints it. */
#ifndef FTR_VIEW_INFO_H
#define FTR_VIEW_INFO_H

#include "utils/base/ostream.h"

struct ftr_info;
struct ftr_trace;

/* What of @info is about a machine. */
void ftr_info_print_machine(const struct ftr_info *info, struct ftr_ostream *out);
void ftr_info_print(const struct ftr_trace *trace, struct ftr_ostream *out);
void ftr_info_print_tasks(const struct ftr_trace *trace, struct ftr_ostream *out);
/* Lines of JSON (utils/view/json.h): the trace, then its tasks. */
void ftr_info_print_json(const struct ftr_trace *trace, struct ftr_ostream *out);

#endif /* FTR_VIEW_INFO_H */
