/* SPDX-License-Identifier: MIT */
/* Calls of the 32-bit ABI, by hand and without libc; it exits with 7. */
static int call(int nr, long a, long b, long c, long d)
{
	int ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d)
			 : "memory");
	return ret;
}

void _start(void)
{
	int fds[2], fd = call(5, (long)"/etc/passwd", 0, 0, 0);

	call(6, fd, 0, 0, 0);
	call(42, (long)fds, 0, 0, 0);
	call(63, fds[0], 20, 0, 0);
	call(221, fds[1], 1030, 30, 0);
	if (call(2, 0, 0, 0, 0) == 0)
		call(1, 3, 0, 0, 0);
	call(252, 7, 0, 0, 0);
}
