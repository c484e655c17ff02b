/* SPDX-License-Identifier: MIT */
/* Parts of the reader of uftrace directories; for uftrace/read*.c only. */
#ifndef FTR_FORMAT_UFTRACE_READ_H
#define FTR_FORMAT_UFTRACE_READ_H

#include "utils/format/dir.h"
#include "utils/format/etrace/events.h"
#include "utils/format/ftrace/pages.h"
#include "utils/format/uftrace/read_packed.h"
#include "utils/trace/args.h"
#include "utils/trace/trace.h"

#define UFT_SLOT_BITS 11	/* of the direct-mapped cache of addresses */
#define UFT_SLOTS     FTR_BIT(UFT_SLOT_BITS)

/* One resolved address of one context: a session between two changes of its map. */
struct uft_slot {
	uint64_t addr;
	uint32_t context;	/* 0 = free */
	const struct ftr_func *func;
};

/*
 * What a task's stream holds besides its records: perf events, forks, extern texts.  There may be
 * millions.
 */
struct uft_side {
	uint64_t time_ns;
	uint32_t order;		/* as found: keeps the sort stable */
	uint16_t cpu_nr;	/* POINT: CPU it happened on, plus 1; 0 = not known */
	uint8_t  kind;		/* UFT_SIDE_*, or a POINT: its id less UFT_SIDE_POINT_BASE */
};

/* What the few have that are more than a time and a kind. */
struct uft_side_more {
	uint32_t order;		/* of the uft_side */
	/* (borrowed) POINT: struct ftr_payload; LOST: uint64_t; FORK: struct ftr_task; else char */
	void *what;
};

/* Names by perf events: a COMM sets one, a FORK passes one on. */
struct uft_name {
	uint64_t time_ns;
	int32_t tid;
	int32_t parent_tid;	/* FORK */
	const char *text;	/* COMM; NULL: FORK */
	uint32_t order;		/* as found: keeps the sort stable */
};

enum {
	UFT_SIDE_POINT_BASE = 200000,
	UFT_SIDE_LOST	    = UINT8_MAX - 2,	/* POINTs have kinds below */
	UFT_SIDE_FORK	    = UINT8_MAX - 1,
	UFT_SIDE_MESSAGE    = UINT8_MAX,
};

struct uft_ahead;
struct uft_live;
struct uft_kernel;

/* One task and its data. */
struct uft_task {
	struct ftr_task *task;
	struct ftr_istream in;	/* TID.dat; data = NULL: there is none */
	struct ftr_istream aside;	/* TID.event, likewise */
	struct uft_packed *packed, *aside_packed;	/* (owned, nullable) what they are of */
	bool is_open, is_aside_open;
	bool may_seek;		/* nothing but its own events is merged with its records */
	bool has_runs;		/* its source is over TID.dat alone, which may be read ahead */
	size_t piece_at;	/* ... by these pieces of reader->ahead */
	bool is_named;		/* not only as the parent of another: it has data */
	uint64_t first_ns;	/* of its first record, 0 = none */
	FTR_VEC(struct uft_side) side;	/* sorted by time before reading starts */
	FTR_VEC(struct uft_side_more) side_more;	/* as found */
	FTR_VEC(struct uft_task *) children;	/* (borrowed) forked, not exec'ed */
	uint32_t fork_order; /* of a forked child: that of the UFT_SIDE_FORK of its parent */
	FTR_VEC(uint64_t) inherited; /* addresses of the calls it was forked in, outermost first */
	bool is_forks_done;		/* its children know what they inherit */
	struct ftr_ftrace_task kernel;	/* where its events lie in the kernel's data */
};

struct uft_specs;

struct uft_reader {
	struct ftr_trace *trace;
	struct ftr_dir *dir;	/* (owned) */
	bool is_big;
	bool is_32;
	FTR_VEC(struct uft_task *) tasks;	/* (owned) in order of info, then as found */
	struct ftr_hashmap task_by_tid;		/* struct uft_task */
	FTR_VEC(struct uft_name) names;
	struct ftr_strpool user_names;		/* that the program gave: user.h */
	struct ftr_hashmap event_names;		/* id -> const char *, of events.txt */
	struct ftr_hashmap sdt_specs;		/* types (proto/sdt.h) -> struct ftr_argspec */
	struct uft_specs *specs;		/* (owned, nullable) */
	struct ftr_etrace_events *syscalls;	/* (owned, nullable) of FTR_SYSCALL_FILE */
	struct uft_kernel *kernel;		/* (owned, nullable) */
	struct uft_summary *summary;		/* (owned, nullable) */
	unsigned cut_packed_nr;			/* packed files without an index */
	unsigned unmapped_nr;			/* sessions without a map */
	bool is_unknown_reported;		/* values whose layout nothing tells */
	struct uft_live *live;			/* (owned, nullable) it is being recorded */
	struct ftr_run_wish wish;	/* which runs will be asked for */
	struct uft_ahead *ahead;		/* (owned, nullable) once runs were asked for */
	struct uft_slot slots[UFT_SLOTS];
};

/* uftrace/read_info.c: the file info.  -ENOENT, -EBADMSG (not uftrace data). */
int uft_info_parse(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err);
int uft_info_load(struct uft_reader *reader, struct ftr_err *err);

/* uftrace/read_task.c: task.txt and the maps it names.  0 or -ENOMEM; damage is warned about. */
int uft_tasks_load(struct uft_reader *reader, struct ftr_err *err);
/*
 * Sessions of every task without any, once all tasks are known; where none is found the first, if
 * one @guesses.
 */
int uft_tasks_link(struct ftr_trace *trace, bool guesses);

/*
 * Lines of task.txt behind *pos.  With @waits as far as they are whole, and what explains them is
 * there; 1: more is to come.  0 or -ENOMEM.
 */
int uft_tasks_more(struct uft_reader *reader, size_t *pos, bool waits);
/* Give the sessions from @from on to the processes that had others before.  0 or -ENOMEM. */
int uft_sessions_add(struct ftr_trace *trace, size_t from);

/* uftrace/read_summary.c: sets trace->summary where there is one.  0 or -errno. */
int uft_summary_load(struct uft_reader *reader, struct ftr_err *err);
void uft_summary_free(struct uft_reader *reader);

/* uftrace/read_map.c */
int uft_map_load(struct uft_reader *reader, struct ftr_session *session);
void uft_module_load(struct ftr_trace *trace, struct ftr_module *module);
/* Open the module's file NAME@suffix or, on a clash of names, NAME-xxxx@suffix.  -ENOENT ... */
int uft_module_file(struct uft_reader *reader, const struct ftr_module *module, const char *suffix,
		    struct ftr_istream *in);

/* uftrace/read_spec.c: layouts of arguments, and source lines. */
int uft_specs_load(struct uft_reader *reader);
void uft_specs_free(struct uft_reader *reader);
void uft_func_init(struct ftr_trace *trace, struct ftr_func *func);

/* uftrace/read_event.c: names of POINT events; the file events.txt.  NULL = out of memory. */
const char *uft_event_name(struct uft_reader *reader, uint64_t id);
/* What events of programs have these types of arguments for values. */
const struct ftr_argspec *uft_event_spec(struct uft_reader *reader, uint64_t types);
int uft_events_load(struct uft_reader *reader, struct ftr_err *err);

/* uftrace/read_stacks.c: tasks for the coroutines of threads.  0 or -ENOMEM. */
int uft_stacks_load(struct uft_reader *reader);

/* uftrace/read_perf.c: perf-cpuN.dat and extern.dat become side events.  0 or -ENOMEM. */
int uft_sides_load(struct uft_reader *reader);
/*
 * ... of one file, whose records to @size that are whole, from *pos on, are added.  0 or -ENOMEM.
 */
int uft_perf_more(struct uft_reader *reader, const struct ftr_istream *in, size_t *pos,
		  uint16_t cpu_nr);
/* Is it a file of such records, and of which CPU, plus 1? */
bool uft_perf_is_name(const char *name, uint16_t *cpu_nr);
/* uftrace/read_side.c: order those of a task from @from on by time. */
void uft_sides_sort(struct uft_task *task, size_t from);
/* @side's order is set here; @what (nullable) is in the trace's arena.  0 or -ENOMEM. */
int uft_side_add(struct uft_task *task, struct uft_side side, void *what);
/* What it was added with. */
void *uft_side_what(const struct uft_task *task, const struct uft_side *side);

/* Of what is passed over, the places in uft_task.side of the last of each kind, latest first. */
struct uft_sides_kept {
	size_t *v;
	size_t nr, cap;
	size_t behind;		/* the first one that is not passed over */
};

/* Pass over those before @time_ns.  0 or -ENOMEM; free kept->v. */
int uft_sides_pass(const struct uft_task *task, uint64_t time_ns, struct uft_sides_kept *kept);
/* The place of the next one, behind that at @pos; -1: of the first. */
size_t uft_sides_next(struct uft_sides_kept *kept, size_t pos);

/*
 * uftrace/read_kernel.c: what kernel-cpuN.dat, or a trace.dat, hold of tasks that have user data.
 * 0 or -errno, described.
 */
int uft_kernel_load(struct uft_reader *reader, struct ftr_err *err);
/* Merge it into the task's own events.  Takes @source (nullable) over; NULL: out of memory. */
struct ftr_source *uft_kernel_join(struct uft_reader *reader, struct uft_task *task,
				   struct ftr_source *source);
void uft_kernel_free(struct uft_reader *reader);
/* uftrace/read_kernel_header.c: the symbols of the module FTR_KERNEL_PATH. */
int uft_kallsyms_load(struct uft_reader *reader, struct ftr_symtab *symtab);

/*
 * uftrace/read_estimate.c: EXITs of traces with estimated returns, while the task was off its CPU.
 */
struct uft_estimate {
	bool is_on;		/* the trace has estimated returns */
	uint64_t back_ns;	/* when the task gets a CPU again that left one; 0 = it has one */
	uint64_t exit_ns;	/* of the calls that ended after that; 0 = not known yet */
};
/* Pass side event @side_pos of the task. */
void uft_estimate_side(struct uft_estimate *self, const struct uft_task *task, size_t side_pos);
/* The time of the record at @p, before @end: as it is, or that of an EXIT when it can have been. */
uint64_t uft_estimate_time(struct uft_estimate *self, const uint8_t *p, const uint8_t *end,
			   bool is_big);
/* The first record from @p on, before @end, that tells when one at @p can have been; or @end's. */
const uint8_t *uft_estimate_reach(const uint8_t *p, const uint8_t *end, bool is_big);

/* uftrace/read_fork.c: fill task->inherited of a forked child.  0 or -ENOMEM. */
int uft_inherit(struct uft_reader *reader, struct uft_task *task);

/*
 * uftrace/read_data.c: the source over one task's records and side events; damage is reported to
 * @diag.
 */
struct ftr_source *uft_data_source(struct uft_reader *reader, struct uft_task *task,
				   struct ftr_diag *diag);
/* The same over what stands in TID.event. */
struct ftr_source *uft_aside_source(struct uft_reader *reader, struct uft_task *task,
				    struct ftr_diag *diag);

/*
 * uftrace/read_live.c: is the directory being recorded?  Then read what there is, and what will
 * come: 0 or -errno, described.
 */
bool uft_live_is_recorded(const struct uft_reader *reader);
int uft_live_load(struct uft_reader *reader, struct ftr_err *err);
void uft_live_free(struct uft_live *live);	/* NULL is fine */

/* uftrace/read.c: count the data of @in, which are not packed, and note when they begin. */
void uft_first_ns_note(struct uft_reader *reader, struct uft_task *task, struct ftr_istream *in);

/* uftrace/read_run.c: before the tasks are freed; NULL is fine. */
void uft_ahead_free(struct uft_ahead *ahead);

struct uft_task *uft_task_get(struct uft_reader *reader, int32_t pid, int32_t tid);

#endif /* FTR_FORMAT_UFTRACE_READ_H */
