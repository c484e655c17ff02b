/* SPDX-License-Identifier: MIT */
/*
 * Events that a program declares, in code where each is a case of its own.  Its output is the same
 * however it runs: nothing of it may change where events are recorded.  Notes are made here as
 * sys/sdt.h makes them.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The no-operation of sites:NAME, with the operands ARGS, and the counter SEMAPHORE or 0. */
#define SITE_WITH(name, args, semaphore) \
	"990: nop\n" \
	".pushsection .note.stapsdt, \"?\", @note\n" \
	".balign 4\n.4byte 992f - 991f, 994f - 993f, 3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n" \
	"993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte " semaphore "\n" \
	".asciz \"sites\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n" \
	".popsection\n"
#define SITE(name, args) SITE_WITH(name, args, "0")

__asm__(".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n.popsection\n");

#define FUNCTION(name, ...) \
	__asm__(".pushsection .text\n.balign 16, 0xcc\n.globl " #name "\n" \
		".type " #name ", @function\n" #name ":\n.cfi_startproc\n" __VA_ARGS__ \
		".cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")

/* All registers and the flags are what they were; the room below the stack pointer is in use. */
uint64_t seen[17];
extern void site_keeps(void);
FUNCTION(site_keeps,
	"push %rbx\n.cfi_adjust_cfa_offset 8\npush %rbp\n.cfi_adjust_cfa_offset 8\n"
	"push %r12\n.cfi_adjust_cfa_offset 8\npush %r13\n.cfi_adjust_cfa_offset 8\n"
	"push %r14\n.cfi_adjust_cfa_offset 8\npush %r15\n.cfi_adjust_cfa_offset 8\n"
	"mov $100, %eax\nmov $101, %ecx\nmov $102, %edx\nmov $103, %ebx\nmov $105, %ebp\n"
	"mov $106, %esi\nmov $107, %edi\nmov $108, %r8d\nmov $109, %r9d\nmov $110, %r10d\n"
	"mov $111, %r11d\nmov $112, %r12d\nmov $113, %r13d\nmov $114, %r14d\nmov $115, %r15d\n"
	"movq $77, -8(%rsp)\nmovq $78, -128(%rsp)\n"
	"mov $0x7fffffff, %eax\nadd $1, %eax\nmov $100, %eax\nstc\n"	/* overflow and carry */
	SITE("keeps", "8@%rax 8@%r15 -4@%r12d 8@-8(%rsp) 8@-128(%rsp) 1@%al")
	"pushq -8(%rsp)\n"
	"mov %rax, seen(%rip)\nmov %rcx, 8 + seen(%rip)\nmov %rdx, 16 + seen(%rip)\n"
	"mov %rbx, 24 + seen(%rip)\nmov %rbp, 40 + seen(%rip)\nmov %rsi, 48 + seen(%rip)\n"
	"mov %rdi, 56 + seen(%rip)\nmov %r8, 64 + seen(%rip)\nmov %r9, 72 + seen(%rip)\n"
	"mov %r10, 80 + seen(%rip)\nmov %r11, 88 + seen(%rip)\nmov %r12, 96 + seen(%rip)\n"
	"mov %r13, 104 + seen(%rip)\nmov %r14, 112 + seen(%rip)\nmov %r15, 120 + seen(%rip)\n"
	"pop %rax\nmov %rax, 32 + seen(%rip)\n"
	"pushfq\npop %rax\nmov %rax, 128 + seen(%rip)\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n");

/* What follows is moved: a call, a jump, the function's end with its padding, a branch back. */
extern long site_calls(long), site_jumps(long), site_ends(long), site_loops(long);
FUNCTION(site_calls, "push %rdi\n.cfi_adjust_cfa_offset 8\n"
	 SITE("calls", "-8@%rdi") "call site_ends\npop %rdi\nadd %rdi, %rax\nret\n");
FUNCTION(site_jumps, "lea 5(%rdi), %rax\ntest %edi, %edi\n"
	 SITE("jumps", "-8@%rax") "jnz 1f\nadd $1000, %rax\n1: add $100, %rax\nret\n");
FUNCTION(site_ends, "lea 1(%rdi), %rax\n" SITE("ends", "-8@%rax") "ret\n");
FUNCTION(site_loops, "mov $3, %ecx\nmov %rdi, %rax\n1:\n"
	 SITE("loops", "-4@%ecx") "add $7, %rax\ndec %ecx\njnz 1b\nret\n");

/* Something leads close to it: a short jump has room, to one in padding. */
extern long site_near(long), site_into(long);
FUNCTION(site_near, "lea 2(%rdi), %rax\ntest %rdi, %rdi\njnz 2f\n"
	 SITE("near", "-8@%rax") "xor %edi, %edi\n2: lea 40(%rax, %rdi), %rax\nret\n");
/* ... directly behind the no-operation: the jump begins before it. */
FUNCTION(site_into, "test %rdi, %rdi\nlea 2(%rdi), %rax\njnz 2f\n"
	 SITE("into", "-8@%rax") "2: add $40, %rax\nret\n");

/* A system call follows, which must be where it is: left. */
extern long site_special(void);
FUNCTION(site_special, "mov $39, %eax\n" SITE("special", "-4@%eax") "syscall\nret\n");

/* Several at one place, and with an instruction between. */
extern long site_several(long);
FUNCTION(site_several, "mov %rdi, %rax\n" SITE("first", "-8@%rax") SITE("second", "-8@$-2")
	 "inc %rax\n" SITE("third", "-8@%rax") "add $300, %rax\nret\n");

/* Operands of all kinds; some lead nowhere, one is not understood. */
long site_global = 4711;
extern long site_operands(long *, long);
FUNCTION(site_operands, "mov $0x1234, %eax\nmov $0x3ff8000000000000, %rdx\nmovq %rdx, %xmm9\n"
	 SITE("operands", "1@%ah -1@%al 2@%ax 8@(%rdi) 8@8(%rdi,%rsi,8) 8f@%xmm9 "
	      "-8@site_global(%rip) 8@$0x10 4@%fs:0x28")
	 "xor %edi, %edi\nmov $0x123456789, %rsi\n"
	 SITE("wild", "8@(%rdi) 4@(%rsi) -4@$-7")
	 "mov $9, %eax\nret\n");

/* Only who counts is told. */
uint16_t __attribute__((section(".probes"), used)) site_counter = 0;
extern long site_counted(void);
FUNCTION(site_counted, "movzwl site_counter(%rip), %eax\ntest %eax, %eax\njz 1f\n"
	 SITE_WITH("counted", "-4@%eax", "site_counter") "mov $1, %eax\n1: xor %eax, %eax\nret\n");

static void keeps_check(void)
{
	static const uint64_t expected[16] = {
		100, 101, 102, 103, 77, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115,
	};

	site_keeps();
	printf("registers %s, flags %s\n",
	       memcmp(seen, expected, sizeof(expected)) == 0 ? "kept" : "changed",
	       (seen[16] & 0x801) == 0x801 ? "kept" : "changed");
}

int main(void)
{
	long words[4] = { 11, 22, 33, 44 };
	long results[] = {			/* one after the other */
		site_calls(10), site_jumps(0), site_jumps(1), site_ends(5), site_loops(1),
		site_near(0), site_near(5), site_into(0), site_into(5), site_several(1),
		site_operands(words, 2), site_counted(), site_special() > 0,
	};

	keeps_check();
	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		printf("%ld\n", results[i]);
	return 0;
}
