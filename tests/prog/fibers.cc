// SPDX-License-Identifier: MIT
// Fibers of boost.context, switched by its own assembler: generators within each other, an
// exception inside one, one that is dropped half-way (boost unwinds it), one resumed by another
// thread.
#include <boost/context/fiber.hpp>
#include <cstdio>
#include <stdexcept>
#include <thread>

namespace ctx = boost::context;
#define NOINLINE __attribute__((noinline))

NOINLINE int leaf(int n)
{
	asm volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE void thrower(int n)
{
	leaf(n);
	throw std::runtime_error("inside");
}

NOINLINE ctx::fiber yield(ctx::fiber &&to)
{
	leaf(0);
	ctx::fiber back = std::move(to).resume();
	leaf(1);
	return back;
}

NOINLINE ctx::fiber generator(int turns, int &value)
{
	return ctx::fiber([turns, &value](ctx::fiber &&caller) {
		for (int i = 0; i < turns; i++) {
			value = leaf(i);
			caller = yield(std::move(caller));
			try {
				thrower(i);
			} catch (const std::exception &) {
				value++;
			}
		}
		return std::move(caller);
	});
}

NOINLINE int drive(ctx::fiber &fiber, int &value, int times)
{
	int sum = 0;

	for (int i = 0; i < times && fiber; i++) {
		fiber = std::move(fiber).resume();
		sum += value;
	}
	return sum;
}

int main()
{
	int a = 0, b = 0, c = 0, sum = 0;
	ctx::fiber first = generator(100, a), second = generator(100, b);

	for (int i = 0; i < 20; i++)
		sum += drive(first, a, 3) + drive(second, b, 4);
	std::printf("%d\n", sum);
	{
		ctx::fiber dropped = generator(5, c);
		drive(dropped, c, 2);
	}
	ctx::fiber wandering = generator(10, c);
	drive(wandering, c, 2);
	std::thread other([&] { sum += drive(wandering, c, 3); });
	other.join();
	sum += drive(wandering, c, 20);
	std::printf("%d\n", sum);
	return 0;
}
