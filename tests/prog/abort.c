/* SPDX-License-Identifier: MIT */
/*
 * abort() below open calls: what was recorded before it is there, the status passes through.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-status: 134
 * expect-calls: inner 1
 * expect-calls: leaf 1
 */
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline, noclone)) void leaf(void)
{
	__asm__ volatile("");
}

__attribute__((noinline, noclone)) void inner(void)
{
	leaf();
	abort();
}

int main(void)
{
	inner();
	return 0;
}
