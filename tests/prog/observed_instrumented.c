/* SPDX-License-Identifier: MIT */
/* Threads and a child that read, in instrumented functions. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void read_once(void)
{
	close(open("/etc/passwd", O_RDONLY));
}

static void *reader(void *arg)
{
	read_once();
	return arg;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, 0, reader, 0);
		pthread_join(thread, 0);
	}
	if (fork() == 0) {
		read_once();
		_exit(3);
	}
	wait(0);
	return 0;
}
