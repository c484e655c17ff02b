/* SPDX-License-Identifier: MIT */
/* Stacks whose return addresses are stubs, in a process whose runtime may say anything. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/attach/callers.h"
#include "utils/attach/place.h"
#include "utils/attach/remote.h"
#include "utils/attach/stubs.h"
#include "utils/proto/shadow.h"

/*
 * As those of the runtime are, with information that says of their callers nothing: that is where
 * libunwind ends, whatever it knows.
 */
__asm__(".pushsection .text\n"
	"	.p2align 15\n"
	"	.cfi_startproc\n"
	"	.cfi_return_column 3\n"
	"	.cfi_undefined 3\n"
	"fake_stubs:\n"
	"	.quad fake_slots - fake_stubs\n"
	"	.fill 8 * 4095, 1, 0\n"
	"	.cfi_endproc\n"
	"	.popsection\n");
extern const char fake_stubs[];

#define FRAMES 1024u
#define STUB 7
#define NONE UINT64_C(0x123456789000)	/* where nothing is mapped */
#define LOOKS 4096u
#define PROGRAM UINT64_C(0x111000)	/* where calls return to */
#define FRAME_AT(N) ((uintptr_t)frames + (N) * sizeof(*frames))

uint64_t fake_slots[FTR_STUB_NR];
static struct ftr_shadow_frame before_frames[1 + FRAMES], *const frames = before_frames + 1;
static struct ftr_shadow_owner owner;
static struct ftr_shadow_thread thread;
static pid_t child;

static uint64_t stub_address(unsigned n)
{
	return (uintptr_t)fake_stubs + n * FTR_STUB_BYTES;
}

/* Calls at home, @nr of them. */
static void thread_set(unsigned nr)
{
	thread = (struct ftr_shadow_thread){
		.top = FRAME_AT(nr), .frames = FRAME_AT(0),
		.halving_low = FRAME_AT(0) - sizeof(*frames),
	};
}

static void frame_set(unsigned n, uint64_t loc, uint64_t ret)
{
	frames[n] = (struct ftr_shadow_frame){ .loc = loc, .ret = ret, .func = 1 };
}

static int setup(void **state)
{
	memset(frames, 0, FRAMES * sizeof(*frames));
	memset(fake_slots, 0, sizeof(fake_slots));
	fake_slots[STUB] = (uintptr_t)&owner;
	owner = (struct ftr_shadow_owner){
		.thread = (uintptr_t)&thread, .frames = FRAME_AT(0),
		.frames_high = FRAME_AT(FRAMES), .home_low = 0x1000, .home_high = 0x9000,
	};
	thread_set(0);
	child = 0;
	return 0;
}

static int teardown(void **state)
{
	if (child != 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return 0;
}

static uint64_t find_of(unsigned n, uint64_t loc, uint64_t *looks)
{
	const struct ftr_stub stub = {
		.pid = getpid(), .stubs = stub_address(0), .ip = stub_address(n),
		.sp = loc + sizeof(loc),
	};

	return ftr_stub_returns_to(&stub, looks);
}

static uint64_t find(uint64_t loc)
{
	uint64_t looks = LOOKS;

	return find_of(STUB, loc, &looks);
}

static void test_calls_at_home(void **state)
{
	unsigned i, nr;

	for (nr = 1; nr < 40; nr++) {
		frame_set(nr - 1, 0x8000 - 8 * nr, PROGRAM + nr);
		thread_set(nr);
		for (i = 1; i <= nr; i++)
			assert_int_equal(find(0x8000 - 8 * i), PROGRAM + i);
		assert_int_equal(find(0x8000), 0);
		assert_int_equal(find(0x8000 - 8 * i), 0);
	}
}

/* A handful of looks, however many there are. */
static void test_many_calls_at_home(void **state)
{
	uint64_t looks = 12;
	unsigned i;

	for (i = 0; i < FRAMES; i++)
		frame_set(i, 0x8000 - 8 * i, PROGRAM + i);
	thread_set(FRAMES);
	assert_int_equal(find_of(STUB, 0x8000 - 8 * 700, &looks), PROGRAM + 700);
	looks = 2;
	assert_int_equal(find_of(STUB, 0x8000 - 8 * 700, &looks), 0);
}

/* The address is that of the first one: the others have returned to a stub, of whichever thread. */
static void test_tail_calls(void **state)
{
	frame_set(0, 0x8000, PROGRAM);
	frame_set(1, 0x7000, PROGRAM + 1);
	frame_set(2, 0x7000, stub_address(STUB));
	frame_set(3, 0x7000, stub_address(STUB + 1));
	frame_set(4, 0x6000, PROGRAM + 2);
	thread_set(5);
	assert_int_equal(find(0x7000), PROGRAM + 1);
	frames[1].loc = 0x7008;
	assert_int_equal(find(0x7000), 0);
}

/* Of several stacks in use; of two calls at one place the newer one. */
static void test_calls_in_disorder(void **state)
{
	frame_set(0, 0x5000, PROGRAM);
	frame_set(1, 0x8000, PROGRAM + 1);
	frame_set(2, 0x6000, PROGRAM + 2);
	frame_set(3, 0x5000, PROGRAM + 3);
	thread_set(4);
	thread.halving_low = INT64_MAX;
	assert_int_equal(find(0x5000), PROGRAM + 3);
	assert_int_equal(find(0x8000), PROGRAM + 1);
	thread_set(3);			/* and where they are thought to be in order */
	assert_int_equal(find(0x5000), PROGRAM);
}

/* On another stack, whose thread may be gone. */
static void test_calls_elsewhere(void **state)
{
	owner.thread = NONE;
	frame_set(0, 0xa000, PROGRAM);
	frame_set(1, 0xb000, PROGRAM + 1);
	frame_set(100, 0xa008, PROGRAM + 2);
	assert_int_equal(find(0xb000), PROGRAM + 1);
	assert_int_equal(find(0xa008), 0);		/* the 65th was never in use */
	frames[64].func = 1;
	assert_int_equal(find(0xa008), PROGRAM + 2);
	assert_int_equal(find(0x8000), 0);		/* at home: it has to say how many */
}

static void left_put(uint64_t room, uint64_t loc, uint64_t ret)
{
	uint64_t at = ftr_shadow_left_at(loc);

	while (frames[at & (room - 1)].loc != 0)
		at++;
	frame_set(at & (room - 1), loc, ret);
}

/* Of earlier recordings; each is looked for where it would be. */
static void test_calls_that_were_left(void **state)
{
	uint64_t i, looks = 64, room = 16;

	owner.thread = owner.home_low = owner.home_high = 0;
	owner.frames_high = FRAME_AT(room);
	for (i = 0; i < 10; i++)
		left_put(room, 0x4000 + 8 * i, PROGRAM + i);
	for (i = 0; i < 10; i++) {
		looks = room;
		assert_int_equal(find_of(STUB, 0x4000 + 8 * i, &looks), PROGRAM + i);
	}
	assert_int_equal(find(0x4000 - 8), 0);
	for (i = 0; i < room; i++)
		frames[i].loc = 8;		/* full, which it never is */
	assert_int_equal(find(0x4000), 0);
}

static void test_lies(void **state)
{
	uint64_t looks = LOOKS;

	frame_set(0, 0x8000, PROGRAM);
	thread_set(1);
	assert_int_equal(find(0x8000), PROGRAM);
	assert_int_equal(find_of(STUB + 1, 0x8000, &looks), 0);	/* of nobody */
	assert_int_equal(find_of(0, 0x8000, &looks), 0);
	assert_int_equal(find_of(FTR_STUB_NR, 0x8000, &looks), 0);
	thread.top += 8;
	assert_int_equal(find(0x8000), 0);
	thread.top = FRAME_AT(FRAMES + 1);
	assert_int_equal(find(0x8000), 0);
	thread.top = FRAME_AT(0) - sizeof(*frames);
	assert_int_equal(find(0x8000), 0);
	thread_set(1);
	owner.frames = owner.frames_high = thread.frames = NONE;
	owner.frames_high += UINT64_C(1) << 40;
	thread.top = owner.frames_high;
	thread.halving_low = NONE - sizeof(*frames);
	assert_int_equal(find(0x8000), 0);
	assert_int_equal(find(0xa000), 0);
	owner.thread = 0;
	assert_int_equal(find(0x8000), 0);
	owner.frames_high = 0;
	assert_int_equal(find(0x8000), 0);
	fake_slots[STUB] = NONE;
	assert_int_equal(find(0x8000), 0);
}

/* ---- a process ---- */

/* What a hook does where a function was called, of which @frame is the frame. */
#define RECORD(RECORD_OF) call_record(RECORD_OF, (uintptr_t)__builtin_dwarf_cfa() - 8)
static __attribute__((noinline)) void call_record(uintptr_t *record, uint64_t loc)
{
	unsigned nr = (unsigned)((thread.top - FRAME_AT(0)) / sizeof(*frames));

	frame_set(nr, loc, record[1]);
	thread.top += sizeof(*frames);
	record[1] = stub_address(STUB);
}

static int ready;

static void wait_forever(void)
{
	(void)!write(ready, "r", 1);
	for (;;)
		pause();
}

static __attribute__((noinline)) int deep(unsigned n, void (*at_end)(void))
{
	volatile unsigned kept[5] = { n };

	RECORD(__builtin_frame_address(0));
	if (n == 0)
		at_end();
	else
		kept[0] += (unsigned)deep(n - 1, at_end);
	return (int)kept[0];
}

/* One that is known to hold locks, by its name. */
__attribute__((noinline)) int mallopt(int param, int value)
{
	volatile int kept = param;

	kept += deep((unsigned)value, wait_forever);
	return kept;
}

static void in_allocator(void)
{
	mallopt(0, 2);
}

static void on_signal(int signo)
{
	RECORD(__builtin_frame_address(0));
	deep(2, wait_forever);
	__asm__ volatile("");	/* it is no tail call */
}

static void in_handler(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
}

/* It makes its calls from @at_end on, and waits. */
static void child_start(void (*at_end)(void))
{
	char text, path[64], line[512];
	int fds[2], status;
	FILE *file;

	owner.home_low = 0;
	owner.home_high = UINT64_MAX;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		ready = fds[1];
		deep(3, at_end);
		_exit(1);
	}
	assert_int_equal(read(fds[0], &text, 1), 1);
	close(fds[0]);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	do {
		file = fopen(path, "r");
		assert_non_null(file);
		assert_non_null(fgets(line, sizeof(line), file));
		fclose(file);
	} while (strstr(line, ") S ") == NULL);
	assert_int_equal(ptrace(PTRACE_SEIZE, child, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, child, 0, 0), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
}

struct seen {
	struct ftr_shadow_frame frames[FRAMES];
	bool has[FRAMES];
};

static void address_note(void *arg, uint64_t addr)
{
	struct seen *seen = arg;
	unsigned i;

	for (i = 0; i < FRAMES; i++)
		seen->has[i] |= seen->frames[i].ret == addr;
}

struct fixture {
	char path[PATH_MAX];		/* the test's own, which is the runtime here */
	struct ftr_image image;
	struct ftr_places places;
};

static void places_load(struct fixture *f)
{
	ssize_t bytes = readlink("/proc/self/exe", f->path, sizeof(f->path) - 1);
	struct ftr_remote_libc libc;
	struct ftr_err err = { 0 };

	assert_true(bytes > 0);
	f->path[bytes] = '\0';
	assert_int_equal(ftr_image_load(&f->image, child, &err), 0);
	assert_int_equal(ftr_places_init(&f->places, &f->image, f->path, &err), 0);
	ftr_remote_libc_find(&libc, &f->image);
	f->places.comeback = libc.comeback;
}

static void places_unload(struct fixture *f)
{
	ftr_places_fini(&f->places);
	ftr_image_fini(&f->image);
}

/* All @nr calls are among what the thread returns to, which is seen up to the program's start. */
static void expect_callers(struct fixture *f, unsigned nr)
{
	static struct seen seen;
	unsigned i;

	memset(&seen, 0, sizeof(seen));
	assert_true(ftr_memory_read(child, FRAME_AT(0), seen.frames, nr * sizeof(*frames)));
	ftr_callers_learn(&f->places, child);
	assert_true(ftr_callers_show(&f->places, child, address_note, &seen));
	for (i = 0; i < nr; i++)
		assert_true(seen.has[i]);
}

static void test_callers(void **state)
{
	struct fixture f = { .path = "" };

	child_start(wait_forever);
	places_load(&f);
	expect_callers(&f, 4);
	assert_null(ftr_place_refusal(&f.places, child));
	places_unload(&f);
}

static void test_locks_of_callers(void **state)
{
	struct fixture f = { .path = "" };

	child_start(in_allocator);
	places_load(&f);
	expect_callers(&f, 4 + 3);
	assert_non_null(strstr(ftr_place_refusal(&f.places, child), "in the allocator"));
	places_unload(&f);
}

/* Recorded, as is what it has interrupted. */
static void test_handler(void **state)
{
	struct fixture f = { .path = "" };

	child_start(in_handler);
	places_load(&f);
	expect_callers(&f, 4 + 1 + 3);
	places_unload(&f);
}

/* What its shadow stack says leads nowhere, or to the same stub again. */
static void test_callers_that_are_not_known(void **state)
{
	const uint64_t rets[] = { 0, NONE, stub_address(STUB), (uintptr_t)frames };
	struct ftr_shadow_frame frame;
	struct fixture f = { .path = "" };
	struct seen *seen = calloc(1, sizeof(*seen));
	size_t i;

	child_start(wait_forever);
	places_load(&f);
	assert_true(ftr_memory_read(child, FRAME_AT(1), &frame, sizeof(frame)));
	for (i = 0; i < sizeof(rets) / sizeof(rets[0]); i++) {
		frame.ret = rets[i];
		assert_true(ftr_memory_write(child, FRAME_AT(1), &frame, sizeof(frame)));
		ftr_callers_learn(&f.places, child);
		assert_false(ftr_callers_show(&f.places, child, address_note, seen));
		assert_string_equal(ftr_place_refusal(&f.places, child),
				    "on a stack that cannot be unwound");
	}
	free(seen);
	places_unload(&f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const int here = 1;
	int there;
	const struct CMUnitTest tests[] = {
		TEST(test_calls_at_home), TEST(test_many_calls_at_home), TEST(test_tail_calls),
		TEST(test_calls_in_disorder), TEST(test_calls_elsewhere),
		TEST(test_calls_that_were_left), TEST(test_lies),
		TEST(test_callers), TEST(test_locks_of_callers), TEST(test_handler),
		TEST(test_callers_that_are_not_known),
	};

	if (!ftr_memory_read(getpid(), (uintptr_t)&here, &there, sizeof(there)))
		return 77;		/* emulated, without ptrace: skipped */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
