/* SPDX-License-Identifier: MIT */
/*
 * Both ends of a ring at once, as they ship: libmcount's in one thread, the recorder's in another,
 * in the same memory, so that ThreadSanitizer (--enable-sanitizers=thread) sees every access of
 * both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/record/ring.h"
#include "utils/record/ring_memory.h"

#define RING_BYTES 4096u
#define CALLS 200000u
#define PAYLOAD_CALLS 50000u
#define HOLE_EVERY 1000u	/* reserved, and never filled */
#define BATCH_BYTES 2048u

/* Which records have a payload, and how long it is: 0 = none. */
enum payloads { PAYLOADS_NONE, PAYLOADS_SOME };

static uint32_t payload_bytes(enum payloads payloads, uint64_t record)
{
	uint32_t random = (uint32_t)(record * 2654435761u) >> 12;

	if (payloads == PAYLOADS_NONE || random % 3 != 0)
		return 0;
	return random / 3 % 8 == 0 ? random / 24 % FTR_PAYLOAD_MAX + 1 : random / 24 % 64 + 1;
}

struct fixture {
	struct ftr_control control;
	struct ftr_ring ring;
	struct ftr_tick_map ticks;
	struct ftr_producer producer;
	bool has_holes;
	enum payloads payloads;
	uint64_t calls;
	atomic_bool is_over;
};

static void put_payload(struct ftr_thread *self, uint64_t word, uint32_t bytes)
{
	uint8_t payload[FTR_PAYLOAD_MAX];
	uint32_t i;

	for (i = 0; i < bytes; i++)
		payload[i] = (uint8_t)(word + i);
	ftr_record_put(self, word, payload, bytes);
}

/* The hook's fast path. */
static void put_plain(struct fixture *f, struct ftr_thread *self, uint64_t word)
{
	uint64_t pos = ftr_arch_local_add(&f->producer.head, sizeof(struct ftr_record));
	struct ftr_record *record;

	if (pos >= f->producer.limit) {
		ftr_ring_put_slow(self, pos, word);
		return;
	}
	record = ftr_producer_record(&f->producer, pos);
	record->time = ftr_arch_ticks();
	__atomic_store_n(&record->word, word, __ATOMIC_RELEASE);
}

static void put(struct fixture *f, struct ftr_thread *self, enum ftr_record_type type,
		uint64_t call)
{
	uint32_t bytes = payload_bytes(f->payloads, 2 * call + type);
	uint64_t word = ftr_record_word(type, 0, call);

	if (bytes != 0)
		put_payload(self, word, bytes);
	else
		put_plain(f, self, word);
}

/* A hole: what a handler leaves that jumps out of a hook, at various moments. */
static void leave_hole(struct fixture *f, uint64_t nr)
{
	uint32_t bytes = payload_bytes(f->payloads, nr), unit;
	uint64_t pos = ftr_arch_local_add(&f->producer.head, ftr_record_ring_bytes(bytes));

	if (pos + ftr_record_ring_bytes(bytes) > f->producer.limit)
		return;		/* left while it waits */
	for (unit = 1; unit <= ftr_payload_units(bytes) && unit < nr % 7; unit++)
		__atomic_store_n(&ftr_producer_record(&f->producer, pos + 16 * unit)->word,
				 FTR_PAYLOAD_TAG, __ATOMIC_RELEASE);
}

static void *produce(void *arg)
{
	struct fixture *f = arg;
	struct ftr_thread *self = &ftr_self;
	static struct ftr_frame frame;
	uint64_t i;

	self->producer = &f->producer;
	self->frames = &frame;
	self->frames_end = &frame + 1;
	for (i = 1; i <= f->calls; i++) {
		put(f, self, FTR_RECORD_ENTRY, i);
		if (f->has_holes && i % HOLE_EVERY == 0)
			leave_hole(f, i / HOLE_EVERY);
		put(f, self, FTR_RECORD_EXIT, i);
	}
	atomic_store(&f->is_over, true);
	return NULL;
}

static void check_payload(const uint8_t *payload, uint64_t word, uint32_t bytes)
{
	uint8_t expected[FTR_RECORD_FILE_BYTES_MAX] = { 0 };
	uint32_t i;

	for (i = 0; i < bytes; i++)
		expected[i] = (uint8_t)(word + i);
	assert_memory_equal(payload, expected, (bytes + 7) / 8 * 8);
}

/* Every call once and in order, with its payload; events are of waits for room. */
static uint64_t check(const struct fixture *f, const uint8_t *at, size_t len, uint64_t expected)
{
	const uint8_t *end = at + len;
	struct ftr_record record;
	uint32_t bytes;

	while (at < end) {
		memcpy(&record, at, sizeof(record));
		at += sizeof(record);
		if (ftr_record_type(record.word) == FTR_RECORD_EVENT)
			continue;
		assert_int_equal(ftr_record_addr(record.word), expected / 2 + 1);
		assert_int_equal(ftr_record_type(record.word), expected % 2);
		bytes = payload_bytes(f->payloads, expected + 2);
		assert_int_equal(ftr_record_has_payload(record.word), bytes != 0);
		check_payload(at, ftr_record_word(expected % 2, 0, expected / 2 + 1), bytes);
		at += (bytes + 7) / 8 * 8;
		expected++;
	}
	return expected;
}

static void consume(struct fixture *f)
{
	struct ftr_convert convert = { .depth = FTR_CONVERT_DEPTH_UNKNOWN };
	_Alignas(8) uint8_t records[BATCH_BYTES];
	uint64_t expected = 0;
	bool is_over;
	size_t len;

	do {
		is_over = atomic_load(&f->is_over);
		if (is_over)
			ftr_ring_end(&f->ring);
		len = ftr_ring_take(&f->ring, &convert, &f->ticks, records, sizeof(records));
		expected = check(f, records, len, expected);
		if (len == 0)
			sched_yield();
	} while (len > 0 || !is_over);
	assert_int_equal(expected, 2 * f->calls);
	assert_int_equal(convert.lost + convert.bad, 0);
}

static struct fixture *setup(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->control = (struct ftr_control){ .on_full = FTR_ON_FULL_WAIT, .ticks_per_ms = 3000000,
					   .wait_ms = 60000 };
	ftr_state = (struct ftr_state){ .arming = FTR_ARMED, .control = &f->control };
	assert_int_equal(ftr_ring_open(&f->ring, RING_BYTES, NULL), 0);
	assert_int_equal(ftr_tick_map_init(&f->ticks, true), 0);
	f->producer.header = f->ring.header;
	f->producer.data = (uint64_t)f->ring.data - (uint64_t)&f->producer;
	f->producer.mask = RING_BYTES - 1;
	ftr_ring_update_limit(&f->producer);
	return f;
}

static void teardown(struct fixture *f)
{
	ftr_tick_map_fini(&f->ticks);
	ftr_ring_close(&f->ring);
	free(f);
}

static void run(bool has_holes, enum payloads payloads)
{
	struct fixture *f = setup();
	pthread_t thread;

	f->has_holes = has_holes;
	f->payloads = payloads;
	f->calls = payloads == PAYLOADS_NONE ? CALLS : PAYLOAD_CALLS;
	assert_int_equal(pthread_create(&thread, NULL, produce, f), 0);
	consume(f);
	pthread_join(thread, NULL);
	teardown(f);
}

/*
 * A producer that signal handlers interrupt anywhere, and that is killed anywhere: of what either
 * of them puts nothing is missing, torn or out of order.
 */
#define KILLS 40
enum { BY_TASK, BY_HANDLER };
static struct fixture *killed;
static uint64_t put_nr[2];

static void put_next(int by)
{
	put(killed, &ftr_self, (enum ftr_record_type)by, ++put_nr[by]);
}

/* No more than one record for each of the task's: filling the ring alone is another matter. */
static void on_signal(int nr)
{
	static uint64_t not_before;

	(void)nr;
	if (put_nr[BY_TASK] < not_before)
		return;
	not_before = put_nr[BY_TASK] + 2;
	put_next(BY_HANDLER);
}

/* As the runtime does; the recorder's mapping is not inherited. */
static void producer_map(struct fixture *f)
{
	char *mem = mmap(NULL, FTR_RING_DATA_OFFSET + RING_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED, f->ring.fd, 0);

	f->producer.header = (struct ftr_ring_header *)mem;
	f->producer.data = (uint64_t)mem + FTR_RING_DATA_OFFSET - (uint64_t)&f->producer;
}

static void produce_until_killed(struct fixture *f)
{
	static const struct itimerval often = { { 0, 200 }, { 0, 200 } };
	static struct ftr_frame frame;

	signal(SIGSEGV, SIG_DFL);
	killed = f;
	producer_map(f);
	ftr_self.producer = &f->producer;
	ftr_self.frames = &frame;
	ftr_self.frames_end = &frame + 1;
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	for (;;)
		put_next(BY_TASK);
}

/* @taken: the last number of each. */
static void check_killed(const struct fixture *f, const uint8_t *at, size_t len, uint64_t taken[2])
{
	const uint8_t *end = at + len;
	struct ftr_record record;
	uint32_t bytes;
	uint64_t by;

	while (at < end) {
		memcpy(&record, at, sizeof(record));
		at += sizeof(record);
		by = ftr_record_type(record.word);
		if (by == FTR_RECORD_EVENT)
			continue;
		assert_int_equal(ftr_record_addr(record.word), ++taken[by]);
		bytes = payload_bytes(f->payloads, 2 * taken[by] + by);
		assert_int_equal(ftr_record_has_payload(record.word), bytes != 0);
		check_payload(at, ftr_record_word((enum ftr_record_type)by, 0, taken[by]), bytes);
		at += (bytes + 7) / 8 * 8;
	}
}

static void kill_one(unsigned round)
{
	struct ftr_convert convert = { .depth = FTR_CONVERT_DEPTH_UNKNOWN };
	_Alignas(8) uint8_t records[2 * RING_BYTES];
	uint64_t taken[2] = { 0, 0 };
	struct fixture *f = setup();
	unsigned drains;
	size_t len;
	pid_t pid;

	f->payloads = PAYLOADS_SOME;
	pid = fork();
	if (pid == 0)
		produce_until_killed(f);
	for (drains = 0; drains < round % 20; drains++) {
		len = ftr_ring_take(&f->ring, &convert, &f->ticks, records, sizeof(records));
		check_killed(f, records, len, taken);
		usleep(round * 7);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	ftr_ring_end(&f->ring);
	while ((len = ftr_ring_take(&f->ring, &convert, &f->ticks, records, sizeof(records))) > 0)
		check_killed(f, records, len, taken);
	assert_int_equal(convert.bad + convert.lost, 0);
	teardown(f);
}

static void test_killed_anywhere(void **state)
{
	unsigned i;

	for (i = 0; i < KILLS; i++)
		kill_one(i);
}

static void test_every_record_once(void **state)
{
	run(false, PAYLOADS_NONE);
}

static void test_holes_are_passed(void **state)
{
	run(true, PAYLOADS_NONE);
}

static void test_payloads_are_whole(void **state)
{
	run(false, PAYLOADS_SOME);
}

static void test_payload_holes_are_passed(void **state)
{
	run(true, PAYLOADS_SOME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_record_once),
		cmocka_unit_test(test_holes_are_passed),
		cmocka_unit_test(test_payloads_are_whole),
		cmocka_unit_test(test_payload_holes_are_passed),
		cmocka_unit_test(test_killed_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
