/* SPDX-License-Identifier: MIT */
/* A store that holds the newest records back: limits, gaps, the order of what is passed on. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "utils/record/store_flight.h"

/* What was passed on, as words: "7:3" is a record of task 7 with address 3, "7:L3" a LOST of 3. */
struct sink {
	struct ftr_store base;
	char text[1024];
	unsigned rest_nr, event_nr;
	uint64_t lost_nr;
};

static void put(struct sink *sink, const char *text)
{
	assert_true(strlen(sink->text) + strlen(text) + 2 < sizeof(sink->text));
	if (sink->text[0] != '\0')
		strcat(sink->text, " ");
	strcat(sink->text, text);
}

static void sink_append(struct ftr_store *store, struct ftr_store_task *task,
			const struct ftr_record_batch *batch)
{
	const struct ftr_record *records = batch->bytes;
	char text[64];

	assert_int_equal(batch->len, batch->record_nr * sizeof(*records));
	for (size_t i = 0; i < batch->record_nr; i++) {
		bool is_lost = ftr_record_type(records[i].word) == FTR_RECORD_LOST;

		snprintf(text, sizeof(text), "%d:%s%llu", task->tid, is_lost ? "L" : "",
			 (unsigned long long)ftr_record_addr(records[i].word));
		put((struct sink *)store, text);
	}
	task->last_ns = batch->last_ns;
}

static bool sink_perf(struct ftr_store *store, unsigned cpu, const struct iovec *parts,
		      unsigned nr)
{
	char text[64];

	snprintf(text, sizeof(text), "cpu%u:%.*s", cpu, nr > 0 ? (int)parts[0].iov_len : 0,
		 nr > 0 ? (const char *)parts[0].iov_base : "");
	put((struct sink *)store, text);
	return true;
}

static bool sink_kernel(struct ftr_store *store, unsigned cpu, int pipe_fd, size_t bytes)
{
	char pages[16], text[64];

	assert_true(bytes < sizeof(pages));
	assert_int_equal(read(pipe_fd, pages, sizeof(pages)), bytes);
	snprintf(text, sizeof(text), "kernel%u:%.*s", cpu, (int)bytes, pages);
	put((struct sink *)store, text);
	return true;
}

static void sink_events(struct ftr_store *store, bool has_stacks)
{
	((struct sink *)store)->event_nr++;
}

static void sink_lost(struct ftr_store *store, struct ftr_store_task *task, uint64_t nr,
		      enum ftr_lost_cause cause)
{
	((struct sink *)store)->lost_nr += nr;
}

static void sink_rest(struct ftr_store *store, struct ftr_store_task *task)
{
	((struct sink *)store)->rest_nr++;
}

static const struct ftr_store_ops sink_ops = {
	.append = sink_append, .perf = sink_perf, .kernel = sink_kernel, .events = sink_events,
	.lost = sink_lost, .rest = sink_rest,
};

/* Room for a few records of chunks of one. */
#define CHUNK_BYTES_MAX 128

struct fixture {
	struct sink sink;
	struct ftr_store_flight flight;
	struct ftr_store *store;
	struct ftr_store_task tasks[2];
};

static struct fixture *fixture(uint64_t bytes, uint64_t ns)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.sink.base.ops = &sink_ops;
	f.tasks[0].tid = 7;
	f.tasks[1].tid = 8;
	ftr_store_flight_init(&f.flight, &f.sink.base, &(struct ftr_flight_limits){ bytes, ns });
	f.store = &f.flight.base;
	return &f;
}

/* One record of the task, whose address and time are @n. */
static void append(struct fixture *f, unsigned task, uint64_t n)
{
	const struct ftr_record record = { n, ftr_record_word(FTR_RECORD_ENTRY, 0, n) };

	f->store->ops->append(f->store, &f->tasks[task], &(struct ftr_record_batch){
		.bytes = &record, .len = sizeof(record), .record_nr = 1, .call_nr = 1,
		.last_ns = n });
	assert_int_equal(f->tasks[task].last_ns, n);
}

static void dumps(struct fixture *f, const char *expected)
{
	f->sink.text[0] = '\0';
	f->store->ops->dump(f->store);
	assert_string_equal(f->sink.text, expected);
}

static void nothing_is_passed_on_before_a_dump(void **state)
{
	struct fixture *f = fixture(1 << 20, 0);

	append(f, 0, 1);
	append(f, 1, 2);
	append(f, 0, 3);
	assert_string_equal(f->sink.text, "");
	dumps(f, "7:1 8:2 7:3");
	assert_int_equal(f->sink.rest_nr, 3);	/* no file stays open */
	dumps(f, "");
	append(f, 1, 4);
	dumps(f, "8:4");			/* without a gap */
	assert_int_equal(f->flight.dump_nr, 3);
	ftr_store_flight_fini(&f->flight);
}

static void the_oldest_go_first(void **state)
{
	struct fixture *f = fixture(3 * CHUNK_BYTES_MAX, 0);
	uint64_t n;

	for (n = 1; n <= 100; n++)
		append(f, n % 10 == 0, n);
	assert_in_range(f->flight.bytes, 1, 3 * CHUNK_BYTES_MAX);
	f->store->ops->dump(f->store);
	/* The newest of each, and one LOST before those of a task. */
	assert_int_equal(strncmp(f->sink.text, "7:L", 3), 0);
	assert_non_null(strstr(f->sink.text, " 7:99 8:L9 8:100"));
	assert_null(strstr(strstr(f->sink.text, "7:L") + 1, "7:L"));
	append(f, 0, 101);
	dumps(f, "7:101");
	ftr_store_flight_fini(&f->flight);
}

static void the_lost_are_counted(void **state)
{
	struct fixture *f = fixture(2 * CHUNK_BYTES_MAX, 0);
	unsigned long long lost = 0;
	unsigned words = 1;

	for (uint64_t n = 1; n <= 50; n++)
		append(f, 0, n);
	f->store->ops->dump(f->store);
	assert_int_equal(sscanf(f->sink.text, "7:L%llu", &lost), 1);
	for (const char *p = f->sink.text; (p = strchr(p, ' ')) != NULL; p++)
		words++;
	assert_int_equal(lost + words - 1, 50);
	ftr_store_flight_fini(&f->flight);
}

static void a_time_is_kept(void **state)
{
	struct fixture *f = fixture(1 << 20, 10);

	append(f, 0, 100);
	append(f, 1, 105);
	append(f, 0, 111);
	dumps(f, "8:105 7:L1 7:111");
	append(f, 0, 200);
	append(f, 0, 195);		/* another task's may come later, and be older */
	dumps(f, "7:200 7:195");
	ftr_store_flight_fini(&f->flight);
}

static void a_chunk_larger_than_all(void **state)
{
	struct fixture *f = fixture(16, 0);

	append(f, 0, 1);
	dumps(f, "");
	ftr_store_flight_fini(&f->flight);
}

static void perf_events_are_held_too(void **state)
{
	struct fixture *f = fixture(1 << 20, 0);
	struct iovec parts[] = { { (void *)"ab", 2 }, { (void *)"c", 1 } };

	assert_true(f->store->ops->perf(f->store, 3, NULL, 0));
	assert_string_equal(f->sink.text, "cpu3:");	/* its file is made */
	append(f, 0, 1);
	assert_true(f->store->ops->perf(f->store, 3, parts, 2));
	dumps(f, "7:1 cpu3:abc");
	ftr_store_flight_fini(&f->flight);
}

static void pages_of_the_kernel_are_held_too(void **state)
{
	struct fixture *f = fixture(1 << 20, 0);
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "pages", 5), 5);
	assert_true(f->store->ops->kernel(f->store, 2, fds[0], 5));
	append(f, 0, 1);
	assert_string_equal(f->sink.text, "");
	dumps(f, "kernel2:pages 7:1");
	close(fds[1]);
	assert_false(f->store->ops->kernel(f->store, 2, fds[0], 5));	/* cut short */
	close(fds[0]);
	ftr_store_flight_fini(&f->flight);
}

static void counts_pass_at_once(void **state)
{
	struct fixture *f = fixture(1 << 20, 0);

	f->store->ops->lost(f->store, &f->tasks[0], 5, FTR_LOST_NO_ROOM);
	f->store->ops->events(f->store, false);
	assert_int_equal(f->sink.lost_nr, 5);
	assert_int_equal(f->sink.event_nr, 1);
	append(f, 0, 1);
	ftr_store_flight_fini(&f->flight);	/* what is held is released */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_passed_on_before_a_dump),
		cmocka_unit_test(the_oldest_go_first),
		cmocka_unit_test(the_lost_are_counted),
		cmocka_unit_test(a_time_is_kept),
		cmocka_unit_test(a_chunk_larger_than_all),
		cmocka_unit_test(perf_events_are_held_too),
		cmocka_unit_test(pages_of_the_kernel_are_held_too),
		cmocka_unit_test(counts_pass_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
