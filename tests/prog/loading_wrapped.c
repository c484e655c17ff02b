/* SPDX-License-Identifier: MIT */
/* What ftr interposes too: its wrappers must lead to these, not past them to libc. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef LIBRARY
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* It is in the recorder, too, which calls some of these where it has two runtimes. */
static void count(const char *name)
{
	if (strcmp(program_invocation_short_name, "wrapped") == 0)
		dprintf(1, "%s\n", name);
}

int system(const char *command)
{
	count("system");
	return NEXT(system)(command);
}

FILE *popen(const char *command, const char *type)
{
	count("popen");
	return NEXT(popen)(command, type);
}

int unshare(int flags)
{
	count("unshare");
	return NEXT(unshare)(flags);
}

int setns(int fd, int type)
{
	count("setns");
	return NEXT(setns)(fd, type);
}

int pthread_setname_np(pthread_t thread, const char *name)
{
	count("pthread_setname_np");
	return NEXT(pthread_setname_np)(thread, name);
}

int dlclose(void *handle)
{
	count("dlclose");
	return NEXT(dlclose)(handle);
}
#else
int main(void)
{
	char line[16] = "";
	jmp_buf buf;
	FILE *pipe;

	pthread_setname_np(pthread_self(), "wrapped");
	if (system("exit 3") != 3 << 8)
		return 1;
	pipe = popen("echo deep", "r");
	if (pipe == NULL || fgets(line, sizeof(line), pipe) == NULL || pclose(pipe) != 0)
		return 2;
	printf("%d %d %s", unshare(0), setns(-1, 0), line);
	dlclose(dlopen(NULL, RTLD_NOW));
	if (setjmp(buf) == 0)
		longjmp(buf, 1);
	return 0;
}
#endif
