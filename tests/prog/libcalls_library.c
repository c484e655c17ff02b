/* SPDX-License-Identifier: MIT */
/* A library that the program is linked with. */
#include <unistd.h>

/* As OpenSSL's allocator: calls itself by way of a pointer, unless that is its own address. */
int allocate(int n);

static int (*volatile implementation)(int) = allocate;
int allocate(int n)
{
	return implementation != allocate ? implementation(n) : n;
}

__attribute__((noinline)) int getpid_twice(void)
{
	return getpid() > 0 && getpid() > 0;
}

__attribute__((constructor)) static void start(void)
{
	getpgrp();
}

int library_work(int n)
{
	return allocate(n) + getpid_twice() + (getppid() >= 0);
}
