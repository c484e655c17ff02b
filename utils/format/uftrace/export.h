/* SPDX-License-Identifier: MIT */
/*
 * Parts of the sink that writes any trace as a uftrace directory; for uftrace/export*.c only.
 *
 * The directory knows functions by address alone, and not every trace has addresses: a function
 * without gets one at its first use, 16 bytes apart, its module a span of 4 GiB; symbols and maps
 * are written to match.
 */
#ifndef FTR_FORMAT_UFTRACE_EXPORT_H
#define FTR_FORMAT_UFTRACE_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/format/uftrace/write.h"
#include "utils/trace/args.h"
#include "utils/trace/sink.h"
#include "utils/trace/trace.h"
#include "utils/trace/type_names.h"

#define UFX_SPAN	  (UINT64_C(1) << 32)	/* of a module's addresses */
#define UFX_STEP	  16u			/* from function to function, at least */
#define UFX_BYTES_MAX	  ((uint64_t)1 << 20)	/* of a function that pointers point into */
#define UFX_MODULES_MAX	  16000u		/* so that all addresses have 47 bits */
#define UFX_PAYLOAD_MAX	  1016u			/* what old readers take */
#define UFX_ARGS_MAX	  40u
#define UFX_VARIANTS_MAX  16u			/* symbols of one function */
#define UFX_KERNEL	  UINT32_MAX	/* as index of a module */
#define UFX_BUFFER_BYTES  ((size_t)16 << 10)	/* of a task's records */

/* The layout of an argument of a function, by its payloads so far. */
struct ufx_arg {
	struct ftr_arg arg;	/* index, type name, values; size: of its bytes, 0 = string */
	unsigned letters;	/* those that show every value so far as it was: bits of 'a' + n */
};

struct ufx_layout {
	uint8_t nr;
	struct ufx_arg args[];
};

/*
 * A symbol of the directory.  Traces that know functions by name take those of one name for one
 * (overloads, instances of a template): where their arguments are laid out differently they become
 * symbols of their own.
 */
struct ufx_func {
	const struct ftr_func *func;
	uint64_t addr;			/* in the records; placed: relative to its module */
	uint32_t bytes;			/* up to the next one; placed: its size, 0 = unknown */
	bool     is_placed;		/* it has its address: uftrace/export_place.c */
	const struct ftr_session *session;	/* placed: the image that base is of */
	uint64_t base;
	uint32_t module;		/* index into modules; or UFX_KERNEL */
	uint32_t next;			/* of the same function: index into funcs + 1, 0 = none */
	struct ufx_layout *layouts[2];	/* (owned, nullable) of arguments, of the return value */
};

struct ufx_module {
	const char *path;		/* (in the arena) absolute */
	const char *build_id;		/* (nullable) */
	const struct ftr_module *module;	/* (nullable) */
	bool     is_placed;		/* it lies where it lay */
	uint32_t func_nr;
	uint64_t next;			/* offset of the function that is added next */
};

/* Records that wait. */
struct ufx_bytes {
	uint8_t *p;			/* (owned, nullable) UFX_BUFFER_BYTES */
	size_t   nr;
};

struct ufx_task {
	const struct ftr_task *task;	/* (nullable: no event of it was seen) */
	uint64_t first_ns;
	uint64_t fork_ns;		/* of the event that made it, 0 = none */
	const struct ftr_task *parent;	/* (nullable) */
	bool     is_named;		/* its name stands in a perf record, or is its maker's */
	const char *name;		/* (in the arena, nullable) by the last perf record */
	FTR_VEC(uint32_t) open;		/* its open calls: index into funcs */
	FTR_VEC(uint32_t) setjmps;	/* by open calls: the last setjmp there, as in open, + 1 */
	FTR_VEC(struct ftr_record) left; /* EXITs of what a jump leaves, until it arrives */
	uint32_t kernel_depth;		/* how many of them are the kernel's */
	uint16_t cpu_nr;		/* where it was last, plus 1; 0 = not known */
	struct ufx_bytes own, aside;	/* for TID.dat, TID.event */
};

struct ufx_kernel;

/* perf-cpuN.dat, waiting. */
struct ufx_perf {
	FTR_VEC(uint8_t) bytes;
};

struct ufx {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	const struct ftr_trace *trace;
	struct ftr_uftrace_dir *dir;	/* (owned) */
	struct ftr_arena arena;
	FTR_VEC(uint32_t) first;		/* by func id: index into funcs + 1, 0 = none yet */
	FTR_VEC(struct ufx_func) funcs;		/* by address */
	FTR_VEC(struct ufx_module) modules;
	FTR_VEC(struct ufx_task) tasks;		/* by task id */
	struct ftr_hashmap module_index;	/* module id + 1, or 0 -> index + 1 */
	FTR_VEC(uint32_t) placed;		/* by func id, as first */
	struct ftr_hashmap placed_addrs;	/* of modules' functions that are placed */
	struct ftr_hashmap by_name;		/* name id -> struct ftr_func */
	struct ftr_hashmap events;		/* hash of name -> id of events.txt */
	struct ftr_type_names types;
	uint32_t event_nr;
	uint32_t valued_nr;			/* ... and of those whose values are written */
	FTR_VEC(struct ufx_perf) perf;		/* by CPU */
	FTR_VEC(struct ufx_perf) samples;	/* by CPU, of sample-cpuN.dat */
	struct ufx_perf system;			/* of system.dat */
	struct ufx_kernel *kernel;	/* (owned, nullable: nothing was the kernel's) */
	struct ftr_strbuf extern_text;	/* extern.dat */
	struct ufx_syscalls *syscalls;	/* (owned, nullable) uftrace/export_syscall.c */
	bool has_args, has_retval, has_events, has_perf, has_places, has_kernel;
	uint64_t layout_cut_nr;		/* payloads that did not suit the function's layout */
	uint64_t name_cut_nr;		/* argument names, which the format does not know */
	uint64_t data_cut_nr;		/* data of events that it cannot hold */
	uint64_t text_cut_nr;		/* texts of tracepoints that no page has room for */
	uint64_t kernel_cut_nr;		/* arguments and places of the kernel's functions */
	uint64_t late_nr; /* kernel events that were earlier than the one before on their CPU */
	uint64_t syscall_cut_nr;	/* system calls without a record */
	struct ftr_strbuf cut_text;
};

int ufx_no_memory(struct ufx *x);
int ufx_file_append(struct ufx *x, const char *name, const void *bytes, size_t len);

/* uftrace/export_func.c */
/*
 * Index into funcs of a function's first symbol, at least @bytes long where it is new; -1: no
 * memory.
 */
int64_t ufx_func_get(struct ufx *x, const struct ftr_func *func, uint64_t bytes);
int64_t ufx_func_add(struct ufx *x, const struct ftr_func *func, uint64_t bytes);
/* What stands for the function in files of lines. */
const char *ufx_symbol_name(struct ufx *x, const struct ftr_func *func);
int  ufx_write_modules(struct ufx *x);		/* .sym, .dbg */
/* The map of an image, with what is placed in it as in @session (nullable). */
int  ufx_write_map(struct ufx *x, const char *sid, const struct ftr_session *session);
/* Index into modules of that, or of what stands in for it: placed or not.  0 or -ENOMEM. */
int  ufx_module_get(struct ufx *x, const struct ftr_module *module, bool is_placed,
		    uint32_t *index);

/* uftrace/export_place.c */
/* Index into funcs of a function at its own address, in the event's image; -ENOENT: it has none. */
int64_t ufx_placed_get(struct ufx *x, const struct ftr_event *ev, const struct ftr_func *func);
bool ufx_module_is_placed(const struct ufx *x, const struct ftr_module *module);
/* Where the module of a placed function lies in an image; 0 = nowhere. */
uint64_t ufx_func_base(struct ufx *x, uint32_t index, const struct ftr_session *session);
/* What a record of a call has. */
uint64_t ufx_call_addr(struct ufx *x, const struct ftr_event *ev, uint32_t index);
/* By address, with a mark behind the last if that has no end: room for it is there.  How many. */
size_t ufx_placed_sort(const struct ufx_module *module, struct ftr_symbol *symbols, size_t nr);
bool ufx_placed_map(const struct ftr_session *session, const struct ufx_module *module,
		    struct ftr_uftrace_map *map);

/* uftrace/export_args.c */
/*
 * The symbol of a call whose arguments are laid out like this.  Index into funcs, or -1: no memory.
 */
int64_t ufx_func_of_entry(struct ufx *x, const struct ftr_event *ev);
/*
 * The payload as records hold it, in @bytes (UFX_PAYLOAD_MAX); its length, padded to 8.  -ENOENT:
 * it has none, or does not suit the function (counted).  Or -ENOMEM.
 */
int  ufx_payload(struct ufx *x, const struct ftr_event *ev, uint32_t func, uint8_t *bytes);
/* What the directory has at an address of the event's task; @addr itself where nothing is known. */
uint64_t ufx_address(struct ufx *x, const struct ftr_event *ev, uint64_t addr);
/* "arg1/i64,arg2/s" */
void ufx_layout_text(const struct ufx_layout *layout, bool is_retval, struct ftr_strbuf *text);

/* uftrace/export_jump.c: 0 or -errno. */
/* A call of @func begins, which task->open does not have yet. */
int  ufx_jump_entry(struct ufx *x, struct ufx_task *task, uint32_t func);
/* An EXIT with FTR_EVENT_LEFT, which task->open does not have any more. */
int  ufx_jump_exit(struct ufx *x, struct ufx_task *task, const struct ftr_event *ev,
		   const struct ftr_record *record);
/* Something else happens: what was left has records of its own. */
int  ufx_jump_flush(struct ufx *x, struct ufx_task *task);

/* uftrace/export_task.c */
struct ufx_task *ufx_task_get(struct ufx *x, const struct ftr_task *task, uint64_t time_ns);
int  ufx_write_tasks(struct ufx *x);		/* task.txt, maps */
int  ufx_write_info(struct ufx *x);

/* uftrace/export_event.c: what is not a call. */
int  ufx_point(struct ufx *x, const struct ftr_event *ev);
int  ufx_message(struct ufx *x, const struct ftr_event *ev);
int  ufx_perf_lost(struct ufx *x, const struct ftr_event *ev);
int ufx_perf_comm(struct ufx *x, const struct ftr_task *task, uint64_t time_ns,
		  struct ftr_slice name, uint16_t cpu_nr);

/* uftrace/export_kernel.c */
int ufx_kernel_addr(struct ufx *x, const struct ftr_func *func,
		    uint64_t *addr); /* of a new function */
/* An entry or exit of a function of the kernel; task->kernel_depth is that of the call. */
int ufx_kernel_call(struct ufx *x, const struct ufx_task *task, const struct ftr_event *ev,
		    uint64_t addr);
/* 1: it was a tracepoint, and written; 0: it is none; or -errno. */
int  ufx_kernel_point(struct ufx *x, const struct ufx_task *task, const struct ftr_event *ev);
/* @nr records of the kernel are missing; 0 = unknown how many. */
int  ufx_kernel_lost(struct ufx *x, uint64_t time_ns, uint32_t cpu, uint64_t nr);
int  ufx_kernel_end(struct ufx *x);
void ufx_kernel_free(struct ufx_kernel *kernel);	/* NULL is fine */

/* uftrace/export_syscall.c */
/* 1: the event is one of system calls, and was taken; 0: it is not; or -errno. */
int  ufx_syscall(struct ufx *x, const struct ftr_event *ev);
/*
 * How many calls of those around an event of the task are system calls, which its data do not hold.
 */
uint32_t ufx_syscall_depth(const struct ufx *x, const struct ftr_task *task);
int  ufx_syscalls_flush(struct ufx *x);
void ufx_syscalls_fini(struct ufx *x);

/* uftrace/export.c: append a record and its payload to a task's data. */
int  ufx_put(struct ufx *x, struct ufx_task *task, const struct ftr_record *record,
	     const uint8_t *payload, size_t len);
/* The same beside it: an event with data that uftrace does not know. */
#define UFX_EVENT_VALUES_MAX 104	/* their types, and 12 of 8 bytes */

/*
 * uftrace/export_values.c: the values of a POINT that have no names, as data of an event of
 * FTR_RECORD_EVENT_SDT; how long they are, 0 = they are others.
 */
size_t ufx_event_values(const struct ftr_event *ev, uint8_t to[UFX_EVENT_VALUES_MAX]);

int  ufx_put_aside(struct ufx *x, struct ufx_task *task, const struct ftr_record *record,
		   const uint8_t *payload, size_t len);

#endif /* FTR_FORMAT_UFTRACE_EXPORT_H */
