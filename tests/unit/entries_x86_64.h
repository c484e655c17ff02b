/* SPDX-License-Identifier: MIT */
/* The cases of tests/unit/entries_test.c. */
#define FUNCTION(name, ...) \
	__asm__(".pushsection .text.cases, \"ax\", @progbits\n" \
		".balign 16, 0xcc\n" \
		".type " #name ", @function\n" #name ":\n.cfi_startproc\n" \
		__VA_ARGS__ "\n.cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")

/* Nothing is padding here: on both sides of what is short lies other code. */
#define CROWDED(name, ...) \
	__asm__(".pushsection .text.crowd, \"ax\", @progbits\n" \
		".type crowd_" #name ", @function\ncrowd_" #name ":\n.cfi_startproc\n" \
		".rept 60\nadd $0x11223344, %eax\n.endr\nret\n" \
		".cfi_endproc\n.size crowd_" #name ", . - crowd_" #name "\n" \
		".type " #name ", @function\n" #name ":\n.cfi_startproc\n" \
		__VA_ARGS__ "\n.cfi_endproc\n.size " #name ", . - " #name "\n" \
		".type after_" #name ", @function\nafter_" #name ":\n.cfi_startproc\n" \
		".rept 60\nadd $0x11223344, %eax\n.endr\nret\n" \
		".cfi_endproc\n.size after_" #name ", . - after_" #name "\n.popsection\n")

FUNCTION(case_usual, "push %rbp\nmov %rsp, %rbp\nsub $16, %rsp\nleave\nret");
FUNCTION(case_landing, "endbr64\npush %rbp\nmov %rsp, %rbp\nsub $16, %rsp\nleave\nret");
FUNCTION(case_short, "ret");				/* goes on in its padding */
FUNCTION(case_loop, "sub $0x1000, %edi\njnz case_loop\nret");
FUNCTION(case_into, "xor %eax, %eax\n1: add %edi, %eax\nsub $1, %edi\njnz 1b\nret");
FUNCTION(case_special, "syscall\nmov $0x1000, %eax\nret");
FUNCTION(case_undecoded, ".byte 0x06, 0x06, 0x06, 0x06, 0x06, 0x06\nret");
FUNCTION(case_start, "endbr64\n.cfi_undefined %rip\nxor %ebp, %ebp\nmov %rdx, %r9\n"
	 "pop %rsi\nhlt");
FUNCTION(case_start_late, ".cfi_remember_state\n.cfi_escape 0x16, 0x0c, 0x02, 0x77, 0x00\n"
	 "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbx, 0\nmov $0x1000, %eax\n"
	 ".cfi_restore_state\n.cfi_undefined %rip\nhlt");
FUNCTION(case_part.cold, "mov $0x1000, %eax\nret");
CROWDED(case_no_room, "ret");

#define CASE_LANDING_BYTE 0x55		/* push %rbp */

#define CASE_ROWS \
	{ "case_usual", FTR_ENTRY_PATCHED, 0 }, \
	{ "case_landing", FTR_ENTRY_PATCHED, 4 }, \
	{ "case_short", FTR_ENTRY_PATCHED, 0 }, \
	{ "case_loop", FTR_ENTRY_LOOP, 0 }, \
	{ "case_into", FTR_ENTRY_PATCHED, 0 },		/* by a short jump */ \
	{ "case_special", FTR_ENTRY_SPECIAL, 0 }, \
	{ "case_undecoded", FTR_ENTRY_UNDECODED, 0 }, \
	{ "case_start", FTR_ENTRY_PART, 4 },		/* without a return address */ \
	{ "case_start_late", FTR_ENTRY_PART, 0 }, \
	{ "case_part.cold", FTR_ENTRY_PART, 0 }, \
	{ "case_no_room", FTR_ENTRY_SHORT, 0 }
