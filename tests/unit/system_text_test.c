/* SPDX-License-Identifier: MIT */
/* Texts of /proc: as kernels write them, cut at each byte, damaged, very long. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/record/system_text.h"

static struct ftr_slice slice(const char *s)
{
	return ftr_slice_make(s, strlen(s));
}

static void test_cpus(void **state)
{
	struct ftr_slice text = slice("cpu  10 20 30 40 50 60 70 80 90 100\n"
				      "cpu0 1 2 3 4 5 6 7 8 9 10\n"
				      "cpu7 1 2 3 4\n"
				      "cpu8 1 2 3\n"
				      "cpux 1 2 3 4\n"
				      "cpu9 1 2 x 4 5\n"
				      "cpu99999999 1 2 3 4\n"
				      "intr 1 2 3 4 5 6\n"
				      "cpu3 18446744073709551615 0 0 1");
	struct ftr_system_cpu cpu;

	assert_true(ftr_system_cpu_next(&text, &cpu));
	assert_int_equal(cpu.nr, 0);
	assert_int_equal(cpu.user, 3);
	assert_int_equal(cpu.system, 3 + 6 + 7 + 8);
	assert_int_equal(cpu.idle, 9);
	assert_true(ftr_system_cpu_next(&text, &cpu));
	assert_int_equal(cpu.nr, 7);
	assert_int_equal(cpu.system, 3);
	assert_true(ftr_system_cpu_next(&text, &cpu));
	assert_int_equal(cpu.nr, 3);
	assert_int_equal(cpu.user, UINT64_MAX);
	assert_false(ftr_system_cpu_next(&text, &cpu));
	assert_false(ftr_system_cpu_next(&text, &cpu));
}

#define MEMORY "MemTotal:  1000 kB\nMemFree:    100 kB\nMemAvailable:  600 kB\n" \
	       "Buffers: 1 kB\nCached:     300 kB\nSwapCached: 7 kB\n" \
	       "SwapTotal:   50 kB\nSwapFree:    20 kB\n"

static void test_memory(void **state)
{
	struct ftr_system_memory memory;

	assert_true(ftr_system_memory_get(slice(MEMORY), &memory));
	assert_int_equal(memory.total_kb, 1000);
	assert_int_equal(memory.used_kb, 400);
	assert_int_equal(memory.free_kb, 100);
	assert_int_equal(memory.cached_kb, 300);
	assert_int_equal(memory.swap_kb, 30);
	assert_true(ftr_system_memory_get(slice("MemTotal: 9 kB\nMemFree: 2 kB\nCached: 1 kB"),
					  &memory));
	assert_int_equal(memory.used_kb, 6);
	assert_true(ftr_system_memory_get(slice("MemTotal: 9 kB\nMemAvailable: 20 kB"), &memory));
	assert_int_equal(memory.used_kb, 0);
	assert_false(ftr_system_memory_get(slice(""), &memory));
	assert_false(ftr_system_memory_get(slice("MemTotal: lots\nMemFree: 1 kB"), &memory));
}

static void test_load(void **state)
{
	static const char *const bad[] = {
		"", "0.1 0.20 0.30 1/2 3", "0.10 0.20 1/2 3", "0.10 0.20 0.30 12 3", "-1.00 0 0",
		"0.10 0.20 0.30 1/x 3", "0,10 0,20 0,30 1/2 3", "0.10 0.20",
	};
	struct ftr_system_load load;

	assert_true(ftr_system_load_get(slice("0.25 12.50 3.00 2/345 6789\n"), &load));
	assert_float_equal(load.average[0], 0.25, 0);
	assert_float_equal(load.average[1], 12.5, 0);
	assert_float_equal(load.average[2], 3, 0);
	assert_int_equal(load.running, 2);
	assert_int_equal(load.tasks, 345);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ftr_system_load_get(slice(bad[i]), &load));
}

/* Each disk once: not its parts, nor what lies on other disks. */
static void test_disks(void **state)
{
	const char *text = "   8  0 sda 1 9 10 9 100 9 1000 9 9 9 9\n"
			   "   8  1 sda1 5 5 5 5 5 5 5 5 5 5 5\n"
			   "   8 16 sdaa 1 9 10 9 100 9 1000 9 9 9 9\n"
			   " 259  0 nvme0n1 1 9 10 9 100 9 1000 9 9 9 9\n"
			   " 259  1 nvme0n1p1 5 5 5 5 5 5 5 5 5 5 5\n"
			   " 259  2 nvme0n10 1 9 10 9 100 9 1000 9 9 9 9\n"
			   "   7  0 loop0 5 5 5 5 5 5 5 5 5 5 5\n"
			   " 253  0 dm-0 5 5 5 5 5 5 5 5 5 5 5\n"
			   "   9  0 md127 5 5 5 5 5 5 5 5 5 5 5\n"
			   "   8 32 sdc 1 9 10\n";
	struct ftr_system_disks disks;

	assert_true(ftr_system_disks_get(slice(text), &disks));
	assert_int_equal(disks.reads, 4);
	assert_int_equal(disks.sectors_read, 40);
	assert_int_equal(disks.writes, 400);
	assert_int_equal(disks.sectors_written, 4000);
	assert_false(ftr_system_disks_get(slice(""), &disks));
}

static void test_network(void **state)
{
	const char *text = "Inter-|   Receive                  |  Transmit\n"
			   " face |bytes    packets errs drop |bytes    packets\n"
			   "    lo: 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5\n"
			   "  eth0:10 1 9 9 9 9 9 9 100 2 9 9 9 9 9 9\n"
			   "enp1s0: 30 3 9 9 9 9 9 9 300 4\n"
			   " wlan0: 10 1 9 9\n";
	struct ftr_system_network network;

	assert_true(ftr_system_network_get(slice(text), &network));
	assert_int_equal(network.bytes_received, 40);
	assert_int_equal(network.packets_received, 4);
	assert_int_equal(network.bytes_sent, 400);
	assert_int_equal(network.packets_sent, 6);
	assert_false(ftr_system_network_get(slice("eth0 10 1 9 9 9 9 9 9 100 2\n"), &network));
}

#define STAT "4 (a) (b) R) S 1 4 4 0 -1 4194560 1 2 3 4 11 22 5 6 20 0 7 0 99 8192 33 " \
	     "18446744073709551615"

static void test_task(void **state)
{
	struct ftr_system_task task;
	uint64_t pages;

	assert_true(ftr_system_task_get(slice(STAT), &task));
	assert_int_equal(task.state, 'S');
	assert_int_equal(task.user, 11);
	assert_int_equal(task.system, 22);
	assert_int_equal(task.threads, 7);
	assert_int_equal(task.virtual_bytes, 8192);
	assert_int_equal(task.resident_pages, 33);
	assert_false(ftr_system_task_get(slice(""), &task));
	assert_false(ftr_system_task_get(slice("4 (a"), &task));
	assert_false(ftr_system_task_get(slice("4 (a) S 1 4 4 0 -1 0 1 2 3 4 -11 22 5 6 20 0 7 0 "
					       "99 8192 33"), &task));
	assert_true(ftr_system_shared_get(slice("10 20 30 1 0 5 0\n"), &pages));
	assert_int_equal(pages, 30);
	assert_false(ftr_system_shared_get(slice("10 20\n"), &pages));
}

/* All of them, of a text that ends where it is allowed to be read. */
static void all_read(const char *s, size_t len)
{
	char *copy = malloc(len + 1);
	struct ftr_slice text = ftr_slice_make(copy, len);
	struct ftr_system_memory memory;
	struct ftr_system_network network;
	struct ftr_system_disks disks;
	struct ftr_system_load load;
	struct ftr_system_task task;
	struct ftr_system_cpu cpu;
	uint64_t pages;

	memcpy(copy, s, len);
	copy = realloc(copy, len + (len == 0));
	text.s = copy;
	ftr_system_memory_get(text, &memory);
	ftr_system_network_get(text, &network);
	ftr_system_disks_get(text, &disks);
	ftr_system_load_get(text, &load);
	ftr_system_task_get(text, &task);
	ftr_system_shared_get(text, &pages);
	while (ftr_system_cpu_next(&text, &cpu))
		;
	free(copy);
}

/* Nothing is read behind the end: sanitizers see to it. */
static void test_damage(void **state)
{
	char text[] = MEMORY STAT "\ncpu1 1 2 3 4 5\n8 0 sda 1 2 3 4 5 6 7 8\neth0:1 2 3 4\n0.1";

	for (size_t len = 0; len < sizeof(text); len++)
		all_read(text, len);
	for (size_t at = 0; at < sizeof(text) - 1; at++) {
		for (unsigned c = 0; c < 256; c += 17) {
			char kept = text[at];

			text[at] = (char)c;
			all_read(text, sizeof(text) - 1);
			text[at] = kept;
		}
	}
}

static void test_long(void **state)
{
	struct ftr_system_cpu cpu;
	struct ftr_strbuf text;
	struct ftr_slice rest;
	uint64_t nr = 0;

	ftr_strbuf_init(&text);
	ftr_strbuf_puts(&text, "intr");
	for (unsigned i = 0; i < 200000; i++)
		ftr_strbuf_puts(&text, " 12345678901234567890123");
	for (unsigned i = 0; i < 5000; i++)
		ftr_strbuf_printf(&text, "\ncpu%u %u 0 0 1 0 0 0 0 0 0", i, i);
	assert_false(text.failed);
	all_read(text.s, text.len);
	rest = ftr_slice_make(text.s, text.len);
	while (ftr_system_cpu_next(&rest, &cpu)) {
		assert_int_equal(cpu.nr, nr);
		assert_int_equal(cpu.user, nr);
		nr++;
	}
	assert_int_equal(nr, 5000);
	ftr_strbuf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_disks),
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_task),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
