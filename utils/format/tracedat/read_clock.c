/* SPDX-License-Identifier: MIT */
/*
 * What the times of a trace.dat mean: nanoseconds, or ticks that TSC2NSEC turns into nanoseconds;
 * of a guest, TIME_SHIFT leads to its host's; DATE and OFFSET are added at last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/tracedat/read.h"

bool tdat_clock_is_ticks(const char *name)
{
	static const char *const rows[] = { "x86-tsc", "ppc-tb", "counter", "tsc2nsec" };

	for (size_t i = 0; name != NULL && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(name, rows[i]) == 0)
			return true;
	}
	return false;
}

/* ---- ticks ---- */

static uint64_t multiply_shift(uint64_t value, uint64_t factor, uint32_t shift)
{
	return (uint64_t)((unsigned __int128)value * factor >> shift);
}

/* The sample that counts at a time: the last one before, else the first. */
static const struct tdat_shift *shift_find(const struct tdat_shifts *shifts, uint64_t time)
{
	size_t low = 0, high = shifts->samples.nr;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (shifts->samples.v[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	return &shifts->samples.v[low];
}

static uint64_t shift_apply(const struct tdat_clock *clock, uint32_t cpu, uint64_t time)
{
	const struct tdat_shift *shift;

	if (cpu >= clock->cpus.nr || clock->cpus.v[cpu].samples.nr == 0)
		return time;
	shift = shift_find(&clock->cpus.v[cpu], time);
	if (shift->scaling > 1 || shift->fraction_bits > 0)
		time = multiply_shift(time, shift->scaling, shift->fraction_bits);
	return time + (uint64_t)shift->offset_ns;
}

uint64_t tdat_time_ns(void *arg, const struct ftr_ftrace_cpu *cpu, uint64_t time)
{
	const struct tdat_reader *reader = arg;
	const struct tdat_clock *clock = &reader->clock;
	const struct tdat_buffer *buffer = cpu->buffer;

	if (clock->cpus.nr > 0)
		time = shift_apply(clock, cpu->cpu_nr - 1u, time);
	if (clock->tsc_mult != 0 && (buffer->is_ticks || buffer->clock == NULL))
		time = multiply_shift(time, clock->tsc_mult, clock->tsc_shift);
	return time + (uint64_t)clock->offset_ns;
}

/* ---- TIME_SHIFT ---- */

static int sample_compare(const void *left, const void *right)
{
	uint64_t a = ((const struct tdat_shift *)left)->time;
	uint64_t b = ((const struct tdat_shift *)right)->time;

	return (a > b) - (a < b);
}

/* u32 nr, nr x u64 time, nr x s64 offset, nr x u64 scaling */
static int samples_load(struct tdat_shifts *shifts, struct tdat_part *part)
{
	uint64_t nr = tdat_number(part, 4);

	if (part->is_short || nr > (uint64_t)(part->end - part->at) / 24) {
		part->is_short = true;
		return 0;
	}
	if (ftr_vec_reserve(&shifts->samples, nr) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++)
		shifts->samples.v[i] = (struct tdat_shift){ .time = tdat_number(part, 8) };
	for (uint64_t i = 0; i < nr; i++)
		shifts->samples.v[i].offset_ns = (int64_t)tdat_number(part, 8);
	for (uint64_t i = 0; i < nr; i++)
		shifts->samples.v[i].scaling = tdat_number(part, 8);
	shifts->samples.nr = nr;
	return 0;
}

/* Bits of the scaling behind the point; older files have none. */
static void fractions_load(struct tdat_clock *clock, struct tdat_part *part)
{
	for (size_t cpu = 0; cpu < clock->cpus.nr && part->at < part->end; cpu++) {
		struct tdat_shifts *shifts = &clock->cpus.v[cpu];

		for (size_t i = 0; i < shifts->samples.nr; i++) {
			uint64_t bits = tdat_number(part, 8);

			shifts->samples.v[i].fraction_bits = bits > 63 ? 63 : (uint32_t)bits;
		}
	}
}

static void shifts_drop(struct tdat_clock *clock)
{
	for (size_t i = 0; i < clock->cpus.nr; i++)
		ftr_vec_fini(&clock->cpus.v[i].samples);
	clock->cpus.nr = 0;
}

/* u64 id of the host's trace, u32 flags, u32 CPUs, then for each its samples. */
int tdat_shifts_load(struct tdat_reader *reader, struct tdat_part *part)
{
	struct tdat_clock *clock = &reader->clock;
	uint64_t offset = tdat_offset(part), nr;

	shifts_drop(clock);
	tdat_bytes(part, 8 + 4);
	nr = tdat_number(part, 4);
	for (uint64_t i = 0; i < nr && !part->is_short; i++) {
		if (ftr_vec_push(&clock->cpus, (struct tdat_shifts){ .samples.nr = 0 }) < 0 ||
		    samples_load(&clock->cpus.v[i], part) < 0)
			return -ENOMEM;
	}
	if (!part->is_short)
		fractions_load(clock, part);
	if (part->is_short) {
		tdat_warn(reader, offset, "damaged TIME_SHIFT is ignored: times are the guest's");
		shifts_drop(clock);
	}
	for (size_t i = 0; i < clock->cpus.nr; i++) {
		if (clock->cpus.v[i].samples.nr > 0)
			qsort(clock->cpus.v[i].samples.v, clock->cpus.v[i].samples.nr,
			      sizeof(struct tdat_shift), sample_compare);
	}
	return 0;
}
