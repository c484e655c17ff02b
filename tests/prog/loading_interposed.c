/* SPDX-License-Identifier: MIT */
/* Calls what loading_interposer.c stands before. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	pid_t (*found)(void) = (pid_t(*)(void))dlsym(RTLD_DEFAULT, "getppid");

	printf("%d %d\n", getppid() > 0, getppid() == found());
	return 0;
}
