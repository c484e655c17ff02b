/* SPDX-License-Identifier: MIT */
/* The functions of tests/prog/first_instructions.c in assembly. */
#define FUNCTION(name, ...) \
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
		".cfi_startproc\n" __VA_ARGS__ ".cfi_endproc\n.size " #name ", . - " #name "\n"); \
	extern long name(long)

long numbers[] = { 1000, 2000 };

FUNCTION(first_adr, "adr x1, 1f\nldr w1, [x1]\nadd x0, x0, x1\nret\n1: .long 300\n");
FUNCTION(first_adrp, "adrp x1, numbers\nadd x1, x1, :lo12:numbers\nldr x1, [x1, #8]\n"
	 "add x0, x0, x1\nret\n");
FUNCTION(first_literal, "ldr x1, 1f\nadd x0, x0, x1\nret\n.p2align 3\n1: .quad 0x100000000\n");
FUNCTION(first_word, "ldrsw x1, 1f\nadd x0, x0, x1\nret\n1: .long -5\n");
FUNCTION(first_signed,
	 "hint #25\n.cfi_negate_ra_state\nstp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n"
	 ".cfi_offset x29, -16\n.cfi_offset x30, -8\nmov x29, sp\nbl plus_one\n"
	 "ldp x29, x30, [sp], #16\n.cfi_restore x29\n.cfi_restore x30\n.cfi_def_cfa_offset 0\n"
	 "hint #29\n.cfi_negate_ra_state\nret\n");
FUNCTION(first_jump, "b 1f\nbrk #1\n1: add x0, x0, #7\nret\n");
FUNCTION(first_condition, "b.gt 1f\nsub x0, x0, #1\nret\n1: add x0, x0, #1\nret\n");
FUNCTION(first_zero, "cbz x0, 1f\nsub x0, x0, #1\nret\n1: mov x0, #77\nret\n");
FUNCTION(first_bit, "tbnz x0, #33, 1f\nsub x0, x0, #1\nret\n1: mov x0, #78\nret\n");
FUNCTION(first_tail, "b plus_one\n");
FUNCTION(first_return, "ret\n");
FUNCTION(first_call, "bl leave\nbrk #1\n");

/* x0 to x30, the stack pointer, the flags. */
uint64_t seen[34];
FUNCTION(first_keeps,
	 "stp x0, x1, [sp, #-16]!\nadrp x0, seen\nadd x0, x0, :lo12:seen\n"
	 "stp x2, x3, [x0, #16]\nstp x4, x5, [x0, #32]\nstp x6, x7, [x0, #48]\n"
	 "stp x8, x9, [x0, #64]\nstp x10, x11, [x0, #80]\nstp x12, x13, [x0, #96]\n"
	 "stp x14, x15, [x0, #112]\nstp x16, x17, [x0, #128]\nstp x18, x19, [x0, #144]\n"
	 "stp x20, x21, [x0, #160]\nstp x22, x23, [x0, #176]\nstp x24, x25, [x0, #192]\n"
	 "stp x26, x27, [x0, #208]\nstp x28, x29, [x0, #224]\n"
	 "ldp x2, x3, [sp], #16\nstp x2, x3, [x0]\nmrs x2, nzcv\nstr x2, [x0, #264]\n"
	 "mov x2, sp\nstr x2, [x0, #248]\nret\n");
/* A number that looks like a place within an instruction. */
const void *const like_code = (const char *)first_adr + 2;

#define SET(n) "mov x" #n ", #100 + " #n "\n"
FUNCTION(set_all,
	 "stp x29, x30, [sp, #-96]!\n.cfi_def_cfa_offset 96\n.cfi_offset x29, -96\n"
	 ".cfi_offset x30, -88\nstp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\n"
	 "stp x23, x24, [sp, #48]\nstp x25, x26, [sp, #64]\nstp x27, x28, [sp, #80]\n"
	 ".cfi_offset x19, -80\n.cfi_offset x20, -72\n.cfi_offset x21, -64\n.cfi_offset x22, -56\n"
	 ".cfi_offset x23, -48\n.cfi_offset x24, -40\n.cfi_offset x25, -32\n.cfi_offset x26, -24\n"
	 ".cfi_offset x27, -16\n.cfi_offset x28, -8\n"
	 "mov x0, #0x90000000\nmsr nzcv, x0\n"
	 "mov x0, #100\nmov x1, #101\n"
	 SET(2) SET(3) SET(4) SET(5) SET(6) SET(7) SET(8) SET(9) SET(10) SET(11) SET(12)
	 SET(13) SET(14) SET(15) SET(16) SET(17) SET(19) SET(20) SET(21) SET(22) SET(23) SET(24)
	 SET(25) SET(26) SET(27) SET(28) SET(29)
	 "bl first_keeps\n"
	 "ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\n"
	 "ldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\nldp x29, x30, [sp], #96\n"
	 ".cfi_def_cfa_offset 0\nret\n");

static long kept(void)
{
	long nr = 0;

	set_all(0);
	for (int i = 0; i < 30; i++)
		nr += i == 18 || seen[i] == 100u + (unsigned)i;
	return nr + (seen[33] == 0x90000000);
}

NOINLINE static long first_condition_of(long n)
{
	long result;

	__asm__ volatile("stp x29, x30, [sp, #-16]!\nmov x0, %1\ncmp x0, #5\nbl first_condition\n"
			 "mov %0, x0\nldp x29, x30, [sp], #16" : "=r"(result) : "r"(n) :
			 "x0", "x1", "x16", "x17", "x30", "cc", "memory");
	return result;
}
