/* SPDX-License-Identifier: MIT */
/*
 * measure FILE COMMAND... - run it; write "USER_US SYSTEM_US MAXRSS_KB STATUS" to FILE.
 *
 * Small on purpose: a process starts with the peak memory of whoever forked it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	FILE *out;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0) {
		perror("measure");
		return 1;
	}
	out = fopen(argv[1], "w");
	if (out == NULL) {
		perror(argv[1]);
		return 1;
	}
	fprintf(out, "%ld %ld %ld %d\n",
		usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec,
		usage.ru_stime.tv_sec * 1000000L + usage.ru_stime.tv_usec, usage.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return fclose(out) == 0 ? 0 : 1;
}
