/* SPDX-License-Identifier: MIT */
/* Names that ftr's own records in an FXT file bear. */
#ifndef FTR_FORMAT_FXT_NAMES_H
#define FTR_FORMAT_FXT_NAMES_H

#define FXT_CATEGORY	   "ftr"	/* of what is not a call or event of the program */
#define FXT_NAME_LOST	   "LOST"
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
#define FXT_KEY_CPU	   "cpu"	/* uint32, of a tracepoint; FXT_KEY_TEXT: its text */
#define FXT_KEY_DATA	   "data"	/* bytes of an unknown layout */
#define FXT_VALUE_PREFIX \
	"~" /* of a value of the program that is called as our own arguments are, or begins so */
#define FXT_FLOW_FORK      UINT64_C(0x666f726b00000000) /* flow ids: "fork" and a number */
#define FXT_LOG_LOST	   "records lost: "	/* of the log line that goes with FXT_NAME_LOST */
#define FXT_LOG_STALL	   "stall: "	/* of the log line that goes with FXT_EVENT_STALL */
#define FXT_EVENT_STALL	   "ftr:stall-"
#define FXT_EVENT_WAKEUP   "linux:sched-wakeup"
#define FXT_BLOB_INFO	   "ftr.info"	/* the bytes of a data directory's info file */
#define FXT_BLOB_TASKS	   "ftr.tasks"	/* lines of a data directory's task.txt */
#define FXT_BLOB_SYMBOLS   "ftr.symbols" /* lines of modules and functions: fxt/write_func.c */
#define FXT_BLOB_SYSCALLS  "ftr.syscalls"	/* lines of a data directory's syscalls.etrace */
#define FXT_BLOB_ENUMS	   "ftr.enums"	/* lines "NAME VALUE LABEL" */

#endif /* FTR_FORMAT_FXT_NAMES_H */
