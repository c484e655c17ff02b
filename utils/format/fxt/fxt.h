/* SPDX-License-Identifier: MIT */
/* The Fuchsia trace format, from any bytes (tests, fuzzing). */
#ifndef FTR_FORMAT_FXT_FXT_H
#define FTR_FORMAT_FXT_FXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_istream;
struct ftr_sort_sizes;
struct ftr_trace;

bool ftr_fxt_detect(const char *path, const uint8_t *head, size_t len);
/* As ftr_format.read_file: @in is whole, and moved from, also on failure. */
int ftr_fxt_read(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err);
/* @sizes (nullable): how events that are out of order are sorted (utils/base/sorter.h). */
int ftr_fxt_read_stream(struct ftr_trace *trace, struct ftr_istream *in,
			const struct ftr_sort_sizes *sizes, struct ftr_err *err);

#endif /* FTR_FORMAT_FXT_FXT_H */
