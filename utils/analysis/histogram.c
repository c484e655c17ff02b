/* SPDX-License-Identifier: MIT */
/* Percentiles in bounded memory. */
#include "utils/analysis/histogram.h"

#include "utils/base/bits.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PART_BITS 6
#define PARTS	  FTR_BIT(PART_BITS)

static unsigned octave_of(uint64_t value)
{
	return value < PARTS ? 0 : 64 - PART_BITS - (unsigned)__builtin_clzll(value);
}

/* How far the parts of an octave are apart, as a shift. */
static unsigned width_bits(unsigned octave)
{
	return octave == 0 ? 0 : octave - 1;
}

/* How many values are in @value's part of its octave; NULL = out of memory. */
static uint64_t *part_get(struct ftr_histogram *histogram, uint64_t value)
{
	unsigned octave = octave_of(value);
	uint64_t **parts = &histogram->octaves[octave];

	if (*parts == NULL)
		*parts = calloc(PARTS, sizeof(**parts));
	return *parts == NULL ? NULL : &(*parts)[value >> width_bits(octave) & (PARTS - 1)];
}

static int count(struct ftr_histogram *histogram, uint64_t value)
{
	uint64_t *part = part_get(histogram, value);

	if (part == NULL)
		return -ENOMEM;
	(*part)++;
	return 0;
}

static int few_add(struct ftr_histogram *histogram, uint64_t value)
{
	size_t at = histogram->nr;

	if (histogram->few == NULL)
		histogram->few = malloc(FTR_HISTOGRAM_FEW * sizeof(*histogram->few));
	if (histogram->few == NULL)
		return -ENOMEM;
	for (; at > 0 && histogram->few[at - 1] > value; at--)
		histogram->few[at] = histogram->few[at - 1];
	histogram->few[at] = value;
	return 0;
}

static int few_count(struct ftr_histogram *histogram)
{
	for (size_t i = 0; i < FTR_HISTOGRAM_FEW; i++)
		if (count(histogram, histogram->few[i]) < 0)
			return -ENOMEM;
	free(histogram->few);
	histogram->few = NULL;
	return 0;
}

int ftr_histogram_add(struct ftr_histogram *histogram, uint64_t value)
{
	int ret = 0;

	if (histogram->nr < FTR_HISTOGRAM_FEW)
		ret = few_add(histogram, value);
	else if (histogram->nr == FTR_HISTOGRAM_FEW)
		ret = few_count(histogram);
	if (ret == 0 && histogram->nr >= FTR_HISTOGRAM_FEW)
		ret = count(histogram, value);
	if (ret < 0)
		return ret;
	if (histogram->nr == 0 || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->nr++;
	return 0;
}

int ftr_histogram_add_times(struct ftr_histogram *histogram, uint64_t value, uint64_t times)
{
	int ret = 0;

	for (; ret == 0 && times > 0 && histogram->nr <= FTR_HISTOGRAM_FEW; times--)
		ret = ftr_histogram_add(histogram, value);
	if (ret < 0 || times == 0)
		return ret;
	ret = ftr_histogram_add(histogram, value);
	if (ret < 0)
		return ret;
	*part_get(histogram, value) += times - 1;
	histogram->nr += times - 1;
	return 0;
}

/* The middle of the part that the value of @rank, from 1 on, is in. */
static uint64_t value_at(const struct ftr_histogram *histogram, uint64_t rank)
{
	for (unsigned octave = 0; octave < FTR_HISTOGRAM_OCTAVES; octave++) {
		const uint64_t *parts = histogram->octaves[octave];
		unsigned shift = width_bits(octave);

		for (unsigned i = 0; parts != NULL && i < PARTS; i++) {
			uint64_t part = (octave == 0 ? 0 : PARTS) + i;

			if (rank <= parts[i])
				return (part << shift) + FTR_BIT64(shift) / 2;
			rank -= parts[i];
		}
	}
	return histogram->max;
}

uint64_t ftr_histogram_percentile(const struct ftr_histogram *histogram, unsigned percent)
{
	uint64_t nr = histogram->nr, rank, value;

	assert(percent >= 1 && percent <= 100);
	if (nr == 0)
		return 0;
	rank = nr / 100 * percent + (nr % 100 * percent + 99) / 100;
	if (histogram->few != NULL)
		return histogram->few[rank - 1];
	if (rank == nr)
		return histogram->max;
	value = value_at(histogram, rank);
	if (value < histogram->min)
		return histogram->min;
	return value < histogram->max ? value : histogram->max;
}

void ftr_histogram_fini(struct ftr_histogram *histogram)
{
	free(histogram->few);
	for (unsigned i = 0; i < FTR_HISTOGRAM_OCTAVES; i++)
		free(histogram->octaves[i]);
	memset(histogram, 0, sizeof(*histogram));
}
