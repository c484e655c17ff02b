/* SPDX-License-Identifier: MIT */
/* A daemon: two forks, a session of its own, its parent gone, its descriptors closed. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (fork() > 0)
		_exit(0);
	setsid();
	if (fork() > 0)
		_exit(0);
	for (int i = 0; i < 10; i++)
		close(i);
	usleep(500000);
	close(open(argv[1], O_CREAT | O_WRONLY, 0600));
	return 4;
}
