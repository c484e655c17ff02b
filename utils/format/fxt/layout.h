/* SPDX-License-Identifier: MIT */
/*
 * Words of the Fuchsia trace format, for its writer and its reader.
 *
 * A record is a header word, whose lowest bits are type [0..3] and size in words [4..15], and
 * further words.  Texts are padded with zeros to whole words.  doc/fxt.md says which event becomes
 * which record.
 */
#ifndef FTR_FORMAT_FXT_LAYOUT_H
#define FTR_FORMAT_FXT_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#define FXT_MAGIC	   UINT64_C(0x0016547846040010)	/* the whole first record */
#define FXT_WORDS_MAX	   4095u
#define FXT_TEXT_MAX	   32000u		/* bytes of a string */
#define FXT_STRING_MAX	   0x7fffu		/* last index of the string table */
#define FXT_THREAD_MAX	   0xffu		/* last index of the thread table */
#define FXT_ARGS_MAX	   15u
#define FXT_REF_INLINE	   0x8000u		/* string ref: the length of a text that follows */
#define FXT_TICKS_PER_S	   UINT64_C(1000000000)	/* ours are nanoseconds; also the default */

enum fxt_record {
	FXT_METADATA	= 0,
	FXT_INIT	= 1,
	FXT_STRING	= 2,
	FXT_THREAD	= 3,
	FXT_EVENT	= 4,
	FXT_BLOB	= 5,
	FXT_USER_OBJECT = 6,
	FXT_KERNEL_OBJECT = 7,
	FXT_SCHEDULING	= 8,
	FXT_LOG		= 9,
	FXT_PROFILER	= 10,
	FXT_LARGE	= 15,
};

enum fxt_metadata {
	FXT_PROVIDER_INFO    = 1,
	FXT_PROVIDER_SECTION = 2,
	FXT_PROVIDER_EVENT   = 3,
	FXT_TRACE_INFO	     = 4,
};

enum fxt_event {
	FXT_INSTANT	   = 0,
	FXT_COUNTER	   = 1,
	FXT_DURATION_BEGIN = 2,
	FXT_DURATION_END   = 3,
	FXT_DURATION_COMPLETE = 4,
	FXT_ASYNC_BEGIN	   = 5,
	FXT_ASYNC_INSTANT  = 6,
	FXT_ASYNC_END	   = 7,
	FXT_FLOW_BEGIN	   = 8,
	FXT_FLOW_STEP	   = 9,
	FXT_FLOW_END	   = 10,
	FXT_EVENT_TYPES
};

enum fxt_arg {
	FXT_ARG_NULL   = 0,
	FXT_ARG_INT32  = 1,
	FXT_ARG_UINT32 = 2,
	FXT_ARG_INT64  = 3,
	FXT_ARG_UINT64 = 4,
	FXT_ARG_DOUBLE = 5,
	FXT_ARG_STRING = 6,
	FXT_ARG_POINTER = 7,
	FXT_ARG_KOID   = 8,
	FXT_ARG_BOOL   = 9,
	FXT_ARG_BLOB   = 10,
};

/* Kernel object types. */
#define FXT_OBJECT_PROCESS 1
#define FXT_OBJECT_THREAD  2

/* Scheduling subtypes [60..63], and thread states. */
#define FXT_SCHED_LEGACY 0
#define FXT_SCHED_SWITCH 1
#define FXT_SCHED_WAKEUP 2
#define FXT_STATE_NEW	  0	/* also: ready to run, where "running" is not allowed */
#define FXT_STATE_RUNNING 1
#define FXT_STATE_BLOCKED 3
#define FXT_IDLE_WEIGHT	 INT32_MIN	/* weight of the idle thread */

#define FXT_BLOB_DATA 1

/*
 * The fields of headers, name, lowest bit and number of bits.  fxt_NAME(header) reads one,
 * fxt_NAME_bits(value) puts it in its place.
 */
#define FXT_FIELDS(X)					\
	X(record_type,		 0,  4)			\
	X(record_words,		 4, 12)			\
	X(large_words,		 4, 32)			\
	X(metadata_type,	16,  4)			\
	X(provider_id,		20, 32)			\
	X(provider_name_len,	52,  8)			\
	X(provider_event,	52,  4)			\
	X(string_index,		16, 15)			\
	X(string_len,		32, 15)			\
	X(thread_index,		16,  8)			\
	X(event_type,		16,  4)			\
	X(event_arg_nr,		20,  4)			\
	X(event_refs,		24, 40)	/* all three */	\
	X(event_thread_ref,	24,  8)			\
	X(event_category_ref,	32, 16)			\
	X(event_name_ref,	48, 16)			\
	X(blob_name_ref,	16, 16)			\
	X(blob_len,		32, 15)			\
	X(blob_type,		48,  8)			\
	X(user_thread_ref,	16,  8)			\
	X(user_name_ref,	24, 16)			\
	X(user_arg_nr,		40,  4)			\
	X(kernel_type,		16,  8)			\
	X(kernel_name_ref,	24, 16)			\
	X(kernel_arg_nr,	40,  4)			\
	X(sched_type,		60,  4)			\
	X(sched_arg_nr,		16,  4)			\
	X(sched_cpu,		20, 16)			\
	X(sched_state,		36,  4)			\
	X(legacy_cpu,		16,  8)			\
	X(legacy_state,		24,  4)			\
	X(legacy_out_ref,	28,  8)			\
	X(legacy_in_ref,	36,  8)			\
	X(log_len,		16, 15)			\
	X(log_thread_ref,	32,  8)			\
	X(arg_type,		 0,  4)			\
	X(arg_words,		 4, 12)			\
	X(arg_name_ref,		16, 16)			\
	X(arg_string_ref,	32, 16)			\
	X(arg_value,		32, 32)	/* of 32 bits; whether true; bytes of a blob */

#define X(name, low, nr)						\
	static inline uint64_t fxt_##name(uint64_t header)		\
	{								\
		return header >> (low) & ((UINT64_C(1) << (nr)) - 1);	\
	}								\
	static inline uint64_t fxt_##name##_bits(uint64_t value)	\
	{								\
		assert(value < UINT64_C(1) << (nr));			\
		return value << (low);					\
	}
FXT_FIELDS(X)
#undef X

static inline uint64_t fxt_header(enum fxt_record type, uint64_t words)
{
	return fxt_record_type_bits(type) | fxt_record_words_bits(words);
}

/* What all calls without arguments have in common: their type and size. */
#define FXT_PLAIN_CALL (FXT_EVENT | 3 << 4 | FXT_DURATION_COMPLETE << 16)
#define FXT_PLAIN_MASK UINT64_C(0xffffff)

/* Words that a text takes. */
static inline uint32_t fxt_text_words(uint32_t bytes)
{
	return (bytes + 7) / 8;
}

/* ---- names of ftr's own records ---- */

#define FXT_CATEGORY	   "ftr"	/* of what is not a call or event of the program */
#define FXT_NAME_LOST	   "LOST"	/* records of the thread; events of a CPU: FXT_KEY_CPU */
#define FXT_NAME_LOST_PERF "LOST events"
#define FXT_NAME_LOST_KERNEL "LOST kernel events"
#define FXT_NAME_FORK	   "fork"
#define FXT_NAME_THREAD	   "thread"
#define FXT_NAME_MESSAGE   "message"
#define FXT_NAME_MORE_ARGS "more arguments"
#define FXT_KEY_LOC	   "loc"	/* "main.c:7" */
#define FXT_KEY_SYMBOL	   "symbol"	/* of a call: which of several functions of its name */
#define FXT_KEY_CHILD	   "child"
#define FXT_KEY_MAKER	   "maker"	/* koid, of a thread object: the thread that made it */
#define FXT_KEY_RECORDS	   "records"
#define FXT_KEY_INFERRED   "inferred"	/* bool, of a begin or end that was not recorded */
#define FXT_KEY_NO_ENTRY   "no_entry"	/* bool, of a call that began before the task's data */
#define FXT_KEY_THIS       "this" /* bool, of a userspace object that is an instance */
#define FXT_KEY_TEXT	   "text"
#define FXT_KEY_TRACEPOINT \
	"tracepoint" /* uint32, the id of an instant that is a tracepoint of the kernel */
#define FXT_KEY_CPU	   "cpu"	/* uint32, of a tracepoint or loss; FXT_KEY_TEXT: text */
#define FXT_KEY_DATA	   "data"	/* bytes of an unknown layout: a blob of older files */
#define FXT_KEY_HEX	   "data/x"	/* the same as hexadecimal digits: all readers know it */
#define FXT_VALUE_PREFIX \
	"~" /* of a value of the program that is called as our own arguments are, or begins so */
#define FXT_FLOW_FORK      UINT64_C(0x666f726b00000000) /* flow ids: "fork" and a number */
#define FXT_LOG_LOST	   "records lost: "	/* of the log line that goes with FXT_NAME_LOST */
#define FXT_LOG_STALL	   "stall: "	/* of the log line that goes with a stall */
#define FXT_EVENT_WAKEUP   "linux:sched-wakeup"
#define FXT_BLOB_INFO	   "ftr.info"	/* the bytes of a data directory's info file */
#define FXT_BLOB_TASKS	   "ftr.tasks"	/* lines of a data directory's task.txt */
#define FXT_BLOB_SYMBOLS   "ftr.symbols" /* lines of modules and functions: fxt/write_func.c */
#define FXT_BLOB_SYSCALLS  "ftr.syscalls"	/* lines of a data directory's syscalls.etrace */
#define FXT_BLOB_ENUMS	   "ftr.enums"	/* lines "NAME VALUE LABEL" */
#define FXT_BLOB_STACKS	   "ftr.stacks"	/* lines of a data directory's calls.stacks */
#define FXT_BLOB_SHAPES	   "ftr.shapes"	/* lines "NAME SHAPE" (utils/trace/shape.h) */

#endif /* FTR_FORMAT_FXT_LAYOUT_H */
