/* SPDX-License-Identifier: MIT */
/* System calls that newer machines have only in their later forms. */
#ifndef FTR_TEST_OLDER_CALLS_H
#define FTR_TEST_OLDER_CALLS_H

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_open
#define OLDER_OPEN(path, flags)	 syscall(SYS_open, path, flags)
#define OLDER_CREAT(path, mode)	 syscall(SYS_creat, path, mode)
#define OLDER_PIPE(fds)		 syscall(SYS_pipe, fds)
#define OLDER_DUP2(from, to)	 syscall(SYS_dup2, from, to)
#define OLDER_RENAME(from, to)	 syscall(SYS_rename, from, to)
#define OLDER_LINK(from, to)	 syscall(SYS_link, from, to)
#define OLDER_SYMLINK(from, to)	 syscall(SYS_symlink, from, to)
#define OLDER_FORK()		 syscall(SYS_fork)
#else
#define OLDER_OPEN(path, flags)	 syscall(SYS_openat, AT_FDCWD, path, flags)
#define OLDER_CREAT(path, mode)	 \
	syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode)
#define OLDER_PIPE(fds)		 syscall(SYS_pipe2, fds, 0)
#define OLDER_DUP2(from, to)	 syscall(SYS_dup3, from, to, 0)
#define OLDER_RENAME(from, to)	 syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to)
#define OLDER_LINK(from, to)	 syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0)
#define OLDER_SYMLINK(from, to)	 syscall(SYS_symlinkat, from, AT_FDCWD, to)
#define OLDER_FORK()		 syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)
#endif

#endif /* FTR_TEST_OLDER_CALLS_H */
