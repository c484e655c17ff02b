/* SPDX-License-Identifier: MIT */
/*
 * How a thread is made to call a function, and goes on where it was: its registers, and the frame
 * that the kernel makes for a handler (x86-64).
 */
#ifndef FTR_ARCH_X86_64_REMOTE_H
#define FTR_ARCH_X86_64_REMOTE_H

#include <assert.h>
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

/* A thread that is to make its system call again is stopped so far behind where that is. */
#define FTR_ARCH_CALL_BEHIND 2u

/* Does a call move the stack pointer, also that of a function which calls nothing itself? */
#define FTR_ARCH_CALL_PUSHES 1

/* Of those that only older machines have: calls that wait; calls that a stop ends with EINTR. */
#define FTR_ARCH_WAITING_CALLS SYS_poll, SYS_select, SYS_epoll_wait, SYS_pause,
#define FTR_ARCH_BROKEN_CALLS SYS_epoll_wait,

#define FTR_ARCH_COMEBACK_FILE NULL		/* of the C library */

/*
 * How a handler's frame is found on a stack: words from its first on, one of which is this one, or
 * 0: where handlers return to; the stack pointer and the address that it comes back to.
 */
#define FTR_ARCH_HANDLER_MARK_VALUE UINT64_C(0)
#define FTR_ARCH_HANDLER_MARK 0u
#define FTR_ARCH_HANDLER_SP (160 / sizeof(uint64_t) + 1)
#define FTR_ARCH_HANDLER_IP (168 / sizeof(uint64_t) + 1)
#define FTR_ARCH_HANDLER_WORDS (FTR_ARCH_HANDLER_IP + 1)
/* Where those words begin, counted from the stack pointer that a handler comes back with. */
#define FTR_ARCH_HANDLER_AT (-(int64_t)sizeof(uint64_t))

#define FTR_ARCH_STATE_MAX 16384u
#define FTR_ARCH_STATE_ALIGN 64u
#define FTR_ARCH_RED_ZONE 128u
#define FTR_ARCH_FLAGS_OFF 0x500u		/* single step, direction */

/* Registers beside the general ones, as the kernel shows them. */
struct ftr_arch_state {
	size_t bytes;
	uint8_t v[FTR_ARCH_STATE_MAX];
};

struct ftr_arch_handler_stack {
	uint64_t sp;
	int32_t flags, pad;
	uint64_t size;
};

struct ftr_arch_handler_context {
	uint64_t flags, link;
	struct ftr_arch_handler_stack stack;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t di, si, bp, bx, dx, ax, cx, sp, ip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, state;
	uint64_t reserved[8];
	uint64_t mask;
};
static_assert(sizeof(struct ftr_arch_handler_context) == 304, "as the kernel has it");

/* The kernel's words in the state, which say how much of it there is. */
#define FTR_ARCH_STATE_SOFTWARE 464
#define FTR_ARCH_STATE_MAGIC1 0x46505853u
#define FTR_ARCH_STATE_MAGIC2 0x46505845u

struct ftr_arch_state_software {
	uint32_t magic1, extended_bytes;
	uint64_t features;
	uint32_t state_bytes, pad[7];
};

/* What lies on the stack while a handler runs: [ return address ][ context ] ... [ state ]. */
struct ftr_arch_frame {
	uint64_t low;			/* address of v[0] */
	uint64_t sp;			/* where it is left with */
	size_t bytes;
	uint8_t v[FTR_ARCH_STATE_MAX + 512];
};

static inline bool ftr_arch_regs_get(pid_t tid, struct user_regs_struct *regs)
{
	return ptrace(PTRACE_GETREGS, tid, 0, regs) == 0;
}

static inline bool ftr_arch_regs_set(pid_t tid, const struct user_regs_struct *regs)
{
	return ptrace(PTRACE_SETREGS, tid, 0, regs) == 0;
}

static inline uint64_t ftr_arch_regs_ip(const struct user_regs_struct *regs)
{
	return regs->rip;
}

static inline uint64_t ftr_arch_regs_sp(const struct user_regs_struct *regs)
{
	return regs->rsp;
}

/* What a thread's own storage is counted from. */
static inline uint64_t ftr_arch_thread_at(pid_t tid, const struct user_regs_struct *regs)
{
	return regs->fs_base;
}

/* NULL, or why it cannot be kept. */
static inline const char *ftr_arch_state_get(pid_t tid, struct ftr_arch_state *state)
{
	struct iovec part = { state->v, sizeof(state->v) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &part) < 0)
		return "the kernel does not show its vector registers";
	state->bytes = part.iov_len;
	return part.iov_len < sizeof(state->v) ? NULL : "its vector registers are too large";
}

static inline void ftr_arch_state_set(pid_t tid, const struct ftr_arch_state *state)
{
	struct iovec part = { (void *)state->v, state->bytes };

	ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &part);
}

/* The state as a handler's frame has it. */
static inline void ftr_arch_frame_state(const struct ftr_arch_state *state, uint8_t *to)
{
	const uint32_t magic2 = FTR_ARCH_STATE_MAGIC2;
	struct ftr_arch_state_software software = {
		.magic1 = FTR_ARCH_STATE_MAGIC1,
		.extended_bytes = (uint32_t)(state->bytes + sizeof(magic2)),
		.state_bytes = (uint32_t)state->bytes,
	};

	/* The kernel keeps there which features it saves. */
	memcpy(&software.features, state->v + FTR_ARCH_STATE_SOFTWARE, sizeof(software.features));
	memcpy(to, state->v, state->bytes);
	memcpy(to + FTR_ARCH_STATE_SOFTWARE, &software, sizeof(software));
	memcpy(to + state->bytes, &magic2, sizeof(magic2));
}

/*
 * The frame of a handler that comes back to @regs and all else, on a stack that ends at @stack.
 * It is left by the code at @comeback, which the handler returns to.
 */
static inline void ftr_arch_frame_make(struct ftr_arch_frame *frame,
				       const struct user_regs_struct *regs,
				       const struct ftr_arch_state *state, uint64_t mask,
				       uint64_t comeback, uint64_t stack)
{
	uint64_t state_at = (stack - state->bytes - 16) & ~(uint64_t)(FTR_ARCH_STATE_ALIGN - 1);
	uint64_t at = (state_at - sizeof(struct ftr_arch_handler_context)) & ~UINT64_C(15);
	const struct ftr_arch_handler_context context = {
		/* FP_XSTATE, SIGCONTEXT_SS, STRICT_RESTORE_SS */
		.flags = 0x7,
		.stack.flags = 0x7000,	/* one that the kernel refuses: the thread's stays */
		.r8 = regs->r8, .r9 = regs->r9, .r10 = regs->r10, .r11 = regs->r11,
		.r12 = regs->r12, .r13 = regs->r13, .r14 = regs->r14, .r15 = regs->r15,
		.di = regs->rdi, .si = regs->rsi, .bp = regs->rbp, .bx = regs->rbx,
		.dx = regs->rdx, .ax = regs->rax, .cx = regs->rcx,
		.sp = regs->rsp, .ip = regs->rip, .eflags = regs->eflags,
		.cs = (uint16_t)regs->cs, .ss = (uint16_t)regs->ss,
		.state = state_at, .mask = mask,
	};

	frame->sp = at;
	frame->low = at - sizeof(comeback);
	frame->bytes = (size_t)(state_at - frame->low) + state->bytes + sizeof(uint32_t);
	memset(frame->v, 0, (size_t)(state_at - frame->low));
	memcpy(frame->v, &comeback, sizeof(comeback));
	memcpy(frame->v + sizeof(comeback), &context, sizeof(context));
	ftr_arch_frame_state(state, frame->v + (state_at - frame->low));
}

/* @regs at the beginning of @func, which returns to @comeback. */
static inline void ftr_arch_regs_call(struct user_regs_struct *regs, uint64_t func,
				      const uint64_t args[6], const struct ftr_arch_frame *frame,
				      uint64_t comeback)
{
	regs->orig_rax = UINT64_MAX;
	regs->rip = func;
	regs->rsp = frame->low;
	regs->rdi = args[0];
	regs->rsi = args[1];
	regs->rdx = args[2];
	regs->rcx = args[3];
	regs->r8 = args[4];
	regs->r9 = args[5];
	regs->rax = 0;
	regs->rbp = 0;
	regs->eflags &= ~(unsigned long long)FTR_ARCH_FLAGS_OFF;
}

/* The stopped thread, in a system call or not, is about to leave the frame at @sp.  False: gone. */
static inline bool ftr_arch_comeback_set(pid_t tid, uint64_t comeback, uint64_t sp)
{
	struct user_regs_struct regs;

	if (!ftr_arch_regs_get(tid, &regs))
		return false;
	regs.orig_rax = UINT64_MAX;
	regs.rip = comeback;
	regs.rsp = sp;
	return ftr_arch_regs_set(tid, &regs);
}

/*
 * Of __errno_location, whose first bytes are @code: where the word lies, by the distance from
 * @code, that says how far errno is from a thread's storage.  endbr64 or not, mov DISTANCE(%rip),
 * %rax; add %fs:0, %rax; ret.
 */
#define FTR_ARCH_ERRNO_CODE_BYTES 32u
static inline bool ftr_arch_errno_word(const uint8_t *code, uint64_t at, uint64_t *word)
{
	static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t load[] = { 0x48, 0x8b, 0x05 };
	static const uint8_t add[] = { 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3 };
	size_t i = memcmp(code, landing, sizeof(landing)) == 0 ? sizeof(landing) : 0;
	int32_t distance;

	if (memcmp(code + i, load, sizeof(load)) != 0 ||
	    memcmp(code + i + 7, add, sizeof(add)) != 0)
		return false;
	memcpy(&distance, code + i + 3, sizeof(distance));
	*word = at + i + 7 + (uint64_t)(int64_t)distance;
	return true;
}

/* A return address as it may stand on a stack. */
static inline uint64_t ftr_arch_address(uint64_t word)
{
	return word;
}

#endif /* FTR_ARCH_X86_64_REMOTE_H */
