/* SPDX-License-Identifier: MIT */
/* The file info of a uftrace directory: a 40-byte header and lines "key:value". */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/text.h"
#include "utils/format/uftrace/pack_file.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/uftrace.h"

#define HEADER_BYTES 40
#define INFO_MAGIC "Ftrace!"

/* Lines that are kept as they stand; the value starts after @key. */
static const struct {
	const char *key;
	size_t offset;		/* of a const char * in struct ftr_info */
} text_rows[] = {
	{ "exename:",		  offsetof(struct ftr_info, exename) },
	{ "build_id:",		  offsetof(struct ftr_info, build_id) },
	{ "cpuinfo:desc=",	  offsetof(struct ftr_info, cpu_desc) },
	{ "meminfo:",		  offsetof(struct ftr_info, meminfo) },
	{ "osinfo:kernel=",	  offsetof(struct ftr_info, os_kernel) },
	{ "osinfo:hostname=",	  offsetof(struct ftr_info, os_hostname) },
	{ "osinfo:distro=",	  offsetof(struct ftr_info, os_distro) },
	{ "usageinfo:systime=",	  offsetof(struct ftr_info, systime) },
	{ "usageinfo:usrtime=",	  offsetof(struct ftr_info, usrtime) },
	{ "usageinfo:ctxsw=",	  offsetof(struct ftr_info, ctxsw) },
	{ "usageinfo:maxrss=",	  offsetof(struct ftr_info, maxrss) },
	{ "usageinfo:pagefault=", offsetof(struct ftr_info, pagefault) },
	{ "usageinfo:iops=",	  offsetof(struct ftr_info, iops) },
	{ "loadinfo:",		  offsetof(struct ftr_info, loadinfo) },
	{ "argspec:argspec:",	  offsetof(struct ftr_info, argspec) },
	{ "argspec:retspec:",	  offsetof(struct ftr_info, retspec) },
	{ "retspec:",		  offsetof(struct ftr_info, retspec) },
	{ "argauto:",		  offsetof(struct ftr_info, argauto) },
	{ "retauto:",		  offsetof(struct ftr_info, retauto) },
	{ "enumauto:",		  offsetof(struct ftr_info, enumauto) },
	{ "record_date:",	  offsetof(struct ftr_info, record_date) },
	{ "elapsed_time:",	  offsetof(struct ftr_info, elapsed_time) },
	{ "pattern_type:",	  offsetof(struct ftr_info, pattern_type) },
	{ "uftrace_version:",	  offsetof(struct ftr_info, recorder_version) },
	{ "sysctl:",		  offsetof(struct ftr_info, sysctl) },
	{ "ftr_events:",	  offsetof(struct ftr_info, events) },
};

static int line_exit_status(struct ftr_trace *trace, struct ftr_slice value)
{
	int64_t number;

	if (ftr_parse_i64(value, &number) < 0 || number < INT32_MIN || number > INT32_MAX)
		return -EINVAL;
	trace->info.exit_status = (int32_t)number;
	return 0;
}

static int line_cpus(struct ftr_trace *trace, struct ftr_slice value)
{
	struct ftr_slice online, possible, rest = value;
	uint64_t online_nr, possible_nr;

	if (!ftr_slice_split(&rest, '/', &online) || !ftr_slice_split(&rest, '(', &possible) ||
	    ftr_parse_u64(ftr_slice_trim(online), 10, &online_nr) < 0 ||
	    ftr_parse_u64(ftr_slice_trim(possible), 10, &possible_nr) < 0)
		return -EINVAL;
	trace->info.cpus_online = (uint32_t)online_nr;
	trace->info.cpus_possible = (uint32_t)possible_nr;
	return 0;
}

static int line_tids(struct ftr_trace *trace, struct ftr_slice value)
{
	FTR_VEC(int32_t) tids = { 0 };
	struct ftr_slice word, rest = value;
	int32_t *kept;
	uint64_t tid;
	int ret = 0;

	while (ret == 0 && value.len > 0 && ftr_slice_split(&rest, ',', &word)) {
		if (ftr_parse_u64(ftr_slice_trim(word), 10, &tid) < 0 || tid > INT32_MAX)
			ret = -EINVAL;
		else
			ret = ftr_vec_push(&tids, (int32_t)tid);
	}
	kept = tids.nr == 0 ? NULL : ftr_arena_alloc(&trace->arena, tids.nr * sizeof(*kept));
	if (kept != NULL) {
		memcpy(kept, tids.v, tids.nr * sizeof(*kept));
		trace->info.tids = kept;
		trace->info.task_nr = (uint32_t)tids.nr;
	}
	ftr_vec_fini(&tids);
	return ret;
}

static int line_utc_offset(struct ftr_trace *trace, struct ftr_slice value)
{
	return ftr_parse_i64(value, &trace->info.utc_offset_s);
}

static int line_overhead(struct ftr_trace *trace, struct ftr_slice value)
{
	struct ftr_slice word, rest = value;
	uint64_t call_ns, caller_ns;

	if (!ftr_slice_split(&rest, ' ', &word) || ftr_parse_u64(word, 10, &call_ns) < 0 ||
	    ftr_parse_u64(rest, 10, &caller_ns) < 0 || call_ns > UINT32_MAX ||
	    caller_ns > UINT32_MAX)
		return -EINVAL;
	trace->info.overhead_call_ns = (uint32_t)call_ns;
	trace->info.overhead_caller_ns = (uint32_t)caller_ns;
	trace->info.info_mask |= FTR_INFO_OVERHEAD;
	return 0;
}

static int line_auto_args(struct ftr_trace *trace, struct ftr_slice value)
{
	trace->info.auto_args = ftr_slice_eq(value, "1");
	return 0;
}

/* Quotes are kept as \". */
static int line_cmdline(struct ftr_trace *trace, struct ftr_slice value)
{
	char *text = ftr_arena_strndup(&trace->arena, value.s, value.len);
	char *out = text;

	if (text == NULL)
		return -ENOMEM;
	for (const char *in = text; *in != '\0'; in++) {
		if (in[0] == '\\' && in[1] == '"')
			in++;
		*out++ = *in;
	}
	*out = '\0';
	trace->info.cmdline = text;
	return 0;
}

/* Counts of lines, which the lines themselves give. */
static int line_ignored(struct ftr_trace *trace, struct ftr_slice value)
{
	return 0;
}

static const struct {
	const char *key;
	int (*parse)(struct ftr_trace *trace, struct ftr_slice value);
} parsed_rows[] = {
	{ "exit_status:",	line_exit_status },
	{ "cmdline:",		line_cmdline },
	{ "cpuinfo:nr_cpus=",	line_cpus },
	{ "taskinfo:tids=",	line_tids },
	{ "utc_offset:",	line_utc_offset },
	{ "auto-args:",		line_auto_args },
	{ "ftr_overhead:",	line_overhead },
	{ "cpuinfo:lines=",	line_ignored },
	{ "osinfo:lines=",	line_ignored },
	{ "taskinfo:lines=",	line_ignored },
	{ "taskinfo:nr_tid=",	line_ignored },
	{ "usageinfo:lines=",	line_ignored },
	{ "argspec:lines=",	line_ignored },
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static int info_text(struct ftr_trace *trace, size_t offset, struct ftr_slice value)
{
	char *text = ftr_arena_strndup(&trace->arena, value.s, value.len);

	if (text == NULL)
		return -ENOMEM;
	memcpy((char *)&trace->info + offset, &text, sizeof(text));
	return 0;
}

static struct ftr_slice slice_after(struct ftr_slice line, const char *key)
{
	size_t len = strlen(key);

	return ftr_slice_make(line.s + len, line.len - len);
}

/* 0, -EINVAL (not a number ...), -ENOENT (no such key) or -ENOMEM. */
static int info_line(struct ftr_trace *trace, struct ftr_slice line)
{
	for (size_t i = 0; i < ROWS(parsed_rows); i++) {
		if (ftr_slice_starts(line, parsed_rows[i].key))
			return parsed_rows[i].parse(trace, slice_after(line, parsed_rows[i].key));
	}
	for (size_t i = 0; i < ROWS(text_rows); i++) {
		if (ftr_slice_starts(line, text_rows[i].key))
			return info_text(trace, text_rows[i].offset,
					 slice_after(line, text_rows[i].key));
	}
	if (ftr_slice_starts(line, "argspec:"))	/* old files: the spec alone */
		return info_text(trace, offsetof(struct ftr_info, argspec),
				 slice_after(line, "argspec:"));
	return -ENOENT;
}

static int info_lines(struct ftr_trace *trace, struct ftr_istream *in)
{
	struct ftr_diag *diag = trace->diag;
	const char *line;
	size_t len;

	while (ftr_istream_whole_line(in, &line, &len, diag)) {
		int ret = len == 0 ? 0 : info_line(trace, ftr_slice_make(line, len));

		if (ret == -ENOMEM)
			return ret;
		if (ret == -ENOENT)
			ftr_diag_warn(diag, "info:%u: unknown line is ignored: %.*s", in->lineno,
				      len > 60 ? 60 : (int)len, line);
		else if (ret < 0)
			ftr_diag_warn(diag, "info:%u: damaged value is ignored: %.*s", in->lineno,
				      len > 60 ? 60 : (int)len, line);
	}
	return 0;
}

/* Are the first bytes, as far as there are any, those of an info? */
static bool is_begun(const struct ftr_istream *in)
{
	size_t bytes = in->size < sizeof(INFO_MAGIC) ? in->size : sizeof(INFO_MAGIC);

	return bytes == 0 || memcmp(in->data, INFO_MAGIC, bytes) == 0;
}

static int info_header(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err)
{
	struct ftr_info *info = &trace->info;
	const uint8_t *p = ftr_istream_take(in, HEADER_BYTES);
	size_t further;
	bool is_big;

	if (p == NULL && is_begun(in))
		return ftr_err_set(err, EBADMSG, "info: the file ends inside its header: the "
				   "recorder was killed at its start or had no room, or it was "
				   "cut: record again");
	if (p == NULL || memcmp(p, INFO_MAGIC, sizeof(INFO_MAGIC)) != 0)
		return ftr_err_set(err, EBADMSG,
				   "info: not the header of a data directory: record again, "
				   "or name another trace");
	info->elf_data = p[14];
	info->elf_class = p[15];
	is_big = info->elf_data == ELFDATA2MSB;
	info->version = ftr_get_u32(p + 8, is_big) & ~FTR_PACK_VERSION_FLAG;
	info->header_bytes = ftr_get_u16(p + 12, is_big);
	info->feature_mask = ftr_get_u64(p + 16, is_big);
	info->info_mask = ftr_get_u64(p + 24, is_big);
	info->max_stack = ftr_get_u16(p + 32, is_big);
	if (info->version < 3 || info->version > 4)
		ftr_diag_warn(trace->diag, "info+0x8: unknown version %u: read as version 4",
			      info->version);
	if (!(info->feature_mask & FTR_FEATURE_MAX_STACK) || info->max_stack == 0)
		info->max_stack = 1024;
	further = info->header_bytes > HEADER_BYTES ? info->header_bytes - HEADER_BYTES : 0;
	if (ftr_istream_take(in, further) == NULL)
		ftr_diag_warn(trace->diag, "info+0xc: header size %u is beyond the file",
			      info->header_bytes);
	return 0;
}

int uft_info_parse(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err)
{
	int ret = info_header(trace, in, err);

	if (ret == 0 && info_lines(trace, in) < 0)
		ret = ftr_err_set(err, ENOMEM, "info: out of memory");
	return ret;
}

/* The user's notes about the recording. */
static int note_load(struct uft_reader *reader, struct ftr_err *err)
{
	struct ftr_istream in;

	if (!ftr_dir_has(reader->dir, FTR_UFTRACE_NOTE))
		return 0;
	if (ftr_dir_file(reader->dir, FTR_UFTRACE_NOTE, &in, err) < 0) {
		ftr_diag_warn(reader->trace->diag, "%s: the note is not shown", err->text);
		return 0;
	}
	reader->trace->info.note = ftr_arena_strndup(&reader->trace->arena, (const char *)in.data,
						     in.size);
	ftr_istream_close(&in);
	return reader->trace->info.note == NULL ?
		       ftr_err_set(err, ENOMEM, FTR_UFTRACE_NOTE ": out of memory") : 0;
}

int uft_info_load(struct uft_reader *reader, struct ftr_err *err)
{
	struct ftr_istream in;
	int ret = ftr_dir_file(reader->dir, "info", &in, err);

	if (ret < 0)
		return ret;
	ret = uft_info_parse(reader->trace, &in, err);
	reader->is_big = reader->trace->info.elf_data == ELFDATA2MSB;
	reader->is_32 = reader->trace->info.elf_class == ELFCLASS32;
	ftr_istream_close(&in);
	return ret < 0 ? ret : note_load(reader, err);
}
