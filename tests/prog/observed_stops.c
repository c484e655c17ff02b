/* SPDX-License-Identifier: MIT */
/* A child that is stopped and continued, as its parent sees it. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int status, seen[2];	/* that it goes on: only then may the child end */
	char byte;
	pid_t child;

	if (pipe(seen) < 0)
		return 1;
	child = fork();
	if (child == 0) {
		raise(SIGSTOP);
		read(seen[0], &byte, 1);
		_exit(5);
	}
	waitpid(child, &status, WUNTRACED);
	printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
	kill(child, SIGCONT);
	waitpid(child, &status, WCONTINUED);
	printf("continued %d\n", WIFCONTINUED(status));
	write(seen[1], "", 1);
	waitpid(child, &status, 0);
	printf("exit %d\n", WEXITSTATUS(status));
	return 0;
}
