/* SPDX-License-Identifier: MIT */
/* Where stacks end, and where functions keep their return addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/prologue.h"
#include "libmcount/maps.h"
#include "utils/base/rt/sys.h"

static bool is_inside(const void *at, uintptr_t low, uintptr_t high)
{
	return (uintptr_t)at - low < high - low;
}

static void test_main_stack(void **state)
{
	int local = 0, *on_heap = malloc(sizeof(int));
	uintptr_t low, high, top = (uintptr_t)environ[0], here = (uintptr_t)&local;

	ftr_maps_find_stack(&local, top, ftr_arch_thread_pointer(), &low, &high);
	assert_true(is_inside(&local, low, high));
	assert_true(here - low > (1 << 20));	/* room to grow counts */
	ftr_maps_find_stack(on_heap, top, ftr_arch_thread_pointer(), &low, &high);
	assert_true(is_inside(&local, low, high));	/* also where a coroutine asks */
	free(on_heap);
}

static void *in_thread(void *arg)
{
	uintptr_t low, high, thread = ftr_arch_thread_pointer();
	int local = 0;

	ftr_maps_find_stack(&local, 0, thread, &low, &high);
	if (!is_inside(&local, low, high) || is_inside((void *)thread, low, high))
		return "not the thread's stack";
	ftr_maps_find_stack(&local, (uintptr_t)environ[0], thread, &low, &high);
	return is_inside(&local, low, high) ? NULL : "not that of the thread that forked";
}

static void test_thread_stack(void **state)
{
	pthread_t thread;
	void *failure;

	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, &failure);
	assert_null(failure);
}

static void test_unmapped_address(void **state)
{
	uintptr_t low = 1, high = 1;

	ftr_maps_find_stack(&low, 0, 16, &low, &high);
	assert_int_equal(low, 0);
	assert_int_equal(high, 0);
}

/* A frame as -pg's mcount finds it: @frame[8] plays 0(%rbp), [9] the return address. */
struct realigned {
	uintptr_t frame[32];
	uint8_t code[256];
};

static const uint8_t prologue[] = { 0x41, 0xff, 0x72, 0xf8, 0x55, 0x48, 0x89, 0xe5 };

static void test_plain_frame(void **state)
{
	struct realigned r = { .frame = { [9] = 0x1234 } };
	uintptr_t *slot = &r.frame[9];

	assert_ptr_equal(ftr_arch_return_slot(slot, (uintptr_t)r.code + 128), slot);
	r.frame[7] = (uintptr_t)&r.frame[20];	/* a local that looks like the kept register */
	r.frame[19] = 0x1234;
	assert_ptr_equal(ftr_arch_return_slot(slot, (uintptr_t)r.code + 128), slot);
}

static void test_realigned_frame(void **state)
{
	struct realigned r = { .frame = { [9] = 0x1234, [19] = 0x1234 } };
	uintptr_t *slot = &r.frame[9];

	r.frame[7] = (uintptr_t)&r.frame[20];
	memcpy(r.code + 100, prologue, sizeof(prologue));
	assert_ptr_equal(ftr_arch_return_slot(slot, (uintptr_t)r.code + 128), &r.frame[19]);
	r.frame[19] = 0x5678;			/* not the same return address */
	assert_ptr_equal(ftr_arch_return_slot(slot, (uintptr_t)r.code + 128), slot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_main_stack),
		cmocka_unit_test(test_thread_stack),
		cmocka_unit_test(test_unmapped_address),
		cmocka_unit_test(test_plain_frame),
		cmocka_unit_test(test_realigned_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
