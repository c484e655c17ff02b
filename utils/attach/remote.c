/* SPDX-License-Identifier: MIT */
/* See remote.h. */
#include "utils/attach/remote.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "arch/task_regs.h"
#include "utils/attach/call.h"
#include "utils/attach/image.h"
#include "utils/attach/tracee.h"

/* Calls that a stop ends with EINTR though no handler is called (signal(7)). */
static const uint16_t broken_calls[] = {
	FTR_ARCH_BROKEN_CALLS
	SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop, SYS_semtimedop,
	SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter,
	/* ... with a time limit of their socket */
	SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_accept, SYS_accept4,
	SYS_write, SYS_writev, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_connect,
};

static const char *const libc_names[] = { "libc.so.6", "libc-2.", NULL };
static const char *const libdl_names[] = { "libdl.so.2", "libdl-2.", NULL };

bool ftr_remote_is_broken(long call)
{
	size_t i;

	for (i = 0; i < sizeof(broken_calls) / sizeof(broken_calls[0]); i++) {
		if (broken_calls[i] == call)
			return true;
	}
	return false;
}

bool ftr_remote_position(pid_t tid, uint64_t *ip, uint64_t *sp)
{
	struct user_regs_struct regs;

	if (!ftr_arch_regs_get(tid, &regs))
		return false;
	*ip = ftr_arch_regs_ip(&regs);
	*sp = ftr_arch_regs_sp(&regs);
	return true;
}

uint64_t ftr_remote_was_at(const struct ftr_remote *remote, uint64_t *sp)
{
	*sp = ftr_arch_regs_sp(&remote->regs);
	return ftr_arch_regs_ip(&remote->regs);
}

/* What handlers return to: of libc, or of the kernel. */
static uint64_t comeback_find(const struct ftr_image *image, const char *file)
{
	uint64_t found = 0;
	size_t i;

	for (i = 0; i < image->vmas.nr && found == 0; i++) {
		const struct ftr_vma *vma = &image->vmas.v[i];
		size_t bytes = vma->high - vma->low;
		uint8_t *code;
		const uint8_t *at;

		if (strchr(vma->prot, 'x') == NULL || strcmp(vma->path, file) != 0)
			continue;
		code = malloc(bytes);
		if (code != NULL && ftr_memory_read(image->pid, vma->low, code, bytes)) {
			at = memmem(code, bytes, ftr_arch_comeback, sizeof(ftr_arch_comeback));
			found = at != NULL ? vma->low + (uint64_t)(at - code) : 0;
		}
		free(code);
	}
	return found;
}

/* What __errno_location answers with, as its code says. */
static uint64_t errno_find(const struct ftr_image *image, const char *libc)
{
	uint64_t at = ftr_image_symbol(image, libc, "__errno_location"), word, offset;
	uint8_t code[FTR_ARCH_ERRNO_CODE_BYTES];

	if (at == 0 || !ftr_memory_read(image->pid, at, code, sizeof(code)) ||
	    !ftr_arch_errno_word(code, at, &word) ||
	    !ftr_memory_read(image->pid, word, &offset, sizeof(offset)))
		return 0;
	return offset;
}

void ftr_remote_libc_find(struct ftr_remote_libc *libc, const struct ftr_image *image)
{
	const char *path = ftr_image_find(image, libc_names), *file = FTR_ARCH_COMEBACK_FILE;
	const char *libdl = ftr_image_find(image, libdl_names);

	*libc = (struct ftr_remote_libc){ .comeback = 0 };
	if (path == NULL)
		return;
	libc->comeback = comeback_find(image, file != NULL ? file : path);
	libc->errno_offset = errno_find(image, path);
	libc->map = ftr_image_symbol(image, path, "mmap");
	libc->unmap = ftr_image_symbol(image, path, "munmap");
	libc->open = ftr_image_symbol(image, path, "dlopen");
	if (libc->open == 0)
		libc->open = ftr_image_symbol(image, libdl, "dlopen");
}

static bool mask_set(pid_t tid, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) == 0;
}

int ftr_remote_begin(struct ftr_remote *remote, pid_t pid, pid_t tid,
		     const struct ftr_remote_libc *libc, struct ftr_err *err)
{
	const char *refusal;

	remote->pid = pid;
	remote->tid = 0;
	remote->libc = *libc;
	if (libc->comeback == 0 || libc->map == 0 || libc->unmap == 0)
		return ftr_err_set(err, ENOTSUP, "its C library is not glibc");
	if (!ftr_arch_regs_get(tid, &remote->regs) ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof(remote->mask), &remote->mask) < 0)
		return ftr_err_set(err, errno, "its registers cannot be read: %s", strerror(errno));
	refusal = ftr_arch_state_get(tid, &remote->state);
	if (refusal != NULL)
		return ftr_err_set(err, ENOTSUP, "the registers of a thread of it cannot be kept: "
				   "%s", refusal);
	remote->errno_at = libc->errno_offset != 0 ?
				   ftr_arch_thread_at(tid, &remote->regs) + libc->errno_offset : 0;
	if (remote->errno_at != 0 &&
	    !ftr_memory_read(pid, remote->errno_at, &remote->errno_was,
			     sizeof(remote->errno_was)))
		remote->errno_at = 0;
	remote->tid = tid;
	return 0;
}

/* Where it goes on by itself: a system call that was left is made again, in whole. */
static bool frame_put(const struct ftr_remote *remote, uint64_t stack, struct ftr_arch_frame *frame)
{
	struct user_regs_struct regs = remote->regs;

	ftr_call_restart(remote->tid, &regs);
	if (stack == 0)
		stack = ftr_arch_regs_sp(&regs) - FTR_ARCH_RED_ZONE;
	ftr_arch_frame_make(frame, &regs, &remote->state, remote->mask, remote->libc.comeback,
			    stack);
	return ftr_memory_write(remote->pid, frame->low, frame->v, frame->bytes);
}

/* Run to where the handler's frame is about to be left.  A fault in between is none of it. */
static int run_to_comeback(const struct ftr_remote *remote, uint64_t frame, uint64_t *result)
{
	struct __ptrace_syscall_info info;
	int status, ret;

	for (;;) {
		ptrace(PTRACE_SYSCALL, remote->tid, 0, 0);
again:
		ret = ftr_tracee_wait(remote->tid, &status, 0);
		if (ret < 0)
			return ret;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (ptrace(PTRACE_GET_SYSCALL_INFO, remote->tid, sizeof(info), &info) < 0)
				return -errno;
			if (info.op == PTRACE_SYSCALL_INFO_ENTRY &&
			    info.entry.nr == SYS_rt_sigreturn && info.stack_pointer == frame)
				return 0;
			if (info.op == PTRACE_SYSCALL_INFO_EXIT && result != NULL)
				*result = (uint64_t)info.exit.rval;
		} else if (FTR_STATUS_EVENT(status) == PTRACE_EVENT_STOP &&
			   WSTOPSIG(status) != SIGTRAP) {
			ptrace(PTRACE_LISTEN, remote->tid, 0, 0);	/* until SIGCONT */
			goto again;
		} else if (FTR_STATUS_EVENT(status) == 0) {
			return -EFAULT;		/* signals are blocked: this one is its own fault */
		}
	}
}

/* Stopped as it was first, and about to leave the frame should it run. */
static int park(const struct ftr_remote *remote, uint64_t frame)
{
	int status, ret;

	if (!ftr_arch_comeback_set(remote->tid, remote->libc.comeback, frame))
		return -ESRCH;
	ptrace(PTRACE_INTERRUPT, remote->tid, 0, 0);
	ptrace(PTRACE_CONT, remote->tid, 0, 0);
	do {
		ret = ftr_tracee_wait(remote->tid, &status, 0);
		if (ret == 0 && FTR_STATUS_EVENT(status) != PTRACE_EVENT_STOP)
			ptrace(PTRACE_CONT, remote->tid, 0, 0);
	} while (ret == 0 && FTR_STATUS_EVENT(status) != PTRACE_EVENT_STOP);
	return ret;
}

int ftr_remote_call(struct ftr_remote *remote, uint64_t func, const uint64_t args[6],
		    uint64_t stack, uint64_t *result)
{
	struct user_regs_struct regs = remote->regs;
	struct ftr_arch_frame frame;
	int ret, parked;

	if (!frame_put(remote, stack, &frame))
		return -EFAULT;
	ftr_arch_regs_call(&regs, func, args, &frame, remote->libc.comeback);
	/* In this order: the frame, which is left if we die, has the mask. */
	if (!ftr_arch_regs_set(remote->tid, &regs) || !mask_set(remote->tid, UINT64_MAX))
		return -ESRCH;
	ret = run_to_comeback(remote, frame.sp, result);
	if (ret == -ESRCH)
		return ret;
	parked = park(remote, frame.sp);
	return parked < 0 ? parked : ret;
}

void ftr_remote_end(struct ftr_remote *remote, const struct ftr_call *call)
{
	if (remote->errno_at != 0)
		ftr_memory_write(remote->pid, remote->errno_at, &remote->errno_was,
				 sizeof(remote->errno_was));
	ftr_arch_state_set(remote->tid, &remote->state);
	ftr_call_resume(call, remote->tid, &remote->regs, remote->mask);
}
