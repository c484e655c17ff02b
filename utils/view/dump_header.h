/* SPDX-License-Identifier: MIT */
/* The head of the raw listing: the header of the info file. */
#ifndef FTR_VIEW_DUMP_HEADER_H
#define FTR_VIEW_DUMP_HEADER_H

struct ftr_info;
struct ftr_ostream;

void dump_put_header(const struct ftr_info *info, struct ftr_ostream *out);

#endif /* FTR_VIEW_DUMP_HEADER_H */
