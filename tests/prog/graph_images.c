/* SPDX-License-Identifier: MIT */
/* Executes itself: functions of the same names in two images. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void reader(int n)
{
	while (n-- > 0)
		close(open("/dev/null", O_RDONLY));
}
__attribute__((noinline)) void replace(char *path)
{
	reader(1);
	execl(path, path, "again", (char *)0);
	abort();
}
int main(int argc, char **argv)
{
	if (argc == 1)
		replace(argv[0]);
	reader(2);
	return 0;
}
