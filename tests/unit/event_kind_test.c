/* SPDX-License-Identifier: MIT */
/* The kinds of events: the table is sorted, its rows agree with each other and with proto/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "utils/base/strbuf.h"
#include "utils/proto/record.h"
#include "utils/proto/stack_part.h"
#include "utils/trace/event_kind.h"

/* Both ways lead to the row, so ids ascend and names are unique. */
static void test_find(void **state)
{
	const struct ftr_event_kind *kind;
	uint64_t last_id = 0;
	size_t pos = 0;

	while ((kind = ftr_event_kind_next(&pos)) != NULL) {
		assert_true(kind->id > last_id);
		assert_true(kind->id > FTR_TRACEPOINT_ID_MAX);
		assert_ptr_equal(ftr_event_kind_by_id(kind->id), kind);
		assert_ptr_equal(ftr_event_kind_by_name(kind->name), kind);
		last_id = kind->id;
	}
	assert_true(pos > 20);
	assert_null(ftr_event_kind_by_id(0));
	assert_null(ftr_event_kind_by_id(UINT64_MAX));
	assert_null(ftr_event_kind_by_id(FTR_EVENT_ID_SCHED_IN + (UINT64_C(1) << 32)));
	assert_null(ftr_event_kind_by_name("linux:sched"));
}

static void test_data(void **state)
{
	const struct ftr_event_kind *kind;
	size_t pos = 0;

	while ((kind = ftr_event_kind_next(&pos)) != NULL) {
		bool has_values = kind->data == FTR_EVENT_DATA_VALUES ||
				  kind->data == FTR_EVENT_DATA_DIFFERENCES;

		assert_int_equal(kind->value_nr > 0, has_values);
		for (unsigned i = 0; i < FTR_EVENT_VALUES_MAX; i++)
			assert_int_equal(kind->labels[i] != NULL, i < kind->value_nr);
		assert_true(kind->unit == NULL || has_values);
		assert_int_equal(kind->spec != NULL, kind->data == FTR_EVENT_DATA_SPEC);
	}
}

static void test_pairs(void **state)
{
	const struct ftr_event_kind *kind, *closing;
	size_t pos = 0;
	uint32_t closing_ids[FTR_EVENT_PAIRS_MAX + 1] = { 0 };
	unsigned nr = 0, pairs = 0;

	while ((kind = ftr_event_kind_next(&pos)) != NULL) {
		assert_true(kind->pair == 0 || kind->closed_by != 0);
		if (kind->closed_by == 0)
			continue;
		closing = ftr_event_kind_by_id(kind->closed_by);
		assert_non_null(closing);
		assert_int_equal(closing->closed_by, 0);
		assert_int_equal(closing->value_nr, kind->value_nr);
		assert_int_equal(closing->is_runtime, kind->is_runtime);
		if (kind->pair != 0)
			assert_string_equal(ftr_event_pair_name(kind->id),
					    ftr_event_kind_by_id(kind->pair)->name);
		nr++;
		if (kind->pair == 0)
			continue;
		while (closing_ids[pairs] != closing->id && closing_ids[pairs] != 0)
			pairs++;
		assert_true(pairs < FTR_EVENT_PAIRS_MAX);
		closing_ids[pairs] = closing->id;
		pairs = 0;
	}
	assert_int_equal(nr, 58);
	assert_string_equal(ftr_event_pair_name(FTR_EVENT_ID_SCHED_OUT), "linux:schedule");
	assert_string_equal(ftr_event_pair_name(FTR_EVENT_ID_SCHED_OUT_PREEMPTED),
			    "linux:schedule (pre-empted)");
}

/* What libmcount writes into its rings is what readers find; trace/ may not include proto/. */
static void test_runtime(void **state)
{
	static const uint32_t ids[] = {
		FTR_RECORD_EVENT_STALL_BEGIN, FTR_RECORD_EVENT_STALL_END,
		FTR_RECORD_EVENT_ERRNO, FTR_RECORD_EVENT_STACK_PART,
		FTR_RECORD_EVENT_BACKTRACE, FTR_RECORD_EVENT_SDT,
		FTR_RECORD_EVENT_MALLOC, FTR_RECORD_EVENT_CALLOC, FTR_RECORD_EVENT_MEMALIGN,
		FTR_RECORD_EVENT_NEW, FTR_RECORD_EVENT_REALLOC, FTR_RECORD_EVENT_FREE,
		FTR_RECORD_EVENT_DELETE, FTR_RECORD_EVENT_MMAP, FTR_RECORD_EVENT_MUNMAP,
		FTR_RECORD_EVENT_MREMAP, FTR_RECORD_EVENT_BRK,
#define CALL(what) FTR_RECORD_EVENT_##what, FTR_RECORD_EVENT_DONE_OF(FTR_RECORD_EVENT_##what)
#define WAIT(what) CALL(SYNC_##what)
#define OF_FILE(what) CALL(FILE_##what)
#define OF_NET(what) CALL(NET_##what)
		WAIT(MUTEX), WAIT(READ), WAIT(WRITE), WAIT(COND), WAIT(BARRIER), WAIT(SEM),
		WAIT(JOIN), OF_FILE(READ), OF_FILE(WRITE), OF_FILE(LOCK), OF_FILE(UNLOCK),
		OF_FILE(CLOSE), OF_FILE(SEEK), OF_FILE(FLUSH), OF_FILE(SETSIZE), OF_FILE(SETMODE),
		OF_FILE(DUP), OF_FILE(READDIR), OF_FILE(SETOWNER), OF_FILE(FSTAT), OF_FILE(OPEN),
		OF_FILE(OPENDIR),
		OF_FILE(MKDIR), OF_FILE(CHDIR), OF_FILE(UNLINK), OF_FILE(CHMOD), OF_FILE(CHOWN),
		OF_FILE(TRUNCATE), OF_FILE(STAT), OF_FILE(ACCESS),
		OF_FILE(RENAME), OF_FILE(LINK), OF_FILE(SYMLINK),
		OF_NET(SOCKET), OF_NET(BIND), OF_NET(CONNECT), OF_NET(LISTEN), OF_NET(ACCEPT),
		OF_NET(RECEIVE), OF_NET(SEND), OF_NET(RECEIVE_FROM), OF_NET(SEND_TO),
		OF_NET(SHUTDOWN), OF_NET(CLOSE), OF_NET(DUP), OF_NET(WAIT),
		CALL(THREAD_CREATE), CALL(THREAD_DETACH), CALL(THREAD_CANCEL),
		FTR_RECORD_EVENT_THREAD_EXIT,
		FTR_RECORD_EVENT_USER_MARK, FTR_RECORD_EVENT_USER_MESSAGE,
		FTR_RECORD_EVENT_USER_COUNTER, FTR_RECORD_EVENT_USER_CHART,
		FTR_RECORD_EVENT_USER_SPAN_BEGIN, FTR_RECORD_EVENT_USER_SPAN_END,
		FTR_RECORD_EVENT_STACK,
	};
	const struct ftr_event_kind *kind;
	size_t pos = 0, nr = 0;

	while ((kind = ftr_event_kind_next(&pos)) != NULL) {
		if (!kind->is_runtime)
			continue;
		assert_false(kind->is_uftrace);
		assert_true(nr < sizeof(ids) / sizeof(ids[0]));
		assert_int_equal(kind->id, ids[nr++]);
	}
	assert_int_equal(nr, sizeof(ids) / sizeof(ids[0]));
	assert_int_equal(FTR_EVENT_STACK_PART_MAX, FTR_STACK_PART_PAYLOAD);
}

static void test_perf_names(void **state)
{
	static const struct {
		unsigned perf;
		const char *names;
	} rows[] = {
		{ 0, "" },
		{ FTR_PERF_SCHED, "linux:schedule" },
		{ FTR_PERF_TASK, "linux:task-new, linux:task-exit" },
		{ FTR_PERF_ALL,
		  "linux:schedule, linux:task-new, linux:task-exit, linux:task-name" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ftr_strbuf text;

		ftr_strbuf_init(&text);
		ftr_event_perf_names(rows[i].perf, &text);
		assert_string_equal(ftr_strbuf_str(&text), rows[i].names);
		ftr_strbuf_fini(&text);
	}
}

/* The payload of an event of the runtime is as long as its row says. */
static void payload_fits_its_kind(void **state)
{
	const struct ftr_event_kind text = { .data = FTR_EVENT_DATA_TEXT, .bytes_max = 16 };
	const struct ftr_event_kind bytes = { .data = FTR_EVENT_DATA_BYTES, .bytes_max = 1020 };
	const struct ftr_event_kind *statm = ftr_event_kind_by_name("read:proc/statm");
	const struct ftr_event_kind *stall = ftr_event_kind_by_name("ftr:stall-begin");

	assert_true(ftr_event_kind_fits(&text, 0));
	assert_true(ftr_event_kind_fits(&text, 16));
	assert_false(ftr_event_kind_fits(&text, 17));
	assert_true(ftr_event_kind_fits(&bytes, 1020));
	assert_false(ftr_event_kind_fits(&bytes, 1021));
	assert_true(ftr_event_kind_fits(stall, 0));
	assert_false(ftr_event_kind_fits(stall, 1));
	assert_true(ftr_event_kind_fits(ftr_event_kind_by_name("memory:free"), 16));
	assert_false(ftr_event_kind_fits(ftr_event_kind_by_name("memory:free"), 24));
	/* Three numbers and a text, which may be empty. */
	assert_true(ftr_event_kind_fits(ftr_event_kind_by_name("file:open"), 28));
	assert_true(ftr_event_kind_fits(ftr_event_kind_by_name("file:open"), 80));
	assert_false(ftr_event_kind_fits(ftr_event_kind_by_name("file:open"), 24));
	assert_false(ftr_event_kind_fits(ftr_event_kind_by_name("file:open"), 30));
	assert_false(ftr_event_kind_fits(ftr_event_kind_by_name("file:rename"), 28));
	assert_true(ftr_event_kind_fits(ftr_event_kind_by_name("memory:mremap"), 40));
	assert_true(ftr_event_kind_fits(statm, 24));
	assert_false(ftr_event_kind_fits(statm, 16));
	assert_false(ftr_event_kind_fits(ftr_event_kind_by_name("linux:task-name"), 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payload_fits_its_kind),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_runtime),
		cmocka_unit_test(test_perf_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
