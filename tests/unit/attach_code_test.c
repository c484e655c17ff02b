/* SPDX-License-Identifier: MIT */
/* Code of another process is changed and put back, but for what it stands in. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/attach/code.h"
#include "utils/attach/words.h"

#define PAGE 4096
#define CODE_PAGES 3
#define NEEDS_NONE UINT32_MAX
#define COMEBACK UINT64_C(0x5152535455565758)

static uint8_t *code;		/* the child has the same */
static struct ftr_attach_code changes[4];
static uint64_t *other_stack;
static pid_t child;

static void change_set(unsigned n, size_t at, uint8_t bytes, uint32_t needs)
{
	changes[n] = (struct ftr_attach_code){ .addr = (uintptr_t)code + at, .bytes = bytes,
					       .needs = needs };
	memset(changes[n].old, 0x90, bytes);
	memset(changes[n].new, 0xe0 + (int)n, bytes);
}

static int setup(void **state)
{
	code = mmap(NULL, CODE_PAGES * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	other_stack = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	memset(code, 0x90, CODE_PAGES * PAGE);
	change_set(0, 64, 5, NEEDS_NONE);
	change_set(1, 100, 2, 2);
	change_set(2, 110, 5, NEEDS_NONE);
	change_set(3, 2 * PAGE - 2, 5, NEEDS_NONE);
	return mprotect(code, CODE_PAGES * PAGE, PROT_READ | PROT_EXEC);
}

static int teardown(void **state)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(other_stack, PAGE);
	return munmap(code, CODE_PAGES * PAGE);
}

/* What earlier calls have left below, among it addresses of the code, is none of the next ones. */
static __attribute__((noinline)) void stack_clean(void)
{
	volatile uintptr_t room[8192];

	for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++)
		room[i] = 0;
}

/* A child that waits with these words on its stack. */
static void child_start(const uintptr_t words[64])
{
	volatile uintptr_t kept[64];
	char ready;
	int fds[2];
	unsigned i;

	stack_clean();
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		for (i = 0; i < 64; i++)
			kept[i] = words != NULL ? words[i] : 0;
		(void)!write(fds[1], "r", 1);
		for (i = 0; kept[i % 64] != 1; i++)
			usleep(1000);
		_exit(1);
	}
	assert_int_equal(read(fds[0], &ready, 1), 1);
	close(fds[0]);
	close(fds[1]);
}

static void run(bool is_back, struct ftr_attach_report *report)
{
	const struct ftr_attach attach = { .code = (uintptr_t)changes, .code_nr = 4 };
	struct ftr_runtime runtime = {
		.image.pid = child, .tracees.pid = child, .path = "/none",
		.libc.comeback = COMEBACK,
	};
	const struct ftr_code_choice choice = { .is_back = is_back, .are_all = true };
	struct ftr_err err = { 0 };

	*report = (struct ftr_attach_report){ .hooked_nr = 0 };
	assert_int_equal(ftr_runtime_code(&runtime, &attach, &choice, report, &err), 0);
	ftr_tracees_fini(&runtime.tracees);
	ftr_image_fini(&runtime.image);
}

static void expect(unsigned n, bool is_made)
{
	uint8_t now[FTR_ATTACH_CODE_MAX];

	assert_true(ftr_memory_read(child, changes[n].addr, now, changes[n].bytes));
	assert_memory_equal(now, is_made ? changes[n].new : changes[n].old, changes[n].bytes);
}

static void test_made_and_taken_back(void **state)
{
	struct ftr_attach_report report;
	int policy = sched_getscheduler(0);

	child_start(NULL);
	run(false, &report);
	assert_int_equal(report.code.made_nr, 2);	/* a step and its jump are one function's */
	assert_int_equal(report.code.crossing_nr, 1);
	assert_int_equal(report.code.stop_nr, 1);
	expect(0, true);
	expect(1, true);
	expect(2, true);
	expect(3, false);
	run(true, &report);
	assert_false(report.is_partly_left);
	expect(0, false);
	expect(1, false);
	expect(2, false);
	assert_int_equal(sched_getscheduler(0), policy);	/* it was another meanwhile */
}

/* The list has grown meanwhile; of a library that was unloaded another one has the place. */
static void test_more_is_made(void **state)
{
	struct ftr_attach_report report;

	changes[1].is_gone = changes[2].is_gone = true;
	child_start(NULL);
	run(false, &report);
	assert_int_equal(report.code.made_nr, 1);
	expect(0, true);
	expect(1, false);
	expect(2, false);
	changes[1] = changes[2];
	changes[1].is_gone = false;
	memset(changes[1].new, 0xcc, changes[1].bytes);
	assert_true(ftr_memory_write(child, (uintptr_t)changes, changes, sizeof(changes)));
	run(false, &report);
	assert_int_equal(report.code.made_nr, 2);
	assert_int_equal(report.code.stop_nr, 1);
	expect(0, true);
	expect(1, true);
	run(true, &report);
	assert_false(report.is_partly_left);
	expect(0, false);
	expect(1, false);
}

static void test_step_whose_jump_is_on_two_pages(void **state)
{
	struct ftr_attach_report report;

	changes[1].needs = 3;
	child_start(NULL);
	run(false, &report);
	assert_int_equal(report.code.made_nr, 2);
	assert_int_equal(report.code.crossing_nr, 1);
	expect(1, false);
	expect(2, true);
}

static void test_other_code(void **state)
{
	struct ftr_attach_report report;

	changes[0].old[4] = 0x91;
	child_start(NULL);
	run(false, &report);
	assert_int_equal(report.code.changed_nr, 1);
	assert_int_equal(report.code.made_nr, 1);
	run(true, &report);
	assert_false(report.is_partly_left);		/* it is none of ours */
}

static void test_thread_in_the_midst(void **state)
{
	struct ftr_attach_report report;
	uintptr_t words[64] = { 0 };

	words[30] = (uintptr_t)code + 64 + 3;
	words[31] = (uintptr_t)code + 100;		/* the first byte is not in the midst */
	child_start(words);
	run(false, &report);
	assert_int_equal(report.code.in_use_nr, 1);
	assert_int_equal(report.code.made_nr, 1);
	assert_true(report.code.stop_nr > 1);
	expect(0, false);
	expect(1, true);
	run(true, &report);
	assert_false(report.is_partly_left);
	expect(1, false);
}

/* Who has taken the step must find the jump. */
static void test_thread_between_step_and_jump(void **state)
{
	struct ftr_attach_report report;
	uintptr_t words[64] = { 0 };

	child_start(NULL);
	run(false, &report);
	teardown(NULL);
	setup(NULL);
	words[7] = (uintptr_t)code + 110;
	child_start(words);
	run(false, &report);
	assert_int_equal(report.code.in_use_nr, 1);
	expect(1, false);
	expect(2, false);
	expect(0, true);
}

/* A frame of a handler that comes back to @ip. */
static void handler_put(uint64_t *words, uint64_t sp, uint64_t ip)
{
	uint64_t mark = FTR_ARCH_HANDLER_MARK_VALUE;

	words[FTR_ARCH_HANDLER_MARK] = mark != 0 ? mark : COMEBACK;
	words[FTR_ARCH_HANDLER_SP] = sp;
	words[FTR_ARCH_HANDLER_IP] = ip;
}

/* A handler on a stack of its own: what it has interrupted there stands on the other one. */
static void test_stack_that_a_handler_has_interrupted(void **state)
{
	struct ftr_attach_report report;
	uintptr_t words[64] = { 0 };

	other_stack[100] = (uintptr_t)code + 66;
	child_start(words);
	run(false, &report);
	expect(0, true);
	teardown(NULL);
	setup(NULL);
	other_stack[100] = (uintptr_t)code + 66;
	handler_put(&words[3], (uintptr_t)&other_stack[50], 0);
	child_start(words);
	run(false, &report);
	assert_true(report.code.in_use_nr > 0);	/* registers that are saved may look like more */
	expect(0, false);
}

static void word_note(void *arg, uint64_t word)
{
	*(bool *)arg |= word == COMEBACK;
}

static void test_stack_that_is_not_mapped(void **state)
{
	struct ftr_image image;
	struct ftr_err err = { 0 };
	bool seen = false;
	struct ftr_words words = { .image = &image, .take = word_note, .arg = &seen };

	child_start(NULL);
	assert_int_equal(ftr_image_load(&image, getpid(), &err), 0);
	assert_false(ftr_words_show(&words, 64));
	other_stack[PAGE / sizeof(*other_stack) - 1] = COMEBACK;
	assert_true(ftr_words_show(&words, (uintptr_t)other_stack));
	assert_true(seen);
	ftr_image_fini(&image);
}

/* Whoever leaves it has nothing to put back, and says nothing of this. */
static void test_process_that_has_ended(void **state)
{
	struct ftr_image image;
	struct ftr_err err = { 0 };

	child_start(NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(ftr_image_load(&image, child, &err), -ESRCH);
}

struct noted {
	uint64_t at, ip;
};

static void handler_note(void *arg, uint64_t at, uint64_t ip)
{
	*(struct noted *)arg = (struct noted){ at, ip };
}

/*
 * It has taken the comeback from its stack, which is the word below the pointer by then.  The
 * handler that it comes back from had interrupted another one, on another stack.
 */
static void test_thread_that_comes_back_from_a_handler(void **state)
{
	uint64_t *own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	struct ftr_image image;
	struct ftr_err err = { 0 };
	struct noted outermost = { 0, 0 };
	struct ftr_words words = {
		.image = &image, .comeback = COMEBACK, .interrupted = handler_note,
		.arg = &outermost,
	};

	child_start(NULL);
	assert_int_equal(ftr_image_load(&image, getpid(), &err), 0);
	handler_put(&own[10], (uintptr_t)&other_stack[50], 1);
	handler_put(&other_stack[100], 0, 2);
	assert_true(ftr_words_show(&words, (uintptr_t)&own[11]));
	assert_int_equal(outermost.ip, 2);
	assert_int_equal(outermost.at, (uintptr_t)&other_stack[100]);
	/* Nothing of a stack is below its first word. */
	assert_true(ftr_words_show(&words, (uintptr_t)own));
	ftr_image_fini(&image);
	munmap(own, PAGE);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const int here = 1;
	int there;
	const struct CMUnitTest tests[] = {
		TEST(test_made_and_taken_back), TEST(test_more_is_made),
		TEST(test_step_whose_jump_is_on_two_pages),
		TEST(test_other_code), TEST(test_thread_in_the_midst),
		TEST(test_thread_between_step_and_jump),
		TEST(test_stack_that_a_handler_has_interrupted),
		TEST(test_stack_that_is_not_mapped), TEST(test_process_that_has_ended),
		TEST(test_thread_that_comes_back_from_a_handler),
	};

	if (!ftr_memory_read(getpid(), (uintptr_t)&here, &there, sizeof(there)))
		return 77;		/* emulated, without ptrace: skipped */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
