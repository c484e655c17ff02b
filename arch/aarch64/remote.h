/* SPDX-License-Identifier: MIT */
/* See arch/x86_64/remote.h (64-bit Arm). */
#ifndef FTR_ARCH_AARCH64_REMOTE_H
#define FTR_ARCH_AARCH64_REMOTE_H

#include <assert.h>
#include <elf.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <ucontext.h>

#include "arch/aarch64/task_regs.h"

/* The kernel has it stopped at the instruction that is to be done again. */
#define FTR_ARCH_CALL_BEHIND 0u

#define FTR_ARCH_CALL_PUSHES 0

#define FTR_ARCH_WAITING_CALLS
#define FTR_ARCH_BROKEN_CALLS

#define FTR_ARCH_COMEBACK_FILE "[vdso]"

/* Handlers return by x30: what their frames have in one place is the first record's beginning. */
#define FTR_ARCH_HANDLER_MARK_VALUE UINT64_C(0x0000021046508001)
#define FTR_ARCH_HANDLER_MARK 4u
#define FTR_ARCH_HANDLER_SP 0u
#define FTR_ARCH_HANDLER_IP 1u
#define FTR_ARCH_HANDLER_WORDS 5u

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif
#ifndef NT_ARM_SVE
#define NT_ARM_SVE 0x405
#endif
#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE 0x40b
#endif

#define FTR_ARCH_RED_ZONE 0u
#define FTR_ARCH_SVE_MAX 9216u
#define FTR_ARCH_SVE_ACTIVE 1u			/* SVE_PT_REGS_SVE */
#define FTR_ARCH_SVE_SHOWN 16u			/* where the kernel shows the registers */
#define FTR_ARCH_RECORDS_BYTES 4096u
#define FTR_ARCH_PSTATE_BTYPE 0xc00u
#define FTR_ARCH_PSTATE_SS 0x200000u

/* As the kernel shows it before the registers. */
struct ftr_arch_sve_header {
	uint32_t size, max_size;
	uint16_t vl, max_vl, flags, reserved;
};

struct ftr_arch_state {
	struct user_fpsimd_struct simd;
	size_t sve_bytes;		/* 0 = nothing in it is in use */
	union {
		struct ftr_arch_sve_header head;
		uint8_t v[FTR_ARCH_SVE_MAX];
	} sve;
};

/* Records of a handler's frame, and their kinds. */
#define FTR_ARCH_RECORD_SIMD 0x46508001u
#define FTR_ARCH_RECORD_SVE 0x53564501u

struct ftr_arch_record_simd {
	uint32_t magic, size, fpsr, fpcr;
	__uint128_t vregs[32];
};
static_assert(sizeof(struct ftr_arch_record_simd) == FTR_ARCH_HANDLER_MARK_VALUE >> 32,
	      "as the kernel has it");

struct ftr_arch_record_sve {
	uint32_t magic, size;
	uint16_t vl, flags, reserved[2];
};

struct ftr_arch_context {
	uint64_t fault_address, regs[31], sp, pc, pstate;
	uint8_t records[FTR_ARCH_RECORDS_BYTES] __attribute__((aligned(16)));
};

/* struct rt_sigframe of the kernel, whose ucontext has less than 128 bytes for the mask. */
struct ftr_arch_handler_frame {
	uint8_t info[128];
	uint64_t flags, link, stack_sp;
	int32_t stack_flags, pad;
	uint64_t stack_size, mask;
	uint8_t unused[1024 / 8 - sizeof(uint64_t)];
	struct ftr_arch_context context;
};
static_assert(sizeof(struct ftr_arch_handler_frame) == 128 + sizeof(ucontext_t) &&
	      offsetof(struct ftr_arch_handler_frame, context) ==
		      128 + offsetof(ucontext_t, uc_mcontext), "as the kernel has it");
static_assert(offsetof(struct ftr_arch_context, records) -
	      offsetof(struct ftr_arch_context, sp) == 8 * FTR_ARCH_HANDLER_MARK, "");

struct ftr_arch_frame {
	uint64_t low, sp;
	size_t bytes;
	union {
		struct ftr_arch_handler_frame as;
		uint8_t v[sizeof(struct ftr_arch_handler_frame)];
	};
};

#define FTR_ARCH_HANDLER_AT \
	((int64_t)(offsetof(struct ftr_arch_handler_frame, context) + \
		   offsetof(struct ftr_arch_context, sp)))

static inline bool ftr_arch_regs_get(pid_t tid, struct user_regs_struct *regs)
{
	return ftr_arch_task_regs(tid, regs);
}

static inline bool ftr_arch_regs_set(pid_t tid, const struct user_regs_struct *regs)
{
	struct iovec part = { (void *)regs, sizeof(*regs) };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &part) == 0;
}

static inline uint64_t ftr_arch_regs_ip(const struct user_regs_struct *regs)
{
	return regs->pc;
}

static inline uint64_t ftr_arch_regs_sp(const struct user_regs_struct *regs)
{
	return regs->sp;
}

static inline uint64_t ftr_arch_thread_at(pid_t tid, const struct user_regs_struct *regs)
{
	uint64_t words[2] = { 0 };	/* newer kernels show a second one */
	struct iovec part = { words, sizeof(words) };

	return ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_ARM_TLS, &part) == 0 ?
		       words[0] : 0;
}

static inline bool ftr_arch_sve_get(pid_t tid, unsigned which, void *to, size_t bytes,
				    size_t *shown)
{
	struct iovec part = { to, bytes };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)which, &part) < 0 ||
	    part.iov_len < sizeof(struct ftr_arch_sve_header))
		return false;
	*shown = part.iov_len;
	return (((struct ftr_arch_sve_header *)to)->flags & FTR_ARCH_SVE_ACTIVE) != 0;
}

/* Bytes of the SVE registers, Z0 to FFR, as the kernel and a frame have them. */
static inline size_t ftr_arch_sve_regs(const struct ftr_arch_state *state)
{
	size_t vl = state->sve.head.vl;

	return 32 * vl + 16 * vl / 8 + vl / 8;
}

static inline size_t ftr_arch_sve_record(const struct ftr_arch_state *state)
{
	return (sizeof(struct ftr_arch_record_sve) + ftr_arch_sve_regs(state) + 15) & ~(size_t)15;
}

static inline const char *ftr_arch_state_get(pid_t tid, struct ftr_arch_state *state)
{
	struct iovec part = { &state->simd, sizeof(state->simd) };
	size_t bytes = 0;

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRFPREG, &part) < 0)
		return "the kernel does not show its vector registers";
	if (ftr_arch_sve_get(tid, NT_ARM_SSVE, state->sve.v, sizeof(state->sve.v), &bytes))
		return "it is in streaming mode (SME)";
	state->sve_bytes = 0;
	if (!ftr_arch_sve_get(tid, NT_ARM_SVE, state->sve.v, sizeof(state->sve.v), &bytes))
		return NULL;
	state->sve_bytes = state->sve.head.size;	/* the kernel shows room for the largest */
	if (state->sve_bytes > bytes ||
	    FTR_ARCH_SVE_SHOWN + ftr_arch_sve_regs(state) > state->sve_bytes ||
	    sizeof(struct ftr_arch_record_simd) + ftr_arch_sve_record(state) + 16 >
		    FTR_ARCH_RECORDS_BYTES)
		return "its vector registers are too large";
	return NULL;
}

/* SVE registers last: what is written to the others clears what is above them. */
static inline void ftr_arch_state_set(pid_t tid, const struct ftr_arch_state *state)
{
	struct iovec simd = { (void *)&state->simd, sizeof(state->simd) };
	struct iovec sve = { (void *)state->sve.v, state->sve_bytes };

	ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRFPREG, &simd);
	if (state->sve_bytes != 0)
		ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_ARM_SVE, &sve);
}

/* One behind the other, to one without a kind. */
static inline void ftr_arch_frame_records(uint8_t *to, const struct ftr_arch_state *state)
{
	struct ftr_arch_record_simd simd = {
		.magic = FTR_ARCH_RECORD_SIMD, .size = sizeof(simd),
		.fpsr = state->simd.fpsr, .fpcr = state->simd.fpcr,
	};
	const struct ftr_arch_record_sve sve = {
		.magic = FTR_ARCH_RECORD_SVE, .size = (uint32_t)ftr_arch_sve_record(state),
		.vl = state->sve.head.vl,
	};

	memcpy(simd.vregs, state->simd.vregs, sizeof(simd.vregs));
	memcpy(to, &simd, sizeof(simd));
	if (state->sve_bytes == 0)
		return;
	to += sizeof(simd);
	memcpy(to, &sve, sizeof(sve));
	memcpy(to + sizeof(sve), state->sve.v + FTR_ARCH_SVE_SHOWN, ftr_arch_sve_regs(state));
}

static inline void ftr_arch_frame_make(struct ftr_arch_frame *frame,
				       const struct user_regs_struct *regs,
				       const struct ftr_arch_state *state, uint64_t mask,
				       uint64_t comeback, uint64_t stack)
{
	frame->bytes = sizeof(frame->v);
	frame->low = frame->sp = (stack - frame->bytes) & ~UINT64_C(15);
	frame->as = (struct ftr_arch_handler_frame){
		.stack_flags = 0x7000,	/* one that the kernel refuses: the thread's stays */
		.mask = mask,
		.context = { .sp = regs->sp, .pc = regs->pc, .pstate = regs->pstate },
	};
	memcpy(frame->as.context.regs, regs->regs, sizeof(regs->regs));
	ftr_arch_frame_records(frame->as.context.records, state);
}

/* No branch leads there: what a guarded function would have to begin with is not looked at. */
static inline void ftr_arch_regs_call(struct user_regs_struct *regs, uint64_t func,
				      const uint64_t args[6], const struct ftr_arch_frame *frame,
				      uint64_t comeback)
{
	unsigned i;

	for (i = 0; i < 6; i++)
		regs->regs[i] = args[i];
	regs->regs[29] = 0;
	regs->regs[30] = comeback;
	regs->sp = frame->sp;
	regs->pc = func;
	regs->pstate &= ~(unsigned long long)(FTR_ARCH_PSTATE_BTYPE | FTR_ARCH_PSTATE_SS);
}

/* Of a thread that is about to make one: which; where it has been stopped: -1. */
static inline bool ftr_arch_call_change(pid_t tid, int32_t nr)
{
	struct iovec part = { &nr, sizeof(nr) };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_ARM_SYSTEM_CALL, &part) == 0;
}

static inline bool ftr_arch_comeback_set(pid_t tid, uint64_t comeback, uint64_t sp)
{
	struct user_regs_struct regs;

	if (!ftr_arch_regs_get(tid, &regs))
		return false;
	regs.pc = comeback;
	regs.sp = sp;
	regs.pstate &= ~(unsigned long long)FTR_ARCH_PSTATE_BTYPE;
	return ftr_arch_regs_set(tid, &regs) && ftr_arch_call_change(tid, -1);
}

/* adrp xN, PAGE; ldr xN, [xN, #BYTES]; mrs xM, tpidr_el0; add x0, xM, xN; ret, in some order. */
#define FTR_ARCH_ERRNO_CODE_BYTES 32u
static inline bool ftr_arch_errno_word(const uint8_t *code, uint64_t at, uint64_t *word)
{
	bool has_page = false, has_load = false, has_thread = false, has_sum = false;
	uint32_t insn = 0;
	unsigned i;

	*word = 0;
	for (i = 0; i < FTR_ARCH_ERRNO_CODE_BYTES / sizeof(insn); i++) {
		memcpy(&insn, code + i * sizeof(insn), sizeof(insn));
		if ((insn & 0x9f000000u) == 0x90000000u && !has_page) {
			int64_t pages = (int64_t)((uint64_t)(insn >> 5 & 0x7ffff) << 45) >> 43;

			*word = ((at + i * sizeof(insn)) & ~UINT64_C(4095)) +
				(uint64_t)(pages | (insn >> 29 & 3)) * 4096;
			has_page = true;
		} else if ((insn & 0xffc00000u) == 0xf9400000u && has_page && !has_load) {
			*word += (uint64_t)(insn >> 10 & 0xfff) * 8;
			has_load = true;
		} else if ((insn & 0xffffffe0u) == 0xd53bd040u) {
			has_thread = true;
		} else if ((insn & 0xffe0fc1fu) == 0x8b000000u) {
			has_sum = true;
		} else if (insn == 0xd65f03c0u) {
			break;
		} else if ((insn & 0xfffff01fu) != 0xd503201fu) {	/* nop, bti and the like */
			return false;
		}
	}
	return insn == 0xd65f03c0u && has_load && has_thread && has_sum;
}

/* Without a signature, which lies above the 48 bits of an address. */
static inline uint64_t ftr_arch_address(uint64_t word)
{
	return word & UINT64_C(0xffffffffffff);
}

/* ---- the call that a thread waits in (utils/attach/call_hidden.c) ---- */

#define FTR_ARCH_CALL_INSN 0xd4000001u		/* svc #0 */

static inline uint64_t ftr_arch_call_number(const struct user_regs_struct *regs)
{
	return regs->regs[8];
}

static inline void ftr_arch_call_set_number(struct user_regs_struct *regs, uint64_t nr)
{
	regs->regs[8] = nr;
}

static inline int64_t ftr_arch_call_result(const struct user_regs_struct *regs)
{
	return (int64_t)regs->regs[0];
}

static inline uint64_t ftr_arch_call_arg(const struct user_regs_struct *regs, unsigned n)
{
	return regs->regs[n];
}

/* About to be made, with this as its first argument; or made, with this as its result. */
static inline void ftr_arch_call_again(struct user_regs_struct *regs, uint64_t arg)
{
	regs->pc -= sizeof(uint32_t);
	regs->regs[0] = arg;
}

static inline void ftr_arch_call_ended(struct user_regs_struct *regs, int64_t result)
{
	regs->pc += sizeof(uint32_t);
	regs->regs[0] = (uint64_t)result;
}

/* mov x8, #NUMBER: the number; -1: it is another one. */
static inline long ftr_arch_call_loads(uint32_t insn)
{
	return (insn & 0x7fe0001fu) == 0x52800008u ? (long)(insn >> 5 & 0xffff) : -1;
}

/*
 * Has a handler that had interrupted the call just come back?  Its frame is still there, in @words,
 * which end below the stack.
 */
static inline bool ftr_arch_handler_came_back(const struct user_regs_struct *regs,
					      const uint64_t *words, size_t nr)
{
	size_t i;

	for (i = 31; i + 1 < nr; i++) {
		if (words[i] == regs->sp && words[i + 1] == regs->pc &&
		    words[i - 31] == regs->regs[0])
			return true;
	}
	return false;
}

#endif /* FTR_ARCH_AARCH64_REMOTE_H */
