/* SPDX-License-Identifier: MIT */
/*
 * SWAP writer: requests for memory and waits, as messages of probes; files and sockets are in
 * write_io.c.
 */
#include <string.h>

#include "utils/format/swap/probe.h"
#include "utils/format/swap/write.h"
#include "utils/trace/args.h"

/* The values of a request or a wait by their names; what a request replaced are arguments. */
struct request {
	uint64_t address, bytes, caller, from, from_bytes, result;
	unsigned arg_nr;
};

static const struct swap_api *api_of(uint64_t kind, bool *is_end)
{
	for (size_t i = 0; i < SWAP_API_NR; i++) {
		const struct swap_api *api = &swap_apis[i];

		*is_end = api->message != SWAP_MSG_PROBE_MEMORY &&
			  api->message != SWAP_MSG_PROBE_CUSTOM && kind == api->kind + 1;
		if (kind == api->kind || *is_end)
			return api;
	}
	return NULL;
}

static struct request request_of(const struct ftr_event *ev)
{
	struct request request = { 0 };
	const struct { const char *name; uint64_t *value; bool is_arg; } rows[] = {
		{ "address", &request.address, false }, { "object", &request.address, false },
		{ "bytes", &request.bytes, false },	{ "caller", &request.caller, false },
		{ "from", &request.from, true },	{ "from_bytes", &request.from_bytes, true },
		{ "result", &request.result, false },	{ "thread", &request.address, false },
		{ "answer", &request.result, false },	{ "routine", &request.from, true },
		{ "is_detached", &request.from_bytes, true },
	};
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	while (ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			if (strcmp(rows[i].name, value.arg->name) != 0)
				continue;
			*rows[i].value = value.u;
			request.arg_nr += rows[i].is_arg;
		}
	}
	return request;
}

/* What the function returned: memory, nothing, or whether the wait was a success. */
static int put_return(struct swap_writer *w, const struct swap_api *api,
		      const struct request *request)
{
	if (api->message != SWAP_MSG_PROBE_MEMORY)
		return swap_put_arg(w, 'x', request->result);
	return api->api_type == 0 ? swap_put_arg(w, 'p', request->address) :
				    swap_put_arg(w, 'v', 0);
}

static int put_common(struct swap_writer *w, const struct ftr_event *ev,
		      const struct swap_api *api, const struct request *request)
{
	const uint64_t head[] = { api->api, (uint32_t)ev->task->pid, (uint32_t)ev->task->tid,
				  request->arg_nr };
	const uint64_t tail[] = { 0, SWAP_CALL_NOT_KNOWN, request->caller, 0, 0 };

	if (swap_put_numbers(w, head, sizeof(head) / sizeof(head[0])) < 0 ||
	    (request->arg_nr > 0 && swap_put_arg(w, 'p', request->from) < 0) ||
	    (request->arg_nr > 1 && swap_put_arg(w, 'x', request->from_bytes) < 0) ||
	    put_return(w, api, request) < 0)
		return -1;
	return swap_put_numbers(w, tail, sizeof(tail) / sizeof(tail[0]));
}

static int put_rest(struct swap_writer *w, const struct swap_api *api,
		    const struct request *request, bool is_end)
{
	const uint64_t api_type = api->api_type + (is_end && !api->is_once);
	const uint64_t memory[] = { request->bytes, api_type, request->address };
	const uint64_t sync[] = { request->address, api->type, api_type };
	const uint64_t thread[] = { request->address, 0, api->type, api_type };

	switch (api->message) {
	case SWAP_MSG_PROBE_MEMORY:
		return swap_put_numbers(w, memory, sizeof(memory) / sizeof(memory[0]));
	case SWAP_MSG_PROBE_SYNC:
		return swap_put_numbers(w, sync, sizeof(sync) / sizeof(sync[0]));
	default:
		return swap_put_numbers(w, thread, sizeof(thread) / sizeof(thread[0])) < 0 ?
			       -1 : swap_put_text(w, "");
	}
}

/* The one message has what stands in the event at the begin, too.  False: that is this event. */
static bool once_is_whole(struct swap_writer *w, const struct ftr_event *ev,
			  struct request *request, bool is_end)
{
	struct swap_task *task = swap_task_get(w, ev->task);

	if (task == NULL)
		return false;
	if (!is_end) {
		task->once_caller = request->caller;
		task->once_flag = request->from_bytes;
		return false;
	}
	request->caller = task->once_caller;
	if (request->arg_nr == 1) {
		request->from_bytes = task->once_flag;
		request->arg_nr = 2;
	}
	return true;
}

bool swap_is_of_probe(const struct ftr_event *ev)
{
	bool is_end;

	return ev->payload != NULL && ev->payload->spec != NULL &&
	       api_of(ftr_event_kind_id(ev), &is_end) != NULL;
}

int swap_write_probe(struct swap_writer *w, const struct ftr_event *ev)
{
	bool is_end;
	const struct swap_api *api = api_of(ftr_event_kind_id(ev), &is_end);
	struct request request = request_of(ev);

	if (swap_api_is_io(api))
		return swap_write_io(w, ev, api);
	if (api->is_once && !once_is_whole(w, ev, &request, is_end))
		return 0;
	swap_load_symbols(w, ev, request.caller);
	swap_values_begin(w);
	if (put_common(w, ev, api, &request) < 0 || put_rest(w, api, &request, is_end) < 0)
		return swap_no_memory(w);
	return swap_write(w, api->message, ev->time_ns);
}
