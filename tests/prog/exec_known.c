/* SPDX-License-Identifier: MIT */
/*
 * "exec_known HOW ... PROGRAM ARGUMENTS" runs that in one of many ways, "exec_known look" says how
 * many messages the recorder has answered, and the inodes of the files that processes run without
 * one (tests/e2e/exec_known.py).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/proto/control.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

extern char **environ;

static int look(char **argv)
{
	const struct ftr_control *control;
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];
	uint32_t i;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strstr(line, "/memfd:ftr-control") == NULL)
			continue;
		control = (const struct ftr_control *)strtoul(line, NULL, 16);
		printf("%" PRIu32, atomic_load(&control->answered));
		for (i = 0; i < atomic_load(&control->tried_nr); i++)
			printf(" %" PRIu64, control->tried[i].inode);
		printf("\n");
		fclose(file);
		return 0;
	}
	return 3;
}

static int run(char **argv)
{
	return execve(argv[0], argv, environ);
}

static int run_along(char **argv)
{
	return execvp(argv[0], argv);
}

static int run_fd(char **argv)
{
	return fexecve(open(argv[0], O_PATH | O_CLOEXEC), argv, environ);
}

static int run_at(char **argv)
{
	int fd = open(argv[0], O_PATH | O_DIRECTORY | O_CLOEXEC);

	return execveat(fd, argv[1], argv + 1, environ, 0);
}

static int run_below(char **argv)
{
	return chdir(argv[0]) == 0 ? run(argv + 1) : 1;
}

static int run_in(char **argv)
{
	return chroot(argv[0]) == 0 ? run(argv + 1) : 1;
}

static int run_as(char **argv)
{
	unsigned id = (unsigned)atoi(argv[0]);

	return setresuid(id, id, id) == 0 ? run(argv + 1) : 1;
}

static int spawn(char **argv)
{
	int status = 1;
	pid_t pid;

	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0)
		return 1;
	waitpid(pid, &status, 0);
	return status;
}

/* Behind a filter that kills for a look at a path; not at an open file, as dynamic linkers do. */
static int run_filtered(char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AT_EMPTY_PATH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { NR(filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		return 77;
	return run(argv);
}

static void *run_there(void *arg)
{
	run(arg);
	return NULL;
}

static int run_thread(char **argv)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, run_there, argv) != 0 || pthread_join(thread, NULL);
}

/* Child after child, each of which makes a call or two of its own. */
static int run_children(char **argv)
{
	int i, status, ret = 0;

	for (i = atoi(argv[0]); i > 0; i--) {
		if (fork() == 0)
			_exit(run(argv + 1));
		wait(&status);
		ret |= status;
	}
	return ret;
}

/* The same, and each has another name than its program's when it goes on. */
static int run_named(char **argv)
{
	prctl(PR_SET_NAME, "before exec", 0, 0, 0);
	return run_children(argv);
}

static const struct way {
	const char *name;
	int (*run)(char **argv);
} ways[] = {
	{ "look", look },
	{ "run", run },
	{ "along", run_along },
	{ "fd", run_fd },
	{ "at", run_at },
	{ "below", run_below },
	{ "in", run_in },
	{ "as", run_as },
	{ "spawn", spawn },
	{ "filtered", run_filtered },
	{ "thread", run_thread },
	{ "children", run_children },
	{ "named", run_named },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < NR(ways); i++) {
		if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
			return ways[i].run(argv + 2);
	}
	return 2;
}
