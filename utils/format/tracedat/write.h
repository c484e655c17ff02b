/* SPDX-License-Identifier: MIT */
/* Parts of the writer of trace.dat; for tracedat/write*.c only.  doc/trace-dat.md. */
#ifndef FTR_FORMAT_TRACEDAT_WRITE_H
#define FTR_FORMAT_TRACEDAT_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/scratch.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/format/ftrace/record_write.h"
#include "utils/format/tracedat/layout.h"
#include "utils/trace/sink.h"
#include "utils/trace/trace.h"

#define TDAT_OUT_RUN_PAGES 32u		/* of a CPU, that are stored together */
#define TDAT_OUT_RUN_BYTES (TDAT_OUT_RUN_PAGES * FTR_KBUF_PAGE_BYTES)

/* One CPU: a real one, or a task whose events say of none. */
struct tdat_out_cpu {
	struct ftr_kbuf kbuf;
	FTR_VEC(uint64_t) runs;		/* of TDAT_OUT_RUN_BYTES: where in the scratch file */
	uint8_t *pages;			/* (owned, nullable) of the run that is begun */
	size_t page_nr;			/* there */
};

/* The top buffer, or an instance. */
struct tdat_out_buffer {
	const char *name;		/* (borrowed) "" = the top one */
	FTR_VEC(struct tdat_out_cpu *) cpus;	/* (owned, nullable) real ones */
};

/* What was written of a task. */
enum tdat_out_has {
	TDAT_OUT_HAS_MADE = 1 << 0,	/* records that we made, which do not tell its process */
	TDAT_OUT_HAS_KEPT = 1 << 1,
};

struct tdat_writer {
	struct ftr_sink base;
	const struct ftr_trace *trace;
	bool is_big;			/* the file's byte order, and bytes of a long */
	uint8_t long_bytes;
	struct ftr_scratch scratch;
	struct ftr_krec_names names;
	FTR_VEC(struct tdat_out_buffer) buffers;	/* the top one, and those with records */
	size_t cpu_nr;				/* of real ones, in the buffer that has most */
	FTR_VEC(struct tdat_out_cpu *) tasks;	/* (owned) of the top one, in order of their first
						 * events */
	FTR_VEC(uint32_t) task_cpus;		/* by id: index in tasks, plus 1; 0 = none yet */
	FTR_VEC(uint8_t) has_records;		/* by id of the task: enum tdat_out_has flags */
	FTR_VEC(uint64_t) addrs;		/* of functions, by id; 0 = not used yet */
	struct ftr_hashmap taken;		/* addresses */
	uint64_t addr_next;
	bool has_begun;
	uint64_t late_nr, cut_nr, other_nr, renamed_nr;	/* what the format could not hold */
	struct ftr_strbuf text, cut_text;
};

/* write_head.c: all that stands before the pages.  0 or -ENOMEM. */
int tdat_head_make(struct tdat_writer *w, struct ftr_strbuf *head);

extern const struct ftr_sink_ops tdat_sink_ops;

#endif /* FTR_FORMAT_TRACEDAT_WRITE_H */
