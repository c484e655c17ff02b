/* SPDX-License-Identifier: MIT */
/* Types that have the names, but not the members, of those of values_shapes_user.c. */
#define KEEP    __attribute__((noinline))
#define SEEN(p) __asm__ volatile("" : : "r"(p) : "memory")

enum color { BLUE = 1, GREEN = 7 };

struct node {
	const char *name;
	enum color c;
	int (*act)(int);
};

KEEP int lib_color(enum color c)
{
	SEEN(c);
	return c == GREEN;
}

static KEEP int lib_act(int n)
{
	SEEN(n);
	return n + 1;
}

KEEP int lib_take(const struct node *p)
{
	SEEN(p);
	return p->act(p->c);
}

int lib_run(void)
{
	struct node n = { "of the library", GREEN, lib_act };

	SEEN(&n);
	return lib_color(n.c) + lib_take(&n);
}
