/* SPDX-License-Identifier: MIT */
/* Classes as arguments and return values. */
#include <string>
#include <string_view>

struct base {
	int kind;
};

class thing : public base
{
      public:
	thing(const char *n, std::string_view v) : name(n), view(v)
	{
		kind = 3;
	}
	std::string name;
	std::string_view view;
	const int &number = kind;
};

__attribute__((noinline)) size_t use(const thing &t, thing *p)
{
	__asm__ volatile("" : : "r"(&t), "r"(p) : "memory");
	return t.name.size() + (p != nullptr);
}

int main()
{
	thing t("named on the heap, as it is long", std::string_view("viewed", 4));
	thing s("small", {});
	use(t, &s);
}
