/* SPDX-License-Identifier: MIT */
/*
 * The file of a data directory that holds its system calls, which old readers ignore: the etrace
 * text with Ftr lines (doc/ftr-etrace.5).
 */
#ifndef FTR_FORMAT_UFTRACE_WRITE_SYSCALL_H
#define FTR_FORMAT_UFTRACE_WRITE_SYSCALL_H

#include "utils/base/err.h"
#include "utils/format/etrace/etrace.h"

#define FTR_SYSCALL_FILE "syscalls.etrace"

struct ftr_uftrace_syscalls {
	struct ftr_ostream out;
	struct ftr_etrace_writer text;
};

/* Create the file in directory @dir, an open descriptor.  0 or -errno. */
int ftr_uftrace_syscalls_open(struct ftr_uftrace_syscalls *file, int dir, struct ftr_err *err);
/* 0 or -ENOMEM; failures to write are reported by close. */
int ftr_uftrace_syscalls_write(struct ftr_uftrace_syscalls *file, const struct ftr_syscall *call);
/* 0 or -errno. */
int ftr_uftrace_syscalls_close(struct ftr_uftrace_syscalls *file, struct ftr_err *err);

#endif /* FTR_FORMAT_UFTRACE_WRITE_SYSCALL_H */
