/* SPDX-License-Identifier: MIT */
/*
 * What programs say of themselves by the public header ftr.h, as events (doc/adr/0082).  Programs
 * find the table at the end by its name.
 */
#include <stddef.h>
#include <time.h>

#include "libmcount/ftr.h"
#include "libmcount/interposed.h"
#include "libmcount/state.h"
#include "libmcount/thread.h"
#include "utils/proto/record.h"

#define NS_PER_S UINT64_C(1000000000)

#define RETURN_SLOT() ((const uintptr_t *)__builtin_frame_address(0) + 1)

static void user_mark(const char *name)
{
	const uint64_t values[] = { 0 };

	ftr_interposed_put_name(FTR_RECORD_EVENT_USER_MARK, values, 1, RETURN_SLOT(), name);
}

static void user_message(const char *text)
{
	const uint64_t values[] = { 0 };

	ftr_interposed_put_name(FTR_RECORD_EVENT_USER_MESSAGE, values, 1, RETURN_SLOT(), text);
}

static void user_counter(const char *name, uint64_t double_bits)
{
	const uint64_t values[] = { double_bits, 0 };

	ftr_interposed_put_name(FTR_RECORD_EVENT_USER_COUNTER, values, 2, RETURN_SLOT(), name);
}

static void user_chart(const char *name, uint32_t type, uint32_t color)
{
	const uint64_t values[] = { type, color, 0 };

	ftr_interposed_put_name(FTR_RECORD_EVENT_USER_CHART, values, 3, RETURN_SLOT(), name);
}

/* Not of the trace's clock, which may not be one of nanoseconds. */
static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct ftr_span user_span_begin(const char *name)
{
	struct ftr_span span = { atomic_fetch_add(&ftr_state.span_nr, 1) + 1, now_ns() };
	const uint64_t values[] = { span.id, 0 };

	ftr_interposed_put_name(FTR_RECORD_EVENT_USER_SPAN_BEGIN, values, 2, RETURN_SLOT(), name);
	return span;
}

static void user_span_end(const char *name, struct ftr_span span)
{
	const uint64_t values[] = { span.id, now_ns() - span.start_ns, 0 };

	ftr_interposed_put_name(FTR_RECORD_EVENT_USER_SPAN_END, values, 3, RETURN_SLOT(), name);
}

FTR_EXPORT extern const struct ftr_user_api ftr_user_api_1;
const struct ftr_user_api ftr_user_api_1 = {
	.bytes = sizeof(struct ftr_user_api),
	.version = 1,
	.mark = user_mark,
	.message = user_message,
	.counter = user_counter,
	.chart = user_chart,
	.span_begin = user_span_begin,
	.span_end = user_span_end,
};
