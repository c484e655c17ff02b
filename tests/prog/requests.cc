// SPDX-License-Identifier: MIT
// Requests for memory in every way there is; not traced by itself, but by tests/e2e/memory.py.  The sizes
// tell them apart.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct alignas(64) Wide { char bytes[1024]; };

static void *volatile kept;		// no request is optimised away
static volatile size_t huge = SIZE_MAX / 4;

template <class T> static T *keep(T *block)
{
	kept = block;
	return static_cast<T *>(kept);
}

extern "C" __attribute__((noinline)) void each(void)
{
	void *block = nullptr, *more;

	free(keep(malloc(101)));
	free(keep(calloc(2, 51)));
	more = keep(realloc(keep(malloc(103)), 20004));
	free(keep(reallocarray(more, 2, 15000)));
	free(nullptr);
	free(keep(memalign(64, 106)));
	free(keep(aligned_alloc(64, 107)));
	if (posix_memalign(&block, 64, 108) == 0)
		free(block);
	free(keep(valloc(109)));
	delete keep(new char);
	delete[] keep(new char[112]);
	delete keep(new Wide);
	delete[] keep(new Wide[2]);
	::operator delete(keep(::operator new(113, std::nothrow)), std::nothrow);
	::operator delete[](keep(::operator new[](114, std::nothrow)), std::nothrow);
	kept = malloc(huge);
}

extern "C" __attribute__((noinline)) void pages(void)
{
	void *map = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	map = mremap(map, 8192, 40960, MREMAP_MAYMOVE);
	munmap(map, 40960);
	sbrk(4096);
	sbrk(-4096);
	brk(static_cast<char *>(sbrk(0)) + 8192);
	kept = map;
}

// What throws leaves the request: the next one is an outermost one again, wherever it is made.
extern "C" __attribute__((noinline)) void deeper(int levels)
{
	char room[512];

	memset(room, levels, sizeof(room));
	kept = room;
	if (levels > 0)
		deeper(levels - 1);
	else
		free(keep(malloc(201)));
	kept = room;
}

static void handler(void)
{
	throw std::runtime_error("no memory");
}

extern "C" __attribute__((noinline)) void thrown(void)
{
	int nr = 0;

	for (int i = 0; i < 3; i++) {
		try {
			keep(new char[huge]);
		} catch (const std::bad_alloc &) {
			nr++;
		}
		deeper(20);
	}
	std::set_new_handler(handler);
	try {
		keep(new char[huge]);
	} catch (const std::runtime_error &) {
		nr++;
	}
	std::set_new_handler(nullptr);
	deeper(20);
	printf("%d thrown\n", nr);
}

static void *blocks[8][500];

static void *give(void *arg)
{
	for (auto &block : *static_cast<void *(*)[500]>(arg))
		block = malloc(301);
	return nullptr;
}

static void *take(void *arg)
{
	for (auto &block : *static_cast<void *(*)[500]>(arg))
		free(block);
	return nullptr;
}

static void all(void *(*work)(void *))
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], nullptr, work, &blocks[i]);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], nullptr);
}

// In a constructor, at a thread's end, in handlers of fork, in a child, and in libc.
static __attribute__((constructor)) void early(void)
{
	free(keep(malloc(401)));
}

static void at_thread_end(void *block)
{
	free(block);
	free(keep(malloc(402)));
}

static void *end_late(void *)
{
	static pthread_key_t key;

	pthread_key_create(&key, at_thread_end);
	pthread_setspecific(key, malloc(403));
	return nullptr;
}

static void at_fork(void)
{
	free(keep(malloc(404)));
}

extern "C" __attribute__((noinline)) void places(void)
{
	pthread_t thread;
	int status = 0;

	pthread_create(&thread, nullptr, end_late, nullptr);
	pthread_join(thread, nullptr);
	pthread_atfork(at_fork, at_fork, at_fork);
	fflush(stdout);
	if (fork() == 0) {
		free(keep(malloc(405)));
		_exit(7);
	}
	wait(&status);
	free(keep(strdup("406")));
	printf("child %d\n", WEXITSTATUS(status));
}

// Never freed: 3 blocks of 501 bytes, and what is kept of 502 of which half is freed.
extern "C" __attribute__((noinline)) void leak(void)
{
	for (int i = 0; i < 3; i++)
		keep(malloc(501));
	for (int i = 0; i < 10; i++) {
		void *block = keep(malloc(502));

		if (i % 2 == 0)
			free(block);
	}
	keep(realloc(keep(malloc(503)), 504));
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "each") == 0)
			each();
		if (strcmp(argv[i], "pages") == 0)
			pages();
		if (strcmp(argv[i], "thrown") == 0)
			thrown();
		if (strcmp(argv[i], "threads") == 0) {
			all(give);
			all(take);
		}
		if (strcmp(argv[i], "places") == 0)
			places();
		if (strcmp(argv[i], "leak") == 0)
			leak();
	}
	printf("LD_PRELOAD %s\n", getenv("LD_PRELOAD") != nullptr ? getenv("LD_PRELOAD") : "is not set");
	return 0;
}
