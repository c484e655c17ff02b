/* SPDX-License-Identifier: MIT */
/*
 * Version 7: sections anywhere in the file, to which options point.
 *
 *	file	... packer\0 version\0 | u64 offset of the first options
 *	section	u16 id | u16 is compressed | u32 name (in section 15) | u64 bytes | data
 *		compressed data: u32 bytes, u32 unpacked bytes, packed; of buffers: u32 nr, chunks
 *	options	as in version 6, but the last (id 0) is u64 offset of more options, or 0
 *	buffer	option 3: u64 offset of its section, name\0, clock\0, u32 bytes of a page,
 *		u32 nr of CPUs, nr x { u32 cpu, u64 offset, u64 bytes }
 */
#include <errno.h>
#include <string.h>

#include "utils/format/tracedat/read.h"

#define SECTION_HEAD_BYTES 16
#define SECTION_PACKED	   1u
#define CHUNK_COUNT_BYTES  4		/* trace-cmd leaves them out of a CPU's bytes */
#define OPTIONS_NR_MAX	   1024		/* sections of options: more is a circle */

struct section {
	uint16_t id;
	bool is_packed;
	struct tdat_part part;
};

static bool section_at(const struct tdat_reader *reader, uint64_t offset, struct section *section)
{
	struct tdat_part head;
	uint64_t bytes;

	if (!tdat_part_at(reader, offset, SECTION_HEAD_BYTES, &head))
		return false;
	section->id = (uint16_t)tdat_number(&head, 2);
	section->is_packed = (tdat_number(&head, 2) & SECTION_PACKED) != 0;
	tdat_number(&head, 4);
	bytes = tdat_number(&head, 8);
	return !head.is_short &&
	       tdat_part_at(reader, offset + SECTION_HEAD_BYTES, bytes, &section->part);
}

/* Its data become those that were compressed.  @is_chunked: they are of a buffer. */
static int section_unpack(struct tdat_reader *reader, struct section *section, bool is_chunked)
{
	struct ftr_istream in = { 0 };
	struct ftr_err err = { 0 };
	uint64_t offset = tdat_offset(&section->part);
	uint32_t chunk_nr = is_chunked ? (uint32_t)tdat_number(&section->part, 4) : 1;
	int ret = tdat_unpack(&in, reader->packer, &section->part, chunk_nr, &err);

	if (ret < 0) {
		tdat_warn(reader, offset, "section %u: %s", section->id, err.text);
		if (ret != -EBADMSG) {
			ftr_istream_close(&in);
			return ret == -ENOMEM ? ret : 0;
		}
	}
	section->part.at = in.data;
	section->part.end = in.size == 0 ? in.data : in.data + in.size;
	if (ftr_vec_push(&reader->unpacked, in) == 0)
		return 0;
	ftr_istream_close(&in);
	return -ENOMEM;
}

/* 1, 0: it is not there or damaged, which was warned about, or -ENOMEM. */
static int section_open(struct tdat_reader *reader, uint64_t offset, uint16_t id,
			struct section *section)
{
	if (!section_at(reader, offset, section) || section->id != id) {
		tdat_warn(reader, offset, "there should be section %u here: the file was not "
			  "copied or written to its end, or is damaged", id);
		return 0;
	}
	if (section->is_packed &&
	    section_unpack(reader, section, id == TDAT_OPTION_BUFFER_TEXT) < 0)
		return -ENOMEM;
	return 1;
}

/* ---- options ---- */

/* Where more options are; 0: nowhere. */
static uint64_t next_options(const struct tdat_reader *reader)
{
	const struct tdat_option *last = reader->options.nr == 0 ?
					 NULL : &reader->options.v[reader->options.nr - 1];
	struct tdat_part data;

	if (last == NULL || last->id != TDAT_OPTION_DONE)
		return 0;
	data = last->data;
	return tdat_number(&data, 8);
}

static int options_load(struct tdat_reader *reader, uint64_t offset)
{
	for (unsigned i = 0; offset != 0 && i < OPTIONS_NR_MAX; i++) {
		size_t before_nr = reader->options.nr;
		struct section section;
		int ret = section_open(reader, offset, TDAT_OPTION_DONE, &section);

		if (ret <= 0)
			return ret;
		if (tdat_options_take(reader, &section.part) < 0)
			return -ENOMEM;
		offset = reader->options.nr > before_nr ? next_options(reader) : 0;
	}
	return 0;
}

/* ---- formats, symbols, names ---- */

static int meta_load(struct tdat_reader *reader, unsigned nr)
{
	uint16_t id = (uint16_t)(TDAT_OPTION_HEADER_INFO + nr);
	struct section section;
	struct tdat_part data;
	size_t pos = 0;
	int ret = 0;

	while (ret >= 0 && tdat_option_next(reader, id, &pos, &data)) {
		uint64_t at = tdat_offset(&data), offset = tdat_number(&data, 8);

		ret = section_open(reader, offset, id, &section);
		if (ret > 0)
			ret = tdat_meta_load(reader, nr, &section.part);
		if (ret == -EBADMSG) {
			tdat_warn(reader, at, "%s: damaged: what it tells is missing",
				  tdat_meta_name(nr));
			ret = 0;
		}
	}
	return ret < 0 ? ret : 0;
}

static int metas_load(struct tdat_reader *reader)
{
	int ret = meta_load(reader, 0);

	if (ret == 0)
		ret = tdat_meta_begin(reader);
	for (unsigned i = 1; ret == 0 && i < TDAT_META_NR; i++)
		ret = meta_load(reader, i);
	return ret;
}

/* ---- buffers ---- */

static bool page_bytes_are_sound(uint64_t bytes)
{
	return bytes >= FTR_FTRACE_PAGE_MIN && bytes <= FTR_FTRACE_PAGE_MAX &&
	       (bytes & (bytes - 1)) == 0;
}

static int buffer_load(struct tdat_reader *reader, struct tdat_part *data)
{
	uint64_t at = tdat_offset(data), offset = tdat_number(data, 8), page_bytes, nr;
	struct ftr_slice name = tdat_string(data), clock = tdat_string(data);
	struct tdat_buffer *buffer;
	struct section section;
	int ret = 0;

	page_bytes = tdat_number(data, 4);
	nr = tdat_number(data, 4);
	if (data->is_short || !page_bytes_are_sound(page_bytes) ||
	    !section_at(reader, offset, &section)) {
		tdat_warn(reader, at, "damaged option: the events of a buffer are missing");
		return 0;
	}
	buffer = tdat_buffer_new(reader, name, clock);
	if (buffer == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; ret == 0 && i < nr; i++) {
		struct tdat_cpu_at cpu = { .page_bytes = (uint32_t)page_bytes };

		cpu.cpu = (uint32_t)tdat_number(data, 4);
		cpu.offset = tdat_number(data, 8);
		cpu.bytes = tdat_number(data, 8);
		cpu.is_packed = section.is_packed;
		if (cpu.is_packed && cpu.bytes > 0)
			cpu.bytes += CHUNK_COUNT_BYTES;
		if (data->is_short) {
			tdat_warn(reader, at,
				  "damaged option: it has no more than %llu of %llu CPUs",
				  (unsigned long long)i, (unsigned long long)nr);
			break;
		}
		ret = tdat_cpu_add(reader, buffer, &cpu);
	}
	return ret;
}

static int text_load(struct tdat_reader *reader, struct tdat_part *data)
{
	uint64_t offset = tdat_number(data, 8);
	struct section section;
	int ret = section_open(reader, offset, TDAT_OPTION_BUFFER_TEXT, &section);

	if (ret <= 0)
		return ret;
	return ftr_vec_push(&reader->texts,
			    tdat_bytes(&section.part,
				       (uint64_t)(section.part.end - section.part.at)));
}

static int buffers_load(struct tdat_reader *reader)
{
	struct tdat_part data;
	size_t pos = 0;
	int ret = 0;

	while (ret == 0 && tdat_option_next(reader, TDAT_OPTION_BUFFER, &pos, &data))
		ret = buffer_load(reader, &data);
	pos = 0;
	while (ret == 0 && tdat_option_next(reader, TDAT_OPTION_BUFFER_TEXT, &pos, &data))
		ret = text_load(reader, &data);
	return ret;
}

int tdat_sections_load(struct tdat_reader *reader, struct tdat_part *part, struct ftr_err *err)
{
	uint64_t offset;
	int ret;

	reader->packer = tdat_string(part);
	tdat_string(part);
	offset = tdat_number(part, 8);
	if (part->is_short)
		return ftr_err_set(err, EBADMSG, "%s: the file ends inside its header; copy or "
				   "record it again",
				   reader->in.name);
	if (!tdat_can_unpack(reader->packer))
		return ftr_err_set(err, EBADMSG, "%s: compressed by \"%.*s\", which ftr cannot "
				   "unpack; convert it (trace-cmd convert --compression zstd)",
				   reader->in.name,
				   reader->packer.len > 20 ? 20 : (int)reader->packer.len,
				   reader->packer.s);
	ret = options_load(reader, offset);
	if (ret == 0)
		ret = metas_load(reader);
	if (ret == 0)
		ret = tdat_options_apply(reader);
	if (ret == 0)
		ret = buffers_load(reader);
	return ret < 0 ? ftr_err_set(err, ENOMEM, "%s: out of memory", reader->in.name) : 0;
}
