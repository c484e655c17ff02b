/* SPDX-License-Identifier: MIT */
/* Beginnings of lines, detection, and the log that lines become. */
#include "utils/format/etrace/line.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/etrace/etrace.h"

bool ftr_etrace_line_parse(struct ftr_slice *text, struct ftr_etrace_line *line)
{
	struct ftr_slice head, item[3];
	uint64_t cpu, seconds, ns;

	if (memchr(text->s, '!', text->len < 96 ? text->len : 96) == NULL ||
	    !ftr_slice_split(text, '!', &head))
		return false;
	for (int i = 0; i < 3; i++) {
		if (head.len == 0 || !ftr_slice_split(&head, ',', &item[i]))
			return false;
	}
	if (ftr_parse_u64(item[0], 10, &line->upid) < 0 || ftr_parse_u64(item[1], 10, &cpu) < 0 ||
	    ftr_parse_u64(item[2], 10, &seconds) < 0 || ftr_parse_u64(head, 10, &ns) < 0)
		return false;
	if (line->upid > (uint64_t)INT64_MAX || cpu > UINT16_MAX || ns > 999999999 ||
	    seconds > UINT64_MAX / 2000000000)
		return false;
	line->cpu = (uint32_t)cpu;
	line->time_ns = seconds * 1000000000 + ns;
	return true;
}

struct ftr_slice ftr_etrace_skip_prefix(struct ftr_slice text)
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

int ftr_etrace_log_sort(struct ftr_etrace_log *log)
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
	line = ftr_etrace_skip_prefix(line);
	return ftr_etrace_line_parse(&line, &parsed) && line.len > 0 &&
	       isalpha((unsigned char)line.s[0]);
}
