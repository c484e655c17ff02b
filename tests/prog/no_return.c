/* SPDX-License-Identifier: MIT */
/*
 * Library functions that return twice, elsewhere, or never: each in a process of its own, whose end
 * must be the one that it has untraced.
 *
 * record: --no-randomize-addr
 * again: --nest-libcall
 * again: --estimate-return
 * expect-calls: after 10
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf jump_target;
static sigjmp_buf signal_target;

static NOINLINE int after(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static int by_exit(void)
{
	exit(after(1));
}

static int by__exit(void)
{
	_exit(after(2));
}

static int by_abort(void)
{
	after(3);
	abort();
}

static int by_longjmp(void)
{
	int n = setjmp(jump_target);

	if (n == 0)
		longjmp(jump_target, 4);
	return after(n);
}

static void on_signal(int sig)
{
	siglongjmp(signal_target, sig);
}

static int by_siglongjmp(void)
{
	int n = sigsetjmp(signal_target, 1);

	if (n == 0) {
		signal(SIGUSR1, on_signal);
		raise(SIGUSR1);
	}
	return after(n);
}

static int by_setcontext(void)
{
	volatile int n = 0;
	ucontext_t here;

	getcontext(&here);
	if (n++ < 3)
		setcontext(&here);
	return after(n);
}

static void *thread(void *arg)
{
	pthread_exit(arg);
}

static int by_pthread_exit(void)
{
	pthread_t other;
	void *result;

	if (pthread_create(&other, NULL, thread, (void *)7L) != 0 ||
	    pthread_join(other, &result) != 0)
		return 1;
	return after((int)(long)result);
}

static int by_execve(void)
{
	char *argv[] = { "sh", "-c", "exit 8", NULL };
	char *envp[] = { NULL };

	after(8);
	execve("/bin/sh", argv, envp);
	return 1;
}

static int by_vfork(void)
{
	int status;
	pid_t child = vfork();

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	return after(WEXITSTATUS(status));
}

static void start_other(ucontext_t *back)
{
	setcontext(back);
}

static int by_makecontext(void)
{
	static char stack[1 << 16];
	ucontext_t back, other;

	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	other.uc_link = NULL;
	makecontext(&other, (void (*)(void))start_other, 1, &back);
	swapcontext(&back, &other);
	return after(10);
}

int main(void)
{
	int (*const ways[])(void) = {
		by_exit, by__exit, by_abort, by_longjmp, by_siglongjmp, by_setcontext,
		by_pthread_exit, by_execve, by_vfork, by_makecontext,
	};
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0)
			_exit(ways[i]());
		waitpid(child, &status, 0);
		printf("%zu: %d %d\n", i, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
		fflush(stdout);
	}
	return 0;
}
