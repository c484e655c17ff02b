/* SPDX-License-Identifier: MIT */
/* SWAP reader: messages of probes that ftr wrote, as the events that they were made of. */
#include <string.h>

#include "utils/format/swap/probe.h"
#include "utils/format/swap/read.h"
#include "utils/trace/args.h"

/* The @nr-th of a message's arguments, from 1 on; behind them is what the function returned. */
static const struct swap_value *arg_of(const struct swap_values *values, uint64_t nr)
{
	for (size_t i = 0; i < values->all.nr; i++) {
		if (values->all.v[i].type != '\0' && --nr == 0)
			return &values->all.v[i];
	}
	return NULL;
}

static uint64_t arg_number(const struct swap_values *values, uint64_t nr)
{
	const struct swap_value *value = arg_of(values, nr);

	return value != NULL ? value->u : 0;
}

/* Below 0 it is the error. */
static uint64_t result_of(const struct swap_values *values, const struct swap_api *api)
{
	uint64_t result = arg_number(values, swap_number(values, "args") + 1);
	uint64_t error = swap_number(values, "errno");

	return swap_api_is_io(api) && error != 0 ? -error : result;
}

/* Of memory, a wait or a thread. */
static uint64_t field_of(const struct swap_values *values, const struct swap_api *api,
			 const char *name)
{
	if (strcmp(name, "from") == 0 || strcmp(name, "routine") == 0)
		return arg_number(values, 1);
	if (strcmp(name, "from_bytes") == 0 || strcmp(name, "is_detached") == 0)
		return arg_number(values, 2);
	if (strcmp(name, "answer") == 0)
		return result_of(values, api);
	if (api->message == SWAP_MSG_PROBE_THREAD)
		name = "pthread";
	return swap_number(values, name);
}

/* The @at-th value of an event, which is a number. */
static uint64_t number_of(const struct swap_values *values, const struct swap_probe *probe,
			  const struct ftr_event_kind *kind, unsigned at)
{
	const struct ftr_event_kind *begin = ftr_event_kind_by_id(probe->api->kind);
	const char *name = kind->spec->args[at].name;

	if (strcmp(name, "result") == 0)
		return result_of(values, probe->api);
	if (strcmp(name, "caller") == 0)
		return swap_number(values, name);
	if (!swap_api_is_io(probe->api))
		return field_of(values, probe->api, name);
	if (at == 0)
		return swap_io_has_first(begin) ? arg_number(values, 1) : swap_number(values, "fd");
	if (kind != begin)
		return arg_number(values, 1);		/* the peer's family */
	return swap_io_asks_bytes(begin) ? swap_number(values, "bytes") :
					   arg_number(values, swap_io_has_first(begin) + 1);
}

/* Of the @at-th value, which is a text: which argument it is. */
static unsigned text_arg(const struct swap_probe *probe, const struct ftr_event_kind *kind,
			 unsigned at)
{
	const struct ftr_event_kind *begin = ftr_event_kind_by_id(probe->api->kind);

	return kind != begin ? 2 : swap_io_has_first(begin) + at - 1;
}

static const struct swap_value *field_text(const struct swap_values *values, const char *name)
{
	for (size_t i = 0; i < values->all.nr; i++) {
		if (strcmp(values->all.v[i].field->name, name) == 0)
			return &values->all.v[i];
	}
	return NULL;
}

static void put_text(const struct swap_value *value, struct ftr_strbuf *to)
{
	uint16_t len = value == NULL || value->s == NULL ? 0 :
		       value->len > INT16_MAX ? INT16_MAX : (uint16_t)value->len;
	size_t pad = (4 - (sizeof(len) + len) % 4) % 4;

	ftr_strbuf_put(to, &len, sizeof(len));
	if (len > 0)
		ftr_strbuf_put(to, value->s, len);
	ftr_strbuf_put(to, "\0\0\0", pad);
}

void swap_probe_values(const struct swap_values *values, const struct swap_probe *probe,
		       const struct ftr_event_kind *kind, struct ftr_strbuf *to)
{
	for (unsigned i = 0; i < kind->spec->nr; i++) {
		const struct ftr_arg *arg = &kind->spec->args[i];
		uint64_t number;

		if (arg->format == FTR_ARG_STRING) {
			if (swap_api_is_io(probe->api))
				put_text(arg_of(values, text_arg(probe, kind, i)), to);
			else
				put_text(field_text(values, arg->name), to);
			continue;
		}
		number = number_of(values, probe, kind, i);
		ftr_strbuf_put(to, &number, sizeof(number));
	}
}

bool swap_probe_find(const struct swap_values *values, uint32_t message, struct swap_probe *probe)
{
	uint64_t nr = swap_number(values, "api"), step;
	const struct swap_api *api;

	if (nr == 0 || nr > SWAP_API_NR)
		return false;
	api = &swap_apis[nr - 1];
	step = swap_number(values, "api_type") - api->api_type;
	if (api->message != message ||
	    step > (message != SWAP_MSG_PROBE_MEMORY && !api->is_once))
		return false;
	*probe = (struct swap_probe){ .api = api, .nr = 1 };
	probe->kinds[0] = ftr_event_kind_by_id(api->kind + step);
	if (probe->kinds[0] == NULL)
		return false;
	if (api->is_once) {
		probe->kinds[1] = ftr_event_kind_by_id(api->kind + 1);
		probe->nr = 2;
	}
	return true;
}
