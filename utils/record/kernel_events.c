/* SPDX-License-Identifier: MIT */
/* The kernel's events, by the files below events/ in tracefs. */
#include "utils/record/kernel_events.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/record/event_word.h"
#include "utils/record/tracefs.h"

#define EVENTS "events"
#define PATH_BYTES 512

void ftr_kernel_events_fini(struct ftr_kernel_events *events)
{
	for (size_t i = 0; i < events->v.nr; i++)
		free(events->v.v[i].path);
	ftr_vec_fini(&events->v);
}

/* ---- which there are ---- */

struct event_visit {
	int dir;
	int (*event)(struct event_visit *visit, const char *system, const char *name);
	struct ftr_strbuf *text;		/* of a list */
	struct ftr_kernel_events *events;	/* of a choice */
	const struct ftr_event_word *word;
	char pattern[PATH_BYTES];		/* the word's name */
	size_t match_nr;
};

/* Directories alone: "." and ".." and plain files are not. */
static bool entry_is_dir(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

static DIR *dir_open(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && stream == NULL)
		close(fd);
	return stream;
}

static int system_visit(struct event_visit *visit, const char *system)
{
	char path[PATH_BYTES];
	const struct dirent *entry;
	DIR *dir;
	int ret = 0;

	snprintf(path, sizeof(path), EVENTS "/%.100s", system);
	dir = dir_open(visit->dir, path);
	while (ret == 0 && dir != NULL && (entry = readdir(dir)) != NULL) {
		if (!entry_is_dir(entry))
			continue;
		/* Those of "ftrace" are made by tracers, and have no switch. */
		snprintf(path, sizeof(path), "%.200s/enable", entry->d_name);
		if (faccessat(dirfd(dir), path, F_OK, 0) == 0)
			ret = visit->event(visit, system, entry->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	return ret;
}

static int events_visit(struct event_visit *visit)
{
	DIR *dir = dir_open(visit->dir, EVENTS);
	const struct dirent *entry;
	int ret = dir == NULL ? -errno : 0;

	while (ret == 0 && (entry = readdir(dir)) != NULL) {
		if (entry_is_dir(entry))
			ret = system_visit(visit, entry->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	return ret;
}

static int event_list(struct event_visit *visit, const char *system, const char *name)
{
	ftr_strbuf_printf(visit->text, "%s:%s@kernel\n", system, name);
	return visit->text->failed ? -ENOMEM : 0;
}

int ftr_kernel_events_list(int dir, struct ftr_strbuf *text)
{
	struct event_visit visit = { .dir = dir, .event = event_list, .text = text };

	return events_visit(&visit);
}

/* ---- which are named ---- */

static struct ftr_kernel_event *event_find(const struct ftr_kernel_events *events, const char *path)
{
	for (size_t i = 0; i < events->v.nr; i++) {
		if (strcmp(events->v.v[i].path, path) == 0)
			return &events->v.v[i];
	}
	return NULL;
}

static int event_add(struct ftr_kernel_events *events, const char *path, struct ftr_slice filter)
{
	struct ftr_kernel_event *known = event_find(events, path);
	struct ftr_kernel_event event = { .filter = filter };

	if (known != NULL) {
		known->filter = filter;
		return 0;
	}
	event.path = strdup(path);
	if (event.path != NULL && ftr_vec_push(&events->v, event) == 0)
		return 0;
	free(event.path);
	return -ENOMEM;
}

static int event_match(struct event_visit *visit, const char *system, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%.200s:%.200s", system, name);
	if (fnmatch(visit->pattern, path, 0) != 0)
		return 0;
	visit->match_nr++;
	snprintf(path, sizeof(path), EVENTS "/%.200s/%.200s", system, name);
	return event_add(visit->events, path, visit->word->filter);
}

static int word_find(struct ftr_kernel_events *events, int dir, const struct ftr_event_word *word,
		     struct ftr_diag *diag)
{
	struct event_visit visit = { .dir = dir, .event = event_match, .events = events,
				     .word = word };
	int ret;

	snprintf(visit.pattern, sizeof(visit.pattern), "%.*s", (int)word->name.len, word->name.s);
	ret = events_visit(&visit);
	if (ret == 0 && visit.match_nr == 0)
		ftr_diag_warn(diag,
			      "-E %s@kernel: this kernel has no such event; see ftr record --list-event",
			      visit.pattern);
	return ret;
}

int ftr_kernel_events_find(struct ftr_kernel_events *events, int dir,
			   const struct ftr_opt_list *given, struct ftr_diag *diag)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < given->nr; i++) {
		const char *at = given->v[i];
		struct ftr_event_word word;

		while (ret == 0 && ftr_event_word_next(&at, &word)) {
			if (word.is_kernel)
				ret = word_find(events, dir, &word, diag);
		}
	}
	return ret;
}

/* ---- switching them on ---- */

static int file_write(int dir, const struct ftr_kernel_event *event, const char *file,
		      const char *text)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", event->path, file);
	return ftr_tracefs_write(dir, path, text);
}

/* What the kernel found wrong with a filter: the line "parse_error: ..." of the event's file. */
static void filter_refused(int dir, const struct ftr_kernel_event *event, int code,
			   struct ftr_diag *diag)
{
	static const char key[] = "parse_error: ";
	const char *name = strchr(event->path, '/') + 1, *slash = strchr(name, '/');
	char path[PATH_BYTES];
	struct ftr_strbuf text;
	const char *why;

	ftr_strbuf_init(&text);
	snprintf(path, sizeof(path), "%s/filter", event->path);
	(void)ftr_tracefs_read(dir, path, &text);
	why = strstr(ftr_strbuf_str(&text), key);
	why = why != NULL ? why + strlen(key) : strerror(code);
	ftr_diag_warn(diag,
		      "%.*s:%s is not recorded: its filter \"%.*s\" is refused: %.*s; see %s/format",
		      (int)(slash - name), name, slash + 1, (int)event->filter.len, event->filter.s,
		      (int)strcspn(why, "\n"), why, event->path);
	ftr_strbuf_fini(&text);
}

static int filter_set(int dir, const struct ftr_kernel_event *event)
{
	char *text = strndup(event->filter.s, event->filter.len);
	int ret = text == NULL ? -ENOMEM : file_write(dir, event, "filter", text);

	free(text);
	return ret;
}

size_t ftr_kernel_events_start(struct ftr_kernel_events *events, int dir, struct ftr_diag *diag)
{
	const struct ftr_kernel_event *refused = NULL;
	size_t on_nr = 0, refused_nr = 0;
	int code = 0;

	for (size_t i = 0; i < events->v.nr; i++) {
		struct ftr_kernel_event *event = &events->v.v[i];
		int ret = event->filter.len > 0 ? filter_set(dir, event) : 0;

		if (ret < 0) {
			filter_refused(dir, event, -ret, diag);
			continue;
		}
		ret = file_write(dir, event, "enable", "1");
		event->is_on = ret == 0;
		on_nr += ret == 0;
		if (ret < 0 && refused_nr++ == 0) {
			refused = event;
			code = -ret;
		}
	}
	if (refused_nr > 0)
		ftr_diag_warn(diag, "%zu events are not recorded: %s/enable: %s", refused_nr,
			      refused->path, strerror(code));
	return on_nr;
}
