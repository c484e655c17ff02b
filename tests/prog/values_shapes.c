/* SPDX-License-Identifier: MIT */
/* Structs, arrays and pointers as arguments and return values. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum color { RED, GREEN = 5 };
struct inner {
	int a;
	double d;
};

struct node {
	int x;
	const char *name;
	struct node *next;
	enum color c;
	bool ok;
	unsigned low : 3, high : 7;
	int neg : 4;
	struct inner in;
	int arr[3];
	char buf[8];
	union {
		int u;
		float f;
	};
	int (*cmp)(const char *);
};

struct pair {
	short x, y;
};

struct large {
	long v[100];
};
#define KEEP    __attribute__((noinline))
#define SEEN(p) __asm__ volatile("" : : "r"(p) : "memory")
KEEP int take(struct node *n, int k, const int *p, struct pair pair)
{
	SEEN(n);
	SEEN(p);
	return k + pair.x;
}

KEEP struct pair *give(struct pair *p)
{
	SEEN(p);
	return p;
}

KEEP void huge(struct large *l, char **v, void *p, int last)
{
	SEEN(l);
	SEEN(v);
	SEEN(p);
	SEEN(last);
}

int main(void)
{
	struct node *a = calloc(1, sizeof(*a));
	struct node b = { 2,  "second",   NULL,        RED,       false, 1,   100,
			  -3, { 1, 2.5 }, { 1, 2, 3 }, "abcdefg", { 7 }, atoi };
	struct pair pair = { 5, -6 };
	struct large large = { { 1, 2 } };
	char *words[] = { "word", NULL };
	int v = 42;

	*a = (struct node){ -1,          "a text that is longer than there is room",
			    &b,          GREEN,
			    true,        5,
			    77,          7,
			    { 0, -0.5 }, { 4, 5, 6 },
			    "",          { 0 },
			    NULL };
	take(a, 1, &v, pair);
	take(NULL, 2, NULL, pair);
	take((struct node *)16, 3, (int *)-1l, pair);
	give(&pair);
	give(NULL);
	huge(&large, words, &v, 9);
	return 0;
}
