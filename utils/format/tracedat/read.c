/* SPDX-License-Identifier: MIT */
/*
 * Reading trace.dat, the file of trace-cmd, of versions 6 and 7: what the kernel's ring buffers
 * held, with the formats and symbols to read it by.
 *
 *	17 08 44 "tracing" "6\0" | u8 is big-endian | u8 bytes of a long | u32 bytes of a page
 *	version 6	formats, symbols ... one after the other, options, places of pages
 *	version 7	sections, which options point to (read_section.c)
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/format.h"
#include "utils/format/tracedat/read.h"
#include "utils/format/tracedat/write.h"

/* ---- parts of the file ---- */

uint64_t tdat_number(struct tdat_part *part, unsigned bytes)
{
	const uint8_t *p = part->at;

	if (part->is_short || (size_t)(part->end - part->at) < bytes) {
		part->is_short = true;
		return 0;
	}
	part->at += bytes;
	switch (bytes) {
	case 1:
		return *p;
	case 2:
		return ftr_get_u16(p, part->is_big);
	case 4:
		return ftr_get_u32(p, part->is_big);
	default:
		return ftr_get_u64(p, part->is_big);
	}
}

struct ftr_slice tdat_bytes(struct tdat_part *part, uint64_t bytes)
{
	const uint8_t *p = part->at;

	if (part->is_short || (size_t)(part->end - part->at) < bytes) {
		part->is_short = true;
		return ftr_slice_make("", 0);
	}
	part->at += bytes;
	return ftr_slice_make((const char *)p, (size_t)bytes);
}

struct ftr_slice tdat_string(struct tdat_part *part)
{
	size_t left = (size_t)(part->end - part->at);
	const uint8_t *nul = part->is_short || left == 0 ? NULL : memchr(part->at, '\0', left);
	struct ftr_slice text;

	if (nul == NULL) {
		part->is_short = true;
		return ftr_slice_make("", 0);
	}
	text = ftr_slice_make((const char *)part->at, (size_t)(nul - part->at));
	part->at = nul + 1;
	return text;
}

uint64_t tdat_offset(const struct tdat_part *part)
{
	return part->offset - (uint64_t)(part->end - part->at);
}

bool tdat_part_at(const struct tdat_reader *reader, uint64_t offset, uint64_t bytes,
		  struct tdat_part *part)
{
	const struct ftr_istream *in = &reader->in;

	if (offset > in->size)
		return false;
	bytes = bytes > in->size - offset ? in->size - offset : bytes;
	*part = (struct tdat_part){
		.at = in->data + offset, .end = in->data + offset + bytes,
		.offset = offset + bytes, .is_big = reader->is_big,
	};
	return true;
}

void tdat_warn(const struct tdat_reader *reader, uint64_t offset, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	ftr_diag_warn(reader->trace->diag, "%s+0x%llx: %s", reader->in.name,
		      (unsigned long long)offset, text);
}

char *tdat_strdup(struct tdat_reader *reader, struct ftr_slice text)
{
	return ftr_arena_strndup(&reader->trace->arena, text.s, strnlen(text.s, text.len));
}

/* ---- version 6 ---- */

static int cut_short(const struct tdat_reader *reader, const char *where, struct ftr_err *err)
{
	return ftr_err_set(err, EBADMSG, "%s: the file ends inside %s; copy or record it again",
			   reader->in.name, where);
}

static int meta_load(struct tdat_reader *reader, struct tdat_part *part, struct ftr_err *err)
{
	for (unsigned i = 0; i < TDAT_META_NR; i++) {
		int ret = tdat_meta_load(reader, i, part);

		if (ret == -EBADMSG)
			return cut_short(reader, tdat_meta_name(i), err);
		if (ret < 0)
			return ftr_err_set(err, ENOMEM, "%s: out of memory", reader->in.name);
	}
	return 0;
}

static int sequence_load(struct tdat_reader *reader, struct tdat_part *part, struct ftr_err *err)
{
	int ret = meta_load(reader, part, err);

	if (ret < 0)
		return ret;
	reader->cpu_nr = (uint32_t)tdat_number(part, 4);
	if (part->is_short)
		return cut_short(reader, "its list of CPUs", err);
	ret = tdat_data_load(reader, part);
	return ret < 0 ? ftr_err_set(err, ENOMEM, "%s: out of memory", reader->in.name) : 0;
}

/* ---- both ---- */

static int version_read(struct tdat_reader *reader, struct tdat_part *part, struct ftr_err *err)
{
	struct ftr_slice text = tdat_string(part);
	uint64_t version = 0, is_big, long_bytes, page_bytes;

	is_big = tdat_number(part, 1);
	long_bytes = tdat_number(part, 1);
	reader->is_big = part->is_big = is_big != 0;
	page_bytes = tdat_number(part, 4);
	if (part->is_short)
		return cut_short(reader, "its header", err);
	if (ftr_parse_u64(text, 10, &version) < 0 || version < 6 || version > 7)
		return ftr_err_set(err, EBADMSG,
				   "%s: version %.*s of trace.dat: ftr reads versions 6 and 7; "
				   "convert it (trace-cmd convert)", reader->in.name,
				   text.len > 20 ? 20 : (int)text.len, text.s);
	if (is_big > 1 || (long_bytes != 4 && long_bytes != 8))
		return ftr_err_set(err, EBADMSG, "%s: damaged: byte order %llu and longs of %llu "
				   "bytes are not possible", reader->in.name,
				   (unsigned long long)is_big, (unsigned long long)long_bytes);
	if (page_bytes < FTR_FTRACE_PAGE_MIN || page_bytes > FTR_FTRACE_PAGE_MAX ||
	    (page_bytes & (page_bytes - 1)) != 0)
		return ftr_err_set(err, EBADMSG,
				   "%s: damaged: pages of %llu bytes are not possible",
				   reader->in.name, (unsigned long long)page_bytes);
	reader->version = (unsigned)version;
	reader->long_bytes = (uint8_t)long_bytes;
	reader->page_bytes = (uint32_t)page_bytes;
	return 0;
}

static int source_add(struct tdat_reader *reader)
{
	struct ftr_trace *trace = reader->trace;
	struct ftr_source *source;

	if (reader->pages.cpus.nr > 0) {
		if (ftr_ftrace_pages_walk(&reader->pages) < 0 || reader->is_failed)
			return -ENOMEM;
		source = ftr_ftrace_source(&reader->pages, NULL);
		if (source == NULL || ftr_vec_push(&trace->sources, source) < 0) {
			ftr_source_free(source);
			return -ENOMEM;
		}
	}
	for (size_t i = 0; i < reader->texts.nr; i++) {
		if (tdat_text_load(reader, reader->texts.v[i]) < 0)
			return -ENOMEM;
	}
	tdat_kin_apply(reader);
	tdat_kin_free(reader->kin);
	reader->kin = NULL;
	trace->is_ordered = trace->sources.nr == 1;
	return 0;
}

static int file_load(struct tdat_reader *reader, struct ftr_err *err)
{
	struct tdat_part part;
	int ret;

	tdat_part_at(reader, TDAT_MAGIC_BYTES, UINT64_MAX, &part);
	ret = version_read(reader, &part, err);
	if (ret < 0)
		return ret;
	return reader->version == 6 ? sequence_load(reader, &part, err) :
				      tdat_sections_load(reader, &part, err);
}

static int reader_load(struct tdat_reader *reader, struct ftr_err *err)
{
	int ret = file_load(reader, err);

	if (reader->beyond_nr > 1)
		ftr_diag_warn(reader->trace->diag, "%s: those of %u more CPUs are missing, too",
			      reader->in.name, reader->beyond_nr - 1);
	if (ret == 0 && source_add(reader) < 0)
		ret = ftr_err_set(err, ENOMEM, "%s: out of memory", reader->in.name);
	return ret;
}

static void reader_free(void *arg)
{
	struct tdat_reader *reader = arg;

	for (size_t i = 0; i < reader->unpacked.nr; i++)
		ftr_istream_close(&reader->unpacked.v[i]);
	for (size_t i = 0; i < reader->clock.cpus.nr; i++)
		ftr_vec_fini(&reader->clock.cpus.v[i].samples);
	ftr_vec_fini(&reader->clock.cpus);
	ftr_vec_fini(&reader->unpacked);
	ftr_vec_fini(&reader->options);
	ftr_vec_fini(&reader->texts);
	ftr_hashmap_fini(&reader->tasks);
	tdat_kin_free(reader->kin);
	ftr_ftrace_pages_fini(&reader->pages);
	ftr_ftrace_fini(&reader->ftrace);
	ftr_istream_close(&reader->in);
	free(reader);
}

static const struct ftr_trace_loader tdat_loader = { .module_load = tdat_module_load };

static bool tracedat_detect(const char *path, const uint8_t *head, size_t len)
{
	return len >= TDAT_MAGIC_BYTES && memcmp(head, TDAT_MAGIC, TDAT_MAGIC_BYTES) == 0;
}

/* NULL: out of memory, described. */
static struct tdat_reader *reader_new(struct ftr_trace *trace, struct ftr_istream *in,
				      struct ftr_err *err)
{
	struct tdat_reader *reader = calloc(1, sizeof(*reader));

	if (reader == NULL) {
		ftr_err_set(err, ENOMEM, "%s: out of memory", in->name);
		return NULL;
	}
	reader->trace = trace;
	reader->in = *in;
	*in = (struct ftr_istream){ 0 };
	reader->pages.ftrace = &reader->ftrace;
	reader->pages.owner = &tdat_owner;
	reader->pages.arg = reader;
	reader->tasks_from = UINT32_MAX;
	ftr_hashmap_init(&reader->tasks);
	return reader;
}

static int tracedat_read(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err)
{
	struct tdat_reader *reader = reader_new(trace, in, err);

	if (reader == NULL)
		return -ENOMEM;
	trace->reader = reader;
	trace->reader_free = reader_free;
	trace->loader = &tdat_loader;
	trace->is_kernel_only = true;
	reader->kin = tdat_kin_new();
	if (reader->kin == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", reader->in.name);
	if (!tracedat_detect(NULL, reader->in.data, reader->in.size))
		return ftr_err_set(err, EBADMSG, "%s: not a trace.dat of trace-cmd; it does not "
				   "begin with the magic number", reader->in.name);
	return reader_load(reader, err);
}

/* For another reader's trace, whose tasks and machine are known: events alone. */
static int tracedat_read_kernel(struct ftr_trace *trace, struct ftr_istream *in,
				struct ftr_ftrace_side *side, struct ftr_err *err)
{
	const struct ftr_info info = trace->info;
	struct tdat_reader *reader = reader_new(trace, in, err);
	int ret;

	if (reader == NULL)
		return -ENOMEM;
	reader->is_side = true;
	ret = file_load(reader, err);
	trace->info = info;
	if (ret < 0) {
		reader_free(reader);
		return ret;
	}
	if (reader->texts.nr > 0)
		ftr_diag_warn(trace->diag, "%s: the text of a latency tracer in it is not shown",
			      reader->in.name);
	*side = (struct ftr_ftrace_side){
		.ftrace = &reader->ftrace, .cpus = reader->pages.cpus.v,
		.cpu_nr = reader->pages.cpus.nr, .clock = reader->clock_name,
		.kallsyms = reader->kallsyms, .time_ns = tdat_time_ns,
		.instance = tdat_owner.instance, .arg = reader, .free = reader_free,
	};
	return 0;
}

const struct ftr_format ftr_format_tracedat = {
	.name	    = "trace.dat",
	.summary    = "trace-cmd's file of kernel events, versions 6 and 7",
	.suffix	    = ".dat",
	.kind	    = FTR_FORMAT_FILE,
	.detect	    = tracedat_detect,
	.read_file  = tracedat_read,
	.read_kernel = tracedat_read_kernel,
	.needs_file = true,
	.write	    = &tdat_sink_ops,
};
