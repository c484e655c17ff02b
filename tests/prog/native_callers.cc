/* SPDX-License-Identifier: MIT */
/* A method that is called back through a library which is not traced (-DLIBRARY). */
namespace plain {
int twice(int (*call)(void *, int), void *arg);
}

#ifdef LIBRARY
namespace plain {
__attribute__((noinline)) static int once(int (*call)(void *, int), void *arg, int n)
{
	int result = call(arg, n);

	asm volatile("" : "+r"(result));
	return result;
}

int twice(int (*call)(void *, int), void *arg)
{
	int result = once(call, arg, 1);

	return result + once(call, arg, 2);
}
}
#else
namespace shop {
class Basket {
	int sum = 0;
public:
	__attribute__((noinline)) int add(int n)
	{
		sum += n;
		asm volatile("" : : "r"(this) : "memory");
		return sum;
	}
};
}

static int back(void *arg, int n)
{
	int result = static_cast<shop::Basket *>(arg)->add(n);

	asm volatile("" : "+r"(result));
	return result;
}

int main()
{
	shop::Basket basket;

	return plain::twice(back, &basket) == 4 ? 0 : 1;
}
#endif
