/* SPDX-License-Identifier: MIT */
/*
 * A system call that an observer saw: what a process did to processes and files, with its arguments
 * decoded and its paths resolved.  Events carry it (ftr_event_syscall); formats read and write it.
 */
#ifndef FTR_TRACE_SYSCALL_H
#define FTR_TRACE_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/syscalls.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/trace/event.h"

#define FTR_SYSCALL_MODULE "[syscalls]"	/* path of the module of ftr_syscall_func() */

/* Which member of the union holds; RENAME and LINK, MOUNT and UMOUNT, FORK and CLONE share one. */
enum ftr_syscall_kind {
	FTR_SYSCALL_EXEC,
	FTR_SYSCALL_FORK,
	FTR_SYSCALL_CLONE,
	FTR_SYSCALL_EXIT,
	FTR_SYSCALL_OPEN,
	FTR_SYSCALL_PIPE,
	FTR_SYSCALL_RENAME,
	FTR_SYSCALL_LINK,
	FTR_SYSCALL_SYMLINK,
	FTR_SYSCALL_CLOSE,
	FTR_SYSCALL_DUP,
	FTR_SYSCALL_MOUNT,
	FTR_SYSCALL_UMOUNT,
	FTR_SYSCALL_COMM,
	FTR_SYSCALL_KINDS
};

/* An observer reports a rename or link twice: before it, and with its result. */
enum ftr_syscall_half {
	FTR_SYSCALL_WHOLE,	/* the only one that readers of traces give out */
	FTR_SYSCALL_BEGIN,
	FTR_SYSCALL_END,	/* complete, written after its BEGIN */
};

/*
 * Texts are not NUL-terminated; .s == NULL: there is none, or it could not be found out.  Paths are
 * absolute with their directories resolved, those in asked members as the program gave them.
 * Members of the union begin with their texts, and all of their numbers have 64 bits: codecs
 * address both by table.
 */
struct ftr_syscall {
	uint64_t upid;		/* of the task, see ftr_upid_make() */
	uint64_t start_ns;	/* the call began; = end_ns where that is not known */
	uint64_t end_ns;	/* it returned (CLOCK_MONOTONIC) */
	uint32_t cpu;
	uint32_t stack;		/* number of the stack it was made on (trace->stacks); 0 = none */
	int32_t  error;		/* errno of a failed call, 0 = not known */
	uint8_t  kind;		/* enum ftr_syscall_kind */
	uint8_t  id;		/* enum ftr_sysid of the kind; NONE = not known */
	uint8_t  half;		/* enum ftr_syscall_half */
	bool     is_failed;
	union {
		struct {
			struct ftr_slice interpreter;	/* that runs a script; else the program */
			struct ftr_slice program;
			struct ftr_slice cwd;
			const struct ftr_slice *argv;
			size_t argc;
		} exec;
		struct {
			uint64_t child;		/* its upid */
			int64_t  flags;		/* of CLONE */
		} fork;				/* FORK, CLONE */
		struct {
			int64_t status;		/* 0..255 */
			int64_t signal;		/* that ended the task, 0 = none or not known */
		} exit;
		struct {
			struct ftr_slice path, asked;
			int64_t flags, mode, fd;
		} open;
		struct {
			int64_t read_fd, write_fd, flags;
		} pipe;
		struct {
			struct ftr_slice from, to;
			struct ftr_slice from_asked;	/* only where from could not be found */
			int64_t flags;			/* of RENAMEAT2 and LINKAT */
		} rename;				/* RENAME, LINK */
		struct {
			struct ftr_slice target;	/* the link's text */
			struct ftr_slice resolved;	/* the file it leads to */
			struct ftr_slice link;
		} symlink;
		struct {
			int64_t fd;
		} close;
		struct {
			int64_t old_fd, new_fd, flags;
		} dup;
		struct {
			struct ftr_slice source, target, type;
			struct ftr_slice target_asked;	/* only where target could not be found */
			int64_t flags;
		} mount;				/* MOUNT, UMOUNT */
		struct {
			struct ftr_slice name;
		} comm;
	};
};

/* A upid names a task for good: a serial number, and the task's number below it. */
#define FTR_UPID_TID_BITS 22

static inline uint64_t ftr_upid_make(uint64_t serial, int32_t tid)
{
	return (serial << FTR_UPID_TID_BITS | (uint32_t)tid) & (uint64_t)INT64_MAX;
}

static inline int32_t ftr_upid_tid(uint64_t upid)
{
	return (int32_t)(upid & ((1u << FTR_UPID_TID_BITS) - 1));
}

/* The system call that an EXIT completes, or that a FORK or POINT is part of; NULL = none. */
static inline const struct ftr_syscall *ftr_event_syscall(const struct ftr_event *ev)
{
	return ev->payload != NULL ? ev->payload->syscall : NULL;
}

/* call->id, or the usual call of its kind; never NONE. */
enum ftr_sysid ftr_syscall_id(const struct ftr_syscall *call);
/* The kernel's name of ftr_syscall_id(): "openat2". */
const char *ftr_syscall_name(const struct ftr_syscall *call);
const char *ftr_sysid_name(enum ftr_sysid id);
/* FTR_SYSID_NONE = no observed call has that name. */
enum ftr_sysid ftr_sysid_find(struct ftr_slice name);
enum ftr_syscall_kind ftr_sysid_kind(enum ftr_sysid id);
/* Can a call of @kind have the id?  An exec renames its task, too: COMM. */
bool ftr_sysid_is_of_kind(enum ftr_sysid id, enum ftr_syscall_kind kind);

/* Did the call make a thread, and no process? */
bool ftr_syscall_makes_thread(const struct ftr_syscall *call);
/* Did the call make another task (ftr_syscall.fork)? */
bool ftr_syscall_is_fork(const struct ftr_syscall *call);
/* Of an EXIT, as a shell reports it: 128 + N for signal N. */
int32_t ftr_syscall_exit_status(const struct ftr_syscall *call);
/* RENAME, LINK: is it one of the calls that have flags? */
bool ftr_syscall_has_flags(const struct ftr_syscall *call);

/* The function that stands for a call in a trace: "sys_openat".  NULL = out of memory. */
struct ftr_trace;
struct ftr_module;
struct ftr_func *ftr_syscall_func(struct ftr_trace *trace, const struct ftr_module *module,
				  enum ftr_sysid id);
/* The call that a function of this module (nullable) and name stands for; NONE = it is another. */
enum ftr_sysid ftr_syscall_of_func(const char *module_path, struct ftr_slice name);

/* ---- trace/syscall_args.c: as payloads: names, decoded flags, errors ---- */

/* The layout of the call's arguments (nullable: it has none); their bytes are added to @bytes. */
const struct ftr_argspec *ftr_syscall_args(const struct ftr_syscall *call,
					   struct ftr_strbuf *bytes);
/* What it returned; NULL when it does not return. */
const struct ftr_argspec *ftr_syscall_result(const struct ftr_syscall *call,
					     struct ftr_strbuf *bytes);

#endif /* FTR_TRACE_SYSCALL_H */
