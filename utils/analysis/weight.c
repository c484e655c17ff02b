/* SPDX-License-Identifier: MIT */
/* See weight.h. */
#include "utils/analysis/weight.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/duration.h"
#include "utils/base/ostream.h"
#include "utils/base/text.h"

#define COLUMN_WIDTH 10

const char *const ftr_weight_words[] = {
	"time", "bytes", "blocks", "leak", "wait", "samples", NULL,
};

#define OF_MEMORY .events = "requests for memory", .how = "--probe=memory"

static const struct ftr_weight weights[FTR_WEIGHTS] = {
	[FTR_WEIGHT_BYTES] = { FTR_WEIGHT_BYTES, "bytes", "block",
			       "bytes of memory that was given", OF_MEMORY },
	[FTR_WEIGHT_BLOCKS] = { FTR_WEIGHT_BLOCKS, "blocks", "block",
				"blocks of memory that were given", OF_MEMORY },
	[FTR_WEIGHT_LEAK] = { FTR_WEIGHT_LEAK, "bytes", "block",
			      "bytes of memory that nobody gave back", OF_MEMORY },
	[FTR_WEIGHT_WAIT] = { FTR_WEIGHT_WAIT, NULL, "wait", "time of waits",
			      "waits and calls on files or sockets",
			      "--probe=sync,file,net,thread" },
	[FTR_WEIGHT_SAMPLES] = { FTR_WEIGHT_SAMPLES, "samples", "sample", "CPU samples",
				 "CPU samples", "--sample" },
};

const struct ftr_weight *ftr_weight_of(enum ftr_weight_by by)
{
	return by == FTR_WEIGHT_TIME ? NULL : &weights[by];
}

static bool is_time(const struct ftr_weight *weight)
{
	return weight == NULL || weight->unit == NULL;
}

void ftr_weight_write(struct ftr_ostream *out, const struct ftr_weight *weight, uint64_t value,
		      bool use_color)
{
	if (is_time(weight))
		ftr_duration_write(out, value, use_color);
	else if (value == 0)
		ftr_ostream_pad(out, ' ', COLUMN_WIDTH);
	else
		ftr_ostream_u64_width(out, value, COLUMN_WIDTH, ' ');
}

void ftr_weight_text(char text[FTR_WEIGHT_TEXT_MAX], const struct ftr_weight *weight,
		     uint64_t value)
{
	char time[FTR_DURATION_CHARS + 1];

	if (!is_time(weight)) {
		snprintf(text, FTR_WEIGHT_TEXT_MAX, "%" PRIu64 " %s", value, weight->unit);
		return;
	}
	*ftr_fmt_duration(time, value) = '\0';
	snprintf(text, FTR_WEIGHT_TEXT_MAX, "%s",
		 value == 0 ? "0 us" : time + strspn(time, " "));
}
