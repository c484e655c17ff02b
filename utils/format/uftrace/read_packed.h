/* SPDX-License-Identifier: MIT */
/*
 * A packed file as if it were mapped unpacked: room of addresses for all of it, of which those
 * blocks are filled that somebody has pinned.  Several threads may pin blocks.
 */
#ifndef FTR_FORMAT_UFTRACE_READ_PACKED_H
#define FTR_FORMAT_UFTRACE_READ_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/istream.h"

struct uft_packed;

/*
 * @in, the packed file, is taken over, and becomes what it holds, under the name @name.  0 or
 * -errno, described; what is damaged is warned about.  *@cut_nr counts files that are cut, of which
 * the first is warned about.
 */
int uft_packed_open(struct uft_packed **out, struct ftr_istream *in, const char *name,
		    struct ftr_diag *diag, unsigned *cut_nr, struct ftr_err *err);
void uft_packed_close(struct uft_packed *packed);	/* NULL is fine */

/* The blocks that one reader has pinned.  Without a packed file all is there always. */
struct uft_pins {
	struct uft_packed *packed;	/* (borrowed, nullable) */
	struct ftr_diag *diag;		/* (borrowed, nullable) told of damaged blocks */
	size_t from, to;		/* what is unpacked for us, of the file */
};

/*
 * Have the bytes from @from to @to unpacked, as far as the file goes, and keep what was pinned
 * since, unless @from is elsewhere.  0 or -ENOMEM.
 */
int uft_pins_need(struct uft_pins *pins, size_t from, size_t to);
/* What ends before @pos is needed no more. */
void uft_pins_pass(struct uft_pins *pins, size_t pos);
void uft_pins_release(struct uft_pins *pins);

#endif /* FTR_FORMAT_UFTRACE_READ_PACKED_H */
