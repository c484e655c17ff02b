/* SPDX-License-Identifier: MIT */
/* Seccomp filters as the runtime tries them out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/seccomp.h"

#define NR(code) (sizeof(code) / sizeof((code)[0]))
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RET(answer) BPF_STMT(BPF_RET | BPF_K, answer)
#define IF_EQUAL(value, jt, jf) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, jt, jf)

static bool blocks_tracing(const struct sock_filter *code, uint32_t nr)
{
	return (ftr_seccomp_blocked(code, nr) & FTR_SECCOMP_BIT(FTR_SECCOMP_TRACING)) != 0;
}

static void test_allow_and_kill(void **state)
{
	const struct sock_filter allow[] = { RET(SECCOMP_RET_ALLOW) };
	const struct sock_filter kill[] = { RET(SECCOMP_RET_KILL_THREAD) };
	const struct sock_filter refuse[] = { RET(SECCOMP_RET_ERRNO | 1) };
	const struct sock_filter trap[] = { RET(SECCOMP_RET_TRAP) };

	assert_int_equal(ftr_seccomp_blocked(allow, NR(allow)), 0);
	assert_true(blocks_tracing(refuse, NR(refuse)));
	assert_true(blocks_tracing(kill, NR(kill)));
	assert_true(blocks_tracing(trap, NR(trap)));
}

/* As libseccomp writes them: the architecture first, then ranges of numbers. */
static void test_one_call_forbidden(void **state)
{
	struct sock_filter code[] = {
		LOAD(arch),
		IF_EQUAL(AUDIT_ARCH_X86_64, 1, 0),
		RET(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
		RET(SECCOMP_RET_KILL_PROCESS),
		IF_EQUAL(SYS_ptrace, 0, 1),
		RET(SECCOMP_RET_KILL_PROCESS),
		RET(SECCOMP_RET_ALLOW),
	};

	assert_int_equal(ftr_seccomp_blocked(code, NR(code)) & FTR_SECCOMP_TOLD, 0);
	code[6].k = SYS_connect;
	assert_true(blocks_tracing(code, NR(code)));
	code[6].k = SYS_ptrace;
	code[1].k = AUDIT_ARCH_I386;
	assert_true(blocks_tracing(code, NR(code)));
}

/* Filters look at arguments: other families of sockets, threads of other processes. */
static void test_arguments(void **state)
{
	struct sock_filter code[] = {
		LOAD(nr),
		IF_EQUAL(SYS_socket, 0, 3),
		LOAD(args[0]),
		IF_EQUAL(AF_UNIX, 0, 1),
		RET(SECCOMP_RET_KILL_PROCESS),
		RET(SECCOMP_RET_ALLOW),
	};

	assert_true(blocks_tracing(code, NR(code)));
	code[3].k = AF_NETLINK;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), 0);
	code[1].k = SYS_tgkill;
	code[3].k = (uint32_t)getpid();
	assert_true(blocks_tracing(code, NR(code)));
	code[3].k = 1;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), 0);
}

/* A call that has another way round may be refused, one without which nothing goes may not. */
static void test_refused(void **state)
{
	struct sock_filter code[] = {
		LOAD(nr),
		IF_EQUAL(SYS_ioctl, 0, 1),
		RET(SECCOMP_RET_ERRNO | 1),
		RET(SECCOMP_RET_ALLOW),
	};

	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), 0);
	code[1].k = SYS_socket;
	assert_true(blocks_tracing(code, NR(code)));
}

/* What only a process without descriptors needs is no reason not to trace the others. */
static void test_helper(void **state)
{
	static const uint32_t calls[] = { SYS_clone, SYS_wait4, SYS_exit, SYS_close_range };
	struct sock_filter code[] = {
		LOAD(nr),
		IF_EQUAL(0, 0, 1),
		RET(SECCOMP_RET_KILL_PROCESS),
		RET(SECCOMP_RET_ALLOW),
	};
	size_t i;

	for (i = 0; i < NR(calls); i++) {
		code[1].k = calls[i];
		assert_int_equal(ftr_seccomp_blocked(code, NR(code)),
				 FTR_SECCOMP_BIT(FTR_SECCOMP_HELPER));
	}
	code[1].k = SYS_mremap;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), FTR_SECCOMP_BIT(FTR_SECCOMP_UNLOCK));
	code[1].k = SYS_perf_event_open;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), FTR_SECCOMP_BIT(FTR_SECCOMP_COUNT));
	code[1].k = SYS_close_range;
	code[2].k = SECCOMP_RET_ERRNO | 1;	/* there is another way round close_range */
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), 0);
}

/* The recorder can be asked instead, also where the answer could be taken for the file system's. */
static void test_look(void **state)
{
	const uint32_t only = FTR_SECCOMP_BIT(FTR_SECCOMP_LOOK);
	struct sock_filter code[] = {
		LOAD(nr),
		IF_EQUAL(SYS_newfstatat, 0, 3),
		LOAD(args[3]),
		IF_EQUAL(AT_EMPTY_PATH, 1, 0),
		RET(SECCOMP_RET_KILL_PROCESS),
		RET(SECCOMP_RET_ALLOW),
	};

	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), only);
	code[3].jt = 0, code[3].jf = 1;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), only);
	code[4].k = SECCOMP_RET_ERRNO | ENOENT;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), only);
	code[1].k = SYS_statx;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), 0);
	assert_int_equal(only & ~FTR_SECCOMP_TOLD, 0);
}

/* A dynamic linker of either machine may be killed for it, but be refused. */
static void test_platform(void **state)
{
	struct sock_filter code[] = {
		LOAD(arch),
		IF_EQUAL(AUDIT_ARCH_X86_64, 0, 3),
		LOAD(nr),
		IF_EQUAL(89, 0, 1),			/* readlink there */
		RET(SECCOMP_RET_KILL_PROCESS),
		RET(SECCOMP_RET_ALLOW),
	};
	const uint32_t only = FTR_SECCOMP_BIT(FTR_SECCOMP_PLATFORM);

	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), only);
	code[3].k = 85;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), 0);
	code[1].k = AUDIT_ARCH_I386;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), only);
	code[4].k = SECCOMP_RET_TRAP;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), only);
	code[4].k = SECCOMP_RET_ERRNO | 1;
	assert_int_equal(ftr_seccomp_blocked(code, NR(code)), 0);
}

static void test_arithmetic(void **state)
{
	const struct seccomp_data data = { .nr = 10, .arch = 3 };
	const struct sock_filter code[] = {
		LOAD(nr),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 7),
		BPF_STMT(BPF_ST, 3), /* 70 */
		LOAD(arch),
		BPF_STMT(BPF_MISC | BPF_TAX, 0), /* x = 3 */
		BPF_STMT(BPF_LD | BPF_MEM, 3),
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0), /* 67 */
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4),
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 1),  /* 1073 */
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), /* 357 */
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x100, 1, 0),
		RET(0),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	assert_int_equal(ftr_seccomp_run(code, NR(code), &data), 357);
}

/* The kernel refuses such programs; they must not lead us astray. */
static void test_damaged(void **state)
{
	const struct seccomp_data data = { 0 };
	const struct sock_filter beyond[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64),
					      RET(SECCOMP_RET_ALLOW) };
	const struct sock_filter endless[] = { BPF_JUMP(BPF_JMP | BPF_JA, 0xffffffff, 0, 0) };
	const struct sock_filter unknown[] = { { .code = 0xffff }, RET(SECCOMP_RET_ALLOW) };
	const struct sock_filter by_zero[] = { BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
					       RET(SECCOMP_RET_ALLOW) };

	assert_int_equal(ftr_seccomp_run(beyond, NR(beyond), &data), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(ftr_seccomp_run(endless, NR(endless), &data), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(ftr_seccomp_run(unknown, NR(unknown), &data), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(ftr_seccomp_run(by_zero, NR(by_zero), &data), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(ftr_seccomp_run(NULL, 0, &data), SECCOMP_RET_KILL_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allow_and_kill),
		cmocka_unit_test(test_one_call_forbidden),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_helper),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_platform),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
