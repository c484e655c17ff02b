/* SPDX-License-Identifier: MIT */
/* The bytes of a data directory's info file. */
#ifndef FTR_FORMAT_UFTRACE_WRITE_INFO_H
#define FTR_FORMAT_UFTRACE_WRITE_INFO_H

#include "utils/base/strbuf.h"
#include "utils/format/uftrace/write.h"

/*
 * Append header and sections; sections without a value are written empty, as old readers need them.
 */
void ftr_uftrace_info_format(struct ftr_strbuf *sb, const struct ftr_info *info);

#endif /* FTR_FORMAT_UFTRACE_WRITE_INFO_H */
