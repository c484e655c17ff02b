/* SPDX-License-Identifier: MIT */
/* Names of events: of their kinds, and those of events.txt ("EVENT: ID PROVIDER:NAME"). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/uftrace/read.h"
#include "utils/proto/sdt.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"

const char *uft_event_name(struct uft_reader *reader, uint64_t id)
{
	const char *known = ftr_hashmap_find(&reader->event_names, id);
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(id);
	char text[32];
	char *name;

	if (known != NULL)
		return known;
	if (kind != NULL)
		return kind->name;
	snprintf(text, sizeof(text), "event:%llu", (unsigned long long)id);
	name = ftr_arena_strdup(&reader->trace->arena, text);
	if (name == NULL || ftr_hashmap_set(&reader->event_names, id, name) < 0)
		return NULL;
	return name;
}

static struct ftr_arg event_arg(unsigned type, unsigned nr)
{
	static const uint8_t formats[FTR_SDT_TYPES] = {
		FTR_ARG_NULL,
		FTR_ARG_SIGNED, FTR_ARG_SIGNED, FTR_ARG_SIGNED, FTR_ARG_SIGNED,
		FTR_ARG_UNSIGNED, FTR_ARG_UNSIGNED, FTR_ARG_UNSIGNED,
		FTR_ARG_AUTO,			/* may be an address */
		FTR_ARG_FLOAT, FTR_ARG_FLOAT,
	};
	unsigned known = type < FTR_SDT_TYPES ? type : 0;
	unsigned bytes = ftr_sdt_bytes((uint8_t)known);

	return (struct ftr_arg){
		.format = formats[known],
		.size = (uint16_t)(bytes == 0 ? sizeof(uint32_t) : bytes),
		.index = (uint8_t)nr,
	};
}

const struct ftr_argspec *uft_event_spec(struct uft_reader *reader, uint64_t types)
{
	struct ftr_argspec *spec = ftr_hashmap_find(&reader->sdt_specs, types);
	unsigned nr = (unsigned)types & FTR_SDT_TYPE_MASK;

	if (spec != NULL || nr > FTR_SDT_ARGS_MAX)
		return spec;
	spec = ftr_arena_alloc(&reader->trace->arena, sizeof(*spec) + nr * sizeof(spec->args[0]));
	if (spec == NULL || ftr_hashmap_set(&reader->sdt_specs, types, spec) < 0)
		return NULL;
	spec->nr = (uint16_t)nr;
	for (unsigned i = 0; i < nr; i++)
		spec->args[i] = event_arg(types >> FTR_SDT_TYPE_BITS * (1 + i) & FTR_SDT_TYPE_MASK,
					  i + 1);
	return spec;
}

static int event_line(struct uft_reader *reader, struct ftr_slice rest)
{
	struct ftr_slice word;
	uint64_t id;
	char *name;

	if (!ftr_slice_starts(rest, "EVENT: "))
		return -EINVAL;
	ftr_slice_split(&rest, ' ', &word);
	if (!ftr_slice_split(&rest, ' ', &word) || ftr_parse_u64(word, 10, &id) < 0 ||
	    rest.len == 0)
		return -EINVAL;
	name = ftr_arena_strndup(&reader->trace->arena, rest.s, rest.len);
	if (name == NULL)
		return -ENOMEM;
	if (id == FTR_EVENT_ID_STACK && strcmp(name, ftr_event_kind_by_id(id)->name) == 0)
		reader->trace->has_coroutines = true;
	return ftr_hashmap_set(&reader->event_names, id, name);
}

int uft_events_load(struct uft_reader *reader, struct ftr_err *err)
{
	struct ftr_istream in;
	const char *line;
	size_t len;
	int ret = 0;

	if (!ftr_dir_has(reader->dir, "events.txt"))
		return 0;
	ret = ftr_dir_file(reader->dir, "events.txt", &in, err);
	if (ret < 0) {
		ftr_diag_warn(reader->trace->diag, "%s: events are shown by number", err->text);
		return 0;
	}
	while (ret != -ENOMEM &&
	       ftr_istream_whole_line(&in, &line, &len, reader->trace->diag)) {
		ret = len == 0 ? 0 : event_line(reader, ftr_slice_make(line, len));
		if (ret == -EINVAL)
			ftr_diag_warn(reader->trace->diag,
				      "events.txt:%u: damaged line is ignored: "
				      "%.*s",
				      in.lineno, len > 80 ? 80 : (int)len, line);
	}
	ftr_istream_close(&in);
	return ret == -ENOMEM ? ftr_err_set(err, ENOMEM, "events.txt: out of memory") : 0;
}
