/* SPDX-License-Identifier: MIT */
/* The table of formats, and detection. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/istream.h"
#include "utils/format/format.h"

#define X(name) extern const struct ftr_format ftr_format_##name;
#include "utils/format/formats.def"
#undef X

#define X(name) &ftr_format_##name,
static const struct ftr_format *const formats[] = {
#include "utils/format/formats.def"
};
#undef X

#define HEAD_BYTES ((size_t)4096)	/* what detect() gets to see of a file */

const struct ftr_format *ftr_format_next(size_t *pos)
{
	if (*pos >= sizeof(formats) / sizeof(formats[0]))
		return NULL;
	return formats[(*pos)++];
}

const struct ftr_format *ftr_format_find(const char *name)
{
	const struct ftr_format *format;
	size_t pos = 0;

	while ((format = ftr_format_next(&pos)) != NULL) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}

static bool is_recorded(const struct ftr_format *format)
{
	return format->is_recorded;
}

static const struct ftr_format *next_that(bool (*is_wanted)(const struct ftr_format *),
					  size_t *pos)
{
	const struct ftr_format *format;

	while ((format = ftr_format_next(pos)) != NULL && !is_wanted(format))
		;
	return format;
}

const char *ftr_format_next_written(size_t *pos)
{
	const struct ftr_format *format = next_that(ftr_format_is_written, pos);

	return format != NULL ? format->name : NULL;
}

const char *ftr_format_next_recorded(size_t *pos)
{
	const struct ftr_format *format = next_that(is_recorded, pos);

	return format != NULL ? format->name : NULL;
}

static bool set_of(const struct ftr_format *format, struct ftr_option_set *set)
{
	if (format == NULL)
		return false;
	*set = (struct ftr_option_set){ format->name, format->options, format->values_bytes,
					format->defaults };
	return true;
}

bool ftr_format_written_options(size_t *pos, struct ftr_option_set *set)
{
	return set_of(next_that(ftr_format_is_written, pos), set);
}

bool ftr_format_recorded_options(size_t *pos, struct ftr_option_set *set)
{
	return set_of(next_that(is_recorded, pos), set);
}

static const struct ftr_format *format_detect(const char *path, enum ftr_format_kind kind,
					      const uint8_t *head, size_t len)
{
	const struct ftr_format *format;
	size_t pos = 0;

	while ((format = ftr_format_next(&pos)) != NULL) {
		if (format->read != NULL && format->detect != NULL && format->kind == kind &&
		    format->detect(path, head, len))
			return format;
	}
	return NULL;
}

/* What is no trace, but may hold one. */
static int describe_unknown(const char *path, const struct ftr_istream *in, struct ftr_err *err)
{
	static const struct {
		const char *magic, *what, *remedy;
	} rows[] = {
		{ "\x1f\x8b", "gzip", "gzip -d" },
		{ "\x28\xb5\x2f\xfd", "zstd", "zstd -d" },
		{ "\xfd" "7zXZ", "xz", "xz -d" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].magic);

		if (in->size >= len && memcmp(in->data, rows[i].magic, len) == 0)
			return ftr_err_set(err, EBADMSG,
					   "%s: compressed by %s: decompress it first (%s %s)",
					   path, rows[i].what, rows[i].remedy, path);
	}
	return ftr_err_set(err, EBADMSG, "%s: not a trace in any format that ftr reads", path);
}

static int detect_file(const char *path, const struct ftr_format **format, struct ftr_err *err)
{
	struct ftr_istream in;
	int ret = ftr_istream_open(&in, AT_FDCWD, path, err);

	if (ret < 0)
		return ret;
	*format = format_detect(path, FTR_FORMAT_FILE, in.data,
				in.size < HEAD_BYTES ? in.size : HEAD_BYTES);
	if (*format == NULL)
		ret = describe_unknown(path, &in, err);
	ftr_istream_close(&in);
	return ret;
}

static int detect_any(const char *path, const struct ftr_format **format, struct ftr_err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return ftr_err_set(err, errno,
				   "%s: %s: record a program first (ftr record PROGRAM), "
				   "or name its data with -d",
				   path, strerror(errno));
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return ftr_err_set(err, EBADMSG,
				   "%s: a pipe or a device: traces are read more than once: "
				   "copy it into a file first",
				   path);
	if (!S_ISDIR(st.st_mode))
		return detect_file(path, format, err);
	*format = format_detect(path, FTR_FORMAT_DIRECTORY, NULL, 0);
	if (*format == NULL)
		return ftr_err_set(err, EBADMSG, "%s: no trace in this directory (it has no file "
				   "named info): name another one with -d", path);
	return 0;
}

bool ftr_trace_is_at(const char *path)
{
	const struct ftr_format *format;
	struct ftr_err err;

	return detect_any(path, &format, &err) == 0;
}

int ftr_trace_open(struct ftr_trace **out, const char *path, struct ftr_diag *diag,
		   struct ftr_err *err)
{
	const struct ftr_format *format = NULL;
	struct ftr_trace *trace;
	int ret = detect_any(path, &format, err);

	if (ret < 0)
		return ret;
	trace = ftr_trace_new(path, diag);
	if (trace == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	trace->format = format->name;
	ret = format->read(trace, path, err);
	if (ret < 0) {
		ftr_trace_free(trace);
		return ret;
	}
	*out = trace;
	return 0;
}
