/* SPDX-License-Identifier: MIT */
/* Removes the file argv[2], and calls the library argv[1], which it loads. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int (*work)(void);

	unlink(argv[2]);
	work = (int (*)(void))dlsym(dlopen(argv[1], RTLD_LAZY), "work");
	printf("%d\n", work());
	return 0;
}
