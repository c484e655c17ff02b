/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into ftr: the FTR_TEST_STEP'th request of ptrace since the file FTR_TEST_FROM is there
 * is not made; ftr and its helper die.  Or so does the FTR_TEST_WRITE'th write of code, of which
 * only the first page is written, as the kernel does it if a writer is killed.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

long ptrace(enum __ptrace_request request, ...);
ssize_t pwrite(int fd, const void *bytes, size_t nr, off_t offset);

static int is_due(const char *variable, long *step)
{
	const char *wanted = getenv(variable);

	return wanted != NULL && access(getenv("FTR_TEST_FROM"), F_OK) == 0 &&
	       ++*step == atol(wanted);
}

static void die(void)
{
	kill(getppid(), SIGKILL);
	kill(getpid(), SIGKILL);
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request request, ...);
	static long step;
	va_list args;
	pid_t pid;
	void *addr, *data;

	if (real == NULL)
		real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");

	/* an unwinder's thousands do not count */
	if (request != PTRACE_PEEKDATA && is_due("FTR_TEST_STEP", &step))
		die();
	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	return real(request, pid, addr, data);	/* a peek gives its result so */
}

static int is_memory(int fd)
{
	char link[64], path[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return 0;
	path[len] = '\0';
	return strncmp(path, "/proc/", 6) == 0 && strcmp(path + len - 4, "/mem") == 0;
}

ssize_t pwrite(int fd, const void *bytes, size_t nr, off_t offset)
{
	size_t first = PAGE - (size_t)offset % PAGE;
	static long step;

	if (is_memory(fd) && is_due("FTR_TEST_WRITE", &step)) {
		syscall(SYS_pwrite64, fd, bytes, nr < first ? nr : first, offset);
		die();
	}
	return syscall(SYS_pwrite64, fd, bytes, nr, offset);
}
