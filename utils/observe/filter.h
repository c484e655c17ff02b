/* SPDX-License-Identifier: MIT */
/* The seccomp filter that stops a program at the observed calls, and the gate before it. */
#ifndef FTR_OBSERVE_FILTER_H
#define FTR_OBSERVE_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#include "arch/syscalls.h"
#include "utils/base/err.h"

#define FTR_OBSERVER_FILTER_MAX 512

struct ftr_observer_filter {
	struct sock_filter code[FTR_OBSERVER_FILTER_MAX];
	unsigned short nr;
};

/* Build the filter of this machine's ABIs. */
void ftr_observer_filter_init(struct ftr_observer_filter *filter);

/* The child waits here until its observer has attached. */
struct ftr_observer_gate {
	int fds[2];		/* (owned) [0] the observer's end, [1] the child's */
	struct ftr_observer_filter filter;
};

int  ftr_observer_gate_open(struct ftr_observer_gate *gate, struct ftr_err *err);
void ftr_observer_gate_close(struct ftr_observer_gate *gate);

/*
 * In the child, between fork and exec: wait for the observer, install the filter.  The next thing
 * must be the exec.  Async-signal-safe.  0, or -errno: -EPIPE when the observer gave up.
 */
int  ftr_observer_gate_pass(struct ftr_observer_gate *gate);

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
