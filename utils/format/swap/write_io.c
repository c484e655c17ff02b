/* SPDX-License-Identifier: MIT */
/* SWAP writer: calls on files and sockets, as messages of probes. */
#include <stdio.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/swap/probe.h"
#include "utils/format/swap/write.h"
#include "utils/trace/args.h"

static int put_text_arg(struct swap_writer *w, const char *s)
{
	struct swap_value value = { .s = s, .len = (uint32_t)strlen(s), .type = 's' };

	return ftr_vec_push(&w->values.all, value);
}

/* See swap_io_has_first.  Returns how many, or -ENOMEM. */
static int put_args(struct swap_writer *w, const struct swap_api *api,
		    const struct ftr_io_call *call)
{
	bool is_begin = call->has_begin && (!call->is_end || api->is_once);
	size_t before = w->values.all.nr;
	int ret = 0;

	if (is_begin && swap_io_has_first(call->kind))
		ret = swap_put_arg(w, 'x', (uint64_t)call->fd);
	if (ret == 0 && is_begin && call->kind->spec->nr > 2 && !swap_io_asks_bytes(call->kind))
		ret = swap_put_arg(w, 'x', call->argument);
	if (ret == 0 && is_begin && call->path != NULL)
		ret = put_text_arg(w, call->path);
	if (ret == 0 && is_begin && call->to != NULL)
		ret = put_text_arg(w, call->to);
	if (ret == 0 && call->peer != NULL)
		ret = swap_put_arg(w, 'x', call->peer_family);
	if (ret == 0 && call->peer != NULL)
		ret = put_text_arg(w, call->peer);
	return ret < 0 ? ret : (int)(w->values.all.nr - before);
}

static int put_common(struct swap_writer *w, const struct ftr_event *ev,
		      const struct swap_api *api, const struct ftr_io_call *call)
{
	bool is_error = call->is_end && call->result < 0;
	const uint64_t head[] = { api->api, (uint32_t)ev->task->pid, (uint32_t)ev->task->tid, 0 };
	size_t count = w->values.all.nr + sizeof(head) / sizeof(head[0]) - 1;
	int nr;
	const uint64_t tail[] = { is_error ? (uint64_t)-call->result : 0, SWAP_CALL_NOT_KNOWN,
				  call->caller, 0, 0 };

	if (swap_put_numbers(w, head, sizeof(head) / sizeof(head[0])) < 0)
		return -1;
	nr = put_args(w, api, call);
	if (nr < 0)
		return -1;
	w->values.all.v[count].u = (uint64_t)nr;
	if (swap_put_arg(w, 'x', is_error ? UINT64_MAX : (uint64_t)call->result) < 0)
		return -1;
	return swap_put_numbers(w, tail, sizeof(tail) / sizeof(tail[0]));
}

/* The descriptor that the call is about, or has made. */
static uint64_t fd_of(const struct ftr_io_call *call)
{
	return (uint64_t)(!swap_io_has_first(call->kind) ? call->fd :
			  call->is_end			 ? call->result : -1);
}

/* Asked for, or moved. */
static uint64_t bytes_of(const struct ftr_io_call *call)
{
	if (!call->is_end)
		return swap_io_asks_bytes(call->kind) ? call->argument : 0;
	return ftr_io_moves(call->kind) && call->result > 0 ? (uint64_t)call->result : 0;
}

static int put_file(struct swap_writer *w, const struct swap_api *api,
		    const struct ftr_io_call *call)
{
	const uint64_t numbers[] = { bytes_of(call), fd_of(call),
				     api->api_type + (call->is_end && !api->is_once), 0 };

	return swap_put_numbers(w, numbers, sizeof(numbers) / sizeof(numbers[0])) < 0 ?
		       -1 : swap_put_text(w, call->name);
}

/* The address of an IPv4 socket as the message has it: in network order, and its port. */
static void address_of(const struct ftr_io_call *call, uint64_t *ipv4, uint64_t *port)
{
	const char *text = call->path != NULL ? call->path :
			   call->peer != NULL ? call->peer : call->name;
	uint8_t address[4];
	unsigned bytes[4], nr;

	*ipv4 = *port = 0;
	if (sscanf(text, "%3u.%3u.%3u.%3u:%5u", &bytes[0], &bytes[1], &bytes[2], &bytes[3], &nr) <
	    5)
		return;
	for (unsigned i = 0; i < 4; i++)
		address[i] = (uint8_t)bytes[i];
	*ipv4 = ftr_get_u32(address, false);
	*port = nr;
}

/* What was sent is not recorded: the message's data are empty. */
static int put_net(struct swap_writer *w, const struct swap_api *api,
		   const struct ftr_io_call *call)
{
	uint64_t numbers[] = { 0, fd_of(call), api->api_type + (call->is_end && !api->is_once), 0,
			       0, bytes_of(call) };

	address_of(call, &numbers[3], &numbers[4]);
	return swap_put_numbers(w, numbers, sizeof(numbers) / sizeof(numbers[0])) < 0 ?
		       -1 : swap_put_text(w, "");
}

int swap_write_io(struct swap_writer *w, const struct ftr_event *ev, const struct swap_api *api)
{
	struct ftr_io_call call;
	int ret = ftr_io_next(&w->io, ev, &call);

	if (ret < 0)
		return swap_no_memory(w);
	if (ret == 0 || (api->is_once && !call.is_end))
		return 0;
	swap_load_symbols(w, ev, call.caller);
	swap_values_begin(w);
	if (put_common(w, ev, api, &call) < 0 ||
	    (api->message == SWAP_MSG_PROBE_FILE ? put_file : put_net)(w, api, &call) < 0)
		return swap_no_memory(w);
	return swap_write(w, api->message, ev->time_ns);
}
