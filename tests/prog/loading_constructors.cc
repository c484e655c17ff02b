/* SPDX-License-Identifier: MIT */
/* A library of C++ with constructors and destructors of its own. */
#include <string>
#include <vector>

struct Item {
	std::string name;
	Item(const char *text);
	~Item();
};

Item::Item(const char *text) : name(text)
{
	name += "!";
}

Item::~Item()
{
	name.clear();
}

static Item first("first"), second("second");
static std::vector<Item *> items = { &first, &second };

extern "C" int run(int n)
{
	return n + (int)items.size();
}
