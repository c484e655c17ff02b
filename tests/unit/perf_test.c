/* SPDX-License-Identifier: MIT */
/*
 * Perf events: a ring made up here, the kernel's own, and the way from the collector to the reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "utils/format/dir.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/record/collector.h"
#include "utils/record/perf_ring.h"
#include "utils/record/store_dir.h"
#include "utils/trace/args.h"
#include "utils/trace/merge.h"
#include "utils/trace/trace.h"

#define BYTES 256u
#define ROUNDS "20000"		/* two switches each and more: they do not fit a ring */
#define RING_RECORDS (256u * 1024 / 24)

extern const struct ftr_collector ftr_collector_perf;

/* A ring as the kernel writes it. */
struct fixture {
	struct ftr_perf_ring ring;
	struct perf_event_mmap_page page;
	_Alignas(8) uint8_t data[BYTES];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->ring = (struct ftr_perf_ring){
		.fd = -1, .page = &f->page, .data = f->data, .data_bytes = BYTES
	};
	*state = f;
	return f == NULL;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void put(struct fixture *f, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		f->data[f->page.data_head++ % BYTES] = ((const uint8_t *)bytes)[i];
}

static void put_switch(struct fixture *f, uint32_t tid, uint64_t time)
{
	const struct {
		uint32_t type;
		uint16_t misc, size;
		uint32_t pid, tid;
		uint64_t time;
	} record = { PERF_RECORD_SWITCH, 0, sizeof(record), 1, tid, time };

	put(f, &record, sizeof(record));
}

static void test_empty(void **state)
{
	struct fixture *f = *state;
	struct ftr_perf_batch batch;

	assert_false(ftr_perf_ring_peek(&f->ring, &batch));
	f->ring.page = NULL;			/* never mapped */
	assert_false(ftr_perf_ring_peek(&f->ring, &batch));
}

static void test_part(void **state)
{
	struct fixture *f = *state;
	struct ftr_perf_batch batch;

	put_switch(f, 7, 100);
	put_switch(f, 8, 200);
	assert_true(ftr_perf_ring_peek(&f->ring, &batch));
	assert_int_equal(batch.part_nr, 1);
	assert_int_equal(batch.bytes, 48);
	assert_int_equal(batch.records, 2);
	assert_int_equal(batch.lost, 0);
	assert_ptr_equal(batch.parts[0].iov_base, f->data);
	assert_int_equal(f->page.data_tail, 0);		/* ours until it is done with */
	ftr_perf_ring_done(&f->ring, &batch);
	assert_int_equal(f->page.data_tail, 48);
	assert_false(ftr_perf_ring_peek(&f->ring, &batch));
}

static void test_around_the_end(void **state)
{
	struct fixture *f = *state;
	struct ftr_perf_batch batch;
	int i;

	f->page.data_head = f->page.data_tail = 10 * BYTES - 32;
	for (i = 0; i < 3; i++)
		put_switch(f, 7, 100);
	assert_true(ftr_perf_ring_peek(&f->ring, &batch));
	assert_int_equal(batch.part_nr, 2);
	assert_int_equal(batch.parts[0].iov_len, 32);
	assert_ptr_equal(batch.parts[1].iov_base, f->data);
	assert_int_equal(batch.parts[1].iov_len, 40);
	assert_int_equal(batch.records, 3);
	ftr_perf_ring_done(&f->ring, &batch);
	assert_int_equal(f->page.data_tail, 10 * BYTES + 40);
}

static void test_full(void **state)
{
	struct fixture *f = *state;
	struct ftr_perf_batch batch;

	f->page.data_head = f->page.data_tail = BYTES;
	while (f->page.data_head < 2 * BYTES)
		put(f, "\0", 1);
	assert_true(ftr_perf_ring_peek(&f->ring, &batch)); /* no records, but bytes to be kept */
	assert_int_equal(batch.bytes, BYTES);
	assert_int_equal(batch.part_nr, 1);
	assert_int_equal(batch.records, 0);
}

static void test_lost_is_counted(void **state)
{
	struct fixture *f = *state;
	struct ftr_perf_batch batch;
	struct ftr_perf_lost lost;

	f->page.data_head = f->page.data_tail = BYTES - 16;	/* its count lies behind the end */
	ftr_perf_lost_make(&lost, 41, 500);
	put(f, &lost, sizeof(lost));
	put_switch(f, 7, 600);
	ftr_perf_lost_make(&lost, 1, 700);
	put(f, &lost, sizeof(lost));
	assert_true(ftr_perf_ring_peek(&f->ring, &batch));
	assert_int_equal(batch.lost, 42);
	assert_int_equal(batch.records, 3);
}

/* What the collector asks of a recording and of its store. */
struct sink {
	struct ftr_store base;		/* first: ops receive a pointer to it */
	struct ftr_recording recording;
	struct ftr_control control;
	struct ftr_diag diag;
	char text[FTR_EVENTS_TEXT_BYTES];
	char warning[400];
	bool is_full;			/* nothing is kept */
	unsigned files;
	uint64_t bytes, lost_nr, disk_nr;
	uint64_t told_nr; /* by records of the kernel, or of the collector in its place */
	unsigned kinds[PERF_RECORD_MAX];
	char comm[16];
};

static void sink_record(struct sink *sink, const struct perf_event_header *header)
{
	const char *bytes = (const char *)header;
	uint64_t nr;

	assert_true(header->type < PERF_RECORD_MAX);
	sink->kinds[header->type]++;
	if (header->type == PERF_RECORD_COMM && sink->kinds[header->type] == 1)
		snprintf(sink->comm, sizeof(sink->comm), "%s", bytes + 16);
	if (header->type != PERF_RECORD_LOST)
		return;
	memcpy(&nr, bytes + 16, sizeof(nr));
	sink->told_nr += nr;
}

static bool sink_perf(struct ftr_store *store, unsigned cpu, const struct iovec *parts, unsigned nr)
{
	struct sink *sink = (struct sink *)store;
	struct perf_event_header header;
	char *all = NULL;
	size_t len = 0, pos;

	sink->files += nr == 0;
	for (unsigned i = 0; i < nr; i++) {
		all = realloc(all, len + parts[i].iov_len);
		memcpy(all + len, parts[i].iov_base, parts[i].iov_len);
		len += parts[i].iov_len;
	}
	for (pos = 0; pos < len; pos += header.size) {
		memcpy(&header, all + pos, sizeof(header));
		assert_true(header.size >= 24 && header.size <= len - pos);
		sink_record(sink, (const struct perf_event_header *)(all + pos));
	}
	sink->bytes += len;
	free(all);
	return !sink->is_full;
}

static void sink_lost(struct ftr_store *store, struct ftr_store_task *task, uint64_t nr,
		      enum ftr_lost_cause cause)
{
	struct sink *sink = (struct sink *)store;

	assert_null(task);
	assert_true(cause == FTR_LOST_EVENTS || cause == FTR_LOST_DISK);
	*(cause == FTR_LOST_EVENTS ? &sink->lost_nr : &sink->disk_nr) += nr;
}

static const struct ftr_store_ops sink_ops = { .perf = sink_perf, .lost = sink_lost };

static void sink_warn(void *arg, const char *text)
{
	struct sink *sink = arg;

	snprintf(sink->warning, sizeof(sink->warning), "%s", text);
}

/* The collector over a sink; skips the test where the kernel does not permit events. */
static void *collect(struct sink *sink, unsigned events)
{
	void *self;

	*sink = (struct sink){ .base.ops = &sink_ops, .control.clock_id = CLOCK_MONOTONIC };
	sink->diag = (struct ftr_diag){ sink_warn, sink, 0 };
	sink->recording = (struct ftr_recording){
		.store = &sink->base, .diag = &sink->diag, .control = &sink->control,
		.events = events, .events_text = sink->text,
		.why_no_events = events == 0 ? "none: why" : NULL,
	};
	self = ftr_collector_perf.open(&sink->recording, NULL, NULL);
	assert_non_null(self);
	if (events == 0 || strncmp(sink->text, "none", 4) != 0)
		return self;
	assert_non_null(strstr(sink->warning, "--no-event"));	/* a line with a remedy */
	ftr_collector_perf.close(self);
	print_message("skipped: %s\n", sink->text);
	skip();
	return NULL;
}

/* A child that execs this program again. */
static void run(const char *word)
{
	char *const argv[] = { "perf_test", (char *)word, NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_program(void **state)
{
	struct sink sink;
	void *self = collect(&sink, FTR_PERF_ALL);

	assert_true(sink.files > 0);
	assert_string_equal(sink.text,
			    "linux:schedule, linux:task-new, linux:task-exit, linux:task-name");
	run("nap");
	ftr_collector_perf.started(self, getpid());
	(void)ftr_collector_perf.drain(self);
	assert_true(sink.kinds[PERF_RECORD_SWITCH] >= 4);
	assert_int_equal(sink.kinds[PERF_RECORD_FORK], 1); /* not of what was before the exec */
	assert_true(sink.kinds[PERF_RECORD_EXIT] >= 1);
	assert_true(sink.kinds[PERF_RECORD_COMM] >= 1);
	assert_string_equal(sink.comm, "exe");			/* "self/exe": the file's name */
	assert_int_equal(sink.told_nr, 0);
	ftr_collector_perf.close(self);
	assert_int_equal(sink.lost_nr, 0);
}

static void test_kinds(void **state)
{
	struct sink sink;
	void *self = collect(&sink, FTR_PERF_TASK);

	run("nap");
	ftr_collector_perf.close(self);			/* takes what is left */
	assert_int_equal(sink.kinds[PERF_RECORD_SWITCH], 0);
	assert_int_equal(sink.kinds[PERF_RECORD_COMM], 0);
	assert_int_equal(sink.kinds[PERF_RECORD_FORK], 1);
	assert_int_equal(sink.kinds[PERF_RECORD_EXIT], 2);
	self = collect(&sink, FTR_PERF_NAME);
	run("nap");
	ftr_collector_perf.close(self);
	assert_int_equal(sink.kinds[PERF_RECORD_SWITCH], 0);
	assert_int_equal(sink.kinds[PERF_RECORD_COMM], 1);
	assert_int_equal(sink.kinds[PERF_RECORD_EXIT], 2);	/* these come along */
}

static void test_none(void **state)
{
	struct sink sink;
	void *self = collect(&sink, 0);

	assert_string_equal(sink.text, "none: why");
	run("nap");
	ftr_collector_perf.close(self);
	assert_int_equal(sink.files, 0);
	assert_int_equal(sink.bytes, 0);
	assert_string_equal(sink.warning, "");
}

/* With nobody who drains it the ring overflows: whatever is missing is told, in the data, too. */
static void test_overflow(void **state)
{
	struct sink sink;
	void *self = collect(&sink, FTR_PERF_SCHED);
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;

	ftr_collector_perf.watch(self, epoll_fd);
	assert_int_equal(epoll_wait(epoll_fd, &event, 1, 0), 0);
	run("switch");
	assert_int_equal(epoll_wait(epoll_fd, &event, 1, 0), 1);	/* there is much to drain */
	assert_int_equal(event.data.u64, FTR_COLLECTOR_EPOLL_TAG);
	close(epoll_fd);
	ftr_collector_perf.close(self);
	assert_true(sink.kinds[PERF_RECORD_SWITCH] > RING_RECORDS / 2);
	assert_true(sink.lost_nr > 0);
	assert_int_equal(sink.told_nr, sink.lost_nr);
	assert_true(sink.kinds[PERF_RECORD_SWITCH] + sink.lost_nr >= 80000);
}

static void test_disk_full(void **state)
{
	struct sink sink;
	void *self = collect(&sink, FTR_PERF_TASK);

	sink.is_full = true;
	run("nap");
	ftr_collector_perf.close(self);
	assert_int_equal(sink.disk_nr, 3);
	assert_int_equal(sink.lost_nr, 0);
}

/* Files: written by the store, read by the reader. */

static char top[64];

static int setup_dir(void **state)
{
	snprintf(top, sizeof(top), "/tmp/ftr-perf-XXXXXX");
	return mkdtemp(top) == NULL || chdir(top) < 0;
}

static int teardown_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	return chdir("/") < 0 || system(command) != 0;
}

static struct ftr_store_dir *store_open(void)
{
	static struct ftr_store_dir store;
	struct ftr_info info = { .elf_data = 1, .elf_class = 2, .info_mask = FTR_INFO_EVENTS,
				 .events = "linux:schedule" };

	assert_int_equal(ftr_store_dir_open(&store, "d", NULL, NULL), 0);
	assert_int_equal(ftr_uftrace_dir_info(store.dir, &info, NULL), 0);
	return &store;
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? -1 : st.st_size;
}

static void put_calls(struct ftr_store_dir *store, int32_t tid)
{
	const struct ftr_record records[] = {
		{ 1000, ftr_record_word(FTR_RECORD_ENTRY, 0, 0x1000) },
		{ 9000, ftr_record_word(FTR_RECORD_EXIT, 0, 0x1000) },
	};
	const struct ftr_record_batch batch = { records, sizeof(records), 2, 1, 9000, false };
	bool is_new;

	store->base.ops->append(&store->base, ftr_store_dir_task(store, tid, tid, &is_new),
				&batch);
}

static void put_batch(struct ftr_store_dir *store, unsigned cpu, struct fixture *f)
{
	struct ftr_perf_batch batch;

	assert_true(ftr_perf_ring_peek(&f->ring, &batch));
	assert_int_equal(batch.part_nr, 2);
	assert_true(store->base.ops->perf(&store->base, cpu, batch.parts, batch.part_nr));
	ftr_perf_ring_done(&f->ring, &batch);
}

static void put_comm(struct fixture *f, uint32_t tid, uint64_t time)
{
	const struct {
		uint32_t type;
		uint16_t misc, size;
		uint32_t pid, tid;
		char comm[8];
		uint32_t sample_pid, sample_tid;
		uint64_t time;
	} record = { PERF_RECORD_COMM, 0, sizeof(record), tid, tid, "name", tid, tid, time };

	put(f, &record, sizeof(record));
}

static char warnings[1000];

static void keep_warning(void *arg, const char *text)
{
	size_t len = strlen(warnings);

	snprintf(warnings + len, sizeof(warnings) - len, "%s\n", text);
}

static void expect_event(const struct ftr_event *ev, uint64_t time_ns, const char *name,
			 unsigned cpu)
{
	assert_int_equal(ev->type, FTR_EVENT_POINT);
	assert_int_equal(ev->time_ns, time_ns);
	assert_string_equal(ev->point.name, name);
	assert_int_equal(ev->point.cpu_nr, cpu + 1);
}

static void test_read_back(void **state)
{
	struct fixture *f;
	struct ftr_store_dir *store = store_open();
	struct ftr_diag diag = { .warn = keep_warning };
	struct ftr_trace *trace = ftr_trace_new("d", &diag);
	struct ftr_perf_lost lost;
	struct ftr_event *evs;
	struct ftr_dir *dir;
	struct ftr_err err;

	assert_int_equal(setup((void **)&f), 0);
	assert_int_equal(ftr_uftrace_dir_task(store->dir, 900, 7, 7), 0);
	put_calls(store, 7);
	store->base.ops->perf(&store->base, 1, NULL, 0);
	assert_true(store->has_perf);
	f->page.data_head = f->page.data_tail = BYTES - 8;
	put_switch(f, 7, 3000);
	put_switch(f, 99, 3500);			/* of a task that calls nothing */
	put_comm(f, 7, 5000);
	put_batch(store, 2, f);
	f->page.data_head = f->page.data_tail = BYTES - 16;
	ftr_perf_lost_make(&lost, 41, 1500);
	put(f, &lost, sizeof(lost));
	put_switch(f, 7, 2000);
	put_batch(store, 0, f);
	teardown((void **)&f);
	ftr_store_dir_close(store);
	assert_int_equal(size_of("d/perf-cpu0.dat"), 64);
	assert_int_equal(size_of("d/perf-cpu1.dat"), 0);
	assert_int_equal(size_of("d/perf-cpu2.dat"), 88);

	assert_int_equal(ftr_dir_open(&dir, "d", &err), 0);
	assert_int_equal(ftr_uftrace_read_dir(trace, dir, &err), 0);
	assert_string_equal(warnings, "");
	assert_string_equal(trace->info.events, "linux:schedule");
	assert_int_equal(trace->sources.nr, 1);
	assert_int_equal(ftr_source_next(trace->sources.v[0], &evs, &err), 6);
	assert_int_equal(evs[1].type, FTR_EVENT_LOST);
	assert_int_equal(evs[1].time_ns, 1500);
	assert_int_equal(evs[1].lost.nr, 41);
	assert_int_equal(evs[1].lost.cpu_nr, 1);
	assert_int_equal(evs[1].lost.source, FTR_LOST_OF_PERF);
	expect_event(&evs[2], 2000, "linux:sched-in", 0);
	expect_event(&evs[3], 3000, "linux:sched-in", 2);
	expect_event(&evs[4], 5000, "linux:task-name", 2);
	assert_string_equal(trace->tasks.v[0]->name, "name");
	ftr_trace_free(trace);
}

/* A record that does not fit leaves nothing of it behind. */
static void test_file_limit(void **state)
{
	struct ftr_store_dir *store = store_open();
	struct rlimit before, limit;
	char bytes[24] = "";
	struct iovec parts[2] = { { bytes, 8 }, { bytes + 8, 16 } };

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ 40, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(store->base.ops->perf(&store->base, 0, parts, 2));
	assert_false(store->base.ops->perf(&store->base, 0, parts, 2));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(size_of("d/perf-cpu0.dat"), 24);
	assert_true(store->base.ops->perf(&store->base, 0, parts, 2));
	assert_int_equal(size_of("d/perf-cpu0.dat"), 48);
	assert_true(store->has_failed);
	ftr_store_dir_close(store);
}

/* What the child does. */

static int nap(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	usleep(1000);
	return 0;
}

/* Two processes on one CPU that hand a byte to and fro. */
static int switch_about(void)
{
	int there[2], back[2];
	cpu_set_t cpus;
	char byte = 0;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (pipe(there) < 0 || pipe(back) < 0)
		return 1;
	if (fork() == 0) {
		close(there[1]);		/* so that the other's end is an end of file */
		while (read(there[0], &byte, 1) == 1)
			(void)!write(back[1], &byte, 1);
		_exit(0);
	}
	close(there[0]);
	for (int i = 0; i < atoi(ROUNDS); i++)
		(void)!(write(there[1], &byte, 1) + read(back[0], &byte, 1));
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_part, setup, teardown),
		cmocka_unit_test_setup_teardown(test_around_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_is_counted, setup, teardown),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test_setup_teardown(test_read_back, setup_dir, teardown_dir),
		cmocka_unit_test_setup_teardown(test_file_limit, setup_dir, teardown_dir),
	};

	if (argc == 2)		/* at exit LeakSanitizer makes a task of its own */
		_exit(strcmp(argv[1], "nap") == 0 ? nap() : switch_about());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
