/* SPDX-License-Identifier: MIT */
/* What the recording filters in this directory is of: see README. */
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))	/* in line, a function is not traced */

static volatile int sink;

KEEP void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}

KEEP void c(int n)
{
	leaf(n);
}

KEEP void b(int n)
{
	c(n);
	leaf(10);
}

KEEP void a(int n)
{
	b(n);
	leaf(2);
}

KEEP void rec(int n)
{
	leaf(n);
	if (n > 0)
		rec(n - 1);
	c(n);
}

KEEP void other(void)
{
	a(5);
	b(7);
}

KEEP void slow(void)
{
	usleep(2000);
	leaf(100);
}

KEEP void on(void)
{
	leaf(1);
}

KEEP void off(void)
{
	leaf(1);
}

KEEP int get(int n, const char *path)
{
	leaf(n);
	return n - 2;
}

int main(void)
{
	static const char *const paths[] = { "GET /a", "PUT /b", "GET /c" };

	a(3);
	rec(3);
	off();
	other();
	on();
	slow();
	for (int i = 0; i < 5; i++)
		get(i, paths[i % 3]);
	b(1);
	return 0;
}
