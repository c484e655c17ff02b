/* SPDX-License-Identifier: MIT */
/* Children by posix_spawn, vfork, clone3 and clone. */
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/sched.h>

extern char **environ;
int main(void)
{
	char *argv[] = { "true", 0 };
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid;

	posix_spawn(&pid, "/bin/true", 0, 0, argv, environ);
	waitpid(pid, 0, 0);
	pid = vfork();
	if (pid == 0) {
		execv("/bin/false", argv);
		_exit(1);
	}
	waitpid(pid, 0, 0);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(3);
	waitpid(pid, 0, 0);
	args.flags = CLONE_UNTRACED;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(4);
	if (args.flags != CLONE_UNTRACED)
		_exit(9);
	waitpid(pid, 0, 0);
	syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0);
	return 0;
}
