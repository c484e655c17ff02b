/* SPDX-License-Identifier: MIT */
/* Outputs that gzip compresses (RFC 1952), by zlib. */
#include "utils/base/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_ONLY    (15 + 16)	/* windowBits: the largest window, in gzip's framing */
#define MEMORY_LEVEL 8		/* zlib's default */
#define ROOM_BYTES   4096u	/* what an ostream always has */

struct ftr_gzip {
	z_stream z;
	struct ftr_ostream *out;
};

struct ftr_gzip *ftr_gzip_new(struct ftr_ostream *out, enum ftr_gzip_level level)
{
	struct ftr_gzip *gzip = calloc(1, sizeof(*gzip));

	if (gzip == NULL)
		return NULL;
	gzip->out = out;
	if (deflateInit2(&gzip->z, (int)level, Z_DEFLATED, GZIP_ONLY, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

/* Until zlib has taken all of its input and, to finish, has given all of its output. */
static void deflate_all(struct ftr_gzip *gzip, int flush)
{
	do {
		gzip->z.next_out = (unsigned char *)ftr_ostream_reserve(gzip->out, ROOM_BYTES);
		gzip->z.avail_out = ROOM_BYTES;
		deflate(&gzip->z, flush);
		ftr_ostream_commit(gzip->out, ROOM_BYTES - gzip->z.avail_out);
	} while (gzip->z.avail_out == 0);
}

void ftr_gzip_put(struct ftr_gzip *gzip, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	while (len > 0) {
		unsigned nr = len > INT_MAX ? INT_MAX : (unsigned)len;

		gzip->z.next_in = (unsigned char *)p;
		gzip->z.avail_in = nr;
		deflate_all(gzip, Z_NO_FLUSH);
		p += nr;
		len -= nr;
	}
}

void ftr_gzip_finish(struct ftr_gzip *gzip)
{
	if (gzip == NULL)
		return;
	gzip->z.avail_in = 0;
	deflate_all(gzip, Z_FINISH);
	deflateEnd(&gzip->z);
	free(gzip);
}
