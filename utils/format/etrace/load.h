/* SPDX-License-Identifier: MIT */
/*
 * Reading the etrace text, shared by the files that do it: etrace/load.c takes lines apart,
 * etrace/record.c puts heads together to records, etrace/text.c parts to texts.  One assembly a
 * upid, because lines of several tasks are interleaved.
 */
#ifndef FTR_FORMAT_ETRACE_LOAD_H
#define FTR_FORMAT_ETRACE_LOAD_H

#include "utils/base/strbuf.h"
#include "utils/format/etrace/etrace.h"
#include "utils/format/etrace/heads.h"

/* The parts of a line before its data. */
struct ftr_etrace_line {
	uint64_t upid;
	uint32_t cpu;
	uint64_t time_ns;
};

#define FTR_ETRACE_NO_TEXT (-1)
#define FTR_ETRACE_ARGUMENT FTR_ETRACE_TEXTS	/* as the index of the text being read */

/* What is known of a upid, and the record its lines are adding to. */
struct ftr_etrace_assembly {
	uint64_t last_ns;
	bool	 has_exited;
	bool	 has_lines;
	bool	 is_announced;			/* by a SchedFork */
	unsigned first_lineno;

	const struct ftr_etrace_head *head;	/* of the record being read; NULL = none */
	struct ftr_syscall call;
	unsigned lineno;			/* of its head */
	bool	 needs_end;			/* a To, a Failed, a SchedFork must follow */
	int64_t  sizes[FTR_ETRACE_TEXTS];	/* of its texts, as announced */
	unsigned has_size;			/* a bit for each */
	unsigned texts_expected;		/* a bit for each */
	int64_t  argument_bytes;		/* as announced */

	int text; /* being read: FTR_ETRACE_NO_TEXT, a slot, FTR_ETRACE_ARGUMENT */
	bool	 is_long;			/* in parts */
	bool	 in_cont;
	uint64_t part;				/* the next one; of an argument: its index */
	struct ftr_strbuf builder;
	FTR_VEC(struct ftr_slice) argv;
	struct ftr_arena arena;			/* of a stream: texts of its records */

	/* Of an Ftr line, for the next head. */
	bool	 has_extension;
	uint8_t  id;				/* enum ftr_sysid */
	uint64_t took_ns, done_ns;
	int32_t  error, signal;
	uint32_t stack;
	int64_t  flags;
};

struct ftr_etrace_loader {
	struct ftr_etrace_log *log;
	struct ftr_istream *in;
	ftr_violation_fn *violation;
	void *violation_arg;
	struct ftr_hashmap tasks;		/* upid -> struct ftr_etrace_assembly */
	FTR_VEC(struct ftr_etrace_assembly *) all;		/* (owned) */
	uint64_t made_up_nr;			/* arguments that were left out, in all */
	struct ftr_etrace_assembly *last;	/* (nullable) whose line was read last */
	bool is_cut;				/* the text ends inside a line */
	bool is_stream;				/* records are taken out of the log as they come */
	bool has_failed;			/* out of memory */
};

/* Report and count that a line breaks the format. */
__attribute__((format(printf, 3, 4)))
void ftr_etrace_violate(struct ftr_etrace_loader *loader, unsigned lineno, const char *fmt, ...);

/* The assembly of a upid, made at its first mention.  NULL: out of memory. */
struct ftr_etrace_assembly *ftr_etrace_assembly_get(struct ftr_etrace_loader *loader,
						    uint64_t upid);

/*
 * Line by line: ftr_etrace_loader_line() is false at the end of the text, where
 * ftr_etrace_loader_end() completes what is left.  0 or -ENOMEM.
 */
void ftr_etrace_loader_init(struct ftr_etrace_loader *loader, struct ftr_etrace_log *log,
			    struct ftr_istream *in);
bool ftr_etrace_loader_line(struct ftr_etrace_loader *loader);
int  ftr_etrace_loader_end(struct ftr_etrace_loader *loader);
void ftr_etrace_loader_fini(struct ftr_etrace_loader *loader);

/* Of a stream: the records of the log, which the last line completed, are no longer needed. */
void ftr_etrace_loader_forget(struct ftr_etrace_loader *loader);

/* Where texts of the task's records are kept. */
static inline struct ftr_arena *ftr_etrace_arena(struct ftr_etrace_loader *loader,
						 struct ftr_etrace_assembly *task)
{
	return loader->is_stream ? &task->arena : &loader->log->arena;
}

/* ---- heads: @fields, @rest is what stands behind the bar ---- */

/* False: @tag is no head's. */
bool ftr_etrace_head_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			  const struct ftr_etrace_line *line, struct ftr_slice tag,
			  struct ftr_slice rest);
/* "Ftr|call=openat,took=123,error=2": of the next record. */
void ftr_etrace_extension_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			       struct ftr_slice rest);
void ftr_etrace_arguments_end(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task);
/* The record's lines are all there. */
void ftr_etrace_record_finish(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task);
/* Is something missing of it, so far as was announced? */
bool ftr_etrace_record_lacks(const struct ftr_etrace_assembly *task);
/*
 * Can nothing more belong to the record?  False where its next line must be seen to know: texts
 * whose sizes were not announced.
 */
bool ftr_etrace_record_is_whole(const struct ftr_etrace_assembly *task);

/* ---- texts ---- */

/* "FN|text", "FN[1]text": @rest begins with the bar or the bracket. */
void ftr_etrace_text_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			  struct ftr_slice tag, struct ftr_slice rest);
void ftr_etrace_text_end_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			      struct ftr_slice tag);
void ftr_etrace_cont_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			  struct ftr_slice chunk);
void ftr_etrace_cont_end_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task);
/* The text being read, if any, is whole. */
void ftr_etrace_text_close(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task);
/* Empty arguments that were left out.  False, reported: more than a true text can lack. */
bool ftr_etrace_push_empty(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			   uint64_t nr);

#endif /* FTR_FORMAT_ETRACE_LOAD_H */
