/* SPDX-License-Identifier: MIT */
/* Pointers that lead nowhere, or to what changes. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int take(const char *s)
{
	__asm__ volatile("" : : "r"(s) : "memory");
	return s != NULL;
}

__attribute__((noinline)) const char *give(long s)
{
	__asm__ volatile("");
	return (const char *)s;
}

static void forbid(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *heap = strdup("parent"), stack[] = "stack";

	take((char *)16);
	take((char *)-1l);
	take((char *)0x8000000000000000ul);
	memcpy(pages + 4093, "abcdef", 7);
	take(pages + 4093);
	mprotect(pages + 4096, 4096, PROT_NONE);
	take(pages + 4093);
	take(pages + 4096);
	give(16);
	if (fork() == 0) {
		strcpy(heap, "child");
		take(heap);
		_exit(0);
	}
	wait(NULL);
	errno = 77;
	take((char *)16);
	if (errno != 77)
		return 1;
	forbid();
	take(heap);
	take("constant");
	take(stack);
	return 0;
}
