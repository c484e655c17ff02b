/* SPDX-License-Identifier: MIT */
/* See system.h: records of the system's state, written and read. */
#include "utils/format/uftrace/system.h"

#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/strbuf.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/trace/args.h"

/* A record, as an event has it. */
struct uft_system {
	struct ftr_payload payload;
	const char *name;		/* (in the reader's user_names) */
	uint64_t number;
	uint16_t cpu_nr;		/* plus 1, 0 = of none */
	uint64_t values[FTR_SYSTEM_VALUES_MAX];
};

size_t ftr_uftrace_system_record(const struct ftr_system_sample *sample,
				 uint8_t to[FTR_UFTRACE_SYSTEM_BYTES_MAX])
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(sample->id);
	size_t values_bytes = kind->spec->nr * sizeof(sample->values[0]);
	uint8_t *p = to + FTR_UFTRACE_SYSTEM_HEAD_BYTES + values_bytes;
	const uint32_t ids[] = { sample->pid, sample->tid };
	const struct {
		uint32_t type;
		uint16_t misc, size;
	} header = { FTR_UFTRACE_SYSTEM_RECORD, (uint16_t)(sample->id - FTR_UFTRACE_SYSTEM_BASE),
		     (uint16_t)(FTR_UFTRACE_SYSTEM_HEAD_BYTES + values_bytes +
				FTR_UFTRACE_SYSTEM_TAIL_BYTES) };

	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), &sample->number, sizeof(sample->number));
	memcpy(to + FTR_UFTRACE_SYSTEM_HEAD_BYTES, sample->values, values_bytes);
	memcpy(p, ids, sizeof(ids));
	memcpy(p + sizeof(ids), &sample->time_ns, sizeof(sample->time_ns));
	return header.size;
}

/* "system:cpu3".  NULL = out of memory. */
static const char *name_of(struct uft_reader *reader, const struct ftr_event_kind *kind,
			   uint64_t number)
{
	const struct ftr_str *str;
	struct ftr_strbuf text;

	if (kind->id != FTR_EVENT_ID_SYSTEM_CPU)
		return kind->name;
	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, "%s%llu", kind->name, (unsigned long long)number);
	str = text.failed ? NULL :
			    ftr_strpool_get(&reader->user_names, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
	return str == NULL ? NULL : str->s;
}

struct uft_system *uft_system_read(struct uft_reader *reader, const uint8_t *p, size_t bytes,
				   uint32_t *id, bool *is_out_of_memory)
{
	const struct ftr_event_kind *kind;
	struct uft_system *system;

	*id = FTR_UFTRACE_SYSTEM_BASE + ftr_get_u16(p + 4, reader->is_big);
	*is_out_of_memory = false;
	kind = ftr_event_kind_by_id(*id);
	if (!ftr_event_id_is_system(*id) || kind == NULL ||
	    bytes != FTR_UFTRACE_SYSTEM_HEAD_BYTES + kind->spec->nr * sizeof(uint64_t) +
			     FTR_UFTRACE_SYSTEM_TAIL_BYTES)
		return NULL;
	system = ftr_arena_alloc(&reader->trace->arena, sizeof(*system));
	*is_out_of_memory = system == NULL;
	if (system == NULL)
		return NULL;
	*system = (struct uft_system){ .number = ftr_get_u64(p + 8, reader->is_big) };
	for (unsigned i = 0; i < kind->spec->nr; i++)
		system->values[i] = ftr_get_u64(p + FTR_UFTRACE_SYSTEM_HEAD_BYTES + 8 * i,
						reader->is_big);
	system->payload = (struct ftr_payload){
		.data = (const uint8_t *)system->values, .spec = kind->spec,
		.len = (uint16_t)(kind->spec->nr * sizeof(uint64_t)),
		.is_big_endian = FTR_HOST_IS_BIG,
	};
	if (*id == FTR_EVENT_ID_SYSTEM_CPU && system->number < UINT16_MAX)
		system->cpu_nr = (uint16_t)(system->number + 1);
	system->name = name_of(reader, kind, system->number);
	*is_out_of_memory = system->name == NULL;
	return system->name == NULL ? NULL : system;
}

void uft_system_event(struct ftr_event *ev, const struct uft_system *system)
{
	ev->type = FTR_EVENT_POINT;
	ev->point.kind = FTR_POINT_COUNTER;
	ev->point.name = system->name;
	ev->point.id = system->number;
	ev->point.cpu_nr = system->cpu_nr;
	ev->payload = &system->payload;
}
