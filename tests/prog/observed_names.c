/* SPDX-License-Identifier: MIT */
/* Names: by prctl, for another thread, by writing to comm. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *sleeper(void *arg)
{
	sleep(1);
	return arg;
}

int main(void)
{
	pthread_t thread;
	int fd;

	prctl(PR_SET_NAME, "a name that is too long");
	pthread_create(&thread, 0, sleeper, 0);
	pthread_setname_np(thread, "other");
	fd = open("/proc/self/comm", O_WRONLY);
	if (write(fd, "written\n", 8) != 8)
		return 1;
	close(fd);
	return 0;
}
