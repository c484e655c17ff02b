/* SPDX-License-Identifier: MIT */
/*
 * Functions of every kind of argument and return value.  Each call is printed as replay shows it
 * when the program is recorded with -a: that must be what the calls were.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
#define CALLED __asm__ volatile("") /* no call is left out */

enum color { RED, GREEN = 5, BLUE = -9 };
struct point { int x, y; };
struct big { long a[5]; };
struct mixed { long a; double d; };
union either { int i; float f; };

KEEP int sizes(signed char a, short b, int c, long d, unsigned char e, unsigned short f, unsigned g,
	       unsigned long h)
{
	CALLED;
	return a + b + c + (int)d + e + f + (int)g + (int)h;
}

KEEP char characters(char a, char b, const char *s)
{
	CALLED;
	return a != b ? s[0] : '\n';
}

KEEP double floats(float a, double b, long double c, int d)
{
	CALLED;
	return a + b + (double)c + d;
}

KEEP float narrow(float a)
{
	CALLED;
	return a / 2;
}

KEEP long double wide(long double a, int b)
{
	CALLED;
	return a * b;
}

KEEP double many(double a, double b, double c, double d, double e, double f, double g, double h,
		 double i, int j, int k, int l, int m, int n, int o, int p, long q)
{
	CALLED;
	return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + (double)q;
}

KEEP enum color colors(enum color a, bool b)
{
	CALLED;
	return b ? a : BLUE;
}

KEEP const char *strings(const char *a, char *b, void *c)
{
	CALLED;
	return a != NULL && b != NULL && c != NULL ? a : b;
}

KEEP struct point structs(struct point p, struct big b, struct mixed m, union either u)
{
	CALLED;
	p.x += (int)(b.a[4] + m.a) + u.i;
	return p;
}

KEEP struct big in_memory(int i)
{
	struct big b = { { i, i + 1 } };

	CALLED;
	return b;
}

KEEP void *pointers(int *a, int (*f)(const char *))
{
	CALLED;
	return f != NULL ? a : NULL;
}

KEEP int recursive(int n)
{
	CALLED;
	return n <= 1 ? 1 : n * recursive(n - 1);
}

static void print_strings(const char *a, char *b, void *c)
{
	const char *ret = strings(a, b, c);

	printf("strings(\"%s\", \"%s\", %p) = \"%s\"\n", a != NULL ? a : "NULL",
	       b != NULL ? b : "NULL", c, ret != NULL ? ret : "NULL");
}

static void print_numbers(int argc)
{
	printf("sizes(-1, -2, -3, -4, 255, 65535, 4294967295, 18446744073709551615) = %d\n",
	       sizes(-1, -2, -3, -4, 255, 65535, 4294967295u, 18446744073709551615ul));
	printf("characters('a', '\\n', \"text\") = '%c'\n", characters('a', '\n', "text"));
	printf("floats(1.500000, -2.250000, 1234567.125000, %d) = %f\n", argc,
	       floats(1.5f, -2.25, 1234567.125L, argc));
	printf("narrow(-0.500000) = %f\n", (double)narrow(-0.5f));
	printf("wide(1000.250000, 3) = %Lf\n", wide(1000.25L, 3));
	printf("many(1.000000, 2.000000, 3.000000, 4.000000, 5.000000, 6.000000, 7.000000, "
	       "8.000000, 9.500000, 10, 11, 12, 13, 14, 15, 16, -17) = %f\n",
	       many(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 10, 11, 12, 13, 14, 15, 16, -17));
	printf("recursive(3) {\n");
	printf("recursive(2) {\n");
	printf("recursive(1) = %d\n", recursive(3) / 6);
	printf("} = 2 /* recursive */\n");
	printf("} = 6 /* recursive */\n");
}

int main(int argc, char **argv)
{
	struct point p = { 1, 2 };
	struct big b = { { 1, 2, 3, 4, 5 } };
	struct mixed m = { 7, 3.5 };
	union either u = { 3 };
	char *heap = strdup("on the heap");
	char stack[] = "on the stack";
	char *longer = malloc(300);

	memset(longer, 'z', 299);
	longer[299] = '\0';
	print_numbers(argc);
	colors(GREEN, true);
	printf("colors(GREEN, true) = GREEN\n");
	colors(RED, false);
	printf("colors(RED, false) = BLUE\n");
	print_strings("constant", heap, argv);
	print_strings(stack, "", argv);
	print_strings(NULL, stack, argv);
	print_strings(NULL, NULL, argv);
	strings(longer, heap, argv);
	printf("strings(\"%.95s...\", \"%s\", %p) = \"%.95s...\"\n", longer, heap, (void *)argv,
	       longer);
	structs(p, b, m, u);
	printf("structs(point{...}, big{...}, mixed{...}, either{...}) = point{...}\n");
	in_memory(42);
	printf("in_memory(42) = big{...}\n");
	pointers(&argc, atoi);
	printf("pointers(%p, &atoi) = %p\n", (void *)&argc, (void *)&argc);
	free(heap);
	free(longer);
	return 0;
}
