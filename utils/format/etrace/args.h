/* SPDX-License-Identifier: MIT */
/*
 * Arguments and results of the observed calls as payloads of events: names, decoded flags, errors.
 */
#ifndef FTR_FORMAT_ETRACE_ARGS_H
#define FTR_FORMAT_ETRACE_ARGS_H

#include "utils/base/strbuf.h"
#include "utils/format/etrace/etrace.h"
#include "utils/trace/args.h"

/* The layout of @rec's arguments; their bytes are added to @bytes. */
const struct ftr_argspec *ftr_etrace_args(const struct ftr_etrace_record *rec,
					  struct ftr_strbuf *bytes);

/* What it returned; NULL when it does not return. */
const struct ftr_argspec *ftr_etrace_result(const struct ftr_etrace_record *rec,
					    struct ftr_strbuf *bytes);

#endif /* FTR_FORMAT_ETRACE_ARGS_H */
