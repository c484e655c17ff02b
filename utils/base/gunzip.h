/* SPDX-License-Identifier: MIT */
/* Inputs that gzip compressed. */
#ifndef FTR_BASE_GUNZIP_H
#define FTR_BASE_GUNZIP_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/istream.h"

bool ftr_istream_is_gzip(struct ftr_istream *in);

/*
 * @in, at whose position compressed data begin, becomes a refilled input of what they stand for.
 * Damaged data end it (ftr_istream_check).  0 or -ENOMEM; @in is closed then.
 */
int ftr_istream_gunzip(struct ftr_istream *in, struct ftr_err *err);

#endif /* FTR_BASE_GUNZIP_H */
