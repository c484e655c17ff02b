/* SPDX-License-Identifier: MIT */
/* Says of its own calls what it passes, between hundreds of calls of Boost's templates. */
#include <boost/algorithm/string.hpp>
#include <boost/circular_buffer.hpp>
#include <boost/lexical_cast.hpp>
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

KEEP std::string joined(const std::string &text, const char *with, int times)
{
	std::vector<std::string> words;

	boost::algorithm::split(words, text, boost::is_any_of(" "));
	std::string result = boost::algorithm::join(words, with);
	for (int i = 1; i < times; i++)
		result += boost::to_upper_copy(result).substr(0, 3);
	printf("joined(\"%s\"s, \"%s\", %d) = \"%s\"s\n", text.c_str(), with, times, result.c_str());
	return result;
}

KEEP int number(const std::string &text, int otherwise)
{
	int result = otherwise;

	try {
		result = boost::lexical_cast<int>(boost::trim_copy(text));
	} catch (const boost::bad_lexical_cast &) {
	}
	printf("number(\"%s\"s, %d) = %d\n", text.c_str(), otherwise, result);
	return result;
}

KEEP long read(std::string json, bool is_good)
{
	boost::property_tree::ptree tree;
	std::istringstream in(json);
	long result = -1;

	try {
		boost::property_tree::read_json(in, tree);
		result = tree.get<long>("a.b") + (long)tree.get_child("a").size();
	} catch (const boost::property_tree::json_parser_error &) {
	}
	printf("read(\"%s\"s, %s) = %ld\n", json.c_str(),
	       is_good ? "true" : "false", result);
	return result;
}

KEEP double mean(int nr, double step)
{
	boost::circular_buffer<double> last(4);
	double sum = 0;

	for (int i = 0; i < nr; i++)
		last.push_back(i * step);
	for (double one : last)
		sum += one;
	sum /= (double)last.size();
	printf("mean(%d, %f) = %f\n", nr, step, sum);
	return sum;
}

int main()
{
	for (int i = 0; i < 3; i++) {
		joined("some words of a text", i % 2 == 0 ? "+" : ", ", i);
		number(" 12" + std::string(i, '3') + " ", i);
		number("none", -i);
		read("{\"a\": {\"b\": 4" + std::string(i, '0') + "}}", true);
		read("{\"a\": ", false);
		mean(5 + i, 0.5);
	}
}
