/* SPDX-License-Identifier: MIT */
/*
 * What a trace.dat has besides pages and options: one after the other in version 6, a section each
 * in version 7.
 *
 *	"header_page\0" u64 bytes, text | "header_event\0" u64 bytes, text
 *	u32 nr, nr x { u64 bytes, text }			formats of ftrace's own events
 *	u32 nr, nr x { system\0, u32 nr, nr x { u64 bytes, text } }
 *	u32 bytes, kallsyms | u32 bytes, printk_formats | u64 bytes, saved_cmdlines
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/tracedat/read.h"
#include "utils/object/symtab.h"

#define HEADER_PAGE  "header_page"
#define HEADER_EVENT "header_event"

/* ---- header_page, header_event ---- */

static int ftrace_begin(struct tdat_reader *reader, struct ftr_slice page_text, uint64_t offset)
{
	unsigned long_bytes = ftr_ftrace_commit_bytes(page_text);
	struct ftr_ftrace_layout layout = {
		.page_bytes = reader->page_bytes, .is_big = reader->is_big,
		.long_bytes = (uint8_t)(long_bytes != 0 ? long_bytes : reader->long_bytes),
	};
	int ret;

	if (long_bytes == 0)
		tdat_warn(reader, offset, HEADER_PAGE " does not say how long a long of the kernel "
			  "is: %u bytes, as in its programs, are assumed", reader->long_bytes);
	if (!reader->is_side) {
		reader->trace->record_long_bytes = layout.long_bytes;
		reader->trace->record_is_big = layout.is_big;
	}
	ret = ftr_ftrace_init(&reader->ftrace, reader->trace, &layout);
	if (ret == 0 && long_bytes != 0)
		ftr_ftrace_header_page(&reader->ftrace, page_text);
	return ret;
}

int tdat_meta_begin(struct tdat_reader *reader)
{
	return reader->ftrace.tep != NULL ? 0 : ftrace_begin(reader, ftr_slice_make("", 0), 0);
}

static int header_load(struct tdat_reader *reader, struct tdat_part *part)
{
	uint64_t offset = tdat_offset(part);
	struct ftr_slice name, page, event;
	int ret;

	name = tdat_bytes(part, sizeof(HEADER_PAGE));
	page = tdat_bytes(part, tdat_number(part, 8));
	if (part->is_short || memcmp(name.s, HEADER_PAGE, sizeof(HEADER_PAGE)) != 0 ||
	    reader->ftrace.tep != NULL)
		return -EBADMSG;
	ret = ftrace_begin(reader, page, offset);
	if (ret < 0)
		return ret;
	offset = tdat_offset(part);
	name = tdat_bytes(part, sizeof(HEADER_EVENT));
	event = tdat_bytes(part, tdat_number(part, 8));
	if (part->is_short || memcmp(name.s, HEADER_EVENT, sizeof(HEADER_EVENT)) != 0)
		return -EBADMSG;
	if (!ftr_ftrace_header_event(event))
		tdat_warn(reader, offset, HEADER_EVENT " describes a ring buffer that ftr does not "
			  "know: events may be wrong");
	return 0;
}

/* ---- formats ---- */

static int format_load(struct tdat_reader *reader, struct ftr_slice system, struct tdat_part *part)
{
	struct ftr_slice text = tdat_bytes(part, tdat_number(part, 8));
	struct ftr_slice name = { "?", 1 };
	int ret = -EINVAL;

	if (part->is_short)
		return -EBADMSG;
	if (ftr_ftrace_format_name(text, &name) && system.len > 0 &&
	    memchr(system.s, ':', system.len) == NULL)
		ret = ftr_ftrace_format_add(&reader->ftrace, system, name, text, NULL);
	if (ret == -EINVAL)
		tdat_warn(reader, tdat_offset(part) - text.len,
			  "damaged format of %.*s:%.*s: such events are skipped",
			  system.len > 40 ? 40 : (int)system.len, system.s,
			  name.len > 80 ? 80 : (int)name.len, name.s);
	return ret == -ENOMEM ? ret : 0;
}

static int formats_load(struct tdat_reader *reader, struct ftr_slice system, struct tdat_part *part)
{
	uint64_t nr = tdat_number(part, 4);
	int ret = part->is_short ? -EBADMSG : 0;

	while (ret == 0 && nr-- > 0)
		ret = format_load(reader, system, part);
	return ret;
}

static int ftrace_formats_load(struct tdat_reader *reader, struct tdat_part *part)
{
	const size_t len = strlen(TDAT_SYSTEM_FTRACE);

	return formats_load(reader, ftr_slice_make(TDAT_SYSTEM_FTRACE, len), part);
}

/* Of one that has texts alone, by ftr; they are no records that could be kept. */
static struct ftr_slice system_take(struct tdat_part *part, bool *has_texts)
{
	const size_t len = strlen(TDAT_TEXT_SUFFIX);
	struct ftr_slice system = tdat_string(part);

	*has_texts = system.len > len &&
		     ftr_slice_eq(ftr_slice_make(system.s + system.len - len, len),
				  TDAT_TEXT_SUFFIX);
	if (*has_texts)
		system.len -= len;
	return system;
}

static int system_load(struct tdat_reader *reader, struct tdat_part *part)
{
	size_t from = reader->ftrace.events.nr;
	bool has_texts;
	struct ftr_slice system = system_take(part, &has_texts);
	int ret = formats_load(reader, system, part);

	for (size_t i = from; has_texts && i < reader->ftrace.events.nr; i++)
		reader->ftrace.events.v[i]->is_portable = false;
	return ret;
}

static int event_formats_load(struct tdat_reader *reader, struct tdat_part *part)
{
	uint64_t nr = tdat_number(part, 4);
	int ret = part->is_short ? -EBADMSG : 0;

	while (ret == 0 && nr-- > 0)
		ret = system_load(reader, part);
	return ret;
}

/* ---- texts ---- */

static int kallsyms_load(struct tdat_reader *reader, struct tdat_part *part)
{
	reader->kallsyms = tdat_bytes(part, tdat_number(part, 4));
	return part->is_short ? -EBADMSG : 0;
}

static int printk_load(struct tdat_reader *reader, struct tdat_part *part)
{
	struct ftr_slice text = tdat_bytes(part, tdat_number(part, 4));
	uint64_t damaged_nr;

	if (part->is_short)
		return -EBADMSG;
	reader->ftrace.kernel.printk_formats = text;
	if (ftr_ftrace_printk_formats(&reader->ftrace, text, &damaged_nr) < 0)
		return -ENOMEM;
	if (damaged_nr > 0)
		tdat_warn(reader, tdat_offset(part) - text.len,
			  "%llu damaged lines of printk_formats are ignored",
			  (unsigned long long)damaged_nr);
	return 0;
}

static int cmdlines_load(struct tdat_reader *reader, struct tdat_part *part)
{
	struct ftr_slice text = tdat_bytes(part, tdat_number(part, 8));

	if (part->is_short)
		return -EBADMSG;
	return reader->is_side ? 0 : tdat_cmdlines_load(reader, text);
}

/* In the order of version 6; that of the sections' ids, from TDAT_OPTION_HEADER_INFO on. */
static const struct {
	const char *name;
	int (*load)(struct tdat_reader *reader, struct tdat_part *part);
} rows[TDAT_META_NR] = {
	{ "header_page and header_event", header_load },
	{ "the formats of ftrace", ftrace_formats_load },
	{ "the formats of events", event_formats_load },
	{ "kallsyms", kallsyms_load },
	{ "printk_formats", printk_load },
	{ "saved_cmdlines", cmdlines_load },
};

int tdat_meta_load(struct tdat_reader *reader, unsigned nr, struct tdat_part *part)
{
	return rows[nr].load(reader, part);
}

const char *tdat_meta_name(unsigned nr)
{
	return rows[nr].name;
}

/* ---- the kernel's functions ---- */

static void kallsyms_parse(struct tdat_reader *reader, struct ftr_module *module)
{
	struct ftr_symtab *symtab = calloc(1, sizeof(*symtab));
	struct ftr_istream in;

	if (symtab == NULL)
		return;
	ftr_istream_from_memory(&in, "kallsyms", reader->kallsyms.s, reader->kallsyms.len);
	if (ftr_ftrace_kallsyms(symtab, &in, reader->trace->diag) == 0)
		module->symtab = symtab;
	else
		free(symtab);
	ftr_istream_close(&in);
}

void tdat_module_load(struct ftr_trace *trace, struct ftr_module *module)
{
	struct tdat_reader *reader = trace->reader;

	if (!module->is_kernel)
		return;
	if (reader->kallsyms.len > 0)
		kallsyms_parse(reader, module);
	else
		ftr_diag_warn(trace->diag, "%s: no kallsyms in it: kernel functions are shown as "
			      "addresses", reader->in.name);
}
