/* SPDX-License-Identifier: MIT */
/*
 * A trace: an opened data set.  A format's reader fills it (ftr_trace_open, format/format.h);
 * everything in it lives until ftr_trace_free.
 */
#ifndef FTR_TRACE_TRACE_H
#define FTR_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/arena.h"
#include "utils/base/err.h"
#include "utils/base/hashmap.h"
#include "utils/base/strpool.h"
#include "utils/base/vec.h"
#include "utils/object/demangle.h"
#include "utils/trace/func.h"
#include "utils/trace/info.h"
#include "utils/trace/session.h"
#include "utils/trace/source.h"
#include "utils/trace/task.h"

struct ftr_stacks;
struct ftr_summary;
struct ftr_trace;

/* Callbacks of a format; called once per module or function, at its first use. */
struct ftr_trace_loader {
	/* Load module->symtab; it stays NULL where the module has no symbols. */
	void (*module_load)(struct ftr_trace *trace, struct ftr_module *module);
	/* Fill args, retval, src_file and src_line of a function that was just made. */
	void (*func_init)(struct ftr_trace *trace, struct ftr_func *func);
};

/* A file with what the kernel traced while a data directory was recorded. */
struct ftr_kernel_file {
	const char *path;		/* (borrowed, nullable: the directory's own, if any) */
	bool has_offset;		/* its times are so much less, which is not to be found */
	int64_t offset_ns;
};

struct ftr_trace {
	const char *path;		/* as the user named it */
	const char *format;		/* name of the format it was read from */
	struct ftr_info info;
	enum ftr_demangle demangle;
	const char *symbol_dir;		/* (borrowed, nullable) whose symbols come first */
	bool shows_library;		/* names of library calls end in @LIBRARY */
	bool has_kernel;		/* a module is the kernel: some functions may be its */
	bool is_kernel_only;		/* there are no other functions */
	/* (nullable: all) Of which tracepoints of the kernel the consumer needs payloads: slow. */
	bool (*wants_text)(const char *name);
	/* The consumer takes the kernel's records of so many bytes instead of texts; 0 = none. */
	uint32_t record_max;
	/*
	 * All there is are such records, in this byte order and with longs of so many bytes; 0:
	 * there is more, and they are of this machine's order, with longs of 8 bytes.
	 */
	uint8_t record_long_bytes;
	bool record_is_big;
	struct ftr_kernel_file kernel_file;	/* to be read beside a data directory */
	const char *kernel_note; /* (nullable) for people: how the clock of that fits */
	FTR_VEC(struct ftr_task *) tasks;	/* by id */
	struct ftr_hashmap task_by_tid;
	FTR_VEC(struct ftr_session *) sessions;	/* by start time */
	FTR_VEC(struct ftr_func *) funcs;	/* by id */
	FTR_VEC(struct ftr_module *) modules;	/* by id */
	struct ftr_strpool names;	/* display names; func->name_id */
	struct ftr_arena arena;		/* all of the above */
	struct ftr_diag *diag;		/* (borrowed, nullable) */
	const struct ftr_trace_loader *loader;	/* (borrowed, nullable) */
	uint64_t first_ns;		/* elapsed times count from here; 0: from the first event */
	uint64_t first_event_ns;	/* ... or with --event-full from here; 0: no difference */

	/*
	 * (owned) One source per task and further ones (kernel, perf), each ordered by time;
	 * ftr_merge_new takes them over.  A format that is one stream supplies one.
	 */
	FTR_VEC(struct ftr_source *) sources;
	uint64_t bytes_total;		/* of records that sources read; 0 = not known */
	uint64_t bytes_read;		/* of these, so far */
	size_t chunk_bytes;	/* of records that runs are made of at a time; 0 = as usual */
	size_t index_bytes;	/* of records between two marks of an index; 0 = as usual */
	unsigned thread_nr;	/* that make runs; 0 = as many as processors */
	bool is_ordered;		/* the one source interleaves tasks already */
	/*
	 * Asked of the reader: a stream may be handed out as it comes, with tasks each in order of
	 * time, but not all of them together.  Then it is_growing: the source adds tasks, functions
	 * and sessions while it is read (doc/adr/0034).
	 */
	bool wants_growing;
	bool is_growing;
	/*
	 * Asked of the reader of a directory: if it is being recorded, hand out what comes until
	 * that ends, as of a stream that grows.
	 */
	bool wants_following;
	/* ... and give the room on disk back of what was read. */
	bool wants_consuming;
	bool has_coroutines; /* sources may hold ftr:stack events (coroutines.h) */
	bool is_narrowed;	/* its pipeline leaves out something that the program did */
	struct ftr_stacks *stacks;	/* (owned, nullable) of system calls: stacks.h */
	struct ftr_stacks *call_stacks;	/* (owned, nullable) of events ftr:backtrace */
	struct ftr_summary *summary;	/* (nullable) the trace has these sums, and no calls */
	bool has_syscalls; /* exits of functions with a sysid carry their system calls */

	void *reader;			/* (owned by the format) */
	void (*reader_free)(void *reader);	/* (nullable) */

	/* Only for trace.c and resolve.c. */
	struct ftr_strpool paths;	/* of modules, and their build ids */
	struct ftr_hashmap module_by_key;
	struct ftr_hashmap func_by_key;
	struct ftr_hashmap func_by_symbol;
	uint32_t unknown_nr;		/* functions made up for unknown addresses */
};

struct ftr_trace *ftr_trace_new(const char *path, struct ftr_diag *diag);
void ftr_trace_free(struct ftr_trace *trace);
/* For ->wants_text: of none. */
bool ftr_trace_wants_no_text(const char *name);

/* Find or add; NULL when out of memory.  A new task has pid = @pid, name "" and no session. */
struct ftr_task *ftr_trace_task_get(struct ftr_trace *trace, int32_t pid, int32_t tid);
struct ftr_task *ftr_trace_task_find(const struct ftr_trace *trace, int32_t tid);

struct ftr_module *ftr_trace_module_get(struct ftr_trace *trace, const char *path,
					const char *build_id);

/*
 * (owned, by free) array by name id: the first function of that name, NULL where nothing was called
 * by it.  NULL = out of memory.
 */
const struct ftr_func **ftr_trace_funcs_by_name(const struct ftr_trace *trace);
/* The function of this name without any symbol (formats that carry names only). */
struct ftr_func *ftr_trace_func_by_name(struct ftr_trace *trace, const struct ftr_module *module,
					const char *name, size_t len);

/*
 * The function of a symbol, which must stay where it is: interned by its address.  Named as
 * trace->demangle says.  NULL when out of memory.
 */
struct ftr_symbol;
struct ftr_func *ftr_trace_func_by_symbol(struct ftr_trace *trace, const struct ftr_module *module,
					  const struct ftr_symbol *symbol);

/*
 * A new session, dense id, not known to any task yet; NULL when out of memory.  @sid: 16
 * characters.
 */
struct ftr_session *ftr_trace_session_new(struct ftr_trace *trace, const char *sid, int32_t pid,
					  uint64_t start_ns);
struct ftr_session *ftr_trace_session_find(const struct ftr_trace *trace, const char *sid);

/* Append to task->sessions, whose start times must ascend.  0 or -ENOMEM. */
int ftr_trace_task_add_session(struct ftr_trace *trace, struct ftr_task *task,
			       struct ftr_session *session);

/*
 * The function at an address of a task at a time: session (nullable), module, symbol.  Never NULL
 * unless out of memory: an unknown address becomes a function named "<hex>".  Cached: some 10 ns; a
 * reader keeps a smaller cache in front of it.
 */
const struct ftr_func *ftr_trace_resolve(struct ftr_trace *trace, struct ftr_session *session,
					 uint64_t time_ns, uint64_t addr);

/*
 * The function at an address of a module that lies at the same place for everybody, as the kernel
 * does.  All of its functions are of @symbol_type.  Not cached.
 */
const struct ftr_func *ftr_trace_resolve_module(struct ftr_trace *trace, struct ftr_module *module,
						uint64_t addr, char symbol_type);

/*
 * The function (or variable) of the symbol table that covers an address, and how far into it the
 * address lies; NULL when there is none.  Unlike ftr_trace_resolve it makes nothing up.
 */
const struct ftr_func *ftr_trace_find(struct ftr_trace *trace, struct ftr_session *session,
				      uint64_t time_ns, uint64_t addr, uint64_t *offset);

#endif /* FTR_TRACE_TRACE_H */
