/* SPDX-License-Identifier: MIT */
/*
 * Parts of the reader of trace.dat; for tracedat/read*.c only.  The format: trace-cmd.dat(5), and
 * what that leaves out: doc/trace-dat.md.
 */
#ifndef FTR_FORMAT_TRACEDAT_READ_H
#define FTR_FORMAT_TRACEDAT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/istream.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/format/ftrace/pages.h"
#include "utils/format/tracedat/layout.h"
#include "utils/trace/trace.h"

/*
 * Bytes of the file, or of an unpacked section, that are taken from the front.  Beyond the end
 * there are zeros and empty texts, and is_short is set for good: it is enough to look at it last,
 * and in loops.
 */
struct tdat_part {
	const uint8_t *at, *end;
	uint64_t offset;		/* of @end in the file, for messages */
	bool is_big;
	bool is_short;
};

uint64_t tdat_number(struct tdat_part *part, unsigned bytes);
struct ftr_slice tdat_bytes(struct tdat_part *part, uint64_t bytes);
struct ftr_slice tdat_string(struct tdat_part *part);	/* up to a NUL, which is taken too */
/* Where in the file the next byte is.  Of an unpacked section: where the section ends. */
uint64_t tdat_offset(const struct tdat_part *part);

struct tdat_option {
	uint16_t id;
	struct tdat_part data;
};

/* Samples of a guest's clock against its host's: from time on, time * scaling >> shift + offset. */
struct tdat_shift {
	uint64_t time;
	int64_t offset_ns;
	uint64_t scaling;
	uint32_t fraction_bits;
};

struct tdat_shifts {
	FTR_VEC(struct tdat_shift) samples;	/* by time */
};

/* What the times of the file mean. */
struct tdat_clock {
	FTR_VEC(struct tdat_shifts) cpus;	/* (owned) of a guest */
	uint32_t tsc_mult, tsc_shift;		/* 0 = the times are nanoseconds */
	int64_t offset_ns;			/* is added at last */
	bool has_warned;			/* of ticks that stay ticks */
};

/* A ring buffer: the top one, whose name is "", or an instance. */
struct tdat_buffer {
	const char *name;
	const char *clock;		/* (nullable: not known) */
	bool is_ticks;			/* of a clock that does not count nanoseconds */
};

struct tdat_reader {
	struct ftr_trace *trace;
	struct ftr_istream in;			/* whole */
	unsigned version;
	bool is_big;
	uint8_t long_bytes;
	uint32_t page_bytes;
	uint32_t cpu_nr;			/* of version 6 */
	struct ftr_slice packer;		/* of version 7: "none", "zstd", "zlib" */
	FTR_VEC(struct tdat_option) options;
	FTR_VEC(struct ftr_istream) unpacked;	/* (owned) sections, and CPUs' chunks */
	FTR_VEC(struct ftr_slice) texts;	/* of latency tracers */
	struct ftr_slice kallsyms;
	const char *clock_name;			/* (nullable) */
	struct tdat_clock clock;
	struct ftr_ftrace ftrace;
	struct ftr_ftrace_pages pages;
	struct ftr_hashmap tasks;		/* tid -> struct ftr_ftrace_task */
	struct tdat_kin *kin;			/* (owned) what the walk finds of tasks */
	struct ftr_ftrace_task *last;		/* (nullable) of the last event */
	int32_t last_tid;
	unsigned beyond_nr;			/* CPUs whose pages are beyond the end */
	bool is_side;				/* of another reader's trace */
	bool is_failed;				/* out of memory in a callback */
	uint32_t tasks_from;			/* of files by ftr: CPUs from there on are none */
};

/* The part of the file from @offset on, @bytes or what there is.  False: it is beyond the end. */
bool tdat_part_at(const struct tdat_reader *reader, uint64_t offset, uint64_t bytes,
		  struct tdat_part *part);
void tdat_warn(const struct tdat_reader *reader, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* NUL-terminated, in the trace's arena; NULL = out of memory. */
char *tdat_strdup(struct tdat_reader *reader, struct ftr_slice text);

/* ---- read_meta.c: formats, symbols, names of tasks ---- */

#define TDAT_META_NR 6
/* Read one of them, in order: 0, -ENOMEM, or -EBADMSG: @part is too short. */
int tdat_meta_load(struct tdat_reader *reader, unsigned nr, struct tdat_part *part);
/* What they are read into, where the first of them could not be read.  0 or -ENOMEM. */
int tdat_meta_begin(struct tdat_reader *reader);
const char *tdat_meta_name(unsigned nr);	/* for messages */
void tdat_module_load(struct ftr_trace *trace, struct ftr_module *module);

/* ---- read_option.c ---- */

/* Options up to the end of their list.  0 or -ENOMEM. */
int tdat_options_take(struct tdat_reader *reader, struct tdat_part *part);
/* What they say of clocks, machine and recording.  0 or -ENOMEM. */
int tdat_options_apply(struct tdat_reader *reader);
/* Each one's data, in order: *pos starts at 0.  False: there are no more. */
bool tdat_option_next(const struct tdat_reader *reader, uint16_t id, size_t *pos,
		      struct tdat_part *data);

/* ---- read_buffer.c ---- */

/* Where one CPU's pages are in the file. */
struct tdat_cpu_at {
	uint64_t offset, bytes;
	uint32_t cpu;
	uint32_t page_bytes;
	bool is_packed;
};

/* NULL = out of memory. */
struct tdat_buffer *tdat_buffer_new(struct tdat_reader *reader, struct ftr_slice name,
				    struct ftr_slice clock);
/* One CPU's pages of a buffer.  0 or -ENOMEM; damage is warned about. */
int tdat_cpu_add(struct tdat_reader *reader, struct tdat_buffer *buffer,
		 const struct tdat_cpu_at *at);
/* What is left of version 6: options, places of all CPUs' pages, or a text.  0 or -ENOMEM. */
int tdat_data_load(struct tdat_reader *reader, struct tdat_part *part);

/* ---- read_section.c: version 7 ---- */

int tdat_sections_load(struct tdat_reader *reader, struct tdat_part *part, struct ftr_err *err);

/* ---- unpack.c ---- */

#define TDAT_PACKER_NONE "none"

bool tdat_can_unpack(struct ftr_slice packer);
/*
 * So many chunks, one after the other, become one input: { u32 bytes, u32 unpacked bytes, data }.
 * 0, or -EBADMSG: damage ends it early, or another -errno: there is none.
 */
int tdat_unpack(struct ftr_istream *out, struct ftr_slice packer, const struct tdat_part *packed,
		uint32_t chunk_nr, struct ftr_err *err);

/* ---- read_clock.c ---- */

uint64_t tdat_time_ns(void *arg, const struct ftr_ftrace_cpu *cpu, uint64_t time);
/* Does the clock count something else?  NULL: no. */
bool tdat_clock_is_ticks(const char *name);
int tdat_shifts_load(struct tdat_reader *reader, struct tdat_part *part);

/* ---- read_task.c, read_kin.c ---- */

extern const struct ftr_ftrace_owner tdat_owner;
/* Find or add.  NULL = out of memory. */
struct ftr_ftrace_task *tdat_task_get(struct tdat_reader *reader, int32_t tid);

/* What events of the scheduler say of tasks: names, and who made whom. */
struct tdat_kin *tdat_kin_new(void);	/* NULL = out of memory */
void tdat_kin_free(struct tdat_kin *kin);	/* NULL is fine */
int tdat_cmdlines_load(struct tdat_reader *reader, struct ftr_slice text);
int tdat_kin_event(struct tdat_reader *reader, const struct ftr_ftrace_page *page,
		   const struct ftr_ftrace_event *event);
void tdat_kin_name(struct tdat_reader *reader, struct ftr_task *task, struct ftr_slice name);
/* All tasks are known now. */
void tdat_kin_apply(struct tdat_reader *reader);

/* ---- read_text.c ---- */

/* The text of latency tracers as a source.  0 or -ENOMEM. */
int tdat_text_load(struct tdat_reader *reader, struct ftr_slice text);

#endif /* FTR_FORMAT_TRACEDAT_READ_H */
