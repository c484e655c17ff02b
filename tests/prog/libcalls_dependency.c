/* SPDX-License-Identifier: MIT */
/* What the plugin is linked with. */
#include <unistd.h>

__attribute__((noinline)) int dependency_leaf(int n)
{
	return n + (geteuid() < 0xffffffff);
}

int dependency_work(int n)
{
	return dependency_leaf(n) + 1;
}
