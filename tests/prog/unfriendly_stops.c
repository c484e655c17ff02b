/* SPDX-License-Identifier: MIT */
/* Children that each stop signal stops twice, and that go on. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	static const int signals[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
	int status, seen[2];	/* that it goes on: only then may the child */
	char byte;

	setpgid(0, 0);
	if (pipe(seen) < 0)
		return 1;
	for (int i = 0; i < 4; i++) {
		pid_t child = fork();

		if (child == 0) {
			setpgid(0, 0);
			raise(signals[i]);
			close(open("/etc/passwd", O_RDONLY));
			read(seen[0], &byte, 1);
			raise(signals[i]);
			read(seen[0], &byte, 1);
			_exit(i);
		}
		for (int j = 0; j < 2; j++) {
			waitpid(child, &status, WUNTRACED);
			printf("%d: stopped %d by %d\n", i, WIFSTOPPED(status), WSTOPSIG(status));
			kill(child, SIGCONT);
			waitpid(child, &status, WCONTINUED);
			printf("%d: continued %d\n", i, WIFCONTINUED(status));
			write(seen[1], "", 1);
		}
		waitpid(child, &status, 0);
		printf("%d: exit %d\n", i, WEXITSTATUS(status));
	}
	return 0;
}
