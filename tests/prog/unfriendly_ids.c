/* SPDX-License-Identifier: MIT */
/* Its effective user, and a file that it reads. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	uid_t real, effective, saved;

	getresuid(&real, &effective, &saved);
	printf("%d\n", (int)effective);
	close(open("/etc/hostname", O_RDONLY));
	return 0;
}
