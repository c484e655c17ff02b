/* SPDX-License-Identifier: MIT */
/* A library of attach_code.c, whose functions are patched while they are called. */
long library_call(long x);
long library_inner(long x);

__attribute__((noinline)) long library_inner(long x)
{
	return x * 7 + 5;
}

__attribute__((noinline)) long library_call(long x)
{
	return library_inner(x + 1) ^ library_inner(x);
}
