/* SPDX-License-Identifier: MIT */
/* A library of C++ that allocates, and throws. */
#include <string>
#include <vector>

extern "C" int run(int n)
{
	std::vector<std::string> words;
	for (int i = 0; i < n; i++)
		words.push_back(std::string(100 + i, 'x'));
	try {
		words.at(n);
	} catch (const std::exception &) {
		return (int)words.size();
	}
	return -1;
}
