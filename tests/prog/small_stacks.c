/* SPDX-License-Identifier: MIT */
/*
 * Threads and handlers with as little stack as the program can do with start other programs: what
 * the runtime does besides, and the first call of a thread or a forked child, fits in what they
 * have left.  Each way is measured on a painted stack: below its caller's frame it uses LIMIT_BYTES
 * at most.  Whatever it takes instead of stack is given back, or used again.
 *
 * (Bound at once: the dynamic linker takes 3 KB of stack to bind a call.)
 *
 * cflags: -pthread -Wl,-z,now
 * again: --no-libcall --estimate-return
 * expect-calls: start 60
 * expect-calls: first 1
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNTRACED __attribute__((no_instrument_function))
#define PAINT 0x5a
#define STACK_BYTES 65536
#define LIMIT_BYTES 1536	/* natively it is posix_spawn, with 808 */
#define FILE_NAME "/bin/true"

/* Shared with the children, so that the parent sees what they have used. */
static struct shared {
	char stack[STACK_BYTES];
	char *top;
} *shared;

static char *args[] = { "true", NULL };
static int way;

/* The last exec is that of a vfork child. */
NOINLINE void start(void)
{
	int status = 99;
	pid_t pid = -1;

	switch (way) {
	case 0: execve(FILE_NAME, args, environ); break;
	case 1: execv(FILE_NAME, args); break;
	case 2: execvp("true", args); break;
	case 3: execvpe("true", args, environ); break;
	case 4: execl(FILE_NAME, "true", (char *)NULL); break;
	case 5: execlp("true", "true", (char *)NULL); break;
	case 6: execle(FILE_NAME, "true", (char *)NULL, environ); break;
	case 7: fexecve(open(FILE_NAME, O_RDONLY), args, environ); break;
	case 8: execveat(open("/bin", O_RDONLY), "true", args, environ, 0); break;
	case 9: posix_spawn(&pid, FILE_NAME, NULL, NULL, args, environ); break;
	case 10: posix_spawnp(&pid, "true", NULL, NULL, args, environ); break;
	default:
		pid = vfork();
		if (pid == 0) {
			execve(FILE_NAME, args, environ);
			_exit(99);
		}
	}
	waitpid(pid, &status, 0);
	_exit(status != 0);
}

#define WAYS 12

static int status_seen;

UNTRACED static void in_child(void (*function)(void))
{
	pid_t pid = fork();

	if (pid == 0)
		function();
	waitpid(pid, &status_seen, 0);
}

UNTRACED static void *in_thread(void *arg)
{
	in_child(start);
	return arg;
}

UNTRACED static void in_handler(int sig)
{
	in_child(start);
}

UNTRACED static void in_painted_handler(int sig)
{
	shared->top = __builtin_frame_address(0);
	start();
}

UNTRACED static void on_stack(char *stack, size_t bytes, void (*handler)(int))
{
	stack_t given = { .ss_sp = stack, .ss_size = bytes };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&given, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

UNTRACED static void on_painted_stack(void)
{
	on_stack(shared->stack, STACK_BYTES, in_painted_handler);
}

UNTRACED static void check(const char *where, long used)
{
	if (status_seen != 0 || used > LIMIT_BYTES) {
		printf("%s: way %d: status %x, %ld bytes of stack\n", where, way, status_seen,
		       used);
		fflush(stdout);
	}
}

UNTRACED static long unused_bytes(void)
{
	long unused = 0;

	while (unused < STACK_BYTES && shared->stack[unused] == PAINT)
		unused++;
	return unused;
}

UNTRACED static void measure(void)
{
	memset(shared->stack, PAINT, STACK_BYTES);
	in_child(on_painted_stack);
	check("measured", shared->top - (shared->stack + unused_bytes()));
}

NOINLINE int first(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

UNTRACED static void *call_first(void *arg)
{
	char *here = __builtin_frame_address(0);

	memset(shared->stack, PAINT, (size_t)(here - shared->stack) - 512);
	first(1);
	shared->top = here;
	return arg;
}

UNTRACED static void measure_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	status_seen = 0;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, shared->stack, STACK_BYTES);
	pthread_create(&thread, &attr, call_first, NULL);
	pthread_join(thread, NULL);
	check("a thread's first call", shared->top - (shared->stack + unused_bytes()));
}

UNTRACED static int mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int nr = 0, c;

	while ((c = getc(maps)) != EOF)
		nr += c == '\n';
	fclose(maps);
	return nr;
}

/* The parent must not keep what its children took, though they never said that they are done. */
UNTRACED static void vfork_often(void)
{
	int before = 0, i;

	for (i = 0; i < 50; i++) {
		if (vfork() == 0) {
			execve(FILE_NAME, args, environ);
			_exit(99);
		}
		wait(NULL);
		if (i == 1)
			before = mappings();
	}
	printf("%d more mappings\n", mappings() - before);
}

UNTRACED static void try_all(void)
{
	static char small[8192];
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (way = 0; way < WAYS; way++) {
		pthread_create(&thread, &attr, in_thread, NULL);
		pthread_join(thread, NULL);
		check("thread", 0);
		on_stack(small, sizeof(small), in_handler);
		check("handler", 0);
	}
}

UNTRACED int main(void)
{
	char name[16];
	int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	for (way = 0; way < WAYS; way++)
		measure();
	measure_thread();
	vfork_often();
	try_all();
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "VARIABLE%d", i);
		setenv(name, "value", 1);
	}
	try_all();
	return 0;
}
