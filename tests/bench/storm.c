/* SPDX-License-Identifier: MIT */
/* Many short lives: storm threads|forks|execs N, one after another; each makes ten calls. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int leaf(int n)
{
	__asm__ volatile("");
	return n + 1;
}

static void *life(void *arg)
{
	int i;

	for (i = 0; i < 9; i++)
		leaf(i);
	return arg;
}

static void thread(const char *self)
{
	pthread_t id;

	if (pthread_create(&id, NULL, life, NULL) != 0)
		exit(1);
	pthread_join(id, NULL);
}

static void child(const char *self)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (self != NULL)
			execl(self, self, "live", (char *)NULL);
		life(NULL);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "live";
	int i, nr = argc > 2 ? atoi(argv[2]) : 0;

	for (i = 0; i < nr; i++) {
		if (strcmp(what, "threads") == 0)
			thread(NULL);
		else
			child(strcmp(what, "execs") == 0 ? argv[0] : NULL);
	}
	if (nr == 0)
		life(NULL);
	return 0;
}
