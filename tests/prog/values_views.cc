/* SPDX-License-Identifier: MIT */
/* Views of strings as arguments. */
#include <string>
#include <string_view>

__attribute__((noinline)) size_t view(int n, std::string_view v, const std::string_view &r,
				      double d)
{
	__asm__ volatile("" : : "r"(&r) : "memory");
	return v.size() + r.size() + n + (size_t)d;
}

__attribute__((noinline)) size_t late(long a, long b, long c, long d, long e, std::string_view v,
				      int n)
{
	__asm__ volatile("");
	return v.size() + a + b + c + d + e + n;
}

__attribute__((noinline)) std::string_view cut(std::string_view v, size_t n)
{
	__asm__ volatile("");
	return v.substr(0, n);
}

int main()
{
	std::string s = "a string on the heap, as it is long";
	std::string_view r = "constant";
	size_t n = view(1, std::string_view(s).substr(2, 6), r, 2.5) + late(1, 2, 3, 4, 5, r, 6);
	n += cut(s, 11).size() + cut({}, 0).size() + cut(std::string_view("a\nb\0c", 5), 5).size();
	n += cut(std::string_view((char *)16, 3), 0).size();
	return n == 0;
}
