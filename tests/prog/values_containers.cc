/* SPDX-License-Identifier: MIT */
/* Containers of the standard library as arguments. */
#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

struct P {
	int x;
	double y;
};

struct by_value {
	const char *name;
	P *p;
};
#define KEEP    __attribute__((noinline))
#define SEEN(p) __asm__ volatile("" : : "r"(&p) : "memory")
KEEP void vectors(const std::vector<int> &v, std::vector<std::string> &s, std::vector<P> p)
{
	SEEN(v);
	SEEN(s);
	SEEN(p);
}

KEEP void more(std::vector<long> v, const std::vector<bool> *, std::vector<int *> p)
{
	SEEN(v);
	SEEN(p);
}

KEEP void sizes(const std::map<int, int> &m, std::unordered_map<std::string, int> &u,
		std::set<int> &s, std::list<int> &l)
{
	SEEN(m);
	SEEN(u);
	SEEN(s);
	SEEN(l);
}

KEEP void optionals(const std::optional<int> &o, std::optional<P> e, std::optional<int> n,
		    const std::optional<std::string> &s)
{
	SEEN(o);
	SEEN(e);
	SEEN(n);
	SEEN(s);
}

KEEP void pointers(const std::unique_ptr<P> &u, std::shared_ptr<P> s, std::unique_ptr<int> n,
		   std::array<int, 3> a, std::pair<int, char> b)
{
	SEEN(u);
	SEEN(s);
	SEEN(n);
	SEEN(a);
	SEEN(b);
}

using Any = std::variant<int, double, std::string, P, std::monostate>;
struct bomb {
	bomb() = default;
	bomb(const bomb &) { throw 1; }
};
KEEP void variants(const Any &a, const Any &b, const Any &c, const Any &d)
{
	SEEN(a);
	SEEN(b);
	SEEN(c);
	SEEN(d);
}

KEEP void tuples(const std::tuple<int, char, double> &t, std::tuple<long, std::string, P> u,
		 const std::tuple<std::tuple<short, bool>, int *> &n,
		 const std::variant<int, bomb> &broken, const std::tuple<> &none)
{
	SEEN(t);
	SEEN(u);
	SEEN(n);
	SEEN(broken);
	SEEN(none);
}

KEEP std::vector<int> given(by_value v, bool yes)
{
	SEEN(v);
	return std::vector<int>(yes ? 3 : 0, 7);
}

int main()
{
	std::vector<int> v{ 1, 2, 3 };
	std::vector<std::string> s{ "a", "longer than the small ones" };
	vectors(v, s, { { 1, 2.5 } });
	more(std::vector<long>(17, 5), nullptr, { &v[0] });
	std::map<int, int> m{ { 1, 2 } };
	std::unordered_map<std::string, int> u{ { "x", 1 }, { "y", 2 } };
	std::set<int> set{ 1, 2, 3 };
	std::list<int> l;
	sizes(m, u, set, l);
	optionals(5, P{ 1, 2.0 }, {}, "text");
	pointers(std::make_unique<P>(P{ 7, 8.5 }), std::make_shared<P>(P{ 1, 1.5 }), nullptr,
		 { 1, 2, 3 }, { 1, 'c' });
	variants(3, 2.5, "text", P{ 1, 0.5 });
	variants(std::monostate(), -1, "longer than the small ones", P{ 2, 0.25 });
	std::variant<int, bomb> broken = 1;
	try {
		const bomb one;
		broken = one;
	} catch (int) {
	}
	tuples({ 1, 'x', 2.5 }, { 7, "in", { 3, 1.5 } }, { { 4, true }, &v[1] }, broken, {});
	P p{ 4, 0.5 };
	given({ "named", &p }, true);
	given({ nullptr, (P *)16 }, false);
}
