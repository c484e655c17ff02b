/* SPDX-License-Identifier: MIT */
/*
 * What it can see of itself; rights to be dumped taken away, so that only its tracer may read its
 * memory.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	sigset_t blocked;
	int nr = 0, fds = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (readdir(dir) != NULL)
		fds++;
	closedir(dir);
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int i = 1; i < 64; i++)
		nr += sigismember(&blocked, i) == 1;
	prctl(PR_SET_DUMPABLE, 0);
	close(open("/etc/hostname", O_RDONLY));
	printf("%d fds, %d blocked, pid %d, dumpable %d, handler %d %d, session %d\n", fds, nr,
	       getpid() == syscall(SYS_gettid), prctl(PR_GET_DUMPABLE),
	       signal(SIGPIPE, SIG_DFL) == SIG_DFL, signal(SIGINT, SIG_DFL) == SIG_DFL,
	       getsid(0) > 0);
	return 0;
}
