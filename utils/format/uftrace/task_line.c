/* SPDX-License-Identifier: MIT */
/*
 * Lines of task.txt: "SESS timestamp=5014.182133989 pid=31103 sid=d5bf... exename="/opt/values"".
 */
#include "utils/format/uftrace/task_line.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SID_CHARS 16

/* KEY=VALUE pairs of one line. */
struct line {
	struct ftr_slice kind;
	struct ftr_slice rest;
	uint64_t time_ns;
};

/*
 * The value after " key=" (or its plural spellings of old files: only the end of the key counts).
 */
static bool line_value(const struct line *line, const char *key, struct ftr_slice *value)
{
	struct ftr_slice word, rest = line->rest;
	size_t len = strlen(key);

	while (ftr_slice_split(&rest, ' ', &word)) {
		if (ftr_slice_starts(word, key) && word.len > len && word.s[len] == '=') {
			*value = ftr_slice_make(word.s + len + 1, word.len - len - 1);
			return true;
		}
	}
	return false;
}

/* Quoted without escapes: the last quote of the line ends it. */
static bool line_quoted(const struct line *line, const char *key, struct ftr_slice *value)
{
	struct ftr_slice rest = line->rest;
	size_t len = strlen(key);

	for (; rest.len > len + 2; rest.s++, rest.len--) {
		if (!ftr_slice_starts(rest, key) || rest.s[len] != '=' || rest.s[len + 1] != '"')
			continue;
		while (rest.len > len + 2 && rest.s[rest.len - 1] != '"')
			rest.len--;
		*value = ftr_slice_make(rest.s + len + 2, rest.len - len - 3);
		return rest.len > len + 2;
	}
	return false;
}

static bool line_id(const struct line *line, const char *key, int32_t *id)
{
	struct ftr_slice value;
	uint64_t number;

	if (!line_value(line, key, &value) || ftr_parse_u64(value, 10, &number) < 0 ||
	    number > INT32_MAX)
		return false;
	*id = (int32_t)number;
	return true;
}

static bool line_sid(const struct line *line, char sid[SID_CHARS + 1])
{
	struct ftr_slice value;

	if (!line_value(line, "sid", &value) || value.len != SID_CHARS ||
	    memchr(value.s, '/', value.len) != NULL || memchr(value.s, '\0', value.len) != NULL)
		return false;
	memcpy(sid, value.s, SID_CHARS);
	sid[SID_CHARS] = '\0';
	return true;
}

static bool parse_session(const struct line *line, struct ftr_task_line *out)
{
	if (!line_quoted(line, "exename", &out->name))
		out->name = (struct ftr_slice){ NULL, 0 };
	/* Old files have tid=. */
	return line_sid(line, out->sid) &&
	       (line_id(line, "pid", &out->pid) || line_id(line, "tid", &out->pid));
}

static bool parse_task(const struct line *line, struct ftr_task_line *out)
{
	return line_id(line, "pid", &out->pid) && line_id(line, "tid", &out->tid);
}

static bool parse_fork(const struct line *line, struct ftr_task_line *out)
{
	return line_id(line, "pid", &out->pid) && line_id(line, "ppid", &out->ppid) &&
	       out->pid != out->ppid;
}

static bool parse_dlopen(const struct line *line, struct ftr_task_line *out)
{
	struct ftr_slice base;

	return line_sid(line, out->sid) && line_value(line, "base", &base) &&
	       ftr_parse_u64(base, 16, &out->base) == 0 && line_quoted(line, "libname", &out->name);
}

static const struct {
	const char *word;
	bool (*parse)(const struct line *line, struct ftr_task_line *out);
} kinds[FTR_TASK_LINES] = {
	[FTR_TASK_LINE_SESSION] = { "SESS", parse_session },
	[FTR_TASK_LINE_TASK]	= { "TASK", parse_task },
	[FTR_TASK_LINE_FORK]	= { "FORK", parse_fork },
	[FTR_TASK_LINE_DLOPEN]	= { "DLOP", parse_dlopen },
};

int ftr_task_line_parse(struct ftr_slice text, struct ftr_task_line *out)
{
	struct line line = { .rest = text };
	struct ftr_slice time;

	ftr_slice_split(&line.rest, ' ', &line.kind);
	for (int i = 0; i < FTR_TASK_LINES; i++) {
		if (!ftr_slice_eq(line.kind, kinds[i].word))
			continue;
		*out = (struct ftr_task_line){ .kind = (enum ftr_task_line_kind)i };
		if (!line_value(&line, "timestamp", &time) ||
		    ftr_parse_timestamp(time, &out->time_ns) < 0)
			return -EINVAL;
		return kinds[i].parse(&line, out) ? 0 : -EINVAL;
	}
	return -ENOENT;
}

void ftr_task_line_put(struct ftr_strbuf *text, const struct ftr_task_line *line)
{
	ftr_strbuf_printf(text, "%s timestamp=%" PRIu64 ".%09" PRIu64, kinds[line->kind].word,
			  line->time_ns / 1000000000, line->time_ns % 1000000000);
	switch (line->kind) {
	case FTR_TASK_LINE_SESSION:
		ftr_strbuf_printf(text, " pid=%d sid=%.16s exename=\"%.*s\"\n", line->pid,
				  line->sid, (int)line->name.len, line->name.s);
		break;
	case FTR_TASK_LINE_TASK:
		ftr_strbuf_printf(text, " tid=%d pid=%d\n", line->tid, line->pid);
		break;
	case FTR_TASK_LINE_FORK:
		ftr_strbuf_printf(text, " pid=%d ppid=%d\n", line->pid, line->ppid);
		break;
	case FTR_TASK_LINE_DLOPEN:
		ftr_strbuf_printf(text, " tid=%d sid=%.16s base=%" PRIx64 " libname=\"%.*s\"\n",
				  line->tid, line->sid, line->base, (int)line->name.len,
				  line->name.s);
		break;
	case FTR_TASK_LINES:
		break;
	}
}
