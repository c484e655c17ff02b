/* SPDX-License-Identifier: MIT */
/* Patchable functions under a seccomp filter. */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>

int main(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog prog = { 1, code };
	int (*fn)(int);
	void *library;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
	library = dlopen("./libone.so", RTLD_NOW);
	fn = library ? (int (*)(int))dlsym(library, "one_run") : NULL;
	printf("%d\n", fn ? fn(1) : -1);
	return 0;
}
