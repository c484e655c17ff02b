/* SPDX-License-Identifier: MIT */
/*
 * What a seccomp filter of the program means for us: the system calls of a thread's first call, and
 * of what else the runtime does outside of the hook's common path, may be ones that it kills
 * for, or refuses.
 */
#ifndef FTR_LIBMCOUNT_SECCOMP_H
#define FTR_LIBMCOUNT_SECCOMP_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

#define FTR_SECCOMP_FILTER_MAX 4096	/* instructions; BPF_MAXINSNS */

/*
 * The filter's answer (SECCOMP_RET_*); a program that is none is answered as the kernel would, by
 * killing.
 */
uint32_t ftr_seccomp_run(const struct sock_filter *code, uint32_t nr,
			 const struct seccomp_data *data);

/* What the runtime makes system calls for. */
enum ftr_seccomp_purpose {
	FTR_SECCOMP_TRACING,	/* new threads, children, images and libraries */
	FTR_SECCOMP_HELPER,	/* ... where no descriptor is left (helper.h) */
	FTR_SECCOMP_UNLOCK,	/* ... of one that locks what is mapped (mlockall) */
	FTR_SECCOMP_READ,	/* ... of what rules read (actions.c) */
	FTR_SECCOMP_COUNT,	/* ... by performance counters (pmu.c) */
	FTR_SECCOMP_WAIT,	/* for room in a ring */
	FTR_SECCOMP_LOOK,	/* at a file before an exec, instead of asking (tried.h) */
	FTR_SECCOMP_PLATFORM,	/* a new image's dynamic linker, to fill in $PLATFORM (environ.c) */
	FTR_SECCOMP_PURPOSES
};
#define FTR_SECCOMP_BIT(purpose) (1u << (purpose))
/* What new images have to be told of: not what they are named without the last for. */
#define FTR_SECCOMP_TOLD (FTR_SECCOMP_BIT(FTR_SECCOMP_PLATFORM) - 1)
/* For which there is another way that is as good. */
#define FTR_SECCOMP_SPARED \
	(FTR_SECCOMP_BIT(FTR_SECCOMP_LOOK) | FTR_SECCOMP_BIT(FTR_SECCOMP_PLATFORM))

/*
 * FTR_SECCOMP_BIT() of the purposes for which it would end the process, or raise a signal, or
 * refuse what is needed.
 */
uint32_t ftr_seccomp_blocked(const struct sock_filter *code, uint32_t nr);

#endif /* FTR_LIBMCOUNT_SECCOMP_H */
