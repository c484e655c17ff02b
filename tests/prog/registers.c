/* SPDX-License-Identifier: MIT */
/*
 * A call keeps every register but r11: on the way in, where a caller in assembler passes what it
 * likes, and on the way back, where one compiled with -fipa-ra has seen that the callee leaves it
 * alone.
 *
 * only: pg-O0 pg-O2 pg-O3-cet pg-O1-nopie fentry-O2 fentry-O0-cet fentry-O3-nopie clang-pg-O2
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-calls: leave_alone 3
 */
#include <stdint.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#define GENERAL 8
#define VECTORS 16

struct registers {
	uint64_t general[GENERAL];	/* rax rcx rdx rsi rdi r8 r9 r10 */
	uint64_t vectors[VECTORS][2];
};

NOINLINE void leave_alone(void)
{
	__asm__ volatile("");
}

#define GENERALS(X) \
	X(0, rax) X(8, rcx) X(16, rdx) X(24, rsi) X(32, rdi) X(40, r8) X(48, r9) X(56, r10)
#define VECTORS_ALL(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define LOAD(offset, name)  "movq " #offset "(%%rbx), %%" #name "\n\t"
#define STORE(offset, name) "movq %%" #name ", " #offset "(%%rbx)\n\t"
#define LOAD_V(n)  "movdqu 64+16*" #n "(%%rbx), %%xmm" #n "\n\t"
#define STORE_V(n) "movdqu %%xmm" #n ", 64+16*" #n "(%%rbx)\n\t"

/* Call with these registers; they become what they are afterwards. */
NOINLINE static void call_with(struct registers *registers)
{
	void (*callee)(void) = leave_alone;

	__asm__ volatile("movq %%rsp, %%r12\n\t"
			 "subq $128, %%rsp\n\t"
			 "andq $-16, %%rsp\n\t"
			 "movq %1, %%r13\n\t" GENERALS(LOAD)
				 VECTORS_ALL(LOAD_V) "call *%%r13\n\t" GENERALS(STORE)
					 VECTORS_ALL(STORE_V) "movq %%r12, %%rsp"
			 :
			 : "b"(registers), "r"(callee)
			 : "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
			   "r11", "r12", "r13", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
			   "xmm14", "xmm15");
}

int main(void)
{
	struct registers before, after;
	int i, changed;

	for (i = 0; i < 3; i++) {
		memset(&before, 0x11 * (i + 1), sizeof(before));
		before.general[1] ^= 0x5555;
		after = before;
		call_with(&after);
		/* The mcount that is in libc keeps fewer of them. */
		changed = dlsym(RTLD_DEFAULT, "ftr_libraries_locked") != NULL &&
			  memcmp(&before, &after, sizeof(before)) != 0;
		printf("%s\n", changed ? "changed" : "kept");
	}
	return 0;
}
