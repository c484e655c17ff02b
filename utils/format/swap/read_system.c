/* SPDX-License-Identifier: MIT */
/*
 * SWAP reader: the system's state.  A SYSTEM message has loads; the counters that they were made of
 * stand in the side file, and are put where the messages were, each in the stream of its task.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/text.h"
#include "utils/format/swap/read.h"
#include "utils/trace/args.h"

/* ---- lines: "system TIME KIND NUMBER PID TID VALUE VALUE ..." ---- */

void swap_side_put_sample(struct ftr_strbuf *text, const struct ftr_system_sample *sample)
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(sample->id);

	ftr_strbuf_printf(text, "system\t%" PRIu64 "\t%s\t%" PRIu64 "\t%u\t%u\t", sample->time_ns,
			  kind->name + strlen(FTR_SYSTEM_PREFIX), sample->number, sample->pid,
			  sample->tid);
	for (unsigned i = 0; i < kind->spec->nr; i++)
		ftr_strbuf_printf(text, "%s%" PRIx64, i == 0 ? "" : " ", sample->values[i]);
	ftr_strbuf_putc(text, '\n');
}

/* NULL = there is none. */
static const struct ftr_event_kind *kind_of(struct ftr_slice word)
{
	for (uint64_t id = FTR_EVENT_ID_SYSTEM_CPU; ftr_event_id_is_system(id); id++) {
		const struct ftr_event_kind *kind = ftr_event_kind_by_id(id);
		const char *name = kind->name + strlen(FTR_SYSTEM_PREFIX);

		if (ftr_slice_eq(word, name))
			return kind;
	}
	return NULL;
}

/* False: they are not those of the kind. */
static bool values_parse(struct ftr_system_sample *sample, const struct ftr_event_kind *kind,
			 struct ftr_slice rest)
{
	struct ftr_slice word;
	unsigned nr = 0;

	while (ftr_slice_split(&rest, ' ', &word)) {
		if (nr == kind->spec->nr || ftr_parse_u64(word, 16, &sample->values[nr]) < 0)
			return false;
		nr++;
	}
	return nr == kind->spec->nr;
}

int swap_side_sample_parse(struct swap_side *side, struct ftr_arena *arena,
			   const struct ftr_slice words[SWAP_SAMPLE_WORDS])
{
	const struct ftr_event_kind *kind = kind_of(words[2]);
	struct swap_side_sample line = { .name = kind == NULL ? "" : kind->name };
	struct ftr_system_sample *sample = &line.sample;
	char name[SWAP_SAMPLE_NAME_MAX];
	uint64_t pid, tid;

	if (kind == NULL || ftr_parse_u64(words[1], 10, &sample->time_ns) < 0 ||
	    ftr_parse_u64(words[3], 10, &sample->number) < 0 ||
	    ftr_parse_u64(words[4], 10, &pid) < 0 || ftr_parse_u64(words[5], 10, &tid) < 0 ||
	    pid > INT32_MAX || tid > INT32_MAX || !values_parse(sample, kind, words[6]))
		return -EINVAL;
	sample->id = (uint32_t)kind->id;
	sample->pid = (uint32_t)pid;
	sample->tid = (uint32_t)tid;
	if (kind->id == FTR_EVENT_ID_SYSTEM_CPU) {
		snprintf(name, sizeof(name), "%s%" PRIu64, kind->name, sample->number);
		line.name = ftr_arena_strdup(arena, name);
	}
	if (line.name == NULL ||
	    ftr_hashmap_set(&side->sampled, sample->time_ns, side) < 0)
		return -ENOMEM;
	return ftr_vec_push(&side->samples, line);
}

/* ---- events ---- */

bool swap_is_sampled(const struct swap_reader *r, uint64_t time_ns)
{
	return r->side.is_there && ftr_hashmap_find(&r->side.sampled, time_ns) != NULL;
}

int swap_places_add_samples(struct swap_reader *r)
{
	for (size_t i = 0; r->side.is_there && i < r->side.samples.nr; i++) {
		const struct swap_side_sample *line = &r->side.samples.v[i];
		const struct swap_place place = {
			.offset = r->in.size + i, .time_ns = line->sample.time_ns, .sample = line,
		};
		struct ftr_task *task = ftr_trace_task_get(r->trace, (int32_t)line->sample.pid,
							   (int32_t)line->sample.tid);

		if (task == NULL || swap_place_add(r, task, &place) < 0)
			return -ENOMEM;
	}
	return 0;
}

void swap_sample_event(const struct swap_side_sample *line, struct ftr_event *ev,
		       struct ftr_payload *payload, struct ftr_strbuf *bytes)
{
	const struct ftr_system_sample *sample = &line->sample;
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(sample->id);
	bool is_of_cpu = sample->id == FTR_EVENT_ID_SYSTEM_CPU && sample->number < UINT16_MAX;

	ev->type = FTR_EVENT_POINT;
	ev->point.kind = FTR_POINT_COUNTER;
	ev->point.name = line->name;
	ev->point.id = sample->number;
	ev->point.cpu_nr = is_of_cpu ? (uint16_t)(sample->number + 1) : 0;
	*payload = (struct ftr_payload){
		.spec = kind->spec, .is_big_endian = FTR_HOST_IS_BIG,
		.len = (uint16_t)(kind->spec->nr * sizeof(sample->values[0])),
	};
	ev->payload = payload;
	ftr_strbuf_put(bytes, sample->values, payload->len);
}
