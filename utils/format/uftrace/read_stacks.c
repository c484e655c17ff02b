/* SPDX-License-Identifier: MIT */
/*
 * Which stacks a thread's TID.dat speaks of, so that the trace has their tasks before anything of
 * it is shown.  Runs over the file once, where events.txt says that there are any.
 */
#include "utils/base/bytes.h"
#include "utils/format/uftrace/read_data.h"
#include "utils/proto/record.h"
#include "utils/trace/coroutines.h"

#define WINDOW_BYTES FTR_MIB(2)
#define JUMP_NS FTR_BIT64(40)	/* further ahead is no time: what is there is no record */

/* By number: when the stack first occurs; 0 = it does not. */
struct stacks {
	uint64_t first_ns[FTR_STACK_MAX + 1];
};

/* Returns whether there are any. */
static bool stacks_scan(const struct uft_reader *reader, const struct uft_task *task,
			struct stacks *stacks)
{
	const struct ftr_istream *in = &task->in;
	struct uft_pins pins = { .packed = task->packed };
	const uint64_t mask = FTR_RECORD_MAGIC_MASK | FTR_RECORD_MORE | FTR_RECORD_TYPE_MASK;
	const uint64_t event = FTR_RECORD_MAGIC | FTR_RECORD_EVENT;
	uint64_t last_ns = 0;
	size_t pos = 0, kept = 0;
	bool is_any = false;

	while (pos + sizeof(struct ftr_record) <= in->size) {
		uint64_t time_ns, word, id;

		if (pos - kept >= WINDOW_BYTES) {
			uft_window_forget(in, kept, pos);
			kept = pos;
		}
		uft_pins_need(&pins, pos, pos + sizeof(struct ftr_record));
		uft_pins_pass(&pins, pos);
		time_ns = ftr_get_u64(in->data + pos, reader->is_big);
		word = ftr_get_u64(in->data + pos + 8, reader->is_big);
		id = ftr_record_addr(word);
		if ((word & FTR_RECORD_MAGIC_MASK) != FTR_RECORD_MAGIC ||
		    (last_ns != 0 && time_ns - last_ns > JUMP_NS)) {
			pos += 8;	/* in a payload, or damage */
			continue;
		}
		if ((word & mask) == event && ftr_record_is_stack_id(id)) {
			is_any = true;
			if (stacks->first_ns[ftr_record_stack_nr(id)] == 0)
				stacks->first_ns[ftr_record_stack_nr(id)] = time_ns;
		}
		if (ftr_record_type(word) != FTR_RECORD_LOST)
			last_ns = time_ns;
		pos += sizeof(struct ftr_record);
	}
	uft_pins_release(&pins);
	uft_window_forget(in, kept, pos);
	return is_any;
}

/* Recorders have named ftr:stack with the other events, so that there may be none. */
int uft_stacks_load(struct uft_reader *reader)
{
	size_t task_nr = reader->tasks.nr;
	bool is_any = false;

	for (size_t i = 0; reader->trace->has_coroutines && i < task_nr; i++) {
		struct uft_task *data = reader->tasks.v[i];
		struct stacks stacks = { { 0 } };

		if (data->in.size == 0)
			continue;
		is_any |= stacks_scan(reader, data, &stacks);
		for (uint32_t nr = 1; nr <= FTR_STACK_MAX; nr++) {
			struct ftr_task *task;

			if (stacks.first_ns[nr] == 0)
				continue;
			task = ftr_coroutine_task(reader->trace, data->task, nr);
			if (task == NULL)
				return -ENOMEM;
			task->start_ns = stacks.first_ns[nr];
		}
	}
	reader->trace->has_coroutines &= is_any;
	return 0;
}
