/* SPDX-License-Identifier: MIT */
/* A library that is loaded and calls its dependency. */
#include <unistd.h>

int dependency_work(int n);

__attribute__((constructor)) static void start(void)
{
	getuid();
}

__attribute__((destructor)) static void end(void)
{
	getegid();
}

int plugin_work(int n)
{
	return dependency_work(n) + (getgid() < 0xffffffff);
}
