/* SPDX-License-Identifier: MIT */
/*
 * Options: u16 id, u32 bytes, data.  Some say what the times mean, some where buffers are, some
 * what machine it was; the rest is for trace-cmd alone and passed over.
 */
#include <errno.h>
#include <string.h>

#include "utils/format/tracedat/read.h"

#define NS_PER_US 1000

int tdat_options_take(struct tdat_reader *reader, struct tdat_part *part)
{
	for (;;) {
		struct tdat_option option = { .id = (uint16_t)tdat_number(part, 2) };
		uint64_t bytes;

		if (part->is_short || (option.id == TDAT_OPTION_DONE && reader->version == 6))
			return 0;
		bytes = tdat_number(part, 4);
		option.data = *part;
		tdat_bytes(part, bytes);
		if (part->is_short)
			return 0;
		option.data.end = part->at;
		option.data.offset = tdat_offset(part);
		if (ftr_vec_push(&reader->options, option) < 0)
			return -ENOMEM;
		if (option.id == TDAT_OPTION_DONE)
			return 0;
	}
}

/* ---- what they say ---- */

/* All of the data, without what follows a NUL. */
static struct ftr_slice option_text(const struct tdat_part *data)
{
	const char *s = (const char *)data->at;

	return ftr_slice_trim(ftr_slice_make(s, strnlen(s, (size_t)(data->end - data->at))));
}

/* As strtoll reads it: decimal or hex, of either sign. */
static bool number_parse(struct ftr_slice text, int64_t *value)
{
	bool is_negative = text.len > 0 && text.s[0] == '-';
	uint64_t number;

	if (is_negative || (text.len > 0 && text.s[0] == '+'))
		text = ftr_slice_make(text.s + 1, text.len - 1);
	if (ftr_parse_u64(text, 0, &number) < 0)
		return false;
	*value = (int64_t)(is_negative ? -number : number);
	return true;
}

static int offset_add(struct tdat_reader *reader, const struct tdat_part *data, int64_t unit)
{
	struct ftr_slice text = option_text(data);
	int64_t value;

	if (!number_parse(text, &value))
		tdat_warn(reader, tdat_offset(data), "damaged offset of the clock is ignored: %.*s",
			  text.len > 40 ? 40 : (int)text.len, text.s);
	else
		reader->clock.offset_ns = (int64_t)((uint64_t)reader->clock.offset_ns +
						    (uint64_t)value * (uint64_t)unit);
	return 0;
}

static int date_apply(struct tdat_reader *reader, struct tdat_part *data)
{
	return offset_add(reader, data, NS_PER_US);
}

static int offset_apply(struct tdat_reader *reader, struct tdat_part *data)
{
	return offset_add(reader, data, 1);
}

static int tsc_apply(struct tdat_reader *reader, struct tdat_part *data)
{
	uint64_t offset = tdat_offset(data);
	uint64_t mult = tdat_number(data, 4), shift = tdat_number(data, 4);

	tdat_number(data, 8);		/* an offset, which trace-cmd does not add either */
	if (data->is_short || mult == 0 || shift > 63) {
		tdat_warn(reader, offset, "damaged TSC2NSEC is ignored: times are in ticks");
		return 0;
	}
	reader->clock.tsc_mult = (uint32_t)mult;
	reader->clock.tsc_shift = (uint32_t)shift;
	return 0;
}

/* "local global [mono] boot": mono */
static int clock_apply(struct tdat_reader *reader, struct tdat_part *data)
{
	struct ftr_slice text = option_text(data);
	const char *open = text.len > 0 ? memchr(text.s, '[', text.len) : NULL;
	const char *close = open == NULL ? NULL :
			    memchr(open, ']', text.len - (size_t)(open - text.s));

	if (close != NULL)
		text = ftr_slice_make(open + 1, (size_t)(close - open - 1));
	reader->clock_name = tdat_strdup(reader, text);
	return reader->clock_name == NULL ? -ENOMEM : 0;
}

/* "Linux HOST 6.1.0 x86_64" */
static int uname_apply(struct tdat_reader *reader, struct tdat_part *data)
{
	struct ftr_info *info = &reader->trace->info;
	struct ftr_slice text = option_text(data), word[3];
	char *kernel;

	for (size_t i = 0; i < 3; i++) {
		if (!ftr_slice_split(&text, ' ', &word[i]))
			return 0;
	}
	info->os_hostname = tdat_strdup(reader, word[1]);
	kernel = ftr_arena_alloc(&reader->trace->arena, word[0].len + word[2].len + 2);
	if (kernel == NULL || info->os_hostname == NULL)
		return -ENOMEM;
	memcpy(kernel, word[0].s, word[0].len);
	kernel[word[0].len] = ' ';
	memcpy(kernel + word[0].len + 1, word[2].s, word[2].len);
	kernel[word[0].len + 1 + word[2].len] = '\0';
	info->os_kernel = kernel;
	info->info_mask |= FTR_INFO_OSINFO;
	return 0;
}

/* "ftr 0.1.0, tasks as CPUs from 4": 4 */
static struct ftr_slice tasks_from(struct ftr_slice text)
{
	size_t len = strlen(TDAT_VERSION_TASKS);
	const char *at = !ftr_slice_starts(text, TDAT_VERSION_PREFIX) ? NULL :
			 memmem(text.s, text.len, TDAT_VERSION_TASKS, len);

	if (at == NULL)
		return ftr_slice_make("", 0);
	return ftr_slice_make(at + len, text.len - (size_t)(at + len - text.s));
}

static int version_apply(struct tdat_reader *reader, struct tdat_part *data)
{
	struct ftr_info *info = &reader->trace->info;

	struct ftr_slice text = option_text(data), number = tasks_from(text);
	uint64_t cpu;

	reader->ftrace.has_programs = ftr_slice_starts(text, TDAT_VERSION_PREFIX);
	if (ftr_parse_u64(number, 10, &cpu) == 0 && cpu <= UINT32_MAX)
		reader->tasks_from = (uint32_t)cpu;
	info->recorder_version = tdat_strdup(reader, text);
	info->info_mask |= FTR_INFO_VERSION;
	return info->recorder_version == NULL ? -ENOMEM : 0;
}

/* Of how many CPUs there are places of pages, where not of all. */
static int cpu_count_apply(struct tdat_reader *reader, struct tdat_part *data)
{
	uint64_t nr = tdat_number(data, 4);

	if (!data->is_short)
		reader->cpu_nr = (uint32_t)nr;
	return 0;
}

/* Those of buffers and sections are read when all else is known. */
static const struct {
	uint16_t id;
	int (*apply)(struct tdat_reader *reader, struct tdat_part *data);
} rows[] = {
	{ TDAT_OPTION_DATE, date_apply },
	{ TDAT_OPTION_OFFSET, offset_apply },
	{ TDAT_OPTION_TRACECLOCK, clock_apply },
	{ TDAT_OPTION_TSC2NSEC, tsc_apply },
	{ TDAT_OPTION_TIME_SHIFT, tdat_shifts_load },
	{ TDAT_OPTION_UNAME, uname_apply },
	{ TDAT_OPTION_VERSION, version_apply },
	{ TDAT_OPTION_CPUCOUNT, cpu_count_apply },
};

static void unknown_warn(const struct tdat_reader *reader)
{
	for (size_t i = 0; i < reader->options.nr; i++) {
		const struct tdat_option *option = &reader->options.v[i];

		if (option->id > TDAT_OPTION_LAST)
			tdat_warn(reader, tdat_offset(&option->data),
				  "unknown option %u is ignored", option->id);
	}
}

bool tdat_option_next(const struct tdat_reader *reader, uint16_t id, size_t *pos,
		      struct tdat_part *data)
{
	while (*pos < reader->options.nr) {
		const struct tdat_option *option = &reader->options.v[(*pos)++];

		if (option->id == id) {
			*data = option->data;
			return true;
		}
	}
	return false;
}

int tdat_options_apply(struct tdat_reader *reader)
{
	struct tdat_part data;
	int ret = 0;

	unknown_warn(reader);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t pos = 0;

		while (ret == 0 && tdat_option_next(reader, rows[i].id, &pos, &data))
			ret = rows[i].apply(reader, &data);
	}
	return ret;
}
