/* SPDX-License-Identifier: MIT */
/*
 * Samples of the processors (record --sample): where a task was, and who had called that.  The data
 * of such an event are addresses, each a u64: of the instruction, and behind it the return
 * addresses up to the thread's beginning, as far as frame pointers lead.
 */
#ifndef FTR_TRACE_SAMPLE_H
#define FTR_TRACE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct ftr_event;
struct ftr_func;
struct ftr_trace;

#define FTR_SAMPLE_FRAMES_MAX 127u

struct ftr_sample {
	unsigned nr;
	/* The innermost one first; where nothing is known of an address, its module. */
	const struct ftr_func *frames[FTR_SAMPLE_FRAMES_MAX];
	/*
	 * The last frame is that of a traced call, whose return address leads to the runtime: what
	 * follows are the task's open calls.
	 */
	bool is_to_call;
};

/* Of a POINT whose kind has FTR_EVENT_DATA_STACK.  0 or -ENOMEM. */
int ftr_sample_read(struct ftr_sample *sample, const struct ftr_event *ev,
		    struct ftr_trace *trace);

/*
 * The function that @addr lies in where @ev happens, else what is named by the module, or
 * "<unknown>".  NULL = out of memory.
 */
const struct ftr_func *ftr_sample_func(struct ftr_trace *trace, const struct ftr_event *ev,
				       uint64_t addr);

#endif /* FTR_TRACE_SAMPLE_H */
