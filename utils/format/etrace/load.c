/* SPDX-License-Identifier: MIT */
/* Lines of the etrace text (doc/ftr-etrace.5), each to its task's assembly; the log they become. */
#include "utils/format/etrace/load.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MAX 96u	/* bytes up to the "!" */
#define NS_PER_S 1000000000u

/* "<upid>,<cpu>,<time>,<timen>!"; *text becomes what follows.  False: the line begins otherwise. */
static bool line_parse(struct ftr_slice *text, struct ftr_etrace_line *line)
{
	struct ftr_slice head, item[3];
	uint64_t cpu, seconds, ns;

	if (memchr(text->s, '!', text->len < HEAD_MAX ? text->len : HEAD_MAX) == NULL ||
	    !ftr_slice_split(text, '!', &head))
		return false;
	for (int i = 0; i < 3; i++) {
		if (head.len == 0 || !ftr_slice_split(&head, ',', &item[i]))
			return false;
	}
	if (ftr_parse_u64(item[0], 10, &line->upid) < 0 || ftr_parse_u64(item[1], 10, &cpu) < 0 ||
	    ftr_parse_u64(item[2], 10, &seconds) < 0 || ftr_parse_u64(head, 10, &ns) < 0)
		return false;
	if (line->upid > (uint64_t)INT64_MAX || cpu > UINT16_MAX || ns >= NS_PER_S ||
	    seconds > UINT64_MAX / (2 * (uint64_t)NS_PER_S))
		return false;
	line->cpu = (uint32_t)cpu;
	line->time_ns = seconds * NS_PER_S + ns;
	return true;
}

/* Without the "0: " of the original tool. */
static struct ftr_slice skip_prefix(struct ftr_slice text)
{
	size_t len = 0;

	while (len < text.len && isdigit((unsigned char)text.s[len]))
		len++;
	if (len > 0 && len + 1 < text.len && text.s[len] == ':' && text.s[len + 1] == ' ')
		return ftr_slice_make(text.s + len + 2, text.len - len - 2);
	return text;
}

static int compare_calls(const void *a, const void *b)
{
	const struct ftr_syscall *left = *(const struct ftr_syscall *const *)a;
	const struct ftr_syscall *right = *(const struct ftr_syscall *const *)b;

	if (left->end_ns != right->end_ns)
		return left->end_ns < right->end_ns ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* By time, in the order of the text where times are equal. */
static int log_sort(struct ftr_etrace_log *log)
{
	size_t nr = log->calls.nr;
	struct ftr_syscall *sorted;
	const struct ftr_syscall **order;

	if (nr == 0)
		return 0;
	order = calloc(nr, sizeof(const struct ftr_syscall *));
	sorted = calloc(nr, sizeof(*sorted));
	if (order == NULL || sorted == NULL) {
		free(order);
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		order[i] = &log->calls.v[i];
	qsort(order, nr, sizeof(const struct ftr_syscall *), compare_calls);
	for (size_t i = 0; i < nr; i++)
		sorted[i] = *order[i];
	free(order);
	free(log->calls.v);
	log->calls.v = sorted;
	log->calls.cap = nr;
	return 0;
}

__attribute__((format(printf, 3, 4))) void ftr_etrace_violate(struct ftr_etrace_loader *loader,
							      unsigned lineno, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	int len;

	loader->log->violations++;
	if (loader->violation == NULL)
		return;
	len = snprintf(text, sizeof(text), "%.200s:%u: ", loader->in->name, lineno);
	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - (size_t)len, fmt, ap);
	va_end(ap);
	loader->violation(loader->violation_arg, text);
}

struct ftr_etrace_assembly *ftr_etrace_assembly_get(struct ftr_etrace_loader *loader,
						    uint64_t upid)
{
	struct ftr_etrace_assembly *task = ftr_hashmap_find(&loader->tasks, upid);

	if (task != NULL)
		return task;
	task = calloc(1, sizeof(*task));
	if (task == NULL || ftr_vec_push(&loader->all, task) < 0) {
		free(task);
		return NULL;
	}
	task->text = FTR_ETRACE_NO_TEXT;
	return ftr_hashmap_set(&loader->tasks, upid, task) < 0 ? NULL : task;
}

static bool slice_ends(struct ftr_slice text, const char *end)
{
	size_t len = strlen(end);

	return text.len > len && memcmp(text.s + text.len - len, end, len) == 0;
}

static void data_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
		      const struct ftr_etrace_line *line, struct ftr_slice data)
{
	size_t len = 0;
	struct ftr_slice tag, rest;

	while (len < data.len && (isalnum((unsigned char)data.s[len]) || data.s[len] == '_'))
		len++;
	tag = ftr_slice_make(data.s, len);
	rest = ftr_slice_make(data.s + len, data.len - len);
	if (len == 0 || len > 32 || (rest.len > 0 && rest.s[0] != '|' && rest.s[0] != '[')) {
		ftr_etrace_violate(loader, loader->in->lineno, "no tag after the \"!\"");
		return;
	}
	if (rest.len > FTR_ETRACE_CHUNK + 24)
		ftr_etrace_violate(loader, loader->in->lineno,
				   "more than %d bytes of text in a line",
				   FTR_ETRACE_CHUNK);
	if (task->has_exited)
		ftr_etrace_violate(loader, loader->in->lineno, "a line after the task's Exit");
	if (ftr_slice_eq(tag, "Cont"))
		ftr_etrace_cont_line(loader, task,
				     ftr_slice_make(rest.s + (rest.len > 0),
						    rest.len - (rest.len > 0)));
	else if (ftr_slice_eq(tag, "Cont_end"))
		ftr_etrace_cont_end_line(loader, task);
	else if (ftr_slice_eq(tag, "End_of_args"))
		ftr_etrace_arguments_end(loader, task);
	else if (ftr_slice_eq(tag, "Ftr") && rest.len > 0)
		ftr_etrace_extension_line(loader, task, ftr_slice_make(rest.s + 1, rest.len - 1));
	else if (slice_ends(tag, "_end"))
		ftr_etrace_text_end_line(loader, task, tag);
	else if (!ftr_etrace_head_line(
			 loader, task, line, tag,
			 ftr_slice_make(rest.s + (rest.len > 0), rest.len - (rest.len > 0)))) {
		if (rest.len > 0)
			ftr_etrace_text_line(loader, task, tag, rest);
		else
			ftr_etrace_violate(loader, loader->in->lineno, "unknown tag %.*s",
					   (int)tag.len, tag.s);
	}
	task->has_lines = true;
}

static void any_line(struct ftr_etrace_loader *loader, struct ftr_slice text)
{
	struct ftr_etrace_line line;
	struct ftr_etrace_assembly *task;

	if (ftr_slice_starts(text, "INITCWD=")) {
		loader->log->init_cwd = ftr_arena_strndup(&loader->log->arena, text.s + 8,
							  text.len - 8);
		return;
	}
	if (text.len > FTR_ETRACE_LINE_MAX)
		ftr_etrace_violate(loader, loader->in->lineno, "longer than %d bytes",
				   FTR_ETRACE_LINE_MAX);
	text = skip_prefix(text);
	if (!line_parse(&text, &line)) {
		ftr_etrace_violate(loader, loader->in->lineno,
				   "does not begin with <upid>,<cpu>,<time>,<timen>!");
		return;
	}
	if (line.upid == 0) /* the original tool's variables */
		return;
	task = ftr_etrace_assembly_get(loader, line.upid);
	if (task == NULL) {
		loader->has_failed = true;
		return;
	}
	if (line.time_ns <= task->last_ns)
		ftr_etrace_violate(loader, loader->in->lineno,
				   "not later than the task's previous line");
	task->last_ns = line.time_ns;
	if (!task->has_lines)
		task->first_lineno = loader->in->lineno;
	loader->last = task;
	data_line(loader, task, &line, text);
}

/* The text begins with the first task: all others have a parent that announces them. */
static void check_announced(struct ftr_etrace_loader *loader)
{
	for (size_t i = 1; i < loader->all.nr; i++) {
		const struct ftr_etrace_assembly *task = loader->all.v[i];

		if (task->has_lines && !task->is_announced)
			ftr_etrace_violate(loader, task->first_lineno,
					   "no SchedFork announces the task of this line");
	}
}

void ftr_etrace_loader_init(struct ftr_etrace_loader *loader, struct ftr_etrace_log *log,
			    struct ftr_istream *in)
{
	*loader = (struct ftr_etrace_loader){ .log = log, .in = in };
	ftr_hashmap_init(&loader->tasks);
}

bool ftr_etrace_loader_line(struct ftr_etrace_loader *loader)
{
	const char *line;
	size_t len;

	if (loader->has_failed || !ftr_istream_line(loader->in, &line, &len))
		return false;
	loader->last = NULL;
	loader->is_cut = loader->in->is_line_cut;
	if (loader->is_cut) {
		ftr_etrace_violate(loader, loader->in->lineno,
				   "the file ends inside this line: " FTR_CUT_WHY);
		return false;
	}
	any_line(loader, ftr_slice_make(line, len));
	if (loader->is_stream && loader->last != NULL && ftr_etrace_record_is_whole(loader->last))
		ftr_etrace_record_finish(loader, loader->last);
	return true;
}

int ftr_etrace_loader_end(struct ftr_etrace_loader *loader)
{
	for (size_t i = 0; i < loader->all.nr; i++) {
		struct ftr_etrace_assembly *task = loader->all.v[i];

		if (loader->is_cut && task->head != NULL && ftr_etrace_record_lacks(task))
			task->head = NULL;	/* what it lacks was cut off */
		ftr_etrace_record_finish(loader, task);
	}
	return loader->has_failed ? -ENOMEM : 0;
}

/*
 * A line completes records of its own task alone, and begins at most a head, which has no texts
 * yet: the task's texts are all of completed records.
 */
void ftr_etrace_loader_forget(struct ftr_etrace_loader *loader)
{
	loader->log->calls.nr = 0;
	if (loader->last != NULL)
		ftr_arena_fini(&loader->last->arena);
}

void ftr_etrace_loader_fini(struct ftr_etrace_loader *loader)
{
	for (size_t i = 0; i < loader->all.nr; i++) {
		ftr_arena_fini(&loader->all.v[i]->arena);
		ftr_strbuf_fini(&loader->all.v[i]->builder);
		ftr_vec_fini(&loader->all.v[i]->argv);
		free(loader->all.v[i]);
	}
	ftr_vec_fini(&loader->all);
	ftr_hashmap_fini(&loader->tasks);
}

int ftr_etrace_load(struct ftr_etrace_log *log, struct ftr_istream *in,
		    ftr_violation_fn *violation, void *arg)
{
	struct ftr_etrace_loader loader;
	int ret;

	ftr_etrace_loader_init(&loader, log, in);
	loader.violation = violation;
	loader.violation_arg = arg;
	while (ftr_etrace_loader_line(&loader))
		;
	ret = ftr_etrace_loader_end(&loader);
	if (log->is_whole)
		check_announced(&loader);
	ftr_etrace_loader_fini(&loader);
	return ret < 0 ? ret : log_sort(log);
}

void ftr_etrace_log_init(struct ftr_etrace_log *log)
{
	*log = (struct ftr_etrace_log){ 0 };
	ftr_arena_init(&log->arena);
}

void ftr_etrace_log_fini(struct ftr_etrace_log *log)
{
	ftr_vec_fini(&log->calls);
	ftr_arena_fini(&log->arena);
}

bool ftr_etrace_detect(const char *path, const uint8_t *head, size_t len)
{
	struct ftr_slice text = ftr_slice_make((const char *)head, len), line;
	struct ftr_etrace_line parsed;

	if (ftr_slice_starts(text, "INITCWD="))
		return true;
	if (len == 0 || !ftr_slice_split(&text, '\n', &line))
		return false;
	line = skip_prefix(line);
	return line_parse(&line, &parsed) && line.len > 0 &&
	       isalpha((unsigned char)line.s[0]);
}
