/* SPDX-License-Identifier: MIT */
/* Trying a seccomp filter out: classic BPF over struct seccomp_data, as the kernel runs it. */
#include "libmcount/seccomp.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmcount/maps.h"
#include "libmcount/readable.h"
#include "utils/base/rt/sys.h"

struct machine {
	uint32_t a, x;
	uint32_t mem[BPF_MEMWORDS];
};

#define ARGS_MAX 6
#define AN_FD 3
#define AN_ADDRESS 0x7f5555555000u
#define A_SIZE 4096
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define READ_WRITE (PROT_READ | PROT_WRITE)
#define SIGNALS_BYTES 8
#define NO_FD UINT64_MAX
#define OUR_PID (UINT64_MAX - 1)	/* stands for the number of the process, */
#define OUR_TID (UINT64_MAX - 2)	/* and of the thread */

/*
 * What the runtime may ask of the kernel after the program's start, with the arguments that a
 * filter may look at.  What is needed may not be refused either; the rest may fail.
 */
static const struct our_call {
	uint16_t nr;
	bool is_needed;
	uint64_t args[ARGS_MAX];
} tracing_calls[] = {
	{ SYS_close, true, { AN_FD, 0, 0, 0, 0, FTR_OWN_CALL } },
	{ SYS_connect, true, { AN_FD, AN_ADDRESS, sizeof(struct sockaddr_un) } },
	{ SYS_fcntl, true, { AN_FD, F_DUPFD_CLOEXEC, 0, 0, 0, FTR_OWN_CALL } },
	{ SYS_futex, false, { AN_ADDRESS, FUTEX_WAIT_PRIVATE, 1, AN_ADDRESS } },
	{ SYS_futex, false, { AN_ADDRESS, FUTEX_WAKE_PRIVATE, 1 } },
	{ SYS_getpid, true, { 0 } },
	{ SYS_getppid, false, { 0 } },
	{ SYS_gettid, true, { 0 } },
	{ SYS_ioctl, false, { AN_FD, FTR_MAPS_QUERY, AN_ADDRESS } },
	{ SYS_lseek, false, { AN_FD, 0, SEEK_END } },
	{ SYS_madvise, true, { AN_ADDRESS, A_SIZE, MADV_WIPEONFORK } },
	{ FTR_ARCH_SYS_MMAP, true, { 0, A_SIZE, READ_WRITE, ANONYMOUS, NO_FD } },
	{ FTR_ARCH_SYS_MMAP, true, { 0, A_SIZE, PROT_NONE, ANONYMOUS | MAP_NORESERVE, NO_FD } },
	{ FTR_ARCH_SYS_MMAP, true, { 0, A_SIZE, READ_WRITE, MAP_SHARED, AN_FD } },
	{ FTR_ARCH_SYS_MMAP, true, { AN_ADDRESS, A_SIZE, READ_WRITE, MAP_SHARED | MAP_FIXED, AN_FD,
			    A_SIZE } },
	{ FTR_ARCH_SYS_MMAP, true, { AN_ADDRESS, A_SIZE, READ_WRITE,
			    ANONYMOUS | MAP_NORESERVE | MAP_FIXED | MAP_GROWSDOWN, NO_FD } },
	{ FTR_ARCH_SYS_MMAP, false, { AN_ADDRESS, A_SIZE, READ_WRITE,
			     ANONYMOUS | MAP_NORESERVE | MAP_FIXED, NO_FD } },
	{ FTR_ARCH_SYS_MMAP, false, { 0, A_SIZE, PROT_READ, MAP_SHARED, AN_FD } },
	{ SYS_mprotect, false, { AN_ADDRESS, A_SIZE, READ_WRITE } },
	{ SYS_mprotect, false, { AN_ADDRESS, A_SIZE, PROT_READ } },
	{ SYS_munmap, true, { AN_ADDRESS, A_SIZE } },
	{ SYS_openat, false, { (uint64_t)AT_FDCWD, AN_ADDRESS, O_RDONLY | O_CLOEXEC, 0, 0,
			       FTR_OWN_CALL } },
	{ SYS_prlimit64, false, { 0, RLIMIT_AS, 0, AN_ADDRESS } },
	{ SYS_process_vm_readv, false, { OUR_PID, AN_ADDRESS, 1, AN_ADDRESS, 1 } },
	{ SYS_read, false, { AN_FD, AN_ADDRESS, A_SIZE } },
	{ SYS_readlinkat, false, { (uint64_t)AT_FDCWD, AN_ADDRESS, AN_ADDRESS, A_SIZE } },
	{ SYS_recvmsg, true, { AN_FD, AN_ADDRESS, MSG_CMSG_CLOEXEC } },
	{ SYS_rt_sigprocmask, true, { SIG_BLOCK, AN_ADDRESS, AN_ADDRESS, SIGNALS_BYTES } },
	{ SYS_rt_sigprocmask, true, { SIG_SETMASK, AN_ADDRESS, 0, SIGNALS_BYTES } },
	{ SYS_rt_sigprocmask, false, { FTR_READABLE_HOW, AN_ADDRESS, 0, SIGNALS_BYTES } },
	{ SYS_sendmsg, true, { AN_FD, AN_ADDRESS, MSG_NOSIGNAL } },
	{ SYS_setsockopt, false, { AN_FD, SOL_SOCKET, SO_RCVTIMEO, AN_ADDRESS,
				 sizeof(struct timeval) } },
	{ SYS_setsockopt, false, { AN_FD, SOL_SOCKET, SO_SNDTIMEO, AN_ADDRESS,
				 sizeof(struct timeval) } },
	{ SYS_socket, true, { AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC } },
	{ SYS_tgkill, false, { OUR_PID, OUR_TID } },
};

static const struct our_call helper_calls[] = {
	{ SYS_clone, true, { CLONE_VM | CLONE_VFORK | CLONE_UNTRACED, AN_ADDRESS, 0, 0, 0,
			     FTR_OWN_CALL } },
	{ SYS_close_range, false, { 0, ~0u, 0, 0, 0, FTR_OWN_CALL } },
	{ SYS_exit, true, { 0 } },
	{ SYS_wait4, true, { OUR_PID, 0, __WALL } },
};

static const struct our_call unlock_calls[] = {
	{ SYS_mlock2, true, { AN_ADDRESS, A_SIZE, 0 } },
	{ SYS_mlockall, true, { MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT } },
	{ SYS_mremap, true, { AN_ADDRESS, A_SIZE, A_SIZE, MREMAP_MAYMOVE } },
	{ SYS_mremap, true, { AN_ADDRESS, A_SIZE, A_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
			      AN_ADDRESS } },
	{ SYS_munlock, true, { AN_ADDRESS, A_SIZE } },
};

static const struct our_call read_calls[] = {
	{ SYS_getrusage, true, { RUSAGE_SELF, AN_ADDRESS, 0, 0, 0, FTR_OWN_CALL } },
	{ SYS_openat, true, { (uint64_t)AT_FDCWD, AN_ADDRESS, O_RDONLY | O_CLOEXEC, 0, 0,
			      FTR_OWN_CALL } },
	{ SYS_read, true, { AN_FD, AN_ADDRESS, 128, 0, 0, FTR_OWN_CALL } },
};

static const struct our_call count_calls[] = {
	{ SYS_perf_event_open, true, { AN_ADDRESS, 0, (uint64_t)-1, (uint64_t)-1,
				       PERF_FLAG_FD_CLOEXEC, FTR_OWN_CALL } },
	{ FTR_ARCH_SYS_MMAP, true, { 0, A_SIZE, PROT_READ, MAP_SHARED, AN_FD } },
};

static const struct our_call wait_calls[] = {
	{ SYS_nanosleep, true, { AN_ADDRESS, 0, 0, 0, 0, FTR_OWN_CALL } },
	{ SYS_restart_syscall, true, { 0 } },	/* stopped in it, and told to go on */
};

/* A refusal could be taken for one of the file system's. */
static const struct our_call look_calls[] = {
	{ FTR_ARCH_SYS_FSTATAT, true, { (uint64_t)AT_FDCWD, AN_ADDRESS, AN_ADDRESS, 0, 0,
					FTR_OWN_CALL } },
	{ FTR_ARCH_SYS_FSTATAT, true, { AN_FD, AN_ADDRESS, AN_ADDRESS, 0, 0, FTR_OWN_CALL } },
	{ FTR_ARCH_SYS_FSTATAT, true, { AN_FD, AN_ADDRESS, AN_ADDRESS, AT_EMPTY_PATH, 0,
					FTR_OWN_CALL } },
	{ SYS_prctl, true, { PR_GET_NAME, AN_ADDRESS } },
};

/* Of all machines whose programs run here: the next image may be for any. */
#define PLATFORM_CALL(audit, number) \
	{ audit, { number, false, { AN_ADDRESS, AN_ADDRESS, A_SIZE } } },
static const struct platform_call {
	uint32_t arch;			/* AUDIT_ARCH_* */
	struct our_call call;
} platform_calls[] = { FTR_ARCH_READLINKS(PLATFORM_CALL) };

#define CALLS(array) array, sizeof(array) / sizeof((array)[0])

static const struct purpose {
	const struct our_call *calls;
	uint32_t nr;
} purposes[FTR_SECCOMP_PURPOSES] = {		/* but for FTR_SECCOMP_PLATFORM */
	[FTR_SECCOMP_TRACING] = { CALLS(tracing_calls) },
	[FTR_SECCOMP_HELPER] = { CALLS(helper_calls) },
	[FTR_SECCOMP_UNLOCK] = { CALLS(unlock_calls) },
	[FTR_SECCOMP_READ] = { CALLS(read_calls) },
	[FTR_SECCOMP_COUNT] = { CALLS(count_calls) },
	[FTR_SECCOMP_WAIT] = { CALLS(wait_calls) },
	[FTR_SECCOMP_LOOK] = { CALLS(look_calls) },
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

static bool is_passed(uint32_t answer, bool is_needed)
{
	switch (answer & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:
		return !is_needed;
	default: /* kill, trap; trace and notify ask another process, which does not expect it */
		return false;
	}
}

static uint64_t argument(uint64_t value)
{
	if (value == OUR_PID)
		return (uint64_t)ftr_sys0(SYS_getpid);
	return value == OUR_TID ? (uint64_t)ftr_sys0(SYS_gettid) : value;
}

static bool is_blocked(uint32_t arch, const struct our_call *call, const struct sock_filter *code,
		       uint32_t nr)
{
	struct seccomp_data data = {
		.nr = call->nr,
		.arch = arch,
		.instruction_pointer = (uint64_t)(uintptr_t)ftr_seccomp_blocked,
	};
	uint32_t arg;

	for (arg = 0; arg < ARGS_MAX; arg++)
		data.args[arg] = (unsigned long)argument(call->args[arg]);
	return !is_passed(ftr_seccomp_run(code, nr, &data), call->is_needed);
}

uint32_t ftr_seccomp_blocked(const struct sock_filter *code, uint32_t nr)
{
	uint32_t blocked = 0, purpose, i;

	for (purpose = 0; purpose < FTR_SECCOMP_PURPOSES; purpose++) {
		for (i = 0; i < purposes[purpose].nr; i++) {
			if (is_blocked(FTR_ARCH_AUDIT, &purposes[purpose].calls[i], code, nr))
				blocked |= FTR_SECCOMP_BIT(purpose);
		}
	}
	for (i = 0; i < sizeof(platform_calls) / sizeof(platform_calls[0]); i++) {
		if (is_blocked(platform_calls[i].arch, &platform_calls[i].call, code, nr))
			blocked |= FTR_SECCOMP_BIT(FTR_SECCOMP_PLATFORM);
	}
	return blocked;
}
