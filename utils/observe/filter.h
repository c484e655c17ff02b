/* SPDX-License-Identifier: MIT */
/* The seccomp filter that stops a program at the observed calls. */
#ifndef FTR_OBSERVE_FILTER_H
#define FTR_OBSERVE_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#include "arch/syscalls.h"

#define FTR_OBSERVER_FILTER_MAX 512

struct ftr_observer_filter {
	struct sock_filter code[FTR_OBSERVER_FILTER_MAX];
	unsigned short nr;
};

/* Build the filter of this machine's ABIs. */
void ftr_observer_filter_init(struct ftr_observer_filter *filter);

/*
 * In the calling thread; what it starts inherits it.  Without privileges this needs (and sets)
 * no_new_privs: set-uid programs then run without their rights.  Async-signal-safe.  0 or -errno.
 */
int ftr_observer_filter_install(const struct ftr_observer_filter *filter);

/* SECCOMP_RET_DATA of a stop: index of the ABI in ftr_abis, and the call. */
#define FTR_OBSERVER_STOP_ABI_SHIFT 8
#define FTR_OBSERVER_STOP_ID_MASK   ((1u << FTR_OBSERVER_STOP_ABI_SHIFT) - 1)
_Static_assert(FTR_SYSIDS <= FTR_OBSERVER_STOP_ID_MASK, "a call fits its bits");

static inline unsigned ftr_observer_stop_data(unsigned abi, unsigned id)
{
	return abi << FTR_OBSERVER_STOP_ABI_SHIFT | id;
}

static inline unsigned ftr_observer_stop_abi(unsigned data)
{
	return data >> FTR_OBSERVER_STOP_ABI_SHIFT;
}

static inline enum ftr_sysid ftr_observer_stop_id(unsigned data)
{
	return (enum ftr_sysid)(data & FTR_OBSERVER_STOP_ID_MASK);
}

#endif /* FTR_OBSERVE_FILTER_H */
