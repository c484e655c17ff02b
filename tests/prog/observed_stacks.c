/* SPDX-License-Identifier: MIT */
/*
 * System calls at known depths: outer, middle and inner open and close /dev/null in the first
 * process, a thread and a child; the child becomes /bin/true.  With -DLIBRARY it is a library
 * whose plug does the same; the program opens the one that its argument names.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

static volatile int sink;

OWN void inner(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	sink++;
}

OWN void middle(void)
{
	inner();
	sink--;
}

#ifdef LIBRARY
OWN void plug(void)
{
	middle();
	sink--;
}
#else
OWN void outer(void)
{
	middle();
	sink--;
}

OWN void *thread(void *arg)
{
	outer();
	sink--;
	return NULL;
}

OWN void child(void)
{
	outer();
	execl("/bin/true", "true", (char *)NULL);
	sink--;
}

OWN void on_signal(int signo)
{
	middle();
	sink--;
}

OWN void deep(int levels)
{
	if (levels > 0)
		deep(levels - 1);
	else
		inner();
	sink--;
}

int main(int argc, char **argv)
{
	pthread_t id;

	outer();
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	deep(300);
#ifndef STATIC
	if (argc > 1) {
		void *library = dlopen(argv[1], RTLD_NOW);
		void (*plug)(void) = (void (*)(void))dlsym(library, "plug");

		plug();
		dlclose(library);
	}
#endif
	if (fork() == 0)
		child();
	wait(NULL);
	return 0;
}
#endif
