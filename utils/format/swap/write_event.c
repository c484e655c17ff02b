/* SPDX-License-Identifier: MIT */
/* SWAP writer: one message of an event. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/swap/write.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/syscall.h"

struct swap_task *swap_task_get(struct swap_writer *w, const struct ftr_task *task)
{
	while (w->tasks.nr <= task->id) {
		if (ftr_vec_push(&w->tasks, ((struct swap_task){ .cpu = SWAP_CPU_UNKNOWN })) < 0)
			return NULL;
	}
	w->tasks.v[task->id].is_seen = true;
	return &w->tasks.v[task->id];
}

/* ---- arguments ---- */

/* The type of a number; what another type would keep is counted. */
static char type_of(struct swap_writer *w, const struct ftr_arg *arg)
{
	bool is_wide = arg->size > 4;

	w->arg_cut_nr += arg->name != NULL;
	switch (arg->format) {
	case FTR_ARG_CHAR:
		return 'c';
	case FTR_ARG_BOOL:
		return 'b';
	case FTR_ARG_POINTER:
		return 'p';
	case FTR_ARG_FLOAT:
		w->arg_cut_nr += arg->size > 8;
		return is_wide ? 'w' : 'f';
	case FTR_ARG_STRING:
		w->arg_cut_nr += arg->type_name != NULL;
		return 's';
	case FTR_ARG_WORD:
	case FTR_ARG_STRUCT:
	case FTR_ARG_ENUM:
		w->arg_cut_nr++;
		return 's';
	case FTR_ARG_AUTO:
		w->arg_cut_nr += !is_wide;
		break;
	case FTR_ARG_SIGNED:
		w->arg_cut_nr += arg->size != 4;
		break;
	default:
		w->arg_cut_nr++;
		break;
	}
	return is_wide ? 'x' : 'd';
}

static uint64_t float_bits(const struct ftr_value *value, char type)
{
	double wide = (double)value->f;
	float narrow = (float)value->f;
	uint64_t bits = 0;
	uint32_t half;

	memcpy(&bits, &wide, sizeof(bits));
	memcpy(&half, &narrow, sizeof(half));
	return type == 'w' ? bits : half;
}

/* A text for an argument: as it is, or as people see it.  Kept in w->text. */
static int put_text_arg(struct swap_writer *w, const struct ftr_event *ev,
			const struct ftr_value *value)
{
	struct swap_value arg = { .type = 's' };
	size_t at = w->text.len;

	if (value->arg->format == FTR_ARG_STRING)
		ftr_strbuf_put(&w->text, value->str.s, value->str.len);
	else
		ftr_value_format(value, (struct ftr_trace *)w->trace,
				 ftr_task_session_at(ev->task, ev->time_ns), &w->text);
	arg.u = at;			/* its address is known when all are there */
	arg.len = (uint32_t)(w->text.len - at);
	return w->text.failed ? -ENOMEM : ftr_vec_push(&w->values.all, arg);
}

static int put_args(struct swap_writer *w, const struct ftr_event *ev, unsigned *count)
{
	struct ftr_value value;
	unsigned nr = 0, pos = 0;
	size_t first = w->values.all.nr;
	int ret = 0;

	ftr_strbuf_clear(&w->text);
	while (ret == 0 && ev->payload != NULL &&
	       ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		char type = type_of(w, value.arg);

		if (type == 'p')
			swap_load_symbols(w, ev, value.u);
		if (type == 's')
			ret = put_text_arg(w, ev, &value);
		else if (value.arg->format == FTR_ARG_FLOAT)
			ret = swap_put_arg(w, type, float_bits(&value, type));
		else
			ret = swap_put_arg(w, type, value.u);
	}
	for (size_t i = first; ret == 0 && i < w->values.all.nr; i++) {
		if (w->values.all.v[i].type == 's')
			w->values.all.v[i].s = ftr_strbuf_str(&w->text) + w->values.all.v[i].u;
	}
	*count = nr;
	return ret;
}

/* ---- calls ---- */

/* The bit of SYSCALL messages: files, or processes. */
static uint64_t probe_type(enum ftr_sysid id)
{
	switch (ftr_sysid_kind(id)) {
	case FTR_SYSCALL_EXEC:
	case FTR_SYSCALL_FORK:
	case FTR_SYSCALL_CLONE:
	case FTR_SYSCALL_EXIT:
	case FTR_SYSCALL_COMM:
		return 0x04;
	case FTR_SYSCALL_CLOSE:
	case FTR_SYSCALL_DUP:
	case FTR_SYSCALL_PIPE:
		return 0x20;
	default:
		return 0x01;
	}
}

/* pid, tid, of system calls their class, the function, its caller, the CPU. */
static int put_call(struct swap_writer *w, const struct ftr_event *ev, uint64_t addr,
		    const struct swap_task *task)
{
	size_t nr = task->open.nr;
	uint64_t caller = nr == 0 ? 0 : task->open.v[nr - 1];

	swap_values_begin(w);
	if (swap_put_number(w, (uint32_t)ev->task->pid) < 0 ||
	    swap_put_number(w, (uint32_t)ev->task->tid) < 0 ||
	    (ev->call.func->sysid != 0 &&
	     swap_put_number(w, probe_type(ev->call.func->sysid)) < 0) ||
	    swap_put_number(w, addr) < 0 || swap_put_number(w, caller) < 0)
		return -ENOMEM;
	return swap_put_number(w, task->cpu);
}

/* The task of a call, and the address of its function; NULL = out of memory. */
static struct swap_task *task_of_call(struct swap_writer *w, const struct ftr_event *ev,
				      uint64_t *addr)
{
	struct swap_task *task = swap_task_get(w, ev->task);

	*addr = 0;
	return task == NULL || swap_func_addr(w, ev, addr) < 0 ? NULL : task;
}

static int write_entry(struct swap_writer *w, const struct ftr_event *ev)
{
	bool is_syscall = ev->call.func->sysid != 0;
	struct swap_task *task;
	uint64_t addr;
	unsigned nr;
	size_t at;

	task = task_of_call(w, ev, &addr);
	if (task == NULL)
		return swap_no_memory(w);
	w->mark_cut_nr += (ev->flags & (FTR_EVENT_INFERRED | FTR_EVENT_NO_ENTRY)) != 0;
	if (put_call(w, ev, addr, task) < 0 || ftr_vec_push(&task->open, addr) < 0)
		return swap_no_memory(w);
	at = w->values.all.nr;
	if (swap_put_number(w, 0) < 0 || put_args(w, ev, &nr) < 0)
		return swap_no_memory(w);
	w->values.all.v[at].u = nr;
	return swap_write(w, is_syscall ? SWAP_MSG_SYSCALL_ENTRY : SWAP_MSG_FUNCTION_ENTRY,
			  ev->time_ns);
}

static int write_exit(struct swap_writer *w, const struct ftr_event *ev)
{
	bool is_syscall = ev->call.func->sysid != 0;
	struct swap_task *task;
	uint64_t addr;
	unsigned nr;
	size_t at;

	task = task_of_call(w, ev, &addr);
	if (task == NULL)
		return swap_no_memory(w);
	if (task->open.nr > 0)
		task->open.nr--;
	if (ev->flags & FTR_EVENT_UNFINISHED)
		return 0;	/* an entry without exit */
	w->mark_cut_nr += (ev->flags & (FTR_EVENT_INFERRED | FTR_EVENT_LEFT)) != 0;
	w->syscall_cut_nr += is_syscall;
	if (put_call(w, ev, addr, task) < 0)
		return swap_no_memory(w);
	at = w->values.all.nr;
	if (put_args(w, ev, &nr) < 0 || (nr == 0 && swap_put_arg(w, 'v', 0) < 0))
		return swap_no_memory(w);
	w->arg_cut_nr += nr > 1;
	w->values.all.nr = at + 1;
	return swap_write(w, is_syscall ? SWAP_MSG_SYSCALL_EXIT : SWAP_MSG_FUNCTION_EXIT,
			  ev->time_ns);
}

/* ---- points ---- */

static int write_switch(struct swap_writer *w, const struct ftr_event *ev, struct swap_task *task)
{
	bool is_in = ftr_event_is_sched_in(ev);
	uint32_t cpu = ev->point.cpu_nr == 0 ? task->cpu : ev->point.cpu_nr - 1u;

	w->point_cut_nr += !is_in && (ev->flags & FTR_EVENT_PREEMPTED) != 0;
	swap_values_begin(w);
	if (swap_put_number(w, 0) < 0 || swap_put_number(w, (uint32_t)ev->task->pid) < 0 ||
	    swap_put_number(w, (uint32_t)ev->task->tid) < 0 || swap_put_number(w, cpu) < 0)
		return swap_no_memory(w);
	return swap_write(w, is_in ? SWAP_MSG_CONTEXT_SWITCH_ENTRY : SWAP_MSG_CONTEXT_SWITCH_EXIT,
			  ev->time_ns);
}

/* The parsed values are an id, which stands in the header, and bytes. */
static int write_unknown(struct swap_writer *w, const struct ftr_event *ev)
{
	const struct swap_message bytes = { .fields = swap_message_unknown.fields + 1,
					    .field_nr = 1 };
	uint64_t id = w->values.all.v[0].u;

	if (id == 0 || id > SWAP_ID_MAX)
		return -EINVAL;
	w->values.all.v[0] = w->values.all.v[1];
	w->values.all.nr = 1;
	return swap_write_message(w, &bytes, (uint32_t)id, ev->time_ns);
}

/* What the reader showed as text, back into the message that it was. */
static int write_shown(struct swap_writer *w, const struct ftr_event *ev)
{
	const char *name = ev->point.name + strlen("swap:");
	const struct swap_message *message = swap_message_by_name(name, strlen(name));
	struct ftr_slice text = ftr_slice_make("", 0);
	int ret;

	if (strcmp(name, swap_message_unknown.name) == 0)
		message = &swap_message_unknown;
	if (message == NULL) {
		w->point_cut_nr++;
		return 0;
	}
	if (ev->payload != NULL)
		text = ftr_slice_make((const char *)ev->payload->data, ev->payload->len);
	if (ftr_vec_reserve(&w->room, text.len + 1) < 0)
		return swap_no_memory(w);
	ret = swap_parse(message, text, &w->values, w->room.v);
	if (ret == 0 && message == &swap_message_unknown)
		ret = write_unknown(w, ev);
	else if (ret == 0)
		ret = swap_write_message(w, message, message->id, ev->time_ns);
	if (message->id == SWAP_MSG_LSAN)
		swap_leaks_shown(w, ev);
	w->point_cut_nr += ret == -EINVAL;
	return ret == -ENOMEM ? swap_no_memory(w) : 0;
}

/* Where it was; the protocol has no room for who called that. */
static int write_sample(struct swap_writer *w, const struct ftr_event *ev, uint32_t cpu)
{
	const struct ftr_payload *data = ev->payload;
	uint64_t pc = 0;

	if (data != NULL && data->spec == NULL && data->len >= sizeof(pc))
		pc = ftr_get_u64(data->data, data->is_big_endian);
	w->stack_cut_nr += data != NULL && data->len > sizeof(pc);
	swap_load_symbols(w, ev, pc);
	swap_values_begin(w);
	if (swap_put_number(w, (uint32_t)ev->task->pid) < 0 || swap_put_number(w, pc) < 0 ||
	    swap_put_number(w, (uint32_t)ev->task->tid) < 0 || swap_put_number(w, cpu) < 0)
		return swap_no_memory(w);
	return swap_write(w, SWAP_MSG_SAMPLE, ev->time_ns);
}

static int write_point(struct swap_writer *w, const struct ftr_event *ev)
{
	struct swap_task *task = swap_task_get(w, ev->task);
	int ret;

	if (task == NULL)
		return swap_no_memory(w);
	if (ev->point.cpu_nr != 0)
		task->cpu = ev->point.cpu_nr - 1u;
	if (ftr_event_is_sched_in(ev) || ftr_event_is_sched_out(ev))
		return write_switch(w, ev, task);
	if (ftr_event_kind_id(ev) == FTR_EVENT_ID_SAMPLE_CPU)
		return write_sample(w, ev, task->cpu);
	ret = swap_add_system(w, ev);
	if (ret != 0)
		return ret < 0 ? ret : 0;
	ret = swap_take_request(w, ev);
	if (ret < 0)
		return ret;
	if (swap_is_of_chart(ev))
		return swap_write_chart(w, ev);
	if (swap_is_of_probe(ev))
		return swap_write_probe(w, ev);
	if (strncmp(ev->point.name, "swap:", strlen("swap:")) == 0)
		return write_shown(w, ev);
	w->point_cut_nr++;
	return 0;
}

/* A text, with the task that it is about. */
static int write_error(struct swap_writer *w, const struct ftr_event *ev)
{
	char lost[FTR_EVENT_LOST_TEXT_MAX];
	const char *text = ev->type == FTR_EVENT_MESSAGE ? ev->message.text : lost;

	if (ev->type == FTR_EVENT_LOST)
		ftr_event_lost_text(ev, lost);
	if (ev->type == FTR_EVENT_LOST)
		swap_leaks_lost(w, ev);
	ftr_strbuf_clear(&w->text);
	if (ev->task->tid > 0)
		ftr_strbuf_printf(&w->text, "task %d/%d: ", ev->task->pid, ev->task->tid);
	ftr_strbuf_puts(&w->text, text);
	swap_values_begin(w);
	if (w->text.failed || swap_task_get(w, ev->task) == NULL ||
	    swap_put_text(w, ftr_strbuf_str(&w->text)) < 0)
		return swap_no_memory(w);
	return swap_write(w, SWAP_MSG_ERROR, ev->time_ns);
}

int swap_write_event(struct swap_writer *w, const struct ftr_event *ev)
{
	switch ((enum ftr_event_type)ev->type) {
	case FTR_EVENT_ENTRY:
		return write_entry(w, ev);
	case FTR_EVENT_EXIT:
		return write_exit(w, ev);
	case FTR_EVENT_POINT:
		return write_point(w, ev);
	case FTR_EVENT_LOST:
	case FTR_EVENT_MESSAGE:
		return write_error(w, ev);
	default:
		return 0;
	}
}
