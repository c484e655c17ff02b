/* SPDX-License-Identifier: MIT */
/* c.so: gcc -g -O1 -shared -nostdlib -fPIC -Wl,--build-id=none -o c.so c.c; clang.so: the same with
 * clang -gdwarf-5 */
enum color { RED, GREEN = 5, BLUE = -9 };
union either {
	int i;
	float f;
};
struct inner {
	short a;
	double d;
};
struct node {
	int x;
	const char *name;
	struct node *next;
	enum color c;
	unsigned low : 3, high : 7;
	struct inner in[2];
	char buf[8];
	union either e;
	int (*f)(void);
};
int take(struct node *n, int k, struct inner in, enum color c, long double l, float f,
	 const char *s, _Bool b)
{
	return n->x + k + in.a + c + (int)l + (int)f + s[0] + b;
}
struct node *give(struct node *n, union either e)
{
	return e.i ? n->next : n;
}
struct node by_value(struct node n, struct inner *const *p)
{
	return n;
}
