/* SPDX-License-Identifier: MIT */
/* Containers of the standard library as arguments. */
#include <array>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
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

KEEP void more(std::vector<long> v, const std::vector<bool> *b, std::vector<int *> p)
{
	SEEN(v);
	SEEN(b);
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

struct alignas(64) wide {
	int n;
};
struct named {
	int n;
	std::string name;
	std::string_view view;
};
KEEP void nodes(const std::map<std::string, int> &m, std::multimap<int, std::string> &mm)
{
	SEEN(m);
	SEEN(mm);
}

KEEP void others(const std::set<std::string> &s, std::list<named> l, const std::unordered_set<int> &h)
{
	SEEN(s);
	SEEN(l);
	SEEN(h);
}

KEEP void aligned(const std::unordered_map<char, long double> &d, const std::list<wide> &w,
		  std::set<short> n, const std::list<std::string> *none, std::vector<named> v)
{
	SEEN(d);
	SEEN(w);
	SEEN(n);
	SEEN(none);
	SEEN(v);
}

/* Objects that are none: what they lead to is not there, or leads in a circle. */
KEEP void wild(std::map<int, int> *m, std::list<int> *l, std::set<int> *s,
	       std::unordered_set<int> *u)
{
	SEEN(m);
	SEEN(l);
	SEEN(s);
	SEEN(u);
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

struct large {
	char bytes[600];
};
KEEP void sequences(const std::deque<int> &d, std::deque<std::string> s, const std::deque<char> *c,
		    const std::deque<large> &l, const std::deque<short> &none)
{
	SEEN(d);
	SEEN(s);
	SEEN(c);
	SEEN(l);
	SEEN(none);
}

KEEP void bits(const std::vector<bool> &b, std::vector<bool> many, const std::vector<bool> &none)
{
	SEEN(b);
	SEEN(many);
	SEEN(none);
}

KEEP void forward(const std::forward_list<int> &f, std::forward_list<std::string> s,
		  const std::forward_list<long> &many, const std::forward_list<int> &none)
{
	SEEN(f);
	SEEN(s);
	SEEN(many);
	SEEN(none);
}

KEEP void adapted(const std::stack<int> &s, std::queue<short, std::list<short>> q,
		  const std::priority_queue<int> &p)
{
	SEEN(s);
	SEEN(q);
	SEEN(p);
}

/* More than is kept of what a pointer leads to: what the containers behind it lead to is not there. */
struct large_object {
	int n;
	char space[400];
	std::vector<int> vector;
	std::map<int, int> map;
	std::deque<int> deque;
	std::vector<bool> bits;
	std::string name;
	int *last;
};
KEEP void far(const large_object &o, const std::list<int> &l)
{
	SEEN(o);
	SEEN(l);
}

KEEP void wild_sequences(const std::deque<int> *d, const std::deque<int> *changing,
			 const std::vector<bool> *b, const std::forward_list<int> *f,
			 const std::forward_list<int> *ring)
{
	SEEN(d);
	SEEN(changing);
	SEEN(b);
	SEEN(f);
	SEEN(ring);
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
	nodes({ { "one", 1 }, { "a key that is not a small text", 2 } },
	      *new std::multimap<int, std::string>{ { 2, "b" }, { 1, "a" }, { 2, "c" } });
	others({ "z", "", "middle" }, { { 1, "name", "view" } }, { 7 });
	std::set<short> many;
	for (int i = 0; i < 100; i++)
		many.insert((short)(i * 37 % 100));
	aligned({ { 'c', 2.5L } }, { wide{ 3 }, wide{ 4 } }, many, nullptr,
		{ { 1, "x", "y" }, { 2, "a name that is longer", "" } });
	/* Heads in the order of libstdc++: what is compared, color, parent, left, right, how many. */
	static long tree[6], chain[3], table[7], node[8], ring[3];
	tree[3] = 64;
	tree[5] = 3;
	chain[0] = (long)ring;
	chain[2] = 1000000000;
	ring[0] = (long)ring;
	ring[2] = 7;
	node[4] = 7L << 32;
	node[1] = node[2] = node[3] = (long)node;
	table[2] = -1;
	table[3] = 5;
	wild((std::map<int, int> *)tree, (std::list<int> *)chain, (std::set<int> *)tree,
	     (std::unordered_set<int> *)table);
	tree[3] = (long)node;
	tree[5] = -1;
	wild((std::map<int, int> *)tree, (std::list<int> *)16, (std::set<int> *)-1, nullptr);
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
	/* 128 to a piece: the first of them are gone, so that the second piece has most of them. */
	std::deque<int> d;
	for (int i = 0; i < 300; i++)
		d.push_back(i);
	d.erase(d.begin(), d.begin() + 125);
	std::deque<char> c(3, 'c');
	sequences(d, { "front", "a text that is not small" }, &c, std::deque<large>(3), {});
	std::vector<bool> flags(70);
	flags[2] = flags[9] = true;
	bits({ true, false, true }, flags, {});
	forward({ 1, 2, 3 }, { "x", "yy" }, std::forward_list<long>(17, 4), {});
	far({ 1, "abc", { 2 }, { { 3, 4 } }, { 5 }, { true }, "six", nullptr }, { 7 });
	std::priority_queue<int> queue;
	queue.push(1);
	queue.push(3);
	adapted(std::stack<int>({ 1, 2 }), std::queue<short, std::list<short>>({ 7 }), queue);
	/* A map, how many, and two places: element, piece, its end, in the map. */
	static long wild_deque[10] = { 0, 0, 16, 16, 32, 24, 0, 0, 0, 24 }, no_deque[10] = { 0, 0, 1, 2, 3, 4, 6, 6, 7, 8 };
	static long bad_bits[5] = { 64, 0, 16, 0, 0 }, link[2] = { 24, 7L }, circle[2] = { (long)circle, 3 };
	static long wild_head[1] = { (long)link }, circle_head[1] = { (long)circle };
	wild_deque[6] = 28;
	wild_deque[7] = 16;
	wild_sequences((std::deque<int> *)wild_deque, (std::deque<int> *)no_deque,
		       (std::vector<bool> *)bad_bits, (std::forward_list<int> *)wild_head,
		       (std::forward_list<int> *)circle_head);
	P p{ 4, 0.5 };
	given({ "named", &p }, true);
	given({ nullptr, (P *)16 }, false);
}
