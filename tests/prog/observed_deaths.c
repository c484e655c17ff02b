/* SPDX-License-Identifier: MIT */
/* Processes that are killed at any point of what they do. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 150; i++) {
		pid_t child = fork();

		while (child == 0) {
			pid_t grandchild = fork();

			if (grandchild == 0) {
				execl("/bin/true", "true", (char *)0);
				_exit(1);
			}
			close(open("/etc/passwd", O_RDONLY));
			rename("nothing", "here");
			waitpid(grandchild, 0, 0);
		}
		usleep(i * 37 % 3000);
		kill(child, SIGKILL);
		waitpid(child, 0, 0);
	}
	return 0;
}
