/* SPDX-License-Identifier: MIT */
/* Functions that make system calls. */
#include <fcntl.h>
#include <unistd.h>

__attribute__((noinline)) int reader(const char *path) { return close(open(path, O_RDONLY)); }
int main(void) { reader("/etc/passwd"); reader("/no/such"); return 4; }
