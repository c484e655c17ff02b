/* SPDX-License-Identifier: MIT */
/* Each call once by its number, in a static program. */
#include "tests/prog/older_calls.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/openat2.h>

int main(void)
{
	struct open_how how = { .flags = O_RDONLY };
	int fds[2];

	syscall(SYS_close, OLDER_OPEN("/etc/passwd", O_RDONLY));
	syscall(SYS_close, OLDER_CREAT("made", 0644));
	syscall(SYS_close, syscall(SYS_openat2, AT_FDCWD, "made", &how, sizeof(how)));
	OLDER_OPEN("/no/such/file", O_RDONLY);
	syscall(SYS_close, 99);
	OLDER_PIPE(fds);
	OLDER_DUP2(fds[0], 10);
	syscall(SYS_dup3, fds[1], 11, O_CLOEXEC);
	syscall(SYS_dup, 10);
	fcntl(11, F_DUPFD, 20);
	fcntl(11, F_DUPFD_CLOEXEC, 30);
	fcntl(11, F_GETFL);
	OLDER_RENAME("made", "moved");
	syscall(SYS_renameat, AT_FDCWD, "moved", AT_FDCWD, "made");
	syscall(SYS_renameat2, AT_FDCWD, "made", AT_FDCWD, "moved", 1);
	OLDER_LINK("moved", "linked");
	OLDER_SYMLINK("moved", "sym");
	OLDER_RENAME("nothing", "here");
	if (OLDER_FORK() == 0)
		syscall(SYS_exit_group, 300);
	syscall(SYS_exit_group, 7);
}
