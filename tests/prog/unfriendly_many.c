/* SPDX-License-Identifier: MIT */
/* A path 40,000 characters deep, a hundred thousand opens, an argument of as many bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char name[201], path[4200], arg[100001];
	char *args[] = { argv[0], arg, "", "a\nb", NULL };

	if (argc == 4)
		return strlen(argv[1]) == 100000 ? 5 : 6;
	memset(name, 'n', 200);
	for (int i = 0; i < 200; i++)	/* 40000 characters deep, step by step */
		if (mkdir(name, 0700) < 0 || chdir(name) < 0)
			return 2;
	close(open("deep", O_CREAT | O_WRONLY, 0600));
	rename("deep", "deeper");
	link("deeper", "linked");
	memset(path, '/', 4199);
	printf("%d\n", open(path, O_RDONLY));		/* ENAMETOOLONG */
	strcpy(path + 4080, "etc/passwd");
	close(open(path, O_RDONLY));
	for (int i = 0; i < 100000; i++)
		close(open("/dev/null", O_RDONLY));
	memset(arg, 'a', 100000);
	fflush(stdout);
	execv("/proc/self/exe", args);
	return 3;
}
