/* SPDX-License-Identifier: MIT */
/* A frame that a thread leaves as if a handler came back, by the kernel or whoever emulates it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "arch/aarch64/remote.h"

static jmp_buf back;
static uint64_t seen[4];
static double seen_vector;

static void landing(uint64_t a, uint64_t b)
{
	register uint64_t x28 __asm__("x28");
	register double d31 __asm__("d31");

	__asm__ volatile("" : "=r"(x28), "=w"(d31));
	seen[0] = a;
	seen[1] = b;
	seen[2] = x28;
	seen_vector = d31;
	longjmp(back, 1);
}

static __attribute__((noreturn)) void leave(uint64_t sp)
{
	__asm__ volatile("mov sp, %0\n\tmov x8, #139\n\tsvc #0" : : "r"(sp) : "memory");
	__builtin_unreachable();
}

static void frame_is_left_with_all_registers(void **state)
{
	static _Alignas(16) uint8_t stacks[2][65536];
	static struct ftr_arch_state vectors;
	static struct ftr_arch_frame frame;
	const double wanted = 2.5;
	struct user_regs_struct regs = {
		.regs = { [0] = 11, [1] = 22, [28] = 33 },
		.sp = (uintptr_t)(stacks[0] + sizeof(stacks[0])),
		.pc = (uintptr_t)landing,
	};
	sigset_t mask;

	memcpy(&vectors.simd.vregs[31], &wanted, sizeof(wanted));
	ftr_arch_frame_make(&frame, &regs, &vectors, UINT64_C(1) << (SIGUSR2 - 1), 0,
			    (uintptr_t)(stacks[1] + sizeof(stacks[1]) - 40));
	assert_int_equal(frame.sp % 16, 0);
	assert_true(frame.low + frame.bytes <= (uintptr_t)(stacks[1] + sizeof(stacks[1]) - 40));
	memcpy((void *)(uintptr_t)frame.low, frame.v, frame.bytes);
	if (setjmp(back) == 0)
		leave(frame.sp);
	assert_int_equal(seen[0], 11);
	assert_int_equal(seen[1], 22);
	assert_int_equal(seen[2], 33);
	assert_true(seen_vector == wanted);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	assert_true(sigismember(&mask, SIGUSR2));
	assert_false(sigismember(&mask, SIGUSR1));
	sigemptyset(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static int words_in_context;

/* The frame that is there while a handler runs has the mark, and where it comes back to. */
static void on_signal(int signo, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	const uint64_t *words = (const uint64_t *)&uc->uc_mcontext.sp;

	words_in_context = words[FTR_ARCH_HANDLER_MARK] == FTR_ARCH_HANDLER_MARK_VALUE &&
			   words[FTR_ARCH_HANDLER_SP] == uc->uc_mcontext.sp &&
			   words[FTR_ARCH_HANDLER_IP] == uc->uc_mcontext.pc;
}

static void handler_frame_has_its_mark(void **state)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	assert_true(words_in_context);
}

static void sve_follows_the_others(void **state)
{
	static struct ftr_arch_state vectors;
	static struct ftr_arch_frame frame;
	struct user_regs_struct regs = { .pc = 1 };
	const uint8_t *records = frame.as.context.records;
	uint32_t word;

	vectors.sve_bytes = 4096;
	vectors.sve.head.vl = 32;
	memset(vectors.sve.v + FTR_ARCH_SVE_SHOWN, 0x5a, 32 * 32 + 16 * 4 + 4);
	ftr_arch_frame_make(&frame, &regs, &vectors, 0, 0, 0x100000);
	memcpy(&word, records, sizeof(word));
	assert_int_equal(word, FTR_ARCH_RECORD_SIMD);
	memcpy(&word, records + 528, sizeof(word));
	assert_int_equal(word, FTR_ARCH_RECORD_SVE);
	memcpy(&word, records + 532, sizeof(word));
	assert_int_equal(word, (16 + 1024 + 64 + 4 + 15) / 16 * 16);
	assert_int_equal(records[528 + 16], 0x5a);
	assert_int_equal(records[528 + 16 + 1091], 0x5a);
	memcpy(&word, records + 528 + (16 + 1024 + 64 + 4 + 15) / 16 * 16, sizeof(word));
	assert_int_equal(word, 0);
}

/* Of the libc that this is run with. */
static void errno_is_found(void **state)
{
	uint64_t code = (uintptr_t)__errno_location, word, offset, thread;
	uint8_t bytes[FTR_ARCH_ERRNO_CODE_BYTES];

	memcpy(bytes, (const void *)(uintptr_t)code, sizeof(bytes));
	assert_true(ftr_arch_errno_word(bytes, code, &word));
	memcpy(&offset, (const void *)(uintptr_t)word, sizeof(offset));
	__asm__("mrs %0, tpidr_el0" : "=r"(thread));
	assert_ptr_equal((void *)(uintptr_t)(thread + offset), &errno);
}

static void other_code_is_not_errno(void **state)
{
	static const uint32_t codes[][8] = {
		{ 0x90000bc0, 0xf946e000, 0xd53bd041, 0x8b000020 },		/* no ret */
		{ 0xf946e000, 0xd53bd041, 0x8b000020, 0xd65f03c0 },		/* no page */
		{ 0x90000bc0, 0x94000001, 0xd53bd041, 0x8b000020, 0xd65f03c0 },	/* a call */
	};
	uint64_t word;
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_false(ftr_arch_errno_word((const uint8_t *)codes[i], 0x400000, &word));
}

static void page_before_is_found(void **state)
{
	/* bti c; adrp x0, -1 page; ldr x0, [x0, #8]; mrs; add; ret */
	static const uint32_t code[8] = {
		0xd503245f, 0xf0ffffe0, 0xf9400400, 0xd53bd041, 0x8b000020, 0xd65f03c0,
	};
	uint64_t word;

	assert_true(ftr_arch_errno_word((const uint8_t *)code, 0x400ffc, &word));
	assert_int_equal(word, 0x400008);	/* it is at 0x401000 */
}

static void number_is_read_of_code(void **state)
{
	assert_int_equal(ftr_arch_call_loads(0xd2800ba8), 93);	/* mov x8, #93 */
	assert_int_equal(ftr_arch_call_loads(0x52800ca8), 101);	/* mov w8, #101 */
	assert_int_equal(ftr_arch_call_loads(0xd2800ba7), -1);	/* mov x7 */
	assert_int_equal(ftr_arch_call_loads(FTR_ARCH_CALL_INSN), -1);
}

static void handler_that_came_back_is_seen(void **state)
{
	struct user_regs_struct regs = { .regs = { (uint64_t)-EINTR }, .sp = 0x7000, .pc = 0x4004 };
	uint64_t words[64] = { 0 };

	words[9] = (uint64_t)-EINTR;
	words[40] = 0x7000;
	words[41] = 0x4004;
	assert_true(ftr_arch_handler_came_back(&regs, words, 64));
	words[9] = 0;		/* another result: an older one */
	assert_false(ftr_arch_handler_came_back(&regs, words, 64));
}

static void signature_is_taken_off(void **state)
{
	assert_int_equal(ftr_arch_address(UINT64_C(0x002baaaabbbbcccc)),
			 UINT64_C(0xaaaabbbbcccc));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_is_left_with_all_registers),
		cmocka_unit_test(handler_frame_has_its_mark),
		cmocka_unit_test(sve_follows_the_others),
		cmocka_unit_test(errno_is_found),
		cmocka_unit_test(other_code_is_not_errno),
		cmocka_unit_test(page_before_is_found),
		cmocka_unit_test(number_is_read_of_code),
		cmocka_unit_test(handler_that_came_back_is_seen),
		cmocka_unit_test(signature_is_taken_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
