/* SPDX-License-Identifier: MIT */
/* std::string as arguments and return values. */
#include <string>
#include <cstdio>

struct object {
	std::string name;
	object(const object &);
	explicit object(const char *s) : name(s)
	{
	}
	std::string called(const std::string &s, int n) const;
};

object::object(const object &o) : name(o.name)
{
}

__attribute__((noinline)) std::string object::called(const std::string &s, int n) const
{
	return name + s;
}

__attribute__((noinline)) size_t by_value(std::string s, object o, int n)
{
	return s.size() + o.name.size() + n;
}

int main()
{
	object o("a rather long name for an object");
	std::string s = o.called("short", 3);
	return by_value(s, o, 4) > 0 && s.size() > 5 ? 0 : 1;
}
