/* SPDX-License-Identifier: MIT */
/* A program and a library (values_shapes_lib.c) whose types share names. */
#define KEEP    __attribute__((noinline))
#define SEEN(p) __asm__ volatile("" : : "r"(p) : "memory")

enum color { RED = 1, GREEN = 5 };

struct node {
	int n;
	enum color c;
	const struct node *next;
	int (*act)(int);
};

int lib_run(void);

KEEP int color(enum color c)
{
	SEEN(c);
	return c == RED;
}

static KEEP int act(int n)
{
	SEEN(n);
	return n * 2;
}

KEEP const struct node *take(const struct node *p)
{
	SEEN(p);
	p->act(p->n);
	return p->next;
}

int main(void)
{
	struct node b = { 2, GREEN, 0, act }, a = { 1, RED, &b, act };

	SEEN(&a);
	for (const struct node *p = &a; p != 0; p = take(p))
		color(p->c);
	return lib_run() != 9;
}
