/* SPDX-License-Identifier: MIT */
/* Calls of libc that are system calls of the same name and arguments, some of which fail. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
	char buffer[64];
	int fds[2], fd, pair[2];

	access("begin of what is compared", F_OK);
	fd = open("values_syscalls.tmp", O_RDWR | O_CREAT | O_TRUNC, 0640);
	write(fd, "some text\n", 10);
	write(fd, "more \"text\"", 11);
	lseek(fd, -4, SEEK_CUR);
	read(fd, buffer, sizeof(buffer));
	lseek(fd, 5, SEEK_SET);
	lseek(fd, -100, SEEK_END);
	read(fd, buffer, 3);
	ftruncate(fd, 7);
	fchmod(fd, 0600);
	fsync(fd);
	dup2(fd, 77);
	fcntl(fd, F_GETFD);
	close(77);
	close(fd);
	close(fd);
	read(fd, buffer, 8);
	write(-1, "lost", 4);
	open("no/such/file", O_RDONLY);
	open("values_syscalls.tmp", O_WRONLY | O_EXCL | O_CREAT, 0600);
	chmod("values_syscalls.tmp", 0444);
	rename("values_syscalls.tmp", "values_syscalls.new");
	link("values_syscalls.new", "values_syscalls.new");
	symlink("values_syscalls.new", "values_syscalls.link");
	readlink("values_syscalls.link", buffer, sizeof(buffer));
	unlink("values_syscalls.link");
	unlink("values_syscalls.new");
	unlink("values_syscalls.new");
	mkdir("values_syscalls.dir", 0700);
	chdir("values_syscalls.dir");
	chdir("..");
	rmdir("values_syscalls.dir");
	rmdir("values_syscalls.dir");
	pipe(fds);
	write(fds[1], "x", 1);
	read(fds[0], buffer, 1);
	dup(fds[0]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	shutdown(pair[0], SHUT_WR);
	socket(AF_INET, SOCK_DGRAM, 0);
	socket(AF_INET, -1, 0);
	listen(-1, 5);
	getpid();
	umask(022);
	munmap((void *)4096, 0);
	alarm(0);
	access("end of what is compared", R_OK | W_OK);
	return 0;
}
