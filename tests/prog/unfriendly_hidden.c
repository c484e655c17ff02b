/* SPDX-License-Identifier: MIT */
/* What a process that is not dumpable opens and renames, and its child. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void open_and_close(const char *path)
{
	dup2(open(path, O_RDONLY), 9);
	close(9);
	close(77);
}

int main(void)
{
	char from[] = "/tmp/ftr-hidden-XXXXXX", to[sizeof(from) + 3];

	open_and_close("/etc/hostname");
	close(mkstemp(from));
	snprintf(to, sizeof(to), "%s.to", from);
	prctl(PR_SET_DUMPABLE, 0);
	open_and_close("/etc/passwd");
	rename(from, to);
	unlink(to);
	if (fork() == 0) {
		open_and_close("/etc/group");
		rename(from, to);
		_exit(0);
	}
	wait(0);
	return 3;
}
