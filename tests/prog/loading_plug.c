/* SPDX-License-Identifier: MIT */
/* A library that loading_opener.c opens. */
#include <unistd.h>

int dependency(void);

__attribute__((noinline)) void in_constructor(void)
{
	usleep(20000);
}

__attribute__((constructor)) static void start(void)
{
	in_constructor();
}

int run(void)
{
	return dependency();
}
