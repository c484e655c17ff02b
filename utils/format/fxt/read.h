/* SPDX-License-Identifier: MIT */
/*
 * Parts of the FXT reader; for fxt/read*.c only.
 *
 * The file is walked twice.  The first walk (fxt/read_scan.c) collects names and tasks, and sees
 * whether the events are in order.  If so the second makes events of them (fxt/read_source.c). Each
 * walk fills the tables anew, so that they hold what is valid where the walk is.
 *
 * If not, the second walk sorts their offsets by time (fxt/read_scan.c), and records are then read
 * in that order.  The tables of this walk keep their history, so that a record means what it means
 * where it lies.
 */
#ifndef FTR_FORMAT_FXT_READ_H
#define FTR_FORMAT_FXT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/bytes.h"
#include "utils/base/hashmap.h"
#include "utils/base/istream.h"
#include "utils/base/sorter.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/format/etrace/etrace.h"
#include "utils/format/fxt/layout.h"
#include "utils/object/symtab.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/trace.h"

#define FXT_PROVIDERS_MAX 1024u		/* contexts that a file may have */

/* A distinct text of the file, and what it stands for, found out at its first use. */
struct fxt_text {
	const struct ftr_str *str;
	struct ftr_module *module;		/* as a category */
	const struct fxt_text *func_category;	/* func is that of this category, */
	const struct fxt_text
		*func_name; /* and of this name, where the text is a label; else NULL */
	struct ftr_func *func;
	const struct fxt_text *point_category;	/* point is that of this category */
	const struct fxt_point *point;		/* as the name of an event that is no call */
	struct fxt_arg_name *arg;		/* as the name of an argument */
	const struct ftr_argspec *spec;		/* of the last event of this name */
};

/* The name of an event that is no call. */
struct fxt_point {
	const char *name;			/* "category:name" */
	const struct ftr_event_kind *kind;	/* (nullable) */
};

/* An argument's name, taken apart: "arg2/e:color". */
struct fxt_arg_name {
	const char *name;		/* NULL: one of ours, which the rest describes */
	const char *type_name;		/* (nullable) */
	uint16_t size;			/* of a struct */
	uint8_t  index;
	bool     is_float_reg;
	char     letter;		/* as in argument specs; '\0' = as the type says */
};

/* The values of an enum, from blob ftr.enums. */
struct fxt_enum {
	struct ftr_arg_enum public;
	FTR_VEC(struct ftr_arg_enumerator) values;
};

/* Where the calls of a function are in memory. */
struct fxt_place {
	uint64_t addr;			/* 0 = not known */
	bool is_relative;		/* to where the module lies */
	/* Of the module, as it was found last, and how long that holds there. */
	const struct ftr_session *session;
	uint64_t base, from_ns, until_ns;
};

/* What a table slot holds; with history, also what it held before, in order of offsets. */
struct fxt_slot {
	FTR_VEC(struct fxt_assigned { uint64_t offset; void *value; }) history;
	size_t hint;			/* where the last look was answered */
};

/* A provider's context, from its info record on. */
struct fxt_provider {
	uint32_t id;
	uint64_t ticks_per_s;
	bool is_ours;				/* ftr wrote it */
	FTR_VEC(struct fxt_slot) strings;	/* by index: struct fxt_text */
	struct fxt_slot threads[FXT_THREAD_MAX + 1];	/* struct ftr_task */
};

struct fxt_section {
	uint64_t offset;
	struct fxt_provider *provider;
};

struct fxt_reader {
	struct ftr_trace *trace;
	struct ftr_istream in;
	bool is_big;
	FTR_VEC(struct fxt_provider *) providers;	/* (owned) */
	size_t provider_met_nr;				/* by this walk */
	FTR_VEC(struct fxt_section) sections; /* by offset; without history the last alone */
	size_t section_hint;
	struct fxt_provider *provider;			/* where the walk is */
	bool keeps_history;
	struct ftr_strpool pool;
	FTR_VEC(struct fxt_text *) texts;       /* by id of the pool; in the trace's arena */
	struct ftr_hashmap tasks;		/* fxt/read_task.c: by process and thread koid */
	struct ftr_hashmap threads;		/* by thread koid: struct ftr_task */
	struct ftr_hashmap pids;		/* by process koid: pid + 1 */
	struct ftr_hashmap pid_taken;		/* pids of those */
	struct ftr_hashmap process_names;	/* by pid: struct fxt_text */
	struct ftr_hashmap enums; /* by id of the name's text: struct fxt_enum (owned) */
	struct ftr_hashmap shapes;		/* by id of the name's text: fxt/read_type.c */
	struct ftr_hashmap objects;		/* by pid: struct symtab (owned) */
	struct ftr_hashmap session_objects;	/* by session id: struct symtab (owned) */
	FTR_VEC(struct fxt_place) places;	/* by func id */
	struct ftr_hashmap points; /* by ids of category and name: const struct fxt_point */
	struct ftr_hashmap symbols;		/* by (category, name, label) */
	struct ftr_hashmap specs;		/* by hash: struct ftr_argspec, every layout once */
	struct ftr_strbuf info;			/* blob ftr.info */
	struct ftr_strbuf enum_lines;		/* blob ftr.enums */
	struct ftr_strbuf shape_lines;		/* blob ftr.shapes */
	struct ftr_strbuf stack_lines;		/* blob ftr.stacks */
	struct ftr_strbuf symbol_lines;		/* blob ftr.symbols */
	struct ftr_strbuf task_lines;		/* blob ftr.tasks */
	struct ftr_strbuf syscall_lines;	/* blob ftr.syscalls, until it is read */
	struct ftr_etrace_log syscalls;
	const struct fxt_text *empty, *own, *name_lost[FTR_LOST_SOURCES], *name_fork;
	const struct fxt_text *name_thread, *name_message, *name_more;
	struct fxt_text *name_wakeup;
	const struct fxt_text *key_symbol, *key_loc, *key_child, *key_records, *key_text, *key_data;
	const struct fxt_text *key_hex;
	const struct fxt_text *key_tracepoint, *key_cpu;
	const struct fxt_text *key_inferred, *key_no_entry;
	struct ftr_sort_sizes sort_sizes;
	struct ftr_sorter
		*order;     /* (nullable) offsets of events by time; NULL: the file's own order */
	uint64_t kept_from; /* pages of the mapped file before this were given back */
	bool is_unordered;
	bool is_ended;				/* all events were read */
	bool is_failed;				/* out of memory */
	uint64_t damaged_nr;			/* records that could not be read */
	uint64_t damaged_shape_nr;		/* of blob ftr.shapes */
	uint64_t skipped_nr;			/* records of kinds that are not shown */
	uint64_t overlap_nr;			/* calls that ended after the call around them */
	uint64_t stray_nr;			/* ends without a begin */
	uint64_t filled_nr;			/* "buffer filled" events of providers */
	uint64_t lost_nr; /* LOST events of tasks, which go with those of our own files */
};

/* A record: where it lies, and its header. */
struct fxt_record_at {
	uint64_t offset;
	uint64_t header;
	uint64_t bytes;
};

/* An event, log or scheduling record, decoded but for its arguments. */
struct fxt_decoded {
	struct fxt_record_at at;
	uint64_t time_ns;
	struct ftr_task *task;		/* (nullable: scheduling) */
	struct fxt_text *category, *name;	/* never NULL in events */
	uint64_t args;			/* offset of the arguments */
	unsigned arg_nr;
	uint64_t extra;			/* the word behind the arguments: end in ns, id */
};

static inline uint64_t fxt_word(const struct fxt_reader *r, uint64_t offset)
{
	return ftr_get_u64(r->in.data + offset, r->is_big);
}

/* fxt/read_table.c */
struct fxt_text *fxt_text_get(struct fxt_reader *r, const char *s,
			      size_t len); /* NULL: no memory */
/* A walk over all records begins: its tables are empty.  0 or -ENOMEM. */
int fxt_walk_begin(struct fxt_reader *r, bool keeps_history);
/*
 * A record that changes tables, or the provider they belong to; others are ignored. 0, -ENOMEM, or
 * -EBADMSG: it is damaged, and changes nothing.
 */
int fxt_table_take(struct fxt_reader *r, const struct fxt_record_at *at);
struct fxt_provider *fxt_provider_at(struct fxt_reader *r, uint64_t offset);
void *fxt_slot_find_slow(struct fxt_slot *slot, uint64_t offset);
void fxt_tables_fini(struct fxt_reader *r);

/* fxt/read_task.c: found or added; NULL = out of memory. */
struct ftr_task *fxt_task_of(struct fxt_reader *r, uint64_t process, uint64_t thread);
/* The task of a thread koid alone: any process. */
struct ftr_task *fxt_task_by_thread(struct fxt_reader *r, uint64_t thread);
/* ... NULL = there is none yet. */
struct ftr_task *fxt_task_find(const struct fxt_reader *r, uint64_t thread);
int32_t fxt_pid_of(struct fxt_reader *r, uint64_t process);
void fxt_tasks_fini(struct fxt_reader *r);

/* What a slot held at @offset, which without history is where the walk is; NULL = nothing. */
static inline void *fxt_slot_find(struct fxt_slot *slot, uint64_t offset)
{
	size_t i = slot->hint;

	if (__builtin_expect(i < slot->history.nr && slot->history.v[i].offset < offset &&
				     (i + 1 == slot->history.nr ||
				      slot->history.v[i + 1].offset > offset),
			     1))
		return slot->history.v[i].value;
	return fxt_slot_find_slow(slot, offset);
}

/* fxt/read_record.c */
#define FXT_KEPT_BYTES (UINT64_C(4) << 20)	/* of a mapped file that is read in order */
void fxt_forget_slow(struct fxt_reader *r, uint64_t offset);

/* What lies well before @offset is not looked at again in this walk. */
static inline void fxt_forget(struct fxt_reader *r, uint64_t offset)
{
	if (__builtin_expect(offset - r->kept_from >= FXT_KEPT_BYTES, 0))
		fxt_forget_slow(r, offset);
}

/*
 * Processors do not look beyond a page by themselves.  An address that is not there does no harm.
 */
static inline void fxt_prefetch(const struct fxt_reader *r, uint64_t offset)
{
	__builtin_prefetch(r->in.data + offset + 2048);
}

bool fxt_record_next_slow(struct fxt_reader *r, uint64_t *offset, struct fxt_record_at *at,
			  bool warns);
/*
 * The next record at or behind *offset, which is moved behind it; damage is skipped, with a warning
 * if @warns.  False where none follows; *offset then is what is left.
 */
static inline bool fxt_record_next(struct fxt_reader *r, uint64_t *offset, struct fxt_record_at *at,
				   bool warns)
{
	uint64_t left = r->in.size - *offset;

	if (__builtin_expect(left >= 8, 1)) {
		uint64_t header = fxt_word(r, *offset);
		uint64_t bytes = fxt_record_words(header) * 8;

		if (__builtin_expect(fxt_record_type(header) != FXT_LARGE && bytes - 8 <= left - 8,
				     1)) {
			*at = (struct fxt_record_at){ *offset, header, bytes };
			*offset += bytes;
			return true;
		}
	}
	return fxt_record_next_slow(r, offset, at, warns);
}
/* Digits as bytes, if they are that; @bytes (nullable) may be @text. */
bool fxt_hex_decode(const char *text, uint32_t len, uint8_t *bytes);
/*
 * The bytes of an inline string ref at *pos, before @end, which is moved behind them; false =
 * damaged.
 */
bool fxt_inline_at(const struct fxt_reader *r, unsigned ref, uint64_t *pos, uint64_t end,
		   struct ftr_slice *bytes);
/* The text of a string ref whose inline bytes would lie at *pos, before @end; NULL = damaged. */
struct fxt_text *fxt_string_at(struct fxt_reader *r, struct fxt_provider *provider, unsigned ref,
			       uint64_t at, uint64_t *pos, uint64_t end);
/* Decode an event, scheduling or log record; false when it is damaged. */
bool fxt_decode(struct fxt_reader *r, const struct fxt_record_at *at, struct fxt_decoded *out);

/* fxt/read_program.c: what the file says of the traced program.  0 or -ENOMEM. */
int  fxt_object_add(struct fxt_reader *r, uint64_t process, uint64_t pointer,
		    const struct fxt_text *name);	/* a userspace object */
int  fxt_objects_load(struct fxt_reader *r);
void fxt_objects_fini(struct fxt_reader *r);
int  fxt_tasks_load(struct fxt_reader *r);
int  fxt_symbols_load(struct fxt_reader *r);
/*
 * The function that ftr.symbols describes; NULL = it does not, or no memory.  @label "": the first
 * of its name.
 */
struct ftr_func *fxt_func_by_symbol(struct fxt_reader *r, const struct fxt_text *category,
				    const struct fxt_text *name, const struct fxt_text *label);
/*
 * Where a call of @func is in memory.  *until_ns: how long the task's next calls of it are there,
 * too.
 */
uint64_t fxt_call_addr(struct fxt_reader *r, const struct ftr_func *func,
		       const struct ftr_task *task, uint64_t time_ns, uint64_t *until_ns);

/* fxt/read_syscall.c: 0 or -ENOMEM. */
int  fxt_syscalls_load(struct fxt_reader *r);

/* fxt/read_scan.c: 0 or -errno. */
int fxt_scan(struct fxt_reader *r, struct ftr_err *err);

/* fxt/read_scan.c: the second walk over a file whose events are not in order.  0 or -errno. */
int fxt_order_build(struct fxt_reader *r, struct ftr_err *err);
/*
 * Calls that begin at one time: what lasts longer comes first, as it holds the others.  @nr <=
 * FTR_SOURCE_BATCH.
 */
void fxt_order_ties(struct fxt_reader *r, struct ftr_sort_pair *order, size_t nr);

/* fxt/read_args.c */
#define FXT_PAYLOAD_MAX 65528u
struct fxt_args_out {
	struct ftr_payload *payload;	/* filled in */
	uint8_t *bytes;			/* room for FXT_PAYLOAD_MAX of them */
	const struct fxt_text *loc;	/* (nullable) "loc" */
	struct fxt_text *symbol;	/* (nullable) "symbol" */
	uint8_t flags;			/* FTR_EVENT_* from bool arguments */
	uint64_t child;			/* "child" (koid); 0 = there is none */
	uint64_t records;		/* "records" (a number) */
	uint16_t cpu_nr;		/* "cpu" (a number), plus 1; 0 = there is none */
	bool is_tracepoint;		/* the first is ftr's own "tracepoint" */
};
/* The arguments of an event and of what continues it.  True when there is a payload. */
bool fxt_args_read(struct fxt_reader *r, const struct fxt_decoded *ev, struct fxt_args_out *out);
int  fxt_types_load(struct fxt_reader *r);	/* 0 or -ENOMEM */
void fxt_types_fini(struct fxt_reader *r);
/* What the file says of a type; NULL: nothing, or nothing that can be understood. */
const struct ftr_arg_enum *fxt_enum_find(struct fxt_reader *r, struct ftr_slice name);
const struct ftr_shape *fxt_shape_find(struct fxt_reader *r, const char *name);

/* fxt/read_source.c */
struct ftr_source *fxt_source_new(struct fxt_reader *r);

#endif /* FTR_FORMAT_FXT_READ_H */
