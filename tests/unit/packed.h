/* SPDX-License-Identifier: MIT */
/* A directory in memory, as ftr_dir_open_memory takes it apart. */
#ifndef FTR_UNIT_PACKED_H
#define FTR_UNIT_PACKED_H

#include <string.h>

#include "utils/base/strbuf.h"

/* One more file: length of its name, name, u32 size (little-endian), bytes. */
static inline void packed_add(struct ftr_strbuf *packed, const char *name, const void *bytes,
			      size_t size)
{
	unsigned char head[4] = { size & 0xff, size >> 8 & 0xff, size >> 16 & 0xff,
				  size >> 24 & 0xff };

	ftr_strbuf_putc(packed, (char)strlen(name));
	ftr_strbuf_puts(packed, name);
	ftr_strbuf_put(packed, head, sizeof(head));
	if (size > 0)
		ftr_strbuf_put(packed, bytes, size);
}

#endif /* FTR_UNIT_PACKED_H */
