/* SPDX-License-Identifier: MIT */
/* Every observed call that needs no rights, in each of its forms. */
#include "tests/prog/older_calls.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *named(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	return arg;
}

int main(int argc, char **argv)
{
	struct open_how how = { .flags = O_RDONLY };
	struct clone_args args = { .exit_signal = SIGCHLD };
	char *again[] = { argv[0], "x\ny", "", NULL };
	pthread_t thread;
	int fds[2], fd;

	if (argc > 1)
		return 3;
	OLDER_OPEN("/etc/passwd", O_RDONLY | O_CLOEXEC);
	syscall(SYS_openat, AT_FDCWD, "made", O_RDWR | O_CREAT | O_TRUNC, 0640);
	syscall(SYS_openat2, AT_FDCWD, "made", &how, sizeof(how));
	OLDER_CREAT("made2", 0600);
	OLDER_OPEN("missing", O_WRONLY);
	OLDER_PIPE(fds);
	syscall(SYS_pipe2, fds, O_NONBLOCK | O_CLOEXEC);
	OLDER_RENAME("made", "m2");
	syscall(SYS_renameat, AT_FDCWD, "m2", AT_FDCWD, "m3");
	syscall(SYS_renameat2, AT_FDCWD, "m3", AT_FDCWD, "made2", RENAME_EXCHANGE);
	syscall(SYS_renameat2, AT_FDCWD, "nothing", AT_FDCWD, "x", RENAME_NOREPLACE);
	OLDER_LINK("m3", "l1");
	OLDER_LINK("m3", "l1");
	syscall(SYS_linkat, AT_FDCWD, "m3", AT_FDCWD, "l2", AT_SYMLINK_FOLLOW);
	OLDER_SYMLINK("m3", "s1");
	syscall(SYS_symlinkat, "m3", AT_FDCWD, "s1");
	syscall(SYS_close, 3);
	syscall(SYS_close, 77);
	syscall(SYS_dup, 4);
	OLDER_DUP2(4, 20);
	syscall(SYS_dup3, 4, 21, O_CLOEXEC);
	fcntl(4, F_DUPFD, 30);
	fcntl(4, F_DUPFD_CLOEXEC, 31);
	syscall(SYS_close_range, 20, 21, 0);
	syscall(SYS_mount, "none", "/no/dir", "tmpfs", MS_NOSUID | MS_NODEV, "");
	syscall(SYS_mount, "/", "/no/dir", NULL, MS_BIND, NULL);
	syscall(SYS_umount2, "/no/dir", MNT_DETACH);
	prctl(PR_SET_NAME, "renamed");
	fd = open("/proc/self/comm", O_WRONLY);
	if (write(fd, "written", 7) != 7)
		return 1;
	close(fd);
	pthread_create(&thread, 0, named, 0);
	pthread_join(thread, 0);
	if (OLDER_FORK() == 0)
		syscall(SYS_exit, 5);
	wait(0);
	if (vfork() == 0) {
		execv("missing", again);
		execv(argv[0], again);
		_exit(4);
	}
	wait(0);
	if (syscall(SYS_clone3, &args, sizeof(args)) == 0)
		syscall(SYS_exit_group, 6);
	wait(0);
	if (fork() == 0)
		kill(getpid(), SIGKILL);
	wait(0);
	syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0);
	if (fork() == 0)
		syscall(SYS_execveat, AT_FDCWD, argv[0], again, 0, 0);
	wait(0);
	return 258;
}
