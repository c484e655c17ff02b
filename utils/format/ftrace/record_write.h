/* SPDX-License-Identifier: MIT */
/*
 * Records as the kernel writes them into its ring buffer, and the formats that explain them: calls
 * as its own tracers have them, and tracepoints, which are known as text alone, so that this is
 * their one field.  For writers of kernel-cpuN.dat and trace.dat.
 */
#ifndef FTR_FORMAT_FTRACE_RECORD_WRITE_H
#define FTR_FORMAT_FTRACE_RECORD_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/base/vec.h"
#include "utils/format/ftrace/page_write.h"

struct ftr_event;
struct ftr_tracepoint;

#define FTR_KREC_ID_EXIT  10u		/* as kernels number them */
#define FTR_KREC_ID_ENTRY 11u
#define FTR_KREC_ID_MAX	  UINT16_MAX
#define FTR_KREC_ID_OWN_MAX INT16_MAX	/* that we give away: to KernelShark others are negative */
#define FTR_KREC_NAME_ENTRY "ftrace:funcgraph_entry"
#define FTR_KREC_NAME_EXIT  "ftrace:funcgraph_exit"

/* A tracepoint by the number of its name; id 0: no name for a format. */
struct ftr_krec_tracepoint {
	const struct ftr_str *name;	/* (borrowed) in the pool */
	uint16_t id;
};

#define FTR_KREC_RECENT_NR 64u	/* a cache */

/* One whose records are kept as they are. */
struct ftr_krec_kept {
	const struct ftr_tracepoint *tracepoint;	/* (borrowed) */
	uint16_t id;			/* in the file */
};

/* The tracepoints of one file. */
struct ftr_krec_names {
	FTR_VEC(struct ftr_krec_kept) kept;
	struct ftr_hashmap kept_by_key; /* index in kept, plus 1, by address of the tracepoint */
	struct ftr_krec_kept recent[FTR_KREC_RECENT_NR];	/* by id */
	struct ftr_strpool names;
	FTR_VEC(struct ftr_krec_tracepoint) tracepoints;	/* by id of the name */
	uint8_t ids[(FTR_KREC_ID_MAX + 1) / 8];		/* those that are taken */
	uint16_t id_next;			/* to be given away, downwards */
};

void ftr_krec_names_init(struct ftr_krec_names *names);
void ftr_krec_names_fini(struct ftr_krec_names *names);
/*
 * The id in the file of a tracepoint, its own @id unless that is another's.  0: the name does not
 * suit a format; -ENOMEM.
 */
int ftr_krec_id(struct ftr_krec_names *names, const char *name, uint64_t id);

/* The same for one whose records are kept: its own where it is free.  -ENOMEM; 0: none is left. */
int ftr_krec_kept_id(struct ftr_krec_names *names, const struct ftr_tracepoint *tracepoint);

/* Are there calls among those that are kept?  Then there is no place for others. */
bool ftr_krec_keeps_calls(const struct ftr_krec_names *names);

/* A record in the making. */
struct ftr_krec {
	uint32_t len;
	_Alignas(8) uint8_t bytes[FTR_KBUF_RECORD_MAX];
};

/* An ENTRY or EXIT of the function at @addr. */
void ftr_krec_call(struct ftr_krec *rec, const struct ftr_event *ev, uint64_t addr, uint32_t depth);
/* An event of the task @tid with a text.  False: it was cut, where a character ends. */
bool ftr_krec_text(struct ftr_krec *rec, int32_t tid, uint32_t id, const char *text, size_t len);

/* A record of @len bytes, FTR_KBUF_RECORD_MAX at most, as it was but for its id. */
void ftr_krec_keep(struct ftr_krec *rec, const uint8_t *data, uint32_t len, uint32_t id,
		   bool is_big);

/* A record that ftr_krec_text made, into the other byte order. */
void ftr_krec_swap_text(struct ftr_krec *rec);

/* The contents of tracefs' files: "SYSTEM:NAME" of @id as its format, and header_page. */
void ftr_krec_put_format(struct ftr_strbuf *text, const char *name, uint32_t id);
void ftr_krec_put_kept_format(struct ftr_strbuf *text, const struct ftr_krec_kept *kept);
void ftr_krec_put_header_page(struct ftr_strbuf *text, unsigned long_bytes);

#endif /* FTR_FORMAT_FTRACE_RECORD_WRITE_H */
