/* SPDX-License-Identifier: MIT */
/*
 * Buffers: the top one and instances, with the places of each CPU's pages.  In version 6:
 *
 *	["options  \0" options] "flyrecord\0" nr of CPUs x { u64 offset, u64 bytes }
 *	["options  \0" options] "latency  \0" the text of tracefs' file trace, to the end
 */
#include <errno.h>
#include <string.h>

#include "utils/format/tracedat/read.h"

#define CPUS_MAX (UINT16_MAX - 1)	/* what events can name */

/* ---- one buffer ---- */

struct tdat_buffer *tdat_buffer_new(struct tdat_reader *reader, struct ftr_slice name,
				    struct ftr_slice clock)
{
	struct ftr_arena *arena = &reader->trace->arena;
	struct tdat_buffer *buffer = ftr_arena_alloc(arena, sizeof(*buffer));

	if (buffer == NULL)
		return NULL;
	*buffer = (struct tdat_buffer){ .clock = reader->clock_name };
	buffer->name = tdat_strdup(reader, name);
	if (clock.len > 0)
		buffer->clock = tdat_strdup(reader, clock);
	if (buffer->name == NULL || (clock.len > 0 && buffer->clock == NULL))
		return NULL;
	buffer->is_ticks = tdat_clock_is_ticks(buffer->clock);
	if (buffer->is_ticks && reader->clock.tsc_mult == 0 && !reader->clock.has_warned) {
		ftr_diag_warn(reader->trace->diag, "%s: times are counts of the clock %s, shown as "
			      "if they were nanoseconds: the file does not say how long one is",
			      reader->in.name, buffer->clock);
		reader->clock.has_warned = true;
	}
	return buffer;
}

/* The chunks that @part has, in one piece. */
static int cpu_unpack(struct tdat_reader *reader, struct tdat_part *part, uint32_t number,
		      struct ftr_ftrace_cpu *cpu)
{
	struct ftr_err err = { 0 };
	struct ftr_istream in = { 0 };
	uint64_t offset = tdat_offset(part);
	uint32_t chunk_nr = (uint32_t)tdat_number(part, 4);
	int ret = tdat_unpack(&in, reader->packer, part, chunk_nr, &err);

	if (ret == -EBADMSG)
		tdat_warn(reader, offset, "CPU %u: %s: its further events are missing",
			  number, err.text);
	if (ret < 0 && ret != -EBADMSG) {
		ftr_istream_close(&in);
		tdat_warn(reader, offset, "CPU %u: %s", number, err.text);
		return ret == -ENOMEM ? ret : 0;
	}
	cpu->data = in.data;
	cpu->bytes = in.size;
	cpu->offset = 0;
	cpu->is_mapped = false;
	if (ftr_vec_push(&reader->unpacked, in) == 0)
		return 0;
	ftr_istream_close(&in);
	return -ENOMEM;
}

int tdat_cpu_add(struct tdat_reader *reader, struct tdat_buffer *buffer,
		 const struct tdat_cpu_at *at)
{
	struct ftr_ftrace_cpu cpu = {
		.name = reader->in.name, .offset = at->offset, .page_bytes = at->page_bytes,
		.cpu_nr = (uint16_t)(at->cpu < reader->tasks_from ? at->cpu + 1 : 0),
		.buffer = buffer,
		.is_mapped = reader->in.owned_map != NULL,
	};
	struct tdat_part part;
	int ret = 0;

	if (at->bytes == 0)
		return 0;
	if (at->cpu >= CPUS_MAX || !tdat_part_at(reader, at->offset, at->bytes, &part)) {
		if (reader->beyond_nr++ == 0)
			tdat_warn(reader, at->offset, "CPU %u: its pages would be beyond the end "
				  "of the file: its events are missing", at->cpu);
		return 0;
	}
	cpu.data = part.at;
	cpu.bytes = (size_t)(part.end - part.at);
	if (cpu.bytes < at->bytes && !at->is_packed)
		tdat_warn(reader, part.offset, "CPU %u: the file ends inside its pages: its "
			  "further events are missing", at->cpu);
	if (at->is_packed)
		ret = cpu_unpack(reader, &part, at->cpu, &cpu);
	return ret < 0 || cpu.bytes == 0 ? ret : ftr_vec_push(&reader->pages.cpus, cpu);
}

/* ---- version 6 ---- */

static bool tag_is(struct ftr_slice tag, const char *name)
{
	return tag.len == TDAT_TAG_BYTES && memcmp(tag.s, name, TDAT_TAG_BYTES) == 0;
}

static int cpus_load(struct tdat_reader *reader, struct ftr_slice name, struct tdat_part *part)
{
	struct tdat_buffer *buffer = tdat_buffer_new(reader, name, ftr_slice_make("", 0));
	uint64_t offset = tdat_offset(part);
	int ret = buffer == NULL ? -ENOMEM : 0;

	for (uint32_t cpu = 0; ret == 0 && cpu < reader->cpu_nr; cpu++) {
		struct tdat_cpu_at at = { .cpu = cpu, .page_bytes = reader->page_bytes };

		at.offset = tdat_number(part, 8);
		at.bytes = tdat_number(part, 8);
		if (part->is_short) {
			tdat_warn(reader, offset, "the file ends inside its list of %u CPUs",
				  reader->cpu_nr);
			return 0;
		}
		ret = tdat_cpu_add(reader, buffer, &at);
	}
	return ret;
}

/* The rest of the file, behind its tag. */
static int tagged_load(struct tdat_reader *reader, struct ftr_slice name, struct ftr_slice tag,
		       struct tdat_part *part)
{
	if (tag_is(tag, TDAT_TAG_FLYRECORD))
		return cpus_load(reader, name, part);
	if (tag_is(tag, TDAT_TAG_LATENCY))
		return ftr_vec_push(&reader->texts,
				    tdat_bytes(part, (uint64_t)(part->end - part->at)));
	tdat_warn(reader, tdat_offset(part) - tag.len, part->is_short ?
		  "the file ends before its events" :
		  "damaged: there should be \"flyrecord\" or \"latency\": events are missing");
	return 0;
}

/* An instance has options of its own at most in theory. */
static int instance_load(struct tdat_reader *reader, struct tdat_part *data)
{
	uint64_t at = tdat_offset(data), offset = tdat_number(data, 8);
	struct ftr_slice name = tdat_string(data), tag;
	size_t option_nr = reader->options.nr;
	struct tdat_part part;

	if (data->is_short || !tdat_part_at(reader, offset, UINT64_MAX, &part)) {
		tdat_warn(reader, at, "damaged option: the events of an instance are missing");
		return 0;
	}
	tag = tdat_bytes(&part, TDAT_TAG_BYTES);
	if (tag_is(tag, TDAT_TAG_OPTIONS)) {
		if (tdat_options_take(reader, &part) < 0)
			return -ENOMEM;
		reader->options.nr = option_nr;
		tag = tdat_bytes(&part, TDAT_TAG_BYTES);
	}
	return tagged_load(reader, name, tag, &part);
}

int tdat_data_load(struct tdat_reader *reader, struct tdat_part *part)
{
	struct ftr_slice tag = tdat_bytes(part, TDAT_TAG_BYTES);
	struct tdat_part data;
	size_t pos = 0;
	int ret = 0;

	if (tag_is(tag, TDAT_TAG_OPTIONS)) {
		ret = tdat_options_take(reader, part);
		if (ret == 0)
			ret = tdat_options_apply(reader);
		tag = tdat_bytes(part, TDAT_TAG_BYTES);
	}
	if (ret == 0)
		ret = tagged_load(reader, ftr_slice_make("", 0), tag, part);
	while (ret == 0 && tdat_option_next(reader, TDAT_OPTION_BUFFER, &pos, &data))
		ret = instance_load(reader, &data);
	return ret;
}
