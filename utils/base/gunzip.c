/* SPDX-License-Identifier: MIT */
/* Inputs that gzip compressed (RFC 1952): a feed around the compressed input, by zlib. */
#include "utils/base/gunzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_ONLY (15 + 16)	/* windowBits: the largest window, in gzip's framing */

struct gunzip {
	struct ftr_istream in;	/* (owned) compressed */
	z_stream z;
	bool is_between;	/* a member has ended: another one may follow */
};

static unsigned at_most(size_t bytes)
{
	return bytes > INT_MAX ? INT_MAX : (unsigned)bytes;
}

/* Inflate what there is.  zlib's answer. */
static int inflate_more(struct gunzip *self, const uint8_t *p, size_t nr)
{
	int ret;

	self->z.next_in = (unsigned char *)p;
	self->z.avail_in = at_most(nr);
	ret = inflate(&self->z, Z_NO_FLUSH);
	ftr_istream_take(&self->in, (size_t)(self->z.next_in - p));
	return ret;
}

static ssize_t gunzip_read(void *arg, void *to, size_t bytes)
{
	struct gunzip *self = arg;
	const uint8_t *p;

	self->z.next_out = to;
	self->z.avail_out = at_most(bytes);
	while (self->z.next_out == to) {
		size_t nr = ftr_istream_peek(&self->in, 1, &p);
		int ret;

		if (nr == 0 && self->in.code != 0)
			return -self->in.code;
		if (nr == 0)
			return self->is_between ? 0 : -EBADMSG;
		if (self->is_between && inflateReset(&self->z) != Z_OK)
			return -EBADMSG;
		ret = inflate_more(self, p, nr);
		self->is_between = ret == Z_STREAM_END;
		if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
			return ret == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
	return self->z.next_out - (unsigned char *)to;
}

static void gunzip_close(void *arg)
{
	struct gunzip *self = arg;

	inflateEnd(&self->z);
	ftr_istream_close(&self->in);
	free(self);
}

bool ftr_istream_is_gzip(struct ftr_istream *in)
{
	const uint8_t *p;

	return ftr_istream_peek(in, 2, &p) >= 2 && memcmp(p, "\x1f\x8b", 2) == 0;
}

int ftr_istream_gunzip(struct ftr_istream *in, struct ftr_err *err)
{
	struct gunzip *self = calloc(1, sizeof(*self));

	if (self == NULL || inflateInit2(&self->z, GZIP_ONLY) != Z_OK) {
		free(self);
		ftr_err_set(err, ENOMEM, "%s: out of memory", in->name);
		ftr_istream_close(in);
		return -ENOMEM;
	}
	self->in = *in;
	return ftr_istream_from_feed(in, self->in.name,
				     &(struct ftr_istream_feed){ .read = gunzip_read,
								 .close = gunzip_close,
								 .arg = self },
				     err);
}
