/* SPDX-License-Identifier: MIT */
/*
 * Records to runs in one pass (doc/adr/0054).  Only plain calls become part of a run
 * (read_match.c); whatever else there is ends it, and is for read_data.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/read_match.h"

#define SUMS_MANY 256u	/* fewer of them cost nothing */

/* When something comes, behind @time_ns, that is no record: a side event, a change of the map. */
static uint64_t limit_behind(const struct uft_task *data, uint64_t time_ns)
{
	const struct ftr_task *task = data->task;
	uint64_t limit_ns = UINT64_MAX, next_ns = UINT64_MAX;
	const struct ftr_session *session = NULL;
	size_t low = 0, high = data->side.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (data->side.v[mid].time_ns <= time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < data->side.nr)
		limit_ns = data->side.v[low].time_ns;
	for (uint32_t i = 0; i < task->session_nr; i++) {
		if (i > 0 && task->sessions[i]->start_ns > time_ns) {
			next_ns = task->sessions[i]->start_ns;
			break;
		}
		session = task->sessions[i];
	}
	limit_ns = next_ns < limit_ns ? next_ns : limit_ns;
	if (session != NULL)
		ftr_session_epoch(session, time_ns, &next_ns);
	return next_ns < limit_ns ? next_ns : limit_ns;
}

/* An empty run at p.  False where none can begin there. */
static bool run_begin(struct uft_match *match, const struct uft_task *task, struct uft_run *run)
{
	struct uft_chunk *chunk = match->chunk;
	uint64_t first_ns;

	if ((size_t)(match->end - match->p) < UFT_RECORD_BYTES)
		return false;
	first_ns = ftr_get_u64(match->p, match->is_big);
	*run = (struct uft_run){
		.from = (size_t)(match->p - task->in.data),
		.limit_ns = limit_behind(task, first_ns),
		.first_ns = first_ns,
		.sum_at = chunk->sums.nr,
		.end_at = chunk->ends.nr,
		.open_at = chunk->opens.nr,
	};
	if (!uft_match_begin(match, run->limit_ns))
		return false;
	run->base_depth = match->base_depth;
	return true;
}

/* Is the run no gain? */
static bool run_is_thin(const struct uft_chunk *chunk, const struct uft_run *run)
{
	size_t record_nr = (run->to - run->from) / UFT_RECORD_BYTES;

	return run->sum_nr >= SUMS_MANY && record_nr < chunk->wish.events_a_sum * run->sum_nr;
}

static int run_end(struct uft_match *match, const struct uft_task *task, struct uft_run *run)
{
	struct uft_chunk *chunk = match->chunk;

	if (uft_match_end(match, &run->outside_ns) < 0)
		return -ENOMEM;
	run->to = (size_t)(match->p - task->in.data);
	run->last_ns = match->last_ns;
	run->sum_nr = match->sum_nr;
	run->end_nr = chunk->ends.nr - run->end_at;
	run->open_nr = match->open_nr;
	/* Behind the limit: the times did not ascend. */
	if (run->to == run->from || run->last_ns >= run->limit_ns)
		return 0;
	chunk->is_thin = run_is_thin(chunk, run);
	if (chunk->is_thin)
		return 0;
	return ftr_vec_push(&chunk->runs, *run);
}

/* Step over records that are no calls and have no payload: a run may begin behind them. */
static void others_pass(struct uft_match *match)
{
	for (; (size_t)(match->end - match->p) >= UFT_RECORD_BYTES; match->p += UFT_RECORD_BYTES) {
		uint64_t word = ftr_get_u64(match->p + 8, match->is_big);

		if (!ftr_record_is_valid(word) || ftr_record_has_payload(word) ||
		    ftr_record_type(word) <= FTR_RECORD_EXIT)
			break;
	}
}

static bool chunk_begin(struct uft_chunk *chunk)
{
	chunk->runs.nr = chunk->sums.nr = chunk->ends.nr = chunk->opens.nr = 0;
	chunk->is_thin = chunk->is_left = false;
	chunk->is_out_of_memory = !uft_match_room(chunk);
	return !chunk->is_out_of_memory;
}

void uft_chunk_make(struct uft_chunk *chunk, const struct uft_task *task, bool is_big, size_t from,
		    size_t to)
{
	struct uft_match match = { .chunk = chunk, .p = task->in.data + from,
				   .end = task->in.data + to, .is_big = is_big };
	const uint8_t *begin;
	struct uft_pins pins = { .packed = task->packed };
	struct uft_run run;
	enum uft_stop stop;

	chunk->from = from;
	chunk->to = to;
	if (!chunk_begin(chunk))
		return;
	if (uft_pins_need(&pins, from, to) < 0)
		chunk->is_out_of_memory = true;
	others_pass(&match);
	do {
		const uint8_t *done;

		begin = match.p;
		if (!run_begin(&match, task, &run))
			break;
		do
			stop = uft_match_block(&match);
		while (stop == UFT_STOP_END &&
		       (size_t)(match.end - match.p) >= UFT_RECORD_BYTES);
		if (run_end(&match, task, &run) < 0)
			chunk->is_out_of_memory = true;
		done = match.p;
		others_pass(&match);
		if (stop == UFT_STOP_OTHER && match.p == done)
			break;
	} while (!chunk->is_out_of_memory && !chunk->is_thin && match.p > begin);
	uft_pins_release(&pins);
	uft_window_forget(&task->in, from, (size_t)(match.p - task->in.data));
}

void uft_chunk_fini(struct uft_chunk *chunk)
{
	ftr_vec_fini(&chunk->runs);
	ftr_vec_fini(&chunk->sums);
	ftr_vec_fini(&chunk->ends);
	ftr_vec_fini(&chunk->opens);
	ftr_vec_fini(&chunk->frames);
	free(chunk->slots);
	chunk->slots = NULL;
}
