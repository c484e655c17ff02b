/* SPDX-License-Identifier: MIT */
/* The table of formats, and detection. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/gunzip.h"
#include "utils/base/istream.h"
#include "utils/format/dir.h"
#include "utils/format/format.h"

#define FTR_FORMAT(name) extern const struct ftr_format ftr_format_##name;
#include "utils/format/formats.def"
#undef FTR_FORMAT

#define FTR_FORMAT(name) &ftr_format_##name,
static const struct ftr_format *const formats[] = {
#include "utils/format/formats.def"
};
#undef FTR_FORMAT

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
		if (strcmp(format->name, name) == 0 ||
		    (format->other_name != NULL && strcmp(format->other_name, name) == 0))
			return format;
	}
	return NULL;
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
	const struct ftr_format *format = next_that(ftr_format_is_recorded, pos);

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
	return set_of(next_that(ftr_format_is_recorded, pos), set);
}

bool ftr_format_dump_options(size_t *pos, struct ftr_option_set *set)
{
	const struct ftr_format *format = ftr_format_next(pos);

	if (format != NULL)
		*set = (struct ftr_option_set){ .options = format->dump_option };
	return format != NULL;
}

bool ftr_format_check_options(size_t *pos, struct ftr_option_set *set)
{
	const struct ftr_format *format = ftr_format_next(pos);

	if (format != NULL)
		*set = (struct ftr_option_set){ .options = format->check_option };
	return format != NULL;
}

static const struct ftr_format *format_detect(const char *path, enum ftr_format_kind kind,
					      const uint8_t *head, size_t len)
{
	const struct ftr_format *format;
	size_t pos = 0;

	while ((format = ftr_format_next(&pos)) != NULL) {
		if (ftr_format_is_read(format) && format->detect != NULL && format->kind == kind &&
		    format->detect(path, head, len))
			return format;
	}
	return NULL;
}

/* What is no trace, but may hold one. */
static int describe_unknown(const char *path, const uint8_t *head, size_t len,
			    const struct ftr_istream *in, struct ftr_err *err)
{
	static const struct {
		const char *magic, *what, *remedy;
	} rows[] = {
		{ "\x28\xb5\x2f\xfd", "zstd", "zstd -d" },
		{ "\xfd" "7zXZ", "xz", "xz -d" },
	};
	bool is_pipe = in->window != NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t magic_len = strlen(rows[i].magic);

		if (len >= magic_len && memcmp(head, rows[i].magic, magic_len) == 0)
			return ftr_err_set(err, EBADMSG,
					   "%s: compressed by %s; decompress it first (%s%s %s)",
					   in->name, rows[i].what, is_pipe ? "... | " : "",
					   rows[i].remedy, is_pipe ? "| ftr ..." : path);
	}
	if (len == 0)
		return ftr_err_set(err, EBADMSG,
				   "%s: empty; the program that should write it may have failed",
				   in->name);
	return ftr_err_set(err, EBADMSG, "%s: not a trace in any format that ftr reads", in->name);
}

/* A pipe may have no more than a few bytes for now: look at what there is after each read. */
static int detect_file(const char *path, struct ftr_istream *in, const struct ftr_format **format,
		       struct ftr_err *err)
{
	size_t have = 0, want;
	const uint8_t *head;
	int ret;

	do {
		want = have + 1;
		have = ftr_istream_peek(in, want, &head);
		*format = format_detect(path, FTR_FORMAT_FILE, head,
					have < HEAD_BYTES ? have : HEAD_BYTES);
	} while (*format == NULL && have >= want && have < HEAD_BYTES && in->window != NULL);
	if (*format != NULL)
		return 0;
	ret = ftr_istream_check(in, err);
	return ret < 0 ? ret : describe_unknown(path, head, have, in, err);
}

static int detect_dir(const char *path, const struct ftr_format **format, struct ftr_err *err)
{
	*format = format_detect(path, FTR_FORMAT_DIRECTORY, NULL, 0);
	if (*format == NULL && access(path, R_OK | X_OK) < 0)
		return ftr_err_set(err, errno, "%s: %s; read it as its owner or as root", path,
				   strerror(errno));
	if (*format == NULL)
		return ftr_err_set(err, EBADMSG, "%s: not a trace directory, or not all of one (it "
				   "has no file named info); name another trace, or make it again",
				   path);
	return 0;
}

static bool is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

static int stat_trace(const char *path, struct stat *st, struct ftr_err *err)
{
	if ((is_stdin(path) ? fstat(STDIN_FILENO, st) : stat(path, st)) == 0)
		return 0;
	if (is_stdin(path))
		return ftr_err_set(err, errno, "standard input: %s", strerror(errno));
	return ftr_err_set(err, errno,
			   "%s: %s; record a program first (ftr record PROGRAM), "
			   "or name the trace that you mean",
			   path, strerror(errno));
}

/* What a file or pipe holds, decompressed. */
static int stream_open(struct ftr_istream *in, const char *path, struct ftr_err *err)
{
	int ret = ftr_istream_open_refilled(in, AT_FDCWD, path, err);

	return ret == 0 && ftr_istream_is_gzip(in) ? ftr_istream_gunzip(in, err) : ret;
}

bool ftr_trace_is_at(const char *path)
{
	const struct ftr_format *format = NULL;
	struct ftr_istream in;
	struct stat st;

	if (stat_trace(path, &st, NULL) < 0)
		return false;
	if (S_ISDIR(st.st_mode))
		return detect_dir(path, &format, NULL) == 0;
	if (!S_ISREG(st.st_mode) || is_stdin(path))
		return true;
	if (stream_open(&in, path, NULL) < 0)
		return false;
	detect_file(path, &in, &format, NULL);
	ftr_istream_close(&in);
	return format != NULL;
}

/* A trace without content, which the reader of its format fills. */
static struct ftr_trace *trace_new(const char *path, const struct ftr_format *format,
				   struct ftr_diag *diag, struct ftr_err *err)
{
	struct ftr_trace *trace = ftr_trace_new(path, diag);

	if (trace == NULL)
		ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	else
		trace->format = format->name;
	return trace;
}

static void warn_broken(struct ftr_trace *trace, const struct ftr_istream *in)
{
	struct ftr_err err;

	if (ftr_istream_check(in, &err) < 0)
		ftr_diag_warn(trace->diag, "%s; the rest of the trace is missing", err.text);
}

/* A pipe that breaks ends the trace early. */
static int read_stream(struct ftr_trace *trace, const struct ftr_format *format,
		       struct ftr_istream *in, struct ftr_err *err)
{
	int ret;

	if (format->needs_file && !(format->may_grow && trace->wants_growing)) {
		ret = ftr_istream_spool(in, err);
		if (ret < 0)
			return ret;
		warn_broken(trace, in);
		return format->read_file(trace, in, err);
	}
	ret = format->read_file(trace, in, err);
	warn_broken(trace, in);
	return ret;
}

/* All of it, or as it comes: of streams, and of directories that are being recorded, too. */
enum opening { OPEN_WHOLE, OPEN_GROWING, OPEN_FOLLOWING, OPEN_CONSUMING };

static int open_file(struct ftr_trace **out, const char *path, bool wants_growing,
		     struct ftr_diag *diag, struct ftr_err *err)
{
	const struct ftr_format *format;
	struct ftr_istream in;
	int ret = stream_open(&in, path, err);

	if (ret < 0)
		return ret;
	ret = detect_file(path, &in, &format, err);
	if (ret == 0) {
		ftr_istream_warn_hole(&in, diag);
		*out = trace_new(path, format, diag, err);
		if (*out != NULL)
			(*out)->wants_growing = wants_growing;
		ret = *out == NULL ? -ENOMEM : read_stream(*out, format, &in, err);
	}
	ftr_istream_close(&in);
	return ret;
}

static int open_dir(struct ftr_trace **out, const char *path, enum opening opening,
		    const struct ftr_kernel_file *kernel, struct ftr_diag *diag,
		    struct ftr_err *err)
{
	const struct ftr_format *format;
	struct ftr_dir *dir;
	int ret = detect_dir(path, &format, err);

	if (ret < 0)
		return ret;
	*out = trace_new(path, format, diag, err);
	if (*out == NULL)
		return -ENOMEM;
	(*out)->wants_following = opening >= OPEN_FOLLOWING;
	(*out)->wants_consuming = opening == OPEN_CONSUMING;
	if (kernel != NULL)
		(*out)->kernel_file = *kernel;
	ret = ftr_dir_open(&dir, path, err);
	if (ret < 0)
		return ret;
	dir->diag = diag;
	ret = format->read_dir(*out, dir, err);
	if (ret < 0)
		ftr_err_prefix(err, "%s", path);
	return ret;
}

static int open_any(struct ftr_trace **out, const char *path, enum opening opening,
		    const struct ftr_kernel_file *kernel, struct ftr_diag *diag,
		    struct ftr_err *err)
{
	struct ftr_trace *trace = NULL;
	struct stat st;
	int ret = stat_trace(path, &st, err);

	if (ret < 0)
		return ret;
	if (kernel != NULL && kernel->path != NULL && !S_ISDIR(st.st_mode))
		return ftr_err_set(err, ENOTSUP, "%s: a data directory, and no file, can be shown "
				   "together with %s; record one (ftr record)", path, kernel->path);
	ret = S_ISDIR(st.st_mode) ? open_dir(&trace, path, opening, kernel, diag, err) :
				    open_file(&trace, path, opening != OPEN_WHOLE, diag, err);
	if (ret < 0) {
		if (trace != NULL)
			ftr_trace_free(trace);
		return ret;
	}
	*out = trace;
	return 0;
}

int ftr_trace_open(struct ftr_trace **out, const char *path, struct ftr_diag *diag,
		   struct ftr_err *err)
{
	return open_any(out, path, OPEN_WHOLE, NULL, diag, err);
}

int ftr_trace_open_merged(struct ftr_trace **out, const char *path,
			  const struct ftr_kernel_file *kernel, struct ftr_diag *diag,
			  struct ftr_err *err)
{
	return open_any(out, path, OPEN_WHOLE, kernel, diag, err);
}

int ftr_kernel_side_read(struct ftr_trace *trace, struct ftr_istream *in,
			 struct ftr_ftrace_side *side, struct ftr_err *err)
{
	const struct ftr_format *format;
	int ret = detect_file(in->name, in, &format, err);

	if (ret < 0)
		return ret;
	if (format->read_kernel == NULL)
		return ftr_err_set(err, EBADMSG, "%s: is %s, which has nothing of the kernel to be "
				   "shown with other data; name a trace.dat", in->name,
				   format->name);
	ret = format->needs_file ? ftr_istream_spool(in, err) : 0;
	return ret < 0 ? ret : format->read_kernel(trace, in, side, err);
}

int ftr_kernel_side_open(struct ftr_trace *trace, const char *path, struct ftr_ftrace_side *side,
			 struct ftr_err *err)
{
	struct ftr_istream in;
	int ret = stream_open(&in, path, err);

	if (ret < 0)
		return ret;
	ret = ftr_kernel_side_read(trace, &in, side, err);
	ftr_istream_close(&in);
	return ret;
}

int ftr_trace_open_growing(struct ftr_trace **out, const char *path, struct ftr_diag *diag,
			   struct ftr_err *err)
{
	return open_any(out, path, OPEN_GROWING, NULL, diag, err);
}

int ftr_trace_follow(struct ftr_trace **out, const char *path, bool consumes,
		     struct ftr_diag *diag, struct ftr_err *err)
{
	return open_any(out, path, consumes ? OPEN_CONSUMING : OPEN_FOLLOWING, NULL, diag, err);
}
