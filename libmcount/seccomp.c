/* SPDX-License-Identifier: MIT */
/* Trying a seccomp filter out: classic BPF over struct seccomp_data, as the kernel runs it. */
#include "libmcount/seccomp.h"

#include <linux/audit.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "arch/rt.h"

struct machine {
	uint32_t a, x;
	uint32_t mem[BPF_MEMWORDS];
};

/* What the runtime may ask of the kernel after the program's start. */
static const uint16_t our_calls[] = {
	SYS_close,
	SYS_connect,
	SYS_getpid,
	SYS_gettid,
	SYS_ioctl,
	SYS_lseek,
	SYS_madvise,
	SYS_mmap,
	SYS_mprotect,
	SYS_munmap,
	SYS_openat,
	SYS_prlimit64,
	SYS_process_vm_readv,
	SYS_read,
	SYS_recvmsg,
	SYS_rt_sigprocmask,
	SYS_sendmsg,
	SYS_setsockopt,
	SYS_socket,
	SYS_tgkill,
};

static bool load(const struct seccomp_data *data, uint32_t offset, uint32_t *value)
{
	if (offset > sizeof(*data) - sizeof(*value) || offset % sizeof(*value) != 0)
		return false;
	*value = *(const uint32_t *)((const char *)data + offset);
	return true;
}

static bool calculate(struct machine *m, uint16_t op, uint32_t operand)
{
	switch (op) {
	case BPF_ADD: m->a += operand; return true;
	case BPF_SUB: m->a -= operand; return true;
	case BPF_MUL: m->a *= operand; return true;
	case BPF_DIV: m->a = operand != 0 ? m->a / operand : 0; return operand != 0;
	case BPF_OR:  m->a |= operand; return true;
	case BPF_AND: m->a &= operand; return true;
	case BPF_XOR: m->a ^= operand; return true;
	case BPF_LSH: m->a = operand < 32 ? m->a << operand : 0; return true;
	case BPF_RSH: m->a = operand < 32 ? m->a >> operand : 0; return true;
	case BPF_NEG: m->a = -m->a; return true;
	default: return false;
	}
}

static bool jump_is_taken(const struct machine *m, uint16_t op, uint32_t operand)
{
	switch (op) {
	case BPF_JEQ: return m->a == operand;
	case BPF_JGT: return m->a > operand;
	case BPF_JGE: return m->a >= operand;
	default:      return (m->a & operand) != 0;	/* BPF_JSET */
	}
}

/* Loads, stores and moves; false for what is no instruction of a filter. */
static bool move(struct machine *m, const struct sock_filter *code, const struct seccomp_data *data)
{
	switch (code->code) {
	case BPF_LD | BPF_W | BPF_ABS: return load(data, code->k, &m->a);
	case BPF_LD | BPF_W | BPF_LEN: m->a = sizeof(*data); return true;
	case BPF_LDX | BPF_W | BPF_LEN: m->x = sizeof(*data); return true;
	case BPF_LD | BPF_IMM: m->a = code->k; return true;
	case BPF_LDX | BPF_IMM: m->x = code->k; return true;
	case BPF_LD | BPF_MEM: m->a = m->mem[code->k % BPF_MEMWORDS]; return true;
	case BPF_LDX | BPF_MEM: m->x = m->mem[code->k % BPF_MEMWORDS]; return true;
	case BPF_ST: m->mem[code->k % BPF_MEMWORDS] = m->a; return true;
	case BPF_STX: m->mem[code->k % BPF_MEMWORDS] = m->x; return true;
	case BPF_MISC | BPF_TAX: m->x = m->a; return true;
	case BPF_MISC | BPF_TXA: m->a = m->x; return true;
	default: return false;
	}
}

uint32_t ftr_seccomp_run(const struct sock_filter *code, uint32_t nr,
			 const struct seccomp_data *data)
{
	struct machine m = { 0 };
	uint32_t pc = 0;

	while (pc < nr) {
		const struct sock_filter *at = &code[pc++];
		uint32_t operand = BPF_SRC(at->code) == BPF_X ? m.x : at->k;

		switch (BPF_CLASS(at->code)) {
		case BPF_RET:
			return BPF_RVAL(at->code) == BPF_A ? m.a : at->k;
		case BPF_JMP:
			if (BPF_OP(at->code) != BPF_JA)
				operand = jump_is_taken(&m, BPF_OP(at->code), operand) ? at->jt :
											 at->jf;
			if (operand >= nr - pc)		/* out of it, or round and back */
				return SECCOMP_RET_KILL_PROCESS;
			pc += operand;
			break;
		case BPF_ALU:
			if (!calculate(&m, BPF_OP(at->code), operand))
				return SECCOMP_RET_KILL_PROCESS;
			break;
		default:
			if (!move(&m, at, data))
				return SECCOMP_RET_KILL_PROCESS;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static bool is_harmless(uint32_t answer)
{
	switch (answer & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ERRNO:
		return true;
	default: /* kill, trap; trace and notify ask another process, which does not expect it */
		return false;
	}
}

bool ftr_seccomp_kills_us(const struct sock_filter *code, uint32_t nr)
{
	struct seccomp_data data = { .arch = FTR_ARCH_AUDIT };
	uint32_t i;

	for (i = 0; i < sizeof(our_calls) / sizeof(our_calls[0]); i++) {
		data.nr = our_calls[i];
		if (!is_harmless(ftr_seccomp_run(code, nr, &data)))
			return true;
	}
	return false;
}
