/* SPDX-License-Identifier: MIT */
/* See remote.h.  The frame is what the kernel makes for a handler on x86-64. */
#include "utils/attach/remote.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "utils/attach/image.h"
#include "utils/attach/tracee.h"

#define RED_ZONE 128u
#define STATE_ALIGN 64u
#define FLAGS_OFF 0x500u		/* single step, direction */

/* What a call left by a stop has in rax, of <linux/errno.h>. */
#define ERESTARTSYS	512
#define ERESTARTNOINTR	513
#define ERESTARTNOHAND	514
#define ERESTART_RESTARTBLOCK 516

#define UC_FP_XSTATE	0x1u
#define UC_SIGCONTEXT_SS 0x2u
#define UC_STRICT_RESTORE_SS 0x4u
#define NO_STACK	0x7000		/* a stack that the kernel refuses: the thread's stays */
#define FP_MAGIC1	0x46505853u
#define FP_MAGIC2	0x46505845u
#define FP_SOFTWARE	464		/* where the kernel's own words are in the state */

struct kernel_stack {
	uint64_t sp;
	int32_t flags, pad;
	uint64_t size;
};

struct kernel_context {
	uint64_t flags, link;
	struct kernel_stack stack;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t di, si, bp, bx, dx, ax, cx, sp, ip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, state;
	uint64_t reserved[8];
	uint64_t mask;
};
static_assert(sizeof(struct kernel_context) == 304, "as the kernel has it");

struct kernel_software {
	uint32_t magic1, extended_bytes;
	uint64_t features;
	uint32_t state_bytes, pad[7];
};

/* mov $SYS_rt_sigreturn, %rax; syscall */
static const uint8_t comeback_code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

/* Calls that a stop ends with EINTR though no handler is called (signal(7)). */
static const uint16_t broken_calls[] = {
	SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop, SYS_semtimedop,
	SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter,
	/* ... with a time limit of their socket */
	SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_accept, SYS_accept4,
	SYS_write, SYS_writev, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_connect,
};

static const char *const libc_names[] = { "libc.so.6", "libc-2.", NULL };
static const char *const libdl_names[] = { "libdl.so.2", "libdl-2.", NULL };

static bool regs_get(pid_t tid, struct user_regs_struct *regs)
{
	return ptrace(PTRACE_GETREGS, tid, 0, regs) == 0;
}

static bool regs_set(pid_t tid, const struct user_regs_struct *regs)
{
	return ptrace(PTRACE_SETREGS, tid, 0, regs) == 0;
}

long ftr_remote_syscall(pid_t tid)
{
	struct user_regs_struct regs;

	return regs_get(tid, &regs) ? (long)regs.orig_rax : -1;
}

bool ftr_remote_position(pid_t tid, uint64_t *ip, uint64_t *sp)
{
	struct user_regs_struct regs;

	if (!regs_get(tid, &regs))
		return false;
	*ip = regs.rip;
	*sp = regs.rsp;
	return true;
}

uint64_t ftr_remote_was_at(const struct ftr_remote *remote, uint64_t *sp)
{
	*sp = remote->regs.rsp;
	return remote->regs.rip;
}

void ftr_remote_unbreak(pid_t tid)
{
	struct user_regs_struct regs;
	size_t i;

	if (!regs_get(tid, &regs) || (long)regs.orig_rax < 0 || (long)regs.rax != -EINTR)
		return;
	for (i = 0; i < sizeof(broken_calls) / sizeof(broken_calls[0]); i++) {
		if (broken_calls[i] == regs.orig_rax) {
			regs.rax = (uint64_t)-(long)ERESTARTNOHAND;
			regs_set(tid, &regs);
			return;
		}
	}
}

/* __restore_rt of libc, which handlers return to. */
static uint64_t comeback_find(const struct ftr_image *image, const char *libc)
{
	uint64_t found = 0;
	size_t i;

	for (i = 0; i < image->vmas.nr && found == 0; i++) {
		const struct ftr_vma *vma = &image->vmas.v[i];
		size_t bytes = vma->high - vma->low;
		uint8_t *code;
		const uint8_t *at;

		if (strchr(vma->prot, 'x') == NULL || strcmp(vma->path, libc) != 0)
			continue;
		code = malloc(bytes);
		if (code != NULL && ftr_memory_read(image->pid, vma->low, code, bytes)) {
			at = memmem(code, bytes, comeback_code, sizeof(comeback_code));
			found = at != NULL ? vma->low + (uint64_t)(at - code) : 0;
		}
		free(code);
	}
	return found;
}

/*
 * What __errno_location answers with, as its code says: endbr64 or not, mov DISTANCE(%rip), %rax;
 * add %fs:0, %rax; ret.
 */
static uint64_t errno_find(const struct ftr_image *image, const char *libc)
{
	static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t load[] = { 0x48, 0x8b, 0x05 };
	static const uint8_t add[] = { 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3 };
	uint64_t at = ftr_image_symbol(image, libc, "__errno_location"), offset;
	uint8_t code[32];
	size_t i = 0;
	int32_t distance;

	if (at == 0 || !ftr_memory_read(image->pid, at, code, sizeof(code)))
		return 0;
	if (memcmp(code, landing, sizeof(landing)) == 0)
		i = sizeof(landing);
	if (memcmp(code + i, load, sizeof(load)) != 0 ||
	    memcmp(code + i + 7, add, sizeof(add)) != 0)
		return 0;
	memcpy(&distance, code + i + 3, sizeof(distance));
	if (!ftr_memory_read(image->pid, at + i + 7 + (uint64_t)(int64_t)distance, &offset,
			     sizeof(offset)))
		return 0;
	return offset;
}

void ftr_remote_libc_find(struct ftr_remote_libc *libc, const struct ftr_image *image)
{
	const char *path = ftr_image_find(image, libc_names);
	const char *libdl = ftr_image_find(image, libdl_names);

	*libc = (struct ftr_remote_libc){ .comeback = 0 };
	if (path == NULL)
		return;
	libc->comeback = comeback_find(image, path);
	libc->errno_offset = errno_find(image, path);
	libc->map = ftr_image_symbol(image, path, "mmap");
	libc->unmap = ftr_image_symbol(image, path, "munmap");
	libc->open = ftr_image_symbol(image, path, "dlopen");
	if (libc->open == 0)
		libc->open = ftr_image_symbol(image, libdl, "dlopen");
}

static bool state_get(struct ftr_remote *remote, pid_t tid)
{
	struct iovec part = { remote->state, sizeof(remote->state) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &part) < 0)
		return false;
	remote->state_bytes = part.iov_len;
	return part.iov_len < sizeof(remote->state);
}

static bool mask_set(pid_t tid, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) == 0;
}

int ftr_remote_begin(struct ftr_remote *remote, pid_t pid, pid_t tid,
		     const struct ftr_remote_libc *libc, struct ftr_err *err)
{
	remote->pid = pid;
	remote->tid = 0;
	remote->libc = *libc;
	if (libc->comeback == 0 || libc->map == 0 || libc->unmap == 0)
		return ftr_err_set(err, ENOTSUP, "its C library is not glibc");
	if (!regs_get(tid, &remote->regs) || !state_get(remote, tid) ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof(remote->mask), &remote->mask) < 0)
		return ftr_err_set(err, errno, "its registers cannot be read: %s", strerror(errno));
	remote->errno_at = libc->errno_offset != 0 ? remote->regs.fs_base + libc->errno_offset : 0;
	if (remote->errno_at != 0 &&
	    !ftr_memory_read(pid, remote->errno_at, &remote->errno_was,
			     sizeof(remote->errno_was)))
		remote->errno_at = 0;
	remote->tid = tid;
	return 0;
}

/* Where it goes on by itself: a system call that was left is made again, in whole. */
static void regs_resume(const struct ftr_remote *remote, struct user_regs_struct *regs)
{
	long left = (long)remote->regs.rax;

	*regs = remote->regs;
	if ((long)regs->orig_rax < 0)
		return;
	if (left == -ERESTARTSYS || left == -ERESTARTNOINTR || left == -ERESTARTNOHAND ||
	    left == -ERESTART_RESTARTBLOCK) {
		regs->rip -= FTR_REMOTE_SYSCALL_BYTES;
		regs->rax = regs->orig_rax;
	}
}

static void context_fill(struct kernel_context *context, const struct ftr_remote *remote,
			 uint64_t state)
{
	struct user_regs_struct regs;

	regs_resume(remote, &regs);
	*context = (struct kernel_context){
		.flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
		.stack.flags = NO_STACK,
		.r8 = regs.r8, .r9 = regs.r9, .r10 = regs.r10, .r11 = regs.r11, .r12 = regs.r12,
		.r13 = regs.r13, .r14 = regs.r14, .r15 = regs.r15, .di = regs.rdi, .si = regs.rsi,
		.bp = regs.rbp, .bx = regs.rbx, .dx = regs.rdx, .ax = regs.rax, .cx = regs.rcx,
		.sp = regs.rsp, .ip = regs.rip, .eflags = regs.eflags,
		.cs = (uint16_t)regs.cs, .ss = (uint16_t)regs.ss,
		.state = state, .mask = remote->mask,
	};
}

/* The state as a handler's frame has it: the kernel's words say how much of it there is. */
static bool state_put(const struct ftr_remote *remote, uint64_t at)
{
	const uint32_t magic2 = FP_MAGIC2;
	struct kernel_software software = {
		.magic1 = FP_MAGIC1,
		.extended_bytes = (uint32_t)(remote->state_bytes + sizeof(magic2)),
		.state_bytes = (uint32_t)remote->state_bytes,
	};

	/* The kernel keeps there which features it saves. */
	memcpy(&software.features, remote->state + FP_SOFTWARE, sizeof(software.features));
	return ftr_memory_write(remote->pid, at, remote->state, remote->state_bytes) &&
	       ftr_memory_write(remote->pid, at + FP_SOFTWARE, &software, sizeof(software)) &&
	       ftr_memory_write(remote->pid, at + remote->state_bytes, &magic2, sizeof(magic2));
}

/* [ return address ][ context ] ... [ state ]; the address of the context, 0 = there is no room. */
static uint64_t frame_put(const struct ftr_remote *remote, uint64_t stack)
{
	struct kernel_context context;
	uint64_t state, at;

	if (stack == 0)
		stack = remote->regs.rsp - RED_ZONE;
	state = (stack - remote->state_bytes - 16) & ~(uint64_t)(STATE_ALIGN - 1);
	at = (state - sizeof(context)) & ~UINT64_C(15);
	context_fill(&context, remote, state);
	if (!state_put(remote, state) ||
	    !ftr_memory_write(remote->pid, at, &context, sizeof(context)) ||
	    !ftr_memory_write(remote->pid, at - sizeof(uint64_t), &remote->libc.comeback,
			      sizeof(uint64_t)))
		return 0;
	return at;
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
	struct user_regs_struct regs;
	int status, ret;

	if (!regs_get(remote->tid, &regs))
		return -ESRCH;
	regs.orig_rax = UINT64_MAX;
	regs.rip = remote->libc.comeback;
	regs.rsp = frame;
	if (!regs_set(remote->tid, &regs))
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
	uint64_t frame = frame_put(remote, stack);
	int ret, parked;

	if (frame == 0)
		return -EFAULT;
	regs.orig_rax = UINT64_MAX;
	regs.rip = func;
	regs.rsp = frame - sizeof(uint64_t);
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.rcx = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	regs.rax = 0;
	regs.rbp = 0;
	regs.eflags &= ~(unsigned long long)FLAGS_OFF;
	/* In this order: the frame, which is left if we die, has the mask. */
	if (!regs_set(remote->tid, &regs) || !mask_set(remote->tid, UINT64_MAX))
		return -ESRCH;
	ret = run_to_comeback(remote, frame, result);
	if (ret == -ESRCH)
		return ret;
	parked = park(remote, frame);
	return parked < 0 ? parked : ret;
}

/*
 * The registers last: up to then it leaves the frame if we die, from then on it does what it did.
 * Stopped like this the kernel decides anew how a call that was left goes on.
 */
void ftr_remote_end(struct ftr_remote *remote)
{
	struct iovec part = { remote->state, remote->state_bytes };

	if (remote->errno_at != 0)
		ftr_memory_write(remote->pid, remote->errno_at, &remote->errno_was,
				 sizeof(remote->errno_was));
	ptrace(PTRACE_SETREGSET, remote->tid, NT_X86_XSTATE, &part);
	mask_set(remote->tid, remote->mask);
	regs_set(remote->tid, &remote->regs);
}
