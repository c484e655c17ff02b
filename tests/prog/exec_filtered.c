/* SPDX-License-Identifier: MIT */
/*
 * "exec_filtered MACHINE NUMBER PROGRAM..." runs that behind a filter that kills for a system call
 * of a machine (AUDIT_ARCH_*), "exec_filtered PROGRAM..." as it is; each image says first what it
 * is preloaded with (tests/e2e/multilib.py).
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static __attribute__((noinline)) int deny(unsigned arch, unsigned nr)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { NR(filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) |
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* As the kernel keeps it: the program's own environment does not have it. */
static __attribute__((noinline)) void show_preloaded(void)
{
	char *entry = NULL;
	size_t room = 0;
	FILE *file = fopen("/proc/self/environ", "r");

	while (file != NULL && getdelim(&entry, &room, '\0', file) > 0) {
		if (strncmp(entry, "LD_PRELOAD=", 11) == 0)
			fprintf(stderr, "%s\n", entry);
	}
	free(entry);
	if (file != NULL)
		fclose(file);
}

int main(int argc, char **argv)
{
	unsigned machine = argc > 3 ? (unsigned)strtoul(argv[1], NULL, 0) : 0;

	show_preloaded();
	if (machine != 0) {
		if (deny(machine, (unsigned)strtoul(argv[2], NULL, 0)) != 0)
			return 77;
		argv += 2;
	}
	if (argv[1] == NULL)
		return 5;
	execv(argv[1], argv + 1);
	return 1;
}
