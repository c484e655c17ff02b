/* SPDX-License-Identifier: MIT */
/*
 * SWAP writer: the system's state.  The counters of one sample, which have one time, are one SYSTEM
 * message; what ftr does not record is zero.
 */
#include <errno.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/format/swap/write.h"
#include "utils/trace/system.h"

#define KB	    1024u
#define NS_PER_MS   1000000u
#define STATUSES    13u		/* WiFi ... data network: of phones */
#define DEVICE_CPU  1u		/* flash, CPU, screen */
#define PERCENT_MAX 100.0f

static uint64_t float_bits(float number)
{
	uint32_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static int put_zeros(struct swap_writer *w, unsigned nr)
{
	int ret = 0;

	while (ret == 0 && nr-- > 0)
		ret = swap_put_number(w, 0);
	return ret;
}

static void system_clear(struct swap_system *system)
{
	system->last_ns = system->time_ns;
	system->loads.nr = 0;
	system->tasks.nr = 0;
	system->memory_bytes = system->energy_uj = 0;
	system->sent_bytes = system->received_bytes = 0;
	memset(system->disks, 0, sizeof(system->disks));
	system->is_open = false;
}

/* ---- what events add ---- */

static int add_cpu(struct swap_system *system, const struct ftr_system_sample *sample,
		   uint32_t cpu_nr)
{
	const uint64_t *values = sample->values;
	uint64_t busy = values[FTR_SYSTEM_CPU_USER] + values[FTR_SYSTEM_CPU_SYSTEM];
	uint64_t all = busy + values[FTR_SYSTEM_CPU_IDLE];

	if (sample->number >= cpu_nr)
		return -EINVAL;
	if (ftr_vec_reach(&system->loads, sample->number) < 0)
		return -ENOMEM;
	system->loads.v[sample->number] = all == 0 ? 0 : PERCENT_MAX * (float)busy / (float)all;
	return 0;
}

static int add_task(struct swap_system *system, const struct ftr_system_sample *sample)
{
	const uint64_t *values = sample->values;
	struct swap_system_task task = { .pid = sample->pid, .tid = sample->tid };

	task.is_process = sample->id == FTR_EVENT_ID_SYSTEM_PROCESS;
	if (task.is_process) {
		task.used_ms = values[FTR_SYSTEM_PROCESS_USER] + values[FTR_SYSTEM_PROCESS_SYSTEM];
		task.virtual_bytes = values[FTR_SYSTEM_PROCESS_VIRTUAL] * KB;
		task.resident_bytes = values[FTR_SYSTEM_PROCESS_RESIDENT] * KB;
		task.shared_bytes = values[FTR_SYSTEM_PROCESS_SHARED] * KB;
	} else {
		task.used_ms = values[FTR_SYSTEM_THREAD_USER] + values[FTR_SYSTEM_THREAD_SYSTEM];
	}
	return ftr_vec_push(&system->tasks, task);
}

static int sample_add(struct swap_writer *w, const struct ftr_system_sample *sample)
{
	struct swap_system *system = &w->system;

	switch (sample->id) {
	case FTR_EVENT_ID_SYSTEM_CPU:
		return add_cpu(system, sample, w->layout.cpu_nr);
	case FTR_EVENT_ID_SYSTEM_MEMORY:
		system->memory_bytes = sample->values[FTR_SYSTEM_MEMORY_USED] * KB;
		return 0;
	case FTR_EVENT_ID_SYSTEM_DISK:
		memcpy(system->disks, sample->values, sizeof(system->disks));
		return 0;
	case FTR_EVENT_ID_SYSTEM_NETWORK:
		system->sent_bytes = sample->values[FTR_SYSTEM_NETWORK_SENT];
		system->received_bytes = sample->values[FTR_SYSTEM_NETWORK_RECEIVED];
		return 0;
	case FTR_EVENT_ID_SYSTEM_ENERGY:
		system->energy_uj = sample->values[0];
		return 0;
	case FTR_EVENT_ID_SYSTEM_PROCESS:
	case FTR_EVENT_ID_SYSTEM_THREAD:
		return add_task(system, sample);
	default:
		return -EINVAL;		/* the load, which the protocol has no field for */
	}
}

int swap_add_system(struct swap_writer *w, const struct ftr_event *ev)
{
	struct ftr_system_sample sample;
	int ret;

	if (!ftr_system_sample_get(ev, &sample))
		return 0;
	ret = sample_add(w, &sample);
	if (ret == -ENOMEM)
		return swap_no_memory(w);
	if (w->base.out->owns_fd)
		swap_side_put_sample(&w->system.side, &sample);
	else
		w->point_cut_nr += ret < 0;
	w->system.is_open = true;
	w->system.time_ns = ev->time_ns;
	return 1;
}

/* ---- the message ---- */

/* Percent of all processors' time since the sample before. */
static float load_of(const struct swap_writer *w, const struct swap_system_task *task)
{
	uint64_t ns = w->system.time_ns - w->system.last_ns;
	float load;

	if (w->system.last_ns == 0 || ns == 0)
		return 0;
	load = PERCENT_MAX * (float)(task->used_ms * NS_PER_MS) /
	       ((float)ns * (float)w->layout.cpu_nr);
	return load < PERCENT_MAX ? load : PERCENT_MAX;
}

static int put_threads(struct swap_writer *w, uint32_t pid)
{
	const struct swap_system *system = &w->system;
	size_t at = w->values.all.nr;
	int ret = swap_put_number(w, 0);

	for (size_t i = 0; ret == 0 && i < system->tasks.nr; i++) {
		const struct swap_system_task *task = &system->tasks.v[i];

		if (task->is_process || task->pid != pid)
			continue;
		ret = swap_put_number(w, task->tid);
		if (ret == 0)
			ret = swap_put_number(w, float_bits(load_of(w, task)));
		w->values.all.v[at].u++;
	}
	return ret;
}

static int put_processes(struct swap_writer *w)
{
	const struct swap_system *system = &w->system;
	size_t at = w->values.all.nr;
	int ret = swap_put_number(w, 0);

	for (size_t i = 0; ret == 0 && i < system->tasks.nr; i++) {
		const struct swap_system_task *task = &system->tasks.v[i];
		const uint64_t numbers[] = {
			task->pid, float_bits(load_of(w, task)), task->virtual_bytes,
			task->resident_bytes, task->shared_bytes, 0, 0,	/* PSS, allocated */
		};

		if (!task->is_process)
			continue;
		ret = swap_put_numbers(w, numbers, sizeof(numbers) / sizeof(numbers[0]));
		if (ret == 0)
			ret = put_threads(w, task->pid);
		w->values.all.v[at].u++;
	}
	return ret;
}

/* Frequencies, which are not recorded, and loads. */
static int put_cpus(struct swap_writer *w)
{
	const struct swap_system *system = &w->system;
	int ret = swap_put_number(w, w->layout.cpu_nr);

	if (ret == 0)
		ret = put_zeros(w, w->layout.cpu_nr);
	if (ret == 0)
		ret = swap_put_number(w, w->layout.cpu_nr);
	for (uint32_t i = 0; ret == 0 && i < w->layout.cpu_nr; i++)
		ret = swap_put_number(w, i < system->loads.nr ? float_bits(system->loads.v[i]) : 0);
	return ret;
}

/* In watts: of all, of each device, of the program on each. */
static int put_energy(struct swap_writer *w)
{
	uint64_t ns = w->system.time_ns - w->system.last_ns;
	uint64_t watts = w->system.last_ns == 0 || ns == 0 ? 0 :
			 (w->system.energy_uj * 1000 + ns / 2) / ns;
	int ret = swap_put_number(w, watts);

	if (ret == 0)
		ret = swap_put_number(w, w->layout.device_nr);
	for (uint32_t i = 0; ret == 0 && i < w->layout.device_nr; i++)
		ret = swap_put_number(w, i == DEVICE_CPU ? watts : 0);
	if (ret == 0)
		ret = swap_put_number(w, w->layout.device_nr);
	return ret == 0 ? put_zeros(w, w->layout.device_nr) : ret;
}

int swap_write_system(struct swap_writer *w)
{
	const struct swap_system *system = &w->system;
	const uint64_t more[] = {
		0, 0,			/* other processes, MB used on disks */
		(uint32_t)system->disks[0], (uint32_t)system->disks[1],
		(uint32_t)system->disks[2], (uint32_t)system->disks[3],
		(uint32_t)system->sent_bytes, (uint32_t)system->received_bytes,
	};
	uint64_t time_ns = system->time_ns;

	swap_values_begin(w);
	if (put_cpus(w) < 0 || swap_put_number(w, system->memory_bytes) < 0 ||
	    put_processes(w) < 0 || swap_put_numbers(w, more, sizeof(more) / sizeof(more[0])) < 0 ||
	    put_zeros(w, STATUSES) < 0 || put_energy(w) < 0)
		return swap_no_memory(w);
	system_clear(&w->system);
	return swap_write(w, SWAP_MSG_SYSTEM, time_ns);
}

/* Its time is when the recording began; what it says is not known then. */
int swap_write_system_begin(struct swap_writer *w, uint64_t time_ns)
{
	int ret;

	w->system.time_ns = time_ns;
	ret = swap_write_system(w);
	w->system.last_ns = 0;
	return ret;
}
