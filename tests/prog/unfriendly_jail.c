/* SPDX-License-Identifier: MIT */
/* A seccomp filter of its own that refuses opens, then strict mode. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };
	int before = open("/etc/passwd", O_RDONLY), after;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("filter %ld\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
	after = open("/etc/passwd", O_RDONLY);
	printf("%d %d %s\n", before >= 0, after, errno == EXDEV ? "EXDEV" : "?");
	fflush(stdout);
	close(before);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	syscall(SYS_exit, 3);
	return 0;
}
