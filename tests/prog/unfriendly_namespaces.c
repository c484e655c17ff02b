/* SPDX-License-Identifier: MIT */
/* Paths in a mount namespace and below another root. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	mkdir("root", 0755);
	close(open("root/inside", O_CREAT | O_WRONLY, 0600));
	if (unshare(CLONE_NEWNS) < 0 || mount(0, "/", 0, MS_REC | MS_PRIVATE, 0) < 0 ||
	    mount("none", "root", "tmpfs", 0, "") < 0)
		return 1;
	close(open("root/mounted", O_CREAT | O_WRONLY, 0600));
	umount2("root", 0);
	if (chroot("root") < 0 || chdir("/") < 0)
		return 2;
	close(open("/inside", O_RDONLY));
	close(open("inside", O_RDONLY));
	rename("/inside", "renamed");
	return 0;
}
