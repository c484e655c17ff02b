/* SPDX-License-Identifier: MIT */
/*
 * Processors of functions: a task was on one since the start of a call if it left it later, or is
 * there.
 */
#include "utils/analysis/cpus.h"

#include <errno.h>

#include "utils/base/bits.h"
#include "utils/trace/event_kind.h"

unsigned ftr_cpu_set_count(const struct ftr_cpu_set *set)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < FTR_CPUS_MAX / FTR_CPU_WORD_BITS; i++)
		nr += (unsigned)__builtin_popcountll(set->words[i]);
	return nr;
}

/* task-new happens on the CPU of another task: the one that made this. */
static bool is_about_the_task(const struct ftr_event *ev)
{
	return ev->point.cpu_nr != 0 && ev->point.cpu_nr <= FTR_CPUS_MAX &&
	       (ftr_event_is_sched_out(ev) || ftr_event_is_sched_in(ev) ||
		ftr_event_kind_id(ev) == FTR_EVENT_ID_TASK_NAME);
}

int ftr_cpu_track_point(struct ftr_cpu_track *track, const struct ftr_event *ev)
{
	if (!is_about_the_task(ev))
		return 0;
	if (ftr_vec_extend(&track->until_ns, ev->point.cpu_nr) < 0)
		return -ENOMEM;
	track->until_ns.v[ev->point.cpu_nr - 1] = ev->time_ns;
	track->current_nr = ftr_event_is_sched_out(ev) ? 0 : ev->point.cpu_nr;
	return 0;
}

static void set_add(struct ftr_cpu_set *set, unsigned cpu)
{
	set->words[cpu / FTR_CPU_WORD_BITS] |= FTR_BIT64(cpu % FTR_CPU_WORD_BITS);
}

void ftr_cpu_track_since(const struct ftr_cpu_track *track, uint64_t start_ns,
			 struct ftr_cpu_set *set)
{
	for (unsigned i = 0; i < track->until_ns.nr; i++) {
		if (track->until_ns.v[i] != 0 && track->until_ns.v[i] >= start_ns)
			set_add(set, i);
	}
	if (track->current_nr != 0)
		set_add(set, track->current_nr - 1);
}

void ftr_cpu_track_fini(struct ftr_cpu_track *track)
{
	ftr_vec_fini(&track->until_ns);
}
