/* SPDX-License-Identifier: MIT */
/* Threads that pass numbers through a queue of the C++ library, behind one mutex. */
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <shared_mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::shared_mutex table;
static std::condition_variable has_some, has_room;
static std::queue<int> queue;
static long sum, reads;

static void produce(int from)
{
	for (int i = 0; i < 2000; i++) {
		std::unique_lock<std::mutex> lock(mutex);

		has_room.wait(lock, [] { return queue.size() < 8; });
		queue.push(from + i);
		has_some.notify_one();
	}
}

static void consume()
{
	for (int i = 0; i < 2000; i++) {
		std::unique_lock<std::mutex> lock(mutex);

		has_some.wait(lock, [] { return !queue.empty(); });
		sum += queue.front();
		queue.pop();
		has_room.notify_one();
	}
}

static void look_up(int nr)
{
	for (int i = 0; i < 2000; i++) {
		if (i % 10 == nr) {
			std::unique_lock<std::shared_mutex> lock(table);
			reads++;
		} else {
			std::shared_lock<std::shared_mutex> lock(table);
		}
	}
}

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++) {
		threads.emplace_back(produce, i * 10000);
		threads.emplace_back(consume);
		threads.emplace_back(look_up, i);
	}
	for (std::thread &thread : threads)
		thread.join();
	std::printf("%ld %ld\n", sum, reads);
	return 0;
}
