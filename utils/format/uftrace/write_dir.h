/* SPDX-License-Identifier: MIT */
/* Making room for a data directory. */
#ifndef FTR_FORMAT_UFTRACE_WRITE_DIR_H
#define FTR_FORMAT_UFTRACE_WRITE_DIR_H

#include "utils/base/err.h"

/* Afterwards @path does not exist or is an empty directory; 0 or -errno. */
int ftr_uftrace_dir_make_room(const char *path, struct ftr_err *err);

#endif /* FTR_FORMAT_UFTRACE_WRITE_DIR_H */
