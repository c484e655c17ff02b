/* SPDX-License-Identifier: MIT */
/* Parts of the FXT writer; for fxt/write*.c only. */
#ifndef FTR_FORMAT_FXT_WRITE_H
#define FTR_FORMAT_FXT_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/base/vec.h"
#include "utils/format/fxt/layout.h"
#include "utils/trace/sink.h"
#include "utils/trace/task.h"
#include "utils/trace/type_names.h"

/*
 * The last records of an FXT file, kept in memory so that the end of a call can still be written
 * into them.
 *
 * A call is written as Duration Complete when it begins, with FXT_PENDING for its end.  If it ends
 * while its record is in the window, the end is filled in: 24 bytes a call.  When the window is
 * full it goes to the output, and the records of calls that are still open become Duration Begin;
 * their ends are written as Duration End (doc/adr/0014-calls-complete-in-a-window.md).
 */
#define FXT_PENDING	 UINT64_MAX
#define FXT_WINDOW_WORDS ((size_t)32 << 10)	/* 256 KiB: stays in the cache; some 10,000 calls */

struct fxt_window {
	uint64_t *words;	/* (owned) FXT_WINDOW_WORDS of them */
	size_t nr;		/* in use */
	uint64_t base;		/* position of words[0]; positions count words since the start */
	struct ftr_ostream *out;	/* (borrowed) */
};

void fxt_window_flush(struct fxt_window *window);

/* Room for a record of @words, FXT_WORDS_MAX at most; it counts as written. */
static inline uint64_t *fxt_window_put(struct fxt_window *window, size_t words)
{
	uint64_t *p;

	if (__builtin_expect(window->nr + words > FXT_WINDOW_WORDS, 0))
		fxt_window_flush(window);
	p = window->words + window->nr;
	window->nr += words;
	return p;
}

/* Position of the record that was put last, @words long. */
static inline uint64_t fxt_window_last(const struct fxt_window *window, size_t words)
{
	return window->base + window->nr - words;
}

/* Fill in the end of the call whose record is at @pos; false when it has left the window. */
static inline bool fxt_window_end(struct fxt_window *window, uint64_t pos, uint64_t end_ns)
{
	uint64_t *record;

	if (__builtin_expect(pos < window->base, 0))
		return false;
	record = window->words + (pos - window->base);
	record[fxt_record_words(*record) - 1] = end_ns;
	return true;
}

/* ---- the writer ---- */

#define FXT_PROVIDER_ID	   1u
#define FXT_ID_NONE	   UINT32_MAX	/* of a string: no text, ref 0 */
#define FXT_VICTIMS	   1024u	/* slots that are chosen for re-assignment at a time */

struct ftr_module;
struct ftr_session;

struct fxt_string {
	const struct ftr_str *str;	/* (borrowed) in the pool */
	uint16_t slot;			/* 0 = not in the table */
};

/* The 15-bit string table.  Ids are those of the pool, slots those of the file. */
struct fxt_strings {
	struct ftr_strpool pool;
	FTR_VEC(struct fxt_string) texts;	/* by id */
	uint32_t *ids;			/* (owned) by slot */
	uint64_t *used;			/* (owned) by slot: when it was used last */
	uint64_t now;
	uint32_t next;			/* lowest slot that was never assigned */
	uint32_t victim_pos, victim_nr;
	struct fxt_victim { uint64_t used; uint16_t slot; } victims[FXT_VICTIMS];
};

/* What records of a function refer to. */
struct fxt_func {
	uint32_t name;		/* ids of strings */
	uint32_t category;	/* its module; or FXT_ID_NONE */
	uint32_t loc;		/* "main.c:7"; or FXT_ID_NONE */
	uint32_t symbol; /* label, where others of the module have this name; or FXT_ID_NONE */
	uint32_t instance_of;	/* the class whose instance its first argument is; or FXT_ID_NONE */
	bool makes_thread;	/* pthread_create and the like */
	bool has_args;		/* each call has one of these, or makes a thread */
	bool is_made;
	bool is_known;		/* as made, and nothing is missing in ftr.symbols */
};

struct fxt_task {
	uint64_t last_ns;	/* time of its last record */
	FTR_VEC(uint64_t) open;	/* positions of the records of its open calls */
	uint32_t flow_id;	/* of the fork that made it, waiting for its first call; 0 = none */
	uint32_t maker_depth;   /* of the last call that makes a thread, and its record:
				   fxt/write_event.c */
	uint64_t maker_pos;
	uint32_t maker_flow;	/* of the arrow that begins there; 0 = a task has it */
	uint8_t  slot;		/* in the thread table; 0 = none */
	bool     flow_is_fork;
	bool     is_named;
};

/* The arguments of one event; each part holds up to FXT_ARGS_MAX and fits into a record. */
#define FXT_PARTS_MAX 20
#define FXT_PART_WORDS (FXT_WORDS_MAX - 16)	/* the rest is for what stands around arguments */
struct fxt_args {
	uint64_t words[2 * FXT_WORDS_MAX];
	uint32_t nr_words;
	uint32_t part_nr;	/* 0 = no arguments */
	struct { uint32_t start, words; uint8_t nr; } parts[FXT_PARTS_MAX];
};

struct fxt_writer {
	struct ftr_sink base;	/* first: ops receive a pointer to it */
	const struct ftr_trace *trace;
	struct fxt_window window;
	struct fxt_strings strings;
	FTR_VEC(struct fxt_func) funcs;		/* by func id */
	FTR_VEC(struct fxt_task) tasks;		/* by task id */
	uint32_t thread_tasks[FXT_THREAD_MAX + 1];	/* task id by slot of the thread table */
	uint64_t thread_used[FXT_THREAD_MAX + 1];
	uint64_t thread_now;
	uint32_t thread_next;
	uint32_t flow_nr;
	struct ftr_hashmap func_names;	/* (category, name) of functions */
	struct ftr_hashmap
		labels; /* by id of the text: it distinguishes a function of a shared name */
	struct ftr_hashmap modules;	/* by id of the module: its number in blob ftr.symbols */
	struct ftr_hashmap mapped;	/* by id: modules with lines B in ftr.symbols */
	struct ftr_hashmap makers;	/* by pid: struct fxt_maker (owned) */
	struct ftr_hashmap processes;	/* by pid: the name that was written */
	struct ftr_hashmap objects;	/* (pid, pointer) that were named */
	struct ftr_hashmap instances;	/* (pid, pointer) of this: id of the class's name, plus 1 */
	struct ftr_type_names types;
	size_t type_nr;			/* of those, how many the file describes */
	struct fxt_syscalls *syscalls;	/* (owned, nullable) fxt/write_syscall.c */
	struct ftr_strbuf text;
	struct ftr_strbuf cut_text, note_text;
	struct fxt_args args;
	uint64_t event_pos;		/* of the record that fxt_put_event wrote last */
	uint64_t text_cut_nr;		/* texts that were too long or not UTF-8 */
	uint64_t split_nr;		/* argument lists that took more than one record */
	uint64_t arg_cut_nr;		/* arguments for which there was no room */
	uint64_t syscall_cut_nr;	/* records of system calls too near to each other */
	uint64_t deep_nr;		/* calls too deep for viewers */
};

static inline struct fxt_writer *fxt_writer_of(struct ftr_sink *sink)
{
	return (struct fxt_writer *)sink;
}

int fxt_no_memory(struct fxt_writer *w);	/* -ENOMEM, described */

/*
 * fxt/write_func.c: w->funcs gets what records of the function that is called refer to.  0 or
 * -ENOMEM.
 */
int  fxt_func_add(struct fxt_writer *w, const struct ftr_event *ev);
/* What is known of a function that need not be called in the trace.  0 or -ENOMEM. */
int  fxt_func_describe(struct fxt_writer *w, const struct ftr_func *func);
/* The same of the function or variable at an address of the event's task, if there is one. */
int  fxt_func_at(struct fxt_writer *w, const struct ftr_event *ev, uint64_t addr);
/* Where modules lay, written before the first event.  0 or -ENOMEM. */
int  fxt_write_maps(struct fxt_writer *w);
/*
 * Where a call was: from where its module lay, if the file has that; else in memory.  0 = not
 * known.
 */
uint64_t fxt_call_place(const struct fxt_writer *w, const struct ftr_event *ev);

/* fxt/write_table.c: strings. */
int  fxt_strings_init(struct fxt_writer *w);
void fxt_strings_fini(struct fxt_writer *w);
/*
 * The text as the format wants it: UTF-8, FXT_TEXT_MAX bytes at most; borrowed until the next call.
 */
const char *fxt_text_clean(struct fxt_writer *w, const char *s, size_t len, size_t max,
			   uint32_t *bytes);
/* Id of a text; FXT_ID_NONE for the empty text.  0 or -ENOMEM. */
int  fxt_string_id(struct fxt_writer *w, const char *s, size_t len, uint32_t *id);
uint16_t fxt_string_register(struct fxt_writer *w, uint32_t id);
/* Copy a text and pad it with zeros; returns the word behind it. */
uint64_t *fxt_put_text(uint64_t *p, const char *s, uint32_t len);

/* The string ref of an id; writes a String record when the text is not in the table. */
static inline uint16_t fxt_string_ref(struct fxt_writer *w, uint32_t id)
{
	uint16_t slot;

	if (id == FXT_ID_NONE)
		return 0;
	slot = w->strings.texts.v[id].slot;
	if (__builtin_expect(slot == 0, 0))
		slot = fxt_string_register(w, id);
	w->strings.used[slot] = ++w->strings.now;
	return slot;
}

/* fxt/write_table.c: threads.  Pointers hold until the next call of fxt_task_get. */
struct fxt_task *fxt_task_add(struct fxt_writer *w, const struct ftr_task *task);
uint8_t fxt_thread_register(struct fxt_writer *w, const struct ftr_task *task);

/*
 * A userspace object: what a pointer of the task's process points to; a symbol, or an instance of a
 * class.
 */
int fxt_write_object(struct fxt_writer *w, const struct ftr_task *task, uint64_t pointer,
		     uint32_t name_id, bool is_instance);

/* The state of a task, which is named in the file by now; NULL = out of memory. */
static inline struct fxt_task *fxt_task_get(struct fxt_writer *w, const struct ftr_task *task)
{
	if (__builtin_expect(task->id < w->tasks.nr && w->tasks.v[task->id].is_named, 1))
		return &w->tasks.v[task->id];
	return fxt_task_add(w, task);
}

static inline uint8_t fxt_thread_ref(struct fxt_writer *w, const struct ftr_task *task)
{
	uint8_t slot = w->tasks.v[task->id].slot;

	if (__builtin_expect(slot == 0, 0))
		slot = fxt_thread_register(w, task);
	w->thread_used[slot] = ++w->thread_now;
	return slot;
}

/* fxt/write_args.c: collect in w->args; all may write String records. */
void fxt_args_clear(struct fxt_writer *w);
int  fxt_arg_string(struct fxt_writer *w, const char *name, const char *s, size_t len);
int  fxt_arg_ref(struct fxt_writer *w, const char *name, uint32_t string_id);
int  fxt_arg_i64(struct fxt_writer *w, const char *name, int64_t value);
int  fxt_arg_u64(struct fxt_writer *w, const char *name, uint64_t value);
int  fxt_arg_word(struct fxt_writer *w, const char *name, enum fxt_arg type, uint64_t value);
int  fxt_arg_bool(struct fxt_writer *w, const char *name, bool value);
int  fxt_arg_null(struct fxt_writer *w, const char *name);
int  fxt_arg_blob(struct fxt_writer *w, const char *name, const void *data, size_t len);
/* The first argument of a method is an instance of its class: write that once. */
int  fxt_write_instance(struct fxt_writer *w, const struct ftr_event *ev, uint32_t class_id);
int  fxt_args_payload(struct fxt_writer *w, const struct ftr_event *ev);

/* fxt/write_event.c: what is not a call. */
struct fxt_shape {
	enum fxt_event type;
	uint16_t category, name;	/* string refs */
	uint64_t time_ns;
	bool     has_extra;
	uint64_t extra;		/* the word behind the arguments */
};
/* Write an event with the arguments in w->args, and those that do not fit in further records. */
int fxt_put_event(struct fxt_writer *w, const struct ftr_task *task, const struct fxt_shape *shape);
int  fxt_write_point(struct fxt_writer *w, const struct ftr_event *ev);
int  fxt_write_lost(struct fxt_writer *w, const struct ftr_event *ev);
int  fxt_write_message(struct fxt_writer *w, const struct ftr_event *ev);

/* Refs of our own category and a name. */
int  fxt_shape_own(struct fxt_writer *w, struct fxt_shape *shape, const char *name);

/* fxt/write_event.c */
#define FXT_FLOW_THREAD UINT32_MAX	/* flow_id of a thread: to be found out at its first call */
bool fxt_func_makes_thread(const char *name);
int  fxt_write_fork(struct fxt_writer *w, const struct ftr_event *ev);
/* A call that makes a thread was written. */
int  fxt_flow_thread(struct fxt_writer *w, const struct ftr_event *ev);
/*
 * This is when a task was made: by the call that makes a thread and is open in the thread that made
 * it.
 */
void fxt_flow_made(struct fxt_writer *w, const struct ftr_task *task);
/* The first call of a task with a flow_id was written. */
int  fxt_flow_end(struct fxt_writer *w, const struct ftr_task *task, uint64_t time_ns);
void fxt_makers_fini(struct fxt_writer *w);

/* fxt/write_syscall.c: the record that a call stands for, at its end.  0 or -ENOMEM. */
int  fxt_write_syscall(struct fxt_writer *w, const struct ftr_event *ev);
int  fxt_syscalls_flush(struct fxt_writer *w);
void fxt_syscalls_fini(struct fxt_writer *w);

/* fxt/write.c */
/* Has the session a line in ftr.tasks? */
bool fxt_session_is_written(const struct ftr_session *session);
/* @name must be a text that fxt_string_id takes; data beyond one record goes into further ones. */
void fxt_write_blob(struct fxt_writer *w, const char *name, const void *data, size_t len);

#endif /* FTR_FORMAT_FXT_WRITE_H */
