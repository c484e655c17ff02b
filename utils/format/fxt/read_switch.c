/* SPDX-License-Identifier: MIT */
/* FXT reader: scheduling records, of which a context switch makes two events. */
#include <errno.h>

#include "utils/format/fxt/read_source.h"

/* A half of a context switch: the task leaves the CPU, or gets it. */
static int take_switch(struct fxt_source *self, size_t nr, struct ftr_task *task, bool is_out,
		       const unsigned cpu_state[2])
{
	struct ftr_event *ev = &self->evs[nr];
	bool is_preempted = is_out && cpu_state[1] <= FXT_STATE_RUNNING;

	fxt_event_begin(self, ev, FTR_EVENT_POINT);
	ev->task = task;
	ev->point.cpu_nr = (uint16_t)(cpu_state[0] < UINT16_MAX ? cpu_state[0] + 1 : 0);
	ev->flags = is_preempted ? FTR_EVENT_PREEMPTED : 0;
	if (!is_out)
		ev->point.id = FTR_EVENT_ID_SCHED_IN;
	else
		ev->point.id = is_preempted ? FTR_EVENT_ID_SCHED_OUT_PREEMPTED :
					      FTR_EVENT_ID_SCHED_OUT;
	ev->point.name = ftr_event_kind_by_id(ev->point.id)->name;
	return 1;
}

/* The task of a thread ref or of koids at *pos in a legacy record. */
static struct ftr_task *legacy_task(struct fxt_reader *r, const struct fxt_decoded *record,
				    bool is_out)
{
	uint64_t header = record->at.header, pos = record->at.offset + 16;
	unsigned out_ref = fxt_legacy_out_ref(header);
	unsigned ref = is_out ? out_ref : fxt_legacy_in_ref(header);

	if (ref != 0)
		return fxt_slot_find(&fxt_provider_at(r, record->at.offset)->threads[ref],
				     record->at.offset);
	if (!is_out && out_ref == 0)
		pos += 16;
	if (pos + 16 > record->at.offset + record->at.bytes)
		return NULL;
	return fxt_task_of(r, fxt_word(r, pos), fxt_word(r, pos + 8));
}

/* Who leaves (@is_out) or gets the CPU in the record; NULL = the idle thread (0), or damage. */
static struct ftr_task *switch_task(struct fxt_reader *r, const struct fxt_decoded *record,
				    bool is_out)
{
	uint64_t pos = record->at.offset + (is_out ? 16 : 24);
	struct ftr_task *task = NULL;

	if (fxt_sched_type(record->at.header) == FXT_SCHED_LEGACY)
		task = legacy_task(r, record, is_out);
	else if (record->at.bytes >= 32 && (fxt_word(r, pos) & INT32_MAX) != 0)
		task = fxt_task_by_thread(r, fxt_word(r, pos));
	return task == NULL || task->tid == 0 ? NULL : task;
}

static int take_wakeup(struct fxt_source *self, size_t nr)
{
	struct ftr_event *ev = &self->evs[nr];
	struct fxt_decoded *record = &self->record;
	uint64_t cpu = fxt_sched_cpu(record->at.header);
	struct fxt_args_out out;

	if ((fxt_word(self->r, record->at.offset + 16) & INT32_MAX) == 0)
		return 0;
	record->task = fxt_task_by_thread(self->r, fxt_word(self->r, record->at.offset + 16));
	if (record->task == NULL)
		return -ENOMEM;
	fxt_event_begin(self, ev, FTR_EVENT_POINT);
	ev->point.name = FXT_EVENT_WAKEUP;
	ev->point.cpu_nr = (uint16_t)(cpu < UINT16_MAX ? cpu + 1 : 0);
	fxt_event_args(self, ev, nr, &out);
	return 1;
}

int fxt_take_scheduling(struct fxt_source *self, size_t nr, unsigned step)
{
	uint64_t header = self->record.at.header;
	bool is_legacy = fxt_sched_type(header) == FXT_SCHED_LEGACY;
	const unsigned cpu_state[2] = {
		(unsigned)(is_legacy ? fxt_legacy_cpu(header) : fxt_sched_cpu(header)),
		(unsigned)(is_legacy ? fxt_legacy_state(header) : fxt_sched_state(header)),
	};
	struct ftr_task *task;

	if (fxt_sched_type(header) == FXT_SCHED_WAKEUP)
		return step == 0 ? take_wakeup(self, nr) : 0;
	if (fxt_sched_type(header) > FXT_SCHED_WAKEUP) {
		self->r->skipped_nr += step == 0;
		return 0;
	}
	task = switch_task(self->r, &self->record, step == 0);
	if (task == NULL)
		return self->r->is_failed ? -ENOMEM : 0;
	return take_switch(self, nr, task, step == 0, cpu_state);
}
