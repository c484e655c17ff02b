/* SPDX-License-Identifier: MIT */
/* The seccomp filter that stops a program at the observed calls, and at no other. */
#ifndef FTR_OBSERVE_FILTER_H
#define FTR_OBSERVE_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#include "arch/syscalls.h"

#define FTR_SYSCALL_FILTER_MAX 512

struct ftr_syscall_filter {
	struct sock_filter code[FTR_SYSCALL_FILTER_MAX];
	unsigned short nr;
};

/* Build the filter of this machine's ABIs. */
void ftr_syscall_filter_init(struct ftr_syscall_filter *filter);

/*
 * Install it in the calling thread; only what it starts afterwards inherits it.  Without privileges
 * this needs (and sets) no_new_privs: set-uid programs then run without their rights, *lost_setuid.
 * Async-signal-safe.  0 or -errno.
 */
int ftr_syscall_filter_install(const struct ftr_syscall_filter *filter, bool *lost_setuid);

/* What a stop says of itself (SECCOMP_RET_DATA): index of the ABI, and the call. */
static inline unsigned ftr_syscall_stop_abi(unsigned data)
{
	return data >> 8;
}

static inline enum ftr_sysid ftr_syscall_stop_id(unsigned data)
{
	return (enum ftr_sysid)(data & 255);
}

#endif /* FTR_OBSERVE_FILTER_H */
