/* SPDX-License-Identifier: MIT */
/*
 * Seccomp filters that kill for, or refuse, system calls which the program itself does not make:
 * those that are installed once a thread has made its first call do not meet any of the hook; where
 * they would meet new threads, children and images, these run untraced, with a warning.
 *
 * expect-calls: main 1
 * expect-calls: work 6006
 * expect-calls: untraced 0
 * expect-warning: seccomp filter that blocks tracing
 * expect-warning: threads? ran untraced
 * record: --no-libcall -b 4K
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ALLOW(call)                                      \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL(call)                                       \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static struct sock_filter only_write[] = {
	LOAD(nr), ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_exit),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_filter no_socket[] = {
	LOAD(nr), KILL(SYS_socket), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
#define UNIX_SOCKETS(answer)                                       \
	LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3), \
		LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, answer), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static struct sock_filter no_unix[] = { UNIX_SOCKETS(SECCOMP_RET_KILL_PROCESS) };
static struct sock_filter refused_unix[] = { UNIX_SOCKETS(SECCOMP_RET_ERRNO | EACCES) };
static struct sock_fprog only_write_prog = { sizeof(only_write) / sizeof(only_write[0]),
					     only_write };
static struct sock_fprog no_socket_prog = { sizeof(no_socket) / sizeof(no_socket[0]), no_socket };
static struct sock_fprog no_unix_prog = { sizeof(no_unix) / sizeof(no_unix[0]), no_unix };
static struct sock_fprog refused_unix_prog = { sizeof(refused_unix) / sizeof(refused_unix[0]),
					       refused_unix };

NOINLINE int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int untraced(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static void work_much(void)
{
	int sum = 0;

	for (int i = 0; i < 1000; i++)
		sum = work(sum);
	(void)!write(1, sum == 1000 ? "good\n" : "bad\n", 5);
}

static void by_prctl(const char *self)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &only_write_prog) == 0)
		work_much();
}

static void by_number(const char *self)
{
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &only_write_prog) == 0)
		work_much();
}

static void strict_by_number(const char *self)
{
	if (syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0)
		work_much();
	syscall(SYS_exit, 0);
}

static void *thread(void *arg)
{
	return (void *)(long)untraced((int)(long)arg);
}

/* Everything goes on, but for sockets; probing without a filter changes nothing. */
static void without(const char *self, struct sock_fprog *prog)
{
	pthread_t id;
	void *ret = NULL;

	printf("%d %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL), errno);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, prog);
	work_much();
	pthread_create(&id, NULL, thread, (void *)41L);
	pthread_join(id, &ret);
	printf("%ld\n", (long)ret);
	fflush(stdout);
	if (fork() == 0)
		_exit(untraced(1) != 2);
	wait(NULL);
	if (fork() == 0)
		execl(self, self, "again", (char *)NULL);
	wait(NULL);
	printf("%d\n", system("exit 3"));
	fflush(stdout);
	execl(self, self, "again", (char *)NULL);
}

static void without_sockets(const char *self)
{
	without(self, &no_socket_prog);
}

static void without_unix(const char *self)
{
	without(self, &no_unix_prog);
}

static void refusing_unix(const char *self)
{
	without(self, &refused_unix_prog);
}

static void (*const ways[])(const char *self) = { by_prctl, by_number, strict_by_number,
						  without_sockets, without_unix, refusing_unix };

int main(int argc, char **argv)
{
	int status;

	if (argc > 1) {
		printf("untraced image: %d\n", untraced(1));
		return 0;
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		fflush(stdout);
		if (fork() == 0) {
			work(0);
			ways[i](argv[0]);
			_exit(0);
		}
		wait(&status);
		printf("%zu: %x\n", i, (unsigned)status);
	}
	return 0;
}
