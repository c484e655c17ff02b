/* SPDX-License-Identifier: MIT */
/* The traced processes that have reported themselves, each watched through a pidfd. */
#ifndef FTR_RECORD_PROCESS_H
#define FTR_RECORD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/attach/attach.h"
#include "utils/base/vec.h"

/* What a process runs. */
struct ftr_process_image {
	uint64_t since_ns;	/* trace time: of its session, or of the fork */
	char name[16];		/* of its tasks unless they get another */
	char sid[17];		/* of its session; "" = not known */
	bool is_launched;	/* by exec of one that was attached to: its runtime stays in it */
};

struct ftr_process {
	int32_t pid;		/* in our namespace */
	int32_t own_pid;	/* in its own */
	int pidfd; /* (owned) readable once every thread has ended; -1: it had, or there is none */
	bool is_gone;		/* it was, and waited for, when we first looked */
	struct ftr_process_image image;
	bool was_running;	/* attached to: its tasks' names are those they have now */
	/* Changes of its code (FTR_CHANNEL_CODE): where, how many, how many a helper was given. */
	uint64_t codes, code_nr, code_done_nr;
	uint32_t patch_change_nr;	/* of the changes of what is patched: it has those */
	struct ftr_attach_code_report code;	/* what became of them */
};

struct ftr_processes {
	FTR_VEC(struct ftr_process *) all;	/* (owned) alive ones */
	int epoll_fd; /* (borrowed) pidfds are added with their pid as data */
};

/* In epoll's data: marks the pid of a process. */
#define FTR_PROCESS_EPOLL_TAG (UINT64_C(1) << 32)

/* Is nothing left of it, not even for its parent to wait for? */
bool ftr_process_is_gone(const struct ftr_process *process);

/*
 * One that has ended without a pidfd to report it: it was gone before we looked, or pidfd_open
 * failed.
 */
struct ftr_process *ftr_process_find_unwatched(const struct ftr_processes *processes);

void ftr_processes_fini(struct ftr_processes *processes);
struct ftr_process *ftr_process_find(const struct ftr_processes *processes, int32_t pid);
/* Also those that gave themselves this number in their own namespace; NULL = none. */
struct ftr_process *ftr_process_find_own(const struct ftr_processes *processes, int32_t own_pid);
/* Find or add; NULL when out of memory. */
struct ftr_process *ftr_process_get(struct ftr_processes *processes, int32_t pid, int32_t own_pid);
bool ftr_process_has_ended(const struct ftr_process *process);
/*
 * How an ended process that is not our child ended, as wait(2) has it; false where the kernel
 * cannot tell.
 */
bool ftr_process_status(const struct ftr_process *process, int *wait_status);
void ftr_process_remove(struct ftr_processes *processes, struct ftr_process *process);

/* @pid and the processes that have come from it, as ftr_process_threads; it is the first. */
int32_t *ftr_process_tree(int32_t pid, size_t *nr);
/* The parent's pid by /proc; 0 = not known. */
int32_t ftr_process_parent(int32_t pid);
/* The threads of @pid, *nr of them: owned, by free; NULL = it has ended, or out of memory. */
int32_t *ftr_process_threads(int32_t pid, size_t *nr);
/* The thread of @pid that calls itself @own_tid in its own namespace; 0 when there is none. */
int32_t ftr_process_thread(int32_t pid, int32_t own_tid);

#endif /* FTR_RECORD_PROCESS_H */
