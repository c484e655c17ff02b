/* SPDX-License-Identifier: MIT */
/*
 * kernel_header: how the machine that recorded lays its pages out, and the formats of the events;
 * kallsyms: its functions.
 *
 *	PAGE_SIZE: 4096
 *	LONG_SIZE: 8
 *	ENDIAN: LE
 *	TRACEFS: events/sched/sched_switch/format: 1488
 *	... so many bytes: the file of tracefs ...
 */
#include <errno.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/uftrace/read_kernel.h"
#include "utils/format/uftrace/write_kernel.h"
#include "utils/object/symtab.h"

#define PAGE_PATH "events/header_page"
#define PAGE_BYTES 4096

/* @line lies in the file. */
static void warn_line(const struct uft_kernel *kernel, const struct ftr_istream *in,
		      const char *what, struct ftr_slice line)
{
	ftr_diag_warn(kernel->trace->diag, FTR_KERNEL_HEADER_FILE "+0x%zx: %s: %.*s",
		      (size_t)((const uint8_t *)line.s - in->data), what,
		      line.len > 80 ? 80 : (int)line.len, line.s);
}

static int page_size_parse(struct ftr_ftrace_layout *layout, struct ftr_slice value)
{
	uint64_t bytes;

	if (ftr_parse_u64(value, 10, &bytes) < 0 || bytes < FTR_FTRACE_PAGE_MIN ||
	    bytes > FTR_FTRACE_PAGE_MAX || (bytes & (bytes - 1)) != 0)
		return -EINVAL;
	layout->page_bytes = (uint32_t)bytes;
	return 0;
}

static int long_size_parse(struct ftr_ftrace_layout *layout, struct ftr_slice value)
{
	if (!ftr_slice_eq(value, "4") && !ftr_slice_eq(value, "8"))
		return -EINVAL;
	layout->long_bytes = (uint8_t)(value.s[0] - '0');
	return 0;
}

static int endian_parse(struct ftr_ftrace_layout *layout, struct ftr_slice value)
{
	layout->is_big = value.len == 2 && strncasecmp(value.s, "BE", 2) == 0;
	return layout->is_big || (value.len == 2 && strncasecmp(value.s, "LE", 2) == 0) ? 0 :
											  -EINVAL;
}

static const struct {
	const char *name;
	int (*parse)(struct ftr_ftrace_layout *layout, struct ftr_slice value);
} keys[] = {
	{ "PAGE_SIZE: ", page_size_parse },
	{ "LONG_SIZE: ", long_size_parse },
	{ "ENDIAN: ", endian_parse },
};

/* "events/SYSTEM/NAME/format".  False: it is another path. */
static bool path_is_format(struct ftr_slice path, struct ftr_slice *system, struct ftr_slice *name)
{
	struct ftr_slice events;

	return ftr_slice_split(&path, '/', &events) && ftr_slice_eq(events, "events") &&
	       ftr_slice_split(&path, '/', system) && ftr_slice_split(&path, '/', name) &&
	       path.s != NULL && ftr_slice_eq(path, "format") && system->len > 0 && name->len > 0;
}

/* "PATH: BYTES", and so many bytes behind the line. */
static bool block_take(struct ftr_istream *in, struct ftr_slice line, struct ftr_slice *path,
		       struct ftr_slice *text, uint64_t *bytes)
{
	const char *colon = line.len > 0 ? memrchr(line.s, ':', line.len) : NULL;
	size_t left = ftr_istream_left(in), len;

	if (colon == NULL)
		return false;
	*path = ftr_slice_make(line.s, (size_t)(colon - line.s));
	if (ftr_parse_u64(ftr_slice_trim(ftr_slice_make(colon + 1, line.len - path->len - 1)), 10,
			  bytes) < 0)
		return false;
	len = *bytes > left ? left : (size_t)*bytes;
	*text = ftr_slice_make((const char *)ftr_istream_take(in, len), len);
	return true;
}

/* A format that kernel_header has cut may be whole in kernel_formats. */
static bool whole_find(const struct uft_kernel *kernel, struct ftr_slice path,
		       struct ftr_slice *text)
{
	struct ftr_istream in = kernel->formats;
	struct ftr_slice one, whole;
	const char *line;
	uint64_t bytes;
	size_t len;

	while (ftr_istream_line(&in, &line, &len)) {
		size_t skip = strlen(FTR_KERNEL_BLOCK_PREFIX);

		if (!ftr_slice_starts(ftr_slice_make(line, len), FTR_KERNEL_BLOCK_PREFIX) ||
		    !block_take(&in, ftr_slice_make(line + skip, len - skip), &one, &whole, &bytes))
			return false;
		if (one.len != path.len || memcmp(one.s, path.s, path.len) != 0)
			continue;
		*text = whole;
		return whole.len == bytes;
	}
	return false;
}

static int format_load(struct uft_kernel *kernel, const struct ftr_istream *in,
		       struct ftr_slice path, struct ftr_slice text)
{
	bool is_cut = text.len == FTR_KERNEL_CUT_BYTES && !whole_find(kernel, path, &text);
	const char *why_cut = is_cut ? "its format was cut when it was recorded" : NULL;
	struct ftr_slice system, name;
	int ret;

	if (!path_is_format(path, &system, &name)) {
		warn_line(kernel, in, "unknown file is ignored", path);
		return 0;
	}
	ret = ftr_ftrace_format_add(&kernel->ftrace, system, name, text, why_cut);
	if (ret == -EINVAL)
		warn_line(kernel, in, "damaged format: such events are skipped", path);
	return ret == -ENOMEM ? ret : 0;
}

/* "PATH: BYTES" and so many bytes. */
static int block_load(struct uft_kernel *kernel, struct ftr_istream *in, struct ftr_slice line)
{
	struct ftr_slice path, text;
	uint64_t bytes;

	if (!block_take(in, line, &path, &text, &bytes)) {
		warn_line(kernel, in, "expected a path and a size", line);
		return 0;
	}
	if (bytes > text.len)
		warn_line(kernel, in, "the file ends inside this format", line);
	if (!ftr_slice_eq(path, PAGE_PATH))
		return format_load(kernel, in, path, text);
	if (!ftr_ftrace_header_page(&kernel->ftrace, text))
		warn_line(kernel, in, "contradicts LONG_SIZE, which is used", text);
	return 0;
}

static int key_load(struct ftr_ftrace_layout *layout, struct ftr_slice line)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t len = strlen(keys[i].name);

		if (ftr_slice_starts(line, keys[i].name))
			return keys[i].parse(layout,
					     ftr_slice_trim(
						     ftr_slice_make(line.s + len, line.len - len)));
	}
	return -EINVAL;
}

static int lines_load(struct uft_kernel *kernel, struct ftr_istream *in,
		      struct ftr_ftrace_layout *layout)
{
	struct ftr_ftrace *ftrace = &kernel->ftrace;
	bool is_lost = false;	/* among lines of no meaning: one warning is enough */
	const char *text;
	size_t len;
	int ret = 0;

	while (ret == 0 && ftr_istream_line(in, &text, &len)) {
		struct ftr_slice line = ftr_slice_make(text, len);

		if (ftr_slice_starts(line, FTR_KERNEL_BLOCK_PREFIX)) {
			if (ftrace->tep == NULL)	/* the layout is known now */
				ret = ftr_ftrace_init(ftrace, kernel->trace, layout);
			line = ftr_slice_make(text + strlen(FTR_KERNEL_BLOCK_PREFIX),
					      len - strlen(FTR_KERNEL_BLOCK_PREFIX));
			ret = ret < 0 ? ret : block_load(kernel, in, line);
			is_lost = false;
		} else if (len > 0 && (ftrace->tep != NULL || key_load(layout, line) < 0)) {
			if (!is_lost)
				warn_line(kernel, in, "damaged line is ignored", line);
			is_lost = true;
		}
	}
	return ret;
}

int uft_kernel_header_load(struct uft_kernel *kernel, struct uft_reader *reader)
{
	struct ftr_diag *diag = reader->trace->diag;
	struct ftr_ftrace_layout layout = {
		.page_bytes = PAGE_BYTES, .long_bytes = reader->is_32 ? 4 : 8,
		.is_big = reader->is_big,
	};
	struct ftr_err err = { 0 };
	struct ftr_istream in;
	int ret;

	ret = ftr_dir_file(reader->dir, FTR_KERNEL_HEADER_FILE, &in, &err);
	if (ret < 0) {
		ftr_diag_warn(diag, "%s: kernel events cannot be decoded", err.text);
		return ret == -ENOMEM ? ret : 0;
	}
	if (ftr_dir_has(reader->dir, FTR_KERNEL_FORMATS_FILE) &&
	    ftr_dir_file(reader->dir, FTR_KERNEL_FORMATS_FILE, &kernel->formats, &err) < 0)
		ftr_diag_warn(diag, "%s: long formats are cut", err.text);
	ret = lines_load(kernel, &in, &layout);
	ftr_istream_close(&kernel->formats);
	ftr_istream_close(&in);
	if (ret == 0 && kernel->ftrace.type.bytes == 0)
		ftr_diag_warn(diag, FTR_KERNEL_HEADER_FILE
			      ": no format in it: kernel events cannot be decoded");
	return ret;
}

int uft_kallsyms_load(struct uft_reader *reader, struct ftr_symtab *symtab)
{
	struct ftr_diag *diag = reader->trace->diag;
	struct ftr_err err = { 0 };
	struct ftr_istream in;
	int ret;

	if (reader->kernel != NULL && reader->kernel->side.free != NULL) {
		ftr_istream_from_memory(&in, FTR_KERNEL_SYMBOL_FILE,
					reader->kernel->side.kallsyms.s,
					reader->kernel->side.kallsyms.len);
		ret = ftr_ftrace_kallsyms(symtab, &in, diag);
		ftr_istream_close(&in);
		return ret;
	}
	ret = ftr_dir_file(reader->dir, FTR_KERNEL_SYMBOL_FILE, &in, &err);

	if (ret < 0) {
		ftr_diag_warn(diag, "%s: kernel functions are shown as addresses", err.text);
		return ret;
	}
	ret = ftr_ftrace_kallsyms(symtab, &in, diag);
	ftr_istream_close(&in);
	return ret;
}
