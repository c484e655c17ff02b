/* SPDX-License-Identifier: MIT */
/* Edit distance between short names. */
#include "utils/base/closest.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LEN_MAX FTR_CLOSEST_NAME_BYTES

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

static unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned before[LEN_MAX + 1], last[LEN_MAX + 1], row[LEN_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		last[j] = (unsigned)j;
	memcpy(before, last, sizeof(before));
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = min3(last[j] + 1, row[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		memcpy(before, last, sizeof(before));
		memcpy(last, row, sizeof(last));
	}
	return last[b_len];
}

void ftr_closest_try(struct ftr_closest *closest, const char *word, const char *name)
{
	size_t word_len = strlen(word), name_len = strlen(name);
	unsigned distance;

	if (word_len > LEN_MAX || name_len > LEN_MAX)
		return;
	distance = edit_distance(word, word_len, name, name_len);
	if (distance > 3 || distance * 2 > name_len)
		return;
	if (closest->name[0] != '\0' && closest->distance <= distance)
		return;
	memcpy(closest->name, name, name_len + 1);
	closest->distance = distance;
}

const char *ftr_closest_ask(struct ftr_closest *closest, const char *prefix, const char *otherwise)
{
	if (closest->name[0] == '\0')
		return otherwise;
	assert(strlen(prefix) <= 2);
	snprintf(closest->question, sizeof(closest->question), "; did you mean %s%s?", prefix,
		 closest->name);
	return closest->question;
}
