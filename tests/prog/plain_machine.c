/* SPDX-License-Identifier: MIT */
/*
 * A virtual machine whose code has no call frame information, and is half a megabyte, as V8's: what
 * it calls looks for the address in it that called.  Exits with 1 where it finds another.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

extern const char machine_code[], machine_end[];
int machine_run(int n);

__asm__(".text\n.type machine_run, @function\nmachine_code:\nmachine_run:\n"
	"push %rbp\nmov %rsp, %rbp\ncall runtime_call\npop %rbp\nret\n"
	".size machine_run, . - machine_run\n.skip 524288, 0x90\nret\nmachine_end:\n");

NOINLINE int collect(const uintptr_t *return_place)
{
	const char *at = (const char *)*return_place;	/* as exit frames are looked up */

	if (at < machine_code || at >= machine_end) {
		fputs("no code of the machine called\n", stderr);
		exit(1);
	}
	return 1;
}

NOINLINE __attribute__((used)) int runtime_call(int n)
{
	return n + collect((const uintptr_t *)__builtin_frame_address(0) + 1);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += machine_run(i);
	printf("%d\n", sum);
	return 0;
}
