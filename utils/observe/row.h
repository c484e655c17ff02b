/* SPDX-License-Identifier: MIT */
/* A row of the table of observed calls, and what its functions share. */
#ifndef FTR_OBSERVE_ROW_H
#define FTR_OBSERVE_ROW_H

#include <fcntl.h>

#include "utils/observe/decode.h"

#define FTR_SYSCALL_STRING_MAX 4096u

struct ftr_syscall_call {
	const char *name;
	uint8_t kind; /* enum ftr_etrace_kind */
	/* Which argument is the directory (-1: the current one), the path, the flags ... */
	int8_t dirfd, path, dirfd2, path2, flags, mode;
	void (*begin)(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call);
	void (*end)(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
		    int64_t result);
};

static inline int32_t ftr_syscall_int_arg(const struct ftr_tracee *tracee, int index)
{
	return index >= 0 ? (int32_t)tracee->args[index] : 0;
}

static inline int64_t ftr_syscall_dirfd_arg(const struct ftr_tracee *tracee, int index)
{
	return index >= 0 ? ftr_syscall_int_arg(tracee, index) : AT_FDCWD;
}

static inline struct ftr_slice ftr_syscall_slice_of(const struct ftr_strbuf *text)
{
	return ftr_slice_make(ftr_strbuf_str(text), text->len);
}

/* NULL where the text could not be found out: all paths have at least one character. */
static inline struct ftr_slice ftr_syscall_path_slice(const struct ftr_strbuf *text)
{
	return text->len > 0 ? ftr_syscall_slice_of(text) : (struct ftr_slice){ NULL, 0 };
}

static inline void ftr_syscall_emit(struct ftr_syscall_decoding *d)
{
	d->rec.cpu = ftr_tracee_cpu(d->tracee);
	d->emit(d->arg, &d->rec);
}

static inline void ftr_syscall_set_failure(struct ftr_syscall_decoding *d, int64_t result)
{
	d->rec.is_failed = result < 0;
	d->rec.error = result < 0 ? (int32_t)-result : 0;
}

/* The path of this number as the program asked for it. */
static inline struct ftr_slice ftr_syscall_asked(const struct ftr_tracee *tracee, int64_t dirfd,
						 unsigned which, struct ftr_strbuf *text)
{
	ftr_tracee_join(tracee, dirfd, ftr_strbuf_str(&tracee->path[which]), text);
	return ftr_syscall_slice_of(text);
}

/* ---- observe/comm.c: names of threads ---- */

void ftr_syscall_prctl_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call);
void ftr_syscall_prctl_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			   int64_t result);
void ftr_syscall_write_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			   int64_t result);
void ftr_syscall_emit_comm(struct ftr_syscall_decoding *d, struct ftr_slice name);
/* @fd is now open on the comm file of @tid, or (0) on something else, or not at all. */
void ftr_syscall_comm_set(struct ftr_tracee_process *process, int64_t fd, pid_t tid);
/* Whose comm file that is; 0 = none. */
pid_t ftr_syscall_comm_tid(const struct ftr_tracee_process *process, int64_t fd);
/* "/proc/PID/comm", "/proc/PID/task/TID/comm": whose name is that?  0 = no such file. */
pid_t ftr_syscall_comm_owner(const char *path);

/* ---- observe/process.c: clone, exec ---- */

void ftr_syscall_exec_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call);
void ftr_syscall_exec_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			  int64_t result);
void ftr_syscall_clone_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call);
void ftr_syscall_clone3_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call);
void ftr_syscall_clone_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			   int64_t result);

#endif /* FTR_OBSERVE_ROW_H */
