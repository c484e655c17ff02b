/* SPDX-License-Identifier: MIT */
/* The cases of tests/unit/entries_test.c.  One instruction has room anywhere. */
#define FUNCTION(name, ...) \
	__asm__(".pushsection .text.cases, \"ax\", %progbits\n" \
		".balign 16\n" \
		".type " #name ", %function\n" #name ":\n.cfi_startproc\n" \
		__VA_ARGS__ "\n.cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")

FUNCTION(case_usual, "stp x29, x30, [sp, #-16]!\nmov x29, sp\nldp x29, x30, [sp], #16\nret");
FUNCTION(case_landing, "hint #34\nstp x29, x30, [sp, #-16]!\nldp x29, x30, [sp], #16\nret");
FUNCTION(case_signed, "hint #25\nstp x29, x30, [sp, #-16]!\nldp x29, x30, [sp], #16\n"
	 "hint #29\nret");
FUNCTION(case_short, "ret");
FUNCTION(case_loop, "sub w0, w0, #1\ncbnz w0, case_loop\nret");
FUNCTION(case_into, "mov w1, w0\n1: add w0, w0, w1\nsubs w1, w1, #1\nb.ne 1b\nret");
FUNCTION(case_special, "svc #0\nret");
FUNCTION(case_vector, "ldr q0, 1f\nret\n.balign 16\n1: .quad 1, 2");
FUNCTION(case_start, "hint #34\n.cfi_undefined x30\nmov x29, #0\nbrk #1");
FUNCTION(case_part.cold, "mov w0, #1\nret");

#define CASE_LANDING_BYTE 0xfd		/* of stp x29, x30 */

#define CASE_ROWS \
	{ "case_usual", FTR_ENTRY_PATCHED, 0 }, \
	{ "case_landing", FTR_ENTRY_PATCHED, 4 }, \
	{ "case_signed", FTR_ENTRY_PATCHED, 4 }, \
	{ "case_short", FTR_ENTRY_PATCHED, 0 }, \
	{ "case_loop", FTR_ENTRY_LOOP, 0 }, \
	{ "case_into", FTR_ENTRY_PATCHED, 0 },		/* behind what is moved */ \
	{ "case_special", FTR_ENTRY_SPECIAL, 0 }, \
	{ "case_vector", FTR_ENTRY_SPECIAL, 0 }, \
	{ "case_start", FTR_ENTRY_PART, 4 },		/* without a return address */ \
	{ "case_part.cold", FTR_ENTRY_PART, 0 }
