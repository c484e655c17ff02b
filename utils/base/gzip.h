/* SPDX-License-Identifier: MIT */
/* Outputs that gzip compresses. */
#ifndef FTR_BASE_GZIP_H
#define FTR_BASE_GZIP_H

#include <stddef.h>

#include "utils/base/err.h"
#include "utils/base/ostream.h"

struct ftr_gzip;

enum ftr_gzip_level {
	FTR_GZIP_FAST  = 1,
	FTR_GZIP_SMALL = 6,	/* zlib's default */
};

/* What is put becomes a member of gzip's (RFC 1952) in @out (borrowed).  NULL: out of memory. */
struct ftr_gzip *ftr_gzip_new(struct ftr_ostream *out, enum ftr_gzip_level level);
void ftr_gzip_put(struct ftr_gzip *gzip, const void *bytes, size_t len);
/* The end of the member; frees.  NULL is fine. */
void ftr_gzip_finish(struct ftr_gzip *gzip);

#endif /* FTR_BASE_GZIP_H */
