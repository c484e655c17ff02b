/* SPDX-License-Identifier: MIT */
/*
 * Functions in shapes that patching must not harm, most of them in assembly: what cannot be patched
 * is left, all results are as they were.  With an argument: what each call gives, over and over.
 */
#include <stdio.h>
#include <stdlib.h>

#define BEGIN(name) \
	".globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " #name ", . - " #name "\n"
#define CODE(...) __asm__(".text\n" __VA_ARGS__)

/* No padding before or behind. */
#define DENSE ".rept 40\nud2\nmov %ebx, %ebx\n.endr\n"

/* A loop whose head is the function's start: that is no call. */
CODE(".p2align 4\n" BEGIN(shape_loop)
     "add $3, %rsi\ndec %rdi\njns shape_loop\nmov %rsi, %rax\nret\n" END(shape_loop));

/* Another function jumps behind its first instruction; there is padding, and there is none. */
CODE(".p2align 4\n.skip 16, 0x90\n" BEGIN(shape_inside)
     "xor %esi, %esi\n1: lea 1(%rdi, %rsi), %rax\nret\n" END(shape_inside)
     BEGIN(shape_into) "mov $5, %esi\njmp shape_inside + 2\n" END(shape_into));
CODE(DENSE BEGIN(shape_inside_dense)
     "xor %esi, %esi\nlea 1(%rdi, %rsi), %rax\nret\n" END(shape_inside_dense)
     BEGIN(shape_into_dense) "mov $5, %esi\njmp shape_inside_dense + 2\n" END(shape_into_dense)
     DENSE);

/* As short as can be, next to each other and alone. */
CODE(DENSE BEGIN(shape_tiny) "ret\n" END(shape_tiny) BEGIN(shape_tiny_next) "ret\n"
     END(shape_tiny_next) DENSE);
CODE(".p2align 4\n" BEGIN(shape_alone) "ret\n" END(shape_alone) ".p2align 4\n");

/* A call among the first instructions, with padding nearby and without. */
CODE(".p2align 4\nnopl 0(%rax)\n.p2align 4\n" BEGIN(shape_calls)
     "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall shape_alone\nadd $8, %rsp\n"
     ".cfi_adjust_cfa_offset -8\nlea 2(%rdi), %rax\nret\n" END(shape_calls));
CODE(DENSE BEGIN(shape_calls_dense)
     "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall shape_alone\nadd $8, %rsp\n"
     ".cfi_adjust_cfa_offset -8\nlea 2(%rdi), %rax\nret\n" END(shape_calls_dense) DENSE);

/* Values in the flags, in registers that no compiler passes them in, and below the stack. */
CODE(".p2align 4\n" BEGIN(shape_flags_in)
     "adc $0, %rax\nseto %cl\nmovzx %cl, %ecx\nlea (%rax, %rcx, 2), %rax\nret\n"
     END(shape_flags_in) BEGIN(shape_flags)
     "mov %rdi, %rax\nmov $0x7f, %dl\nadd $0x7f, %dl\nstc\ncall shape_flags_in\n"
     "mov %rax, %rsi\nxor %eax, %eax\nclc\ncall shape_flags_in\nadd %rsi, %rax\nret\n"
     END(shape_flags));
CODE(".p2align 4\n" BEGIN(shape_registers_in)
     "lea (%r10, %r11), %rax\nadd %rcx, %rax\nadd %r9, %rax\nret\n" END(shape_registers_in)
     BEGIN(shape_registers)
     "mov $1, %r10d\nmov $2, %r11d\nmov $4, %ecx\nmov %rdi, %r9\ncall shape_registers_in\n"
     "add %r11, %rax\nadd %r10, %rax\nret\n" END(shape_registers));
CODE(".p2align 4\n" BEGIN(shape_below)
     "mov %rdi, -8(%rsp)\nmov %rdi, -120(%rsp)\ntest %edi, %edi\njne shape_below.cold\n"
     "jmp shape_below_tail\n" END(shape_below)
     ".p2align 4\n" BEGIN(shape_below.cold)
     "mov -8(%rsp), %rax\nadd -120(%rsp), %rax\nret\n" END(shape_below.cold)
     ".p2align 4\n" BEGIN(shape_below_tail)
     "mov -120(%rsp), %rax\nsub -8(%rsp), %rax\nret\n" END(shape_below_tail));

/* A table leads back into the first instructions: of distances, and of addresses. */
CODE(".p2align 4\n" BEGIN(shape_table)
     "xor %eax, %eax\n1: lea 4f(%rip), %rcx\nmovslq (%rcx, %rdi, 4), %rdx\nadd %rcx, %rdx\n"
     "jmp *%rdx\n2: inc %rax\ndec %rdi\njmp 1b\n3: add $10, %rax\nret\n" END(shape_table)
     ".section .rodata\n.p2align 2\n4: .long 3b - 4b, 2b - 4b, 2b - 4b, 2b - 4b\n.text\n");
CODE(".p2align 4\n" BEGIN(shape_table_back)
     "xor %eax, %eax\n1: inc %rax\nlea 4f(%rip), %rcx\nmovslq (%rcx, %rdi, 4), %rdx\n"
     "add %rcx, %rdx\ndec %rdi\njmp *%rdx\n3: add $10, %rax\nret\n" END(shape_table_back)
     ".section .rodata\n.p2align 2\n4: .long 3b - 4b, 1b - 4b, 1b - 4b, 1b - 4b\n.text\n");
CODE(".p2align 4\n" BEGIN(shape_pointers)
     "xor %eax, %eax\n1: inc %rax\nlea 4f(%rip), %rcx\nmov (%rcx, %rdi, 8), %rdx\n"
     "dec %rdi\njmp *%rdx\n3: add $10, %rax\nret\n" END(shape_pointers)
     ".section .data.rel.local, \"aw\"\n.p2align 3\n4: .quad 3b, 1b, 1b, 1b\n.text\n");

/* One runs into the next one. */
CODE(".p2align 4\n" BEGIN(shape_falls) "add $1, %rdi\n" END(shape_falls) ".p2align 4\n"
     BEGIN(shape_fallen) "lea 1(%rdi, %rdi), %rax\nret\n" END(shape_fallen));

/* Data in code: bytes that look like branches. */
CODE(".p2align 4\n.long 0xebeb7474, 0xe9e8eb74, 0x0f84e8e9, 0x7f7f7f7f\n" BEGIN(shape_data)
     "mov -10(%rip), %eax\nadd %rdi, %rax\nret\n" END(shape_data)
     ".long 0x74eb74eb, 0xe8e9e8e9, 0x840f840f\n");

/* Where it is. */
CODE(".p2align 4\n" BEGIN(shape_place)
     "lea 0(%rip), %rax\n1: lea 1b(%rip), %rcx\nsub %rcx, %rax\nadd %rdi, %rax\nret\n"
     END(shape_place));
CODE(".p2align 4\n" BEGIN(shape_landing) "endbr64\nlea 7(%rdi), %rax\nret\n" END(shape_landing));

/* On the stack. */
CODE(".p2align 4\n" BEGIN(shape_stacked_in) "mov 8(%rsp), %rax\nadd 16(%rsp), %rax\nret\n"
     END(shape_stacked_in) BEGIN(shape_stacked)
     "push $5\n.cfi_adjust_cfa_offset 8\npush %rdi\n.cfi_adjust_cfa_offset 8\n"
     "call shape_stacked_in\nadd $16, %rsp\n.cfi_adjust_cfa_offset -16\nret\n"
     END(shape_stacked));

/* What cannot be known to be a function, and what is none. */
CODE(".p2align 4\n.globl shape_frameless\n.type shape_frameless, @function\n"
     "shape_frameless: lea 3(%rdi), %rax\nret\n");
CODE(".p2align 4\n" BEGIN(shape_trap) "test %rdi, %rdi\njns 1f\nud2\n1: lea 1(%rdi), %rax\nret\n"
     END(shape_trap) ".p2align 4\n" BEGIN(shape_traps)
     "ud2\nlea 1(%rdi), %rax\nret\n" END(shape_traps));

#define SHAPES(each) \
	each(loop) each(inside) each(into) each(inside_dense) each(into_dense) each(calls) \
	each(calls_dense) each(flags) each(registers) each(below) each(table) each(table_back) \
	each(pointers) each(falls) each(fallen) each(data) each(place) each(landing) \
	each(stacked) each(frameless) each(trap)

#define DECLARE(name) long shape_##name(long n, long zero);
SHAPES(DECLARE)
void shape_tiny(void);
void shape_tiny_next(void);
void shape_alone(void);

static const struct {
	const char *name;
	long (*func)(long n, long zero);
} shapes[] = {
#define ROW(name) { #name, shape_##name },
	SHAPES(ROW)
};

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, round;
	size_t i;
	long n;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
			for (n = 0; n < 4; n++)
				printf("%s %ld\n", shapes[i].name, shapes[i].func(n, 0));
		}
		shape_tiny();
		shape_tiny_next();
		shape_alone();
	}
	return 0;
}
