/* SPDX-License-Identifier: MIT */
/*
 * Calling a function of a process in one of its threads, which is stopped (tracee.h) where nothing
 * is in the way of it (place.h).  It is as if a signal had interrupted the thread: what it comes
 * back to is a frame of a handler below its stack pointer, so that it goes on where
 * it was even if we die meanwhile (doc/adr/0085).
 */
#ifndef FTR_ATTACH_REMOTE_H
#define FTR_ATTACH_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "arch/remote.h"
#include "utils/base/err.h"

struct ftr_call;
struct ftr_image;

/* What is needed of a process's C library, looked up before any thread of it is stopped. */
struct ftr_remote_libc {
	uint64_t comeback;		/* the code that ends a handler; 0 = it is not glibc */
	uint64_t errno_offset;		/* from a thread's control block; 0 = not known */
	uint64_t map, unmap, open;	/* its mmap, munmap, dlopen; 0 = it has none */
};

struct ftr_remote {
	pid_t pid, tid;
	struct ftr_remote_libc libc;
	uint64_t errno_at;		/* the thread's; 0 = not known */
	int32_t errno_was;
	/* What it had when it was stopped. */
	struct user_regs_struct regs;
	uint64_t mask;
	struct ftr_arch_state state;
};

/* What the thread has been interrupted in: a system call (its number), or else -1 (call.h). */
long ftr_remote_syscall(pid_t tid);

/* Is it one that a stop ends with EINTR though no handler is called? */
bool ftr_remote_is_broken(long call);

/* Look them up. */
void ftr_remote_libc_find(struct ftr_remote_libc *libc, const struct ftr_image *image);

/* Where the thread is, and its stack; false: it has ended. */
bool ftr_remote_position(pid_t tid, uint64_t *ip, uint64_t *sp);

/* Where the thread was when it was taken over. */
uint64_t ftr_remote_was_at(const struct ftr_remote *remote, uint64_t *sp);

/*
 * Take over the stopped thread @tid of the process @pid, with its @libc: it takes no signals while
 * it is called, and stays stopped up to ftr_remote_end.
 */
int ftr_remote_begin(struct ftr_remote *remote, pid_t pid, pid_t tid,
		     const struct ftr_remote_libc *libc, struct ftr_err *err);

/*
 * Call the function at @func with up to six arguments on a stack that ends at @stack (0: below its
 * own, where there must be little need).  *@result (nullable) is the result of the last system call
 * that it made.  0; -ESRCH: the thread has ended; -EFAULT: it cannot be called so.
 */
int ftr_remote_call(struct ftr_remote *remote, uint64_t func, const uint64_t args[6],
		    uint64_t stack, uint64_t *result);

/* The thread is as it was, stopped, with @call (call.h), which is then to be released. */
void ftr_remote_end(struct ftr_remote *remote, const struct ftr_call *call);

#endif /* FTR_ATTACH_REMOTE_H */
