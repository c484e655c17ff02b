/* SPDX-License-Identifier: MIT */
/*
 * Events that a program of 64-bit Arm declares: what they tell of operands of all kinds, that all
 * registers and the flags are kept, two in a row, one that a loop comes back to, and one that only
 * who counts is told.
 *
 * record: --no-libcall -E sites:*
 * expect-told: 1 sites:keeps (100, 130, 117, 4711, 1.500000)
 * expect-told: 1 sites:operands (4660, 52, 33, 44, 10, null, 2.250000)
 * expect-told: 1 sites:first (3)
 * expect-told: 1 sites:first (1)
 * expect-told: 3 sites:second (-2)
 * expect-told: 1 sites:counted (1)
 */
#include <stdint.h>
#include <stdio.h>

/* The no-operation of sites:NAME, with the operands ARGS, and the counter SEMAPHORE or 0. */
#define SITE_WITH(name, args, semaphore) \
	"990: nop\n" \
	".pushsection .note.stapsdt, \"?\", %note\n" \
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
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
		".cfi_startproc\n" __VA_ARGS__ ".cfi_endproc\n.size " #name ", . - " #name "\n")

#define SET(n) "mov x" #n ", #100 + " #n "\n"
#define FRAME \
	"stp x29, x30, [sp, #-112]!\n.cfi_def_cfa_offset 112\n.cfi_offset x29, -112\n" \
	".cfi_offset x30, -104\nstp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\n" \
	"stp x23, x24, [sp, #48]\nstp x25, x26, [sp, #64]\nstp x27, x28, [sp, #80]\n"
#define END \
	"ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\n" \
	"ldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\nldp x29, x30, [sp], #112\n" \
	".cfi_def_cfa_offset 0\nret\n"

/* x0 to x30, the stack pointer before and behind, the flags. */
uint64_t seen[34];
extern void site_keeps(void);
FUNCTION(site_keeps, FRAME
	 "mov x0, #4711\nstr x0, [sp, #96]\nfmov d16, #1.5\nmov x0, sp\nstr x0, [sp, #104]\n"
	 "mov x0, #0x90000000\nmsr nzcv, x0\nmov x0, #100\nmov x1, #101\n"
	 SET(2) SET(3) SET(4) SET(5) SET(6) SET(7) SET(8) SET(9) SET(10) SET(11) SET(12) SET(13)
	 SET(14) SET(15) SET(16) SET(17) SET(19) SET(20) SET(21) SET(22) SET(23) SET(24) SET(25)
	 SET(26) SET(27) SET(28) SET(29) SET(30)
	 SITE("keeps", "8@x0 -4@w30 2@w17 8@[sp, 96] 8f@d16")
	 "str x0, [sp, #96]\nadrp x0, seen\nadd x0, x0, :lo12:seen\n"
	 "stp x1, x2, [x0, #8]\nstp x3, x4, [x0, #24]\nstp x5, x6, [x0, #40]\n"
	 "stp x7, x8, [x0, #56]\nstp x9, x10, [x0, #72]\nstp x11, x12, [x0, #88]\n"
	 "stp x13, x14, [x0, #104]\nstp x15, x16, [x0, #120]\nstp x17, x19, [x0, #136]\n"
	 "str x19, [x0, #152]\nstp x20, x21, [x0, #160]\nstp x22, x23, [x0, #176]\n"
	 "stp x24, x25, [x0, #192]\nstp x26, x27, [x0, #208]\nstp x28, x29, [x0, #224]\n"
	 "str x30, [x0, #240]\nmrs x2, nzcv\nldr x1, [sp, #96]\nstr x1, [x0]\n"
	 "ldr x3, [sp, #104]\nmov x1, sp\nsub x1, x1, x3\nstp x1, x2, [x0, #248]\n" END);

/* Of the stack, for there emulators copy, too; what is not understood; a constant. */
extern long site_operands(long);
FUNCTION(site_operands,
	 "sub sp, sp, #48\n.cfi_def_cfa_offset 48\nmov x1, #0x1234\nmov x2, #33\n"
	 "str x2, [sp, #16]\nmov x2, #44\nstr x2, [sp, #40]\nmov x3, #5\nmov x4, sp\n"
	 "mov x5, #10\nfmov d0, #2.25\nfmov x6, d0\n"
	 SITE("operands", "2@w1 1@w1 8@[x4, 16] 8@[x4, x3, lsl 3] -4@10 8@[x4, w3, sxtw 3] 8f@x6")
	 "add sp, sp, #48\n.cfi_def_cfa_offset 0\nadd x0, x0, #1\nret\n");

extern long site_loops(long);
FUNCTION(site_loops, "mov x1, #3\n1:\n" SITE("first", "-8@x1") SITE("second", "-8@-2")
	 "add x0, x0, x1\nsubs x1, x1, #1\nb.ne 1b\nret\n");

/* Only who counts is told. */
uint16_t __attribute__((section(".probes"), used)) site_counter = 0;
extern long site_counted(void);
FUNCTION(site_counted, "adrp x0, site_counter\nadd x0, x0, :lo12:site_counter\nldrh w0, [x0]\n"
	 "cbz w0, 1f\n" SITE_WITH("counted", "-4@w0", "site_counter") "1: mov x0, #0\nret\n");

int main(void)
{
	int kept = 0;

	site_keeps();
	for (int i = 0; i < 31; i++)
		kept += i == 18 || seen[i] == 100u + (unsigned)i;
	printf("%d registers, stack %lu, flags %lx\n", kept, seen[31], seen[32]);
	printf("%ld %ld %ld\n", site_operands(1), site_loops(1), site_counted());
	return 0;
}
