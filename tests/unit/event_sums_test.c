/* SPDX-License-Identifier: MIT */
/* Events of the kernel, made up: how often they happen, and what takes from one to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "utils/analysis/event_sums.h"
#include "utils/trace/event.h"
#include "utils/trace/task.h"

static struct ftr_task tasks[3] = { { .tid = 0 }, { .pid = 1, .tid = 1 }, { .pid = 1, .tid = 2 } };

static int setup(void **state)
{
	*state = ftr_event_sums_new(NULL);
	return *state == NULL;
}

static int teardown(void **state)
{
	ftr_sink_free(*state);
	return 0;
}

/* At @ns, of a task, on a CPU (0 = not known). */
static void put(void **state, uint64_t ns, int task, uint16_t cpu_nr, const char *name,
		const char *text)
{
	struct ftr_sink *sink = *state;
	struct ftr_payload payload = { .data = (const uint8_t *)text,
				       .len = (uint16_t)strlen(text) };
	struct ftr_event ev = { .type = FTR_EVENT_POINT, .time_ns = ns, .task = &tasks[task],
				.point = { .name = name, .id = 5, .cpu_nr = cpu_nr },
				.payload = &payload };

	assert_int_equal(sink->ops->event(sink, &ev), 0);
}

static const struct ftr_sum *find(void **state, const char *name)
{
	const struct ftr_sums *sums = ftr_event_sums_get(*state);

	for (size_t i = 0; i < sums->rows.nr; i++) {
		if (strcmp(sums->rows.v[i].name, name) == 0)
			return &sums->rows.v[i];
	}
	return NULL;
}

static void expect(void **state, const char *name, uint64_t nr, uint64_t total, uint64_t least,
		   uint64_t most)
{
	const struct ftr_sum *sum = find(state, name);

	assert_non_null(sum);
	assert_int_equal(sum->calls, nr);
	assert_int_equal(sum->total_ns, total);
	assert_int_equal(sum->min_ns, least);
	assert_int_equal(sum->max_ns, most);
}

static void counted(void **state)
{
	put(state, 10, 1, 1, "kmem:kmalloc", "");
	put(state, 20, 2, 1, "kmem:kmalloc", "");
	expect(state, "kmem:kmalloc", 2, 0, 0, 0);
	assert_int_equal(find(state, "kmem:kmalloc")->start_ns, 10);
	assert_int_equal(find(state, "kmem:kmalloc")->end_ns, 20);
}

/* Other programs' halves: linux:schedule brings its begin along. */
static void pairs_of_others(void **state)
{
	struct ftr_event ev = { .type = FTR_EVENT_POINT, .time_ns = 30, .task = &tasks[1],
				.point = { .name = "linux:schedule", .start_ns = 10 } };
	struct ftr_sink *sink = *state;

	assert_int_equal(sink->ops->event(sink, &ev), 0);
	expect(state, "linux:schedule", 1, 20, 20, 20);
}

static void wake_up_to_run(void **state)
{
	put(state, 100, 2, 1, "sched:sched_waking", "comm=a pid=7 prio=120 target_cpu=000");
	put(state, 105, 2, 1, "sched:sched_wakeup", "comm=a pid=7 prio=120 target_cpu=000");
	put(state, 110, 2, 1, "sched:sched_waking", "comm=x pid=70 prio=120 target_cpu=000");
	put(state, 130, 2, 1, "sched:sched_switch",
	    "prev_comm=b prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=a next_pid=7 "
	    "next_prio=120");
	expect(state, "sched: wake-up to run", 1, 30, 30, 30);
	put(state, 150, 2, 1, "sched:sched_switch",
	    "prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=x next_pid=70 "
	    "next_prio=120");
	expect(state, "sched: wake-up to run", 2, 70, 30, 40);
}

/* Who is woken while it runs does not wait; names may look like labels. */
static void wake_up_of_the_awake(void **state)
{
	put(state, 100, 1, 1, "sched:sched_waking", "comm=a pid=9 pid=7 prio=120 target_cpu=000");
	put(state, 110, 1, 1, "sched:sched_switch",
	    "prev_comm=a prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=b next_pid=8 "
	    "next_prio=120");
	put(state, 190, 1, 1, "sched:sched_switch",
	    "prev_comm=b prev_pid=8 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 "
	    "next_prio=120");
	expect(state, "sched: wake-up to run", 0, 0, 0, 0);
}

static void system_calls(void **state)
{
	put(state, 10, 1, 1, "syscalls:sys_enter_read", "");
	put(state, 12, 2, 2, "syscalls:sys_enter_read", "");
	put(state, 20, 2, 2, "syscalls:sys_exit_read", "0x0");
	put(state, 40, 1, 1, "syscalls:sys_exit_read", "0x0");
	expect(state, "syscalls: read", 2, 38, 8, 30);
	/* One that does not return, and the end of one whose begin is not there. */
	put(state, 50, 1, 1, "syscalls:sys_enter_execve", "");
	put(state, 60, 1, 1, "syscalls:sys_exit_write", "0x0");
	expect(state, "syscalls: execve", 0, 0, 0, 0);
	expect(state, "syscalls: write", 0, 0, 0, 0);
}

static void requests(void **state)
{
	put(state, 10, 1, 1, "block:block_rq_issue", "8,0 W 4096 () 1000 + 8 none,0,0 [cp]");
	put(state, 20, 1, 1, "block:block_rq_issue", "8,16 W 4096 () 1000 + 8 none,0,0 [cp]");
	put(state, 50, 0, 2, "block:block_rq_complete", "8,16 W () 1000 + 8 none,0,0 [0]");
	put(state, 90, 0, 2, "block:block_rq_complete", "8,0 W () 1000 + 8 none,0,0 [0]");
	put(state, 95, 0, 2, "block:block_rq_complete", "nonsense");
	expect(state, "block: request to completion", 2, 110, 30, 80);
}

/* On each CPU another may run, and each kind of softirq waits for itself. */
static void interrupts(void **state)
{
	put(state, 10, 1, 1, "irq:softirq_raise", "vec=1 [action=TIMER]");
	put(state, 11, 1, 1, "irq:softirq_raise", "vec=9 [action=RCU]");
	put(state, 12, 2, 2, "irq:softirq_raise", "vec=1 [action=TIMER]");
	put(state, 20, 1, 1, "irq:softirq_entry", "vec=9 [action=RCU]");
	put(state, 25, 1, 1, "irq:softirq_exit", "vec=9 [action=RCU]");
	put(state, 40, 2, 2, "irq:softirq_entry", "vec=1 [action=TIMER]");
	expect(state, "irq: raised to softirq", 2, 37, 9, 28);
	expect(state, "irq: softirq", 1, 5, 5, 5);
	put(state, 41, 2, 0, "irq:softirq_exit", "vec=1 [action=TIMER]");	/* where? */
	expect(state, "irq: softirq", 1, 5, 5, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counted, setup, teardown),
		cmocka_unit_test_setup_teardown(pairs_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(wake_up_to_run, setup, teardown),
		cmocka_unit_test_setup_teardown(wake_up_of_the_awake, setup, teardown),
		cmocka_unit_test_setup_teardown(system_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(requests, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
