/* SPDX-License-Identifier: MIT */
/* Executes a program, whose memory can never become executable. */
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	return prctl(65, 1, 0, 0, 0) < 0 ? 77 : execv(argv[1], argv + 1);
}
