/* SPDX-License-Identifier: MIT */
/*
 * Who runs where, by what the kernel's scheduler says: the event sched_switch names the task that
 * leaves a CPU and the one that gets it.  Only where nothing else says who runs.
 */
#include <errno.h>

#include "utils/analysis/event_pairs.h"
#include "utils/export/html_lanes_data.h"
#include "utils/trace/event.h"
#include "utils/trace/trace.h"

int html_lane_run_end(struct ftr_html_lanes *self, struct html_lane_task *task, uint64_t time_ns)
{
	struct html_item run = { task->run_ns, time_ns - task->run_ns, task->run_cpu };

	task->is_running = false;
	return html_lane_item_add(self, task, HTML_LANE_RUNS, run);
}

/* Events of the CPU are lost: the task ran to its last one at least. */
static int run_end_unseen(struct ftr_html_lanes *self, struct html_lane_task *task)
{
	uint64_t end_ns = task->last_ns > task->run_ns ? task->last_ns : task->run_ns;

	task->is_running &= end_ns > task->run_ns;
	return task->is_running ? html_lane_run_end(self, task, end_ns) : 0;
}

/* What @tid has been doing; *task is NULL where nobody knows it, and of a CPU that is idle. */
static int task_find(struct ftr_html_lanes *self, int32_t tid, struct html_lane_task **task)
{
	const struct ftr_task *of = tid == 0 ? NULL : ftr_trace_task_find(self->trace, tid);

	*task = of == NULL ? NULL : html_lane_task_get(self, of);
	return of != NULL && *task == NULL ? -ENOMEM : 0;
}

static int task_leaves(struct ftr_html_lanes *self, int32_t tid, uint16_t cpu_nr, uint64_t time_ns)
{
	const struct html_lane_cpu *cpu = &self->cpus.v[cpu_nr];
	struct html_lane_task *task;

	if (task_find(self, tid, &task) < 0)
		return -ENOMEM;
	if (task == NULL)
		return 0;
	if (task->is_running && task->run_cpu != cpu_nr)	/* how it came here was lost */
		return run_end_unseen(self, task);
	if (!task->has_switched && cpu->since_ns < time_ns) {	/* it ran before that */
		task->is_running = true;
		task->run_ns = cpu->since_ns;
		task->run_cpu = cpu_nr;
	}
	task->has_switched = true;
	return task->is_running ? html_lane_run_end(self, task, time_ns) : 0;
}

static int task_comes(struct ftr_html_lanes *self, int32_t tid, uint16_t cpu_nr, uint64_t time_ns)
{
	struct html_lane_task *task;

	if (task_find(self, tid, &task) < 0)
		return -ENOMEM;
	if (task == NULL)
		return 0;
	if (run_end_unseen(self, task) < 0)
		return -ENOMEM;
	task->has_switched = true;
	task->is_running = true;
	task->run_ns = time_ns;
	task->run_cpu = cpu_nr;
	return 0;
}

/* Another one leaves the CPU than @tid, which had got it. */
static int missed_switch(struct ftr_html_lanes *self, int32_t tid, uint16_t cpu_nr)
{
	struct html_lane_task *task;

	if (task_find(self, tid, &task) < 0)
		return -ENOMEM;
	return task != NULL && task->run_cpu == cpu_nr ? run_end_unseen(self, task) : 0;
}

/* Tasks that still run do so until the end, if anything of them was seen. */
int html_lane_switches_end(struct ftr_html_lanes *self)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < self->tasks.nr; i++) {
		struct html_lane_task *task = &self->tasks.v[i];

		if (task->is_running && task->has_events && task->run_ns < self->end_ns)
			ret = html_lane_run_end(self, task, self->end_ns);
	}
	return ret;
}

int html_lane_cpu_see(struct ftr_html_lanes *self, uint16_t cpu_nr, uint64_t time_ns)
{
	while (self->cpus.nr <= cpu_nr) {
		if (ftr_vec_push(&self->cpus, ((struct html_lane_cpu){ .since_ns = UINT64_MAX })) <
		    0)
			return -ENOMEM;
	}
	if (self->cpus.v[cpu_nr].since_ns == UINT64_MAX)
		self->cpus.v[cpu_nr].since_ns = time_ns;
	return 0;
}

int html_lane_switch_take(struct ftr_html_lanes *self, const struct ftr_event *ev)
{
	uint16_t cpu_nr = ev->point.cpu_nr;
	struct ftr_task_switch tasks;
	struct html_lane_cpu *cpu;

	if (self->has_sched || cpu_nr == 0 || !ftr_task_switch_read(&tasks, ev))
		return 0;
	cpu = &self->cpus.v[cpu_nr];
	if (cpu->tid != tasks.prev_tid && missed_switch(self, cpu->tid, cpu_nr) < 0)
		return -ENOMEM;
	if (task_leaves(self, tasks.prev_tid, cpu_nr, ev->time_ns) < 0 ||
	    task_comes(self, tasks.next_tid, cpu_nr, ev->time_ns) < 0)
		return -ENOMEM;
	*cpu = (struct html_lane_cpu){ ev->time_ns, tasks.next_tid };
	return 0;
}

/* Others say it better. */
void html_lane_switches_drop(struct ftr_html_lanes *self)
{
	self->has_sched = true;
	self->lanes[HTML_LANE_RUNS] = (struct html_lane_state){ .nr = 0 };
	for (size_t i = 0; i < self->tasks.nr; i++) {
		self->tasks.v[i].lanes[HTML_LANE_RUNS].nr = 0;
		self->tasks.v[i].is_running = false;
	}
}
