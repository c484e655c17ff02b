/* SPDX-License-Identifier: MIT */
/* What arguments and return values lead to, for paths. */
#include <vector>

#define KEEP    __attribute__((noinline))
#define SEEN(p) __asm__ volatile("" : : "r"(p) : "memory")

enum color { RED, BLUE = 4 };

struct inner {
	int x;
	unsigned low : 2, bits : 3;
	const char *name;
	char tag[8];
};

struct node {
	int n;
	struct inner in;
	const struct node *next;
	std::vector<int> items;
	enum color c;
};

KEEP int visit(const struct node *p)
{
	SEEN(p);
	return p->n;
}

KEEP int sum(const std::vector<int> &v)
{
	int sum = 0;

	SEEN(&v);
	for (int i : v)
		sum += i;
	return sum;
}

KEEP const struct node *next(const struct node *p)
{
	SEEN(p);
	return p->next;
}

int main()
{
	struct node b = { 2, { 5, 1, 1, "second", "tb" }, nullptr, { 10, 20, 30 }, BLUE };
	struct node a = { 1, { 7, 2, 3, "first", "ta" }, &b, {}, RED };
	int all = 0;

	SEEN(&a);
	for (const struct node *p = &a; p != nullptr; p = next(p))
		all += visit(p) + sum(p->items);
	return all != 63;
}
