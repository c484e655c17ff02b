/* SPDX-License-Identifier: MIT */
/* What the recordings demo-* in this directory are of: see README. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))	/* in line, a function is not traced */

enum color { RED, GREEN, BLUE = 4 };

KEEP int leaf(int x)
{
	__asm__("");
	return x + 1;
}

KEEP int middle(int x, const char *s)
{
	return leaf(x) + leaf(x + 1) + (int)strlen(s);
}

KEEP enum color paint(enum color c)
{
	__asm__("");
	return c;
}

KEEP double scale(float a, double b, char c)
{
	__asm__("");
	return a * b + c;
}

KEEP int call(int (*fn)(int), long negative)
{
	__asm__("");
	return fn((int)negative);
}

static void *worker(void *arg)
{
	return (void *)(long)middle(7, arg);
}

KEEP void threads(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, worker, "worker");
	middle(1, "hello");
	pthread_join(thread, NULL);
}

KEEP void forks(void)
{
	pid_t pid = fork();

	if (pid == 0)
		leaf(3);
	else
		waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	char what = argc > 1 ? argv[1][0] : 'p';

	if (what == 't')
		threads();
	else if (what == 'f')
		forks();
	else
		middle(argc, "hello \"you\"\n");
	paint(BLUE);
	paint(GREEN | BLUE);
	scale(1.5f, 2.0, 'x');
	call(leaf, -5);
	return 0;
}
