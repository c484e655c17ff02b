/* SPDX-License-Identifier: MIT */
/* See sdt_events.h. */
#include "utils/record/sdt_events.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/closest.h"
#include "utils/object/needed.h"
#include "utils/object/stapsdt.h"
#include "utils/record/event_word.h"

#define KERNELS "linux:"		/* those of tasks, which perf tells */
#define NAME_BYTES 256
#define ENTRY_BYTES_MAX 24u		/* of a function's start that is moved: a jump's, and the
					 * rest of an instruction, behind where calls land */

bool ftr_sdt_is_word(struct ftr_slice word)
{
	return memchr(word.s, ':', word.len) != NULL && !ftr_slice_starts(word, KERNELS);
}

bool ftr_sdt_is_asked(const struct ftr_opt_list *given)
{
	struct ftr_event_word word;

	for (size_t i = 0; i < given->nr; i++) {
		const char *at = given->v[i];

		while (ftr_event_word_next(&at, &word)) {
			if (!word.is_kernel && ftr_sdt_is_word(word.name))
				return true;
		}
	}
	return false;
}

static bool word_names(const struct ftr_event_word *word, const char *event)
{
	char pattern[NAME_BYTES];

	if (word->is_kernel || !ftr_sdt_is_word(word->name) || word->name.len >= sizeof(pattern))
		return false;
	snprintf(pattern, sizeof(pattern), "%.*s", (int)word->name.len, word->name.s);
	return fnmatch(pattern, event, 0) == 0;
}

bool ftr_sdt_is_chosen(const struct ftr_opt_list *given, const char *event)
{
	struct ftr_event_word word;

	for (size_t i = 0; i < given->nr; i++) {
		const char *at = given->v[i];

		while (ftr_event_word_next(&at, &word)) {
			if (word_names(&word, event))
				return true;
		}
	}
	return false;
}

int ftr_sdt_places_load(struct ftr_sdt_places *places, const struct ftr_opt_list *given,
			const struct ftr_elf_file *file)
{
	struct ftr_sdt_notes notes = { .v = { .nr = 0 } };
	int ret = ftr_sdt_notes_load(&notes, file);
	char event[NAME_BYTES];

	for (size_t i = 0; ret == 0 && i < notes.v.nr; i++) {
		snprintf(event, sizeof(event), "%s:%s", notes.v.v[i].provider, notes.v.v[i].name);
		if (ftr_sdt_is_chosen(given, event))
			ret = ftr_vec_push(&places->pcs, notes.v.v[i].pc);
	}
	ftr_sdt_notes_fini(&notes);
	return ret;
}

void ftr_sdt_places_fini(struct ftr_sdt_places *places)
{
	ftr_vec_fini(&places->pcs);
}

bool ftr_sdt_is_at_entry(const struct ftr_sdt_places *places, uint64_t addr)
{
	size_t low = 0, high = places->pcs.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->pcs.v[middle] < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < places->pcs.nr && places->pcs.v[low] - addr < ENTRY_BYTES_MAX;
}

/* All of them that there are. */
struct events {
	FTR_VEC(char *) names;		/* (owned) sorted, each once */
};

static void events_fini(struct events *events)
{
	for (size_t i = 0; i < events->names.nr; i++)
		free(events->names.v[i]);
	ftr_vec_fini(&events->names);
}

static int events_add(struct events *events, const struct ftr_sdt_note *note)
{
	char *name;

	if (asprintf(&name, "%s:%s", note->provider, note->name) < 0)
		return -ENOMEM;
	if (ftr_vec_push(&events->names, name) == 0)
		return 0;
	free(name);
	return -ENOMEM;
}

static int events_of(struct events *events, const char *path)
{
	struct ftr_sdt_notes notes = { .v = { .nr = 0 } };
	struct ftr_elf_file file;
	int ret = 0;

	if (ftr_elf_file_open(&file, path, NULL) == 0)
		ret = ftr_sdt_notes_load(&notes, &file);
	for (size_t i = 0; ret == 0 && i < notes.v.nr; i++)
		ret = events_add(events, &notes.v.v[i]);
	ftr_sdt_notes_fini(&notes);
	ftr_elf_file_close(&file);
	return ret;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void events_sort(struct events *events)
{
	size_t nr = 0;

	if (events->names.nr > 0)
		qsort(events->names.v, events->names.nr, sizeof(events->names.v[0]), by_name);
	for (size_t i = 0; i < events->names.nr; i++) {
		if (nr > 0 && strcmp(events->names.v[nr - 1], events->names.v[i]) == 0)
			free(events->names.v[i]);
		else
			events->names.v[nr++] = events->names.v[i];
	}
	events->names.nr = nr;
}

static int events_load(struct events *events, const char *image)
{
	struct ftr_needed needed = { .paths = { .nr = 0 } };
	int ret = events_of(events, image);

	if (ret == 0)
		ret = ftr_needed_load(&needed, image, getenv("LD_LIBRARY_PATH"));
	for (size_t i = 0; ret == 0 && i < needed.paths.nr; i++)
		ret = events_of(events, needed.paths.v[i]);
	ftr_needed_fini(&needed);
	events_sort(events);
	return ret;
}

static int word_refuse(const struct ftr_event_word *word, const struct events *events,
		       const char *image, struct ftr_err *err)
{
	struct ftr_closest closest = { .distance = 0 };
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%.*s", (int)word->name.len, word->name.s);
	for (size_t i = 0; i < events->names.nr; i++)
		ftr_closest_try(&closest, name, events->names.v[i]);
	return ftr_err_set(err, ENOENT, "--Event=%s: neither %s nor a library that it is linked "
			   "with declares such an event%s", name, image,
			   ftr_closest_ask(&closest, "", "; ftr record --list-event PROGRAM lists "
					   "them, and the kernel's end in @kernel"));
}

static int words_match(const struct ftr_opt_list *given, const struct events *events,
		       const char *image, struct ftr_err *err)
{
	struct ftr_event_word word;

	for (size_t i = 0; i < given->nr; i++) {
		const char *at = given->v[i];

		while (ftr_event_word_next(&at, &word)) {
			size_t n = 0;

			if (word.is_kernel || !ftr_sdt_is_word(word.name))
				continue;
			while (n < events->names.nr && !word_names(&word, events->names.v[n]))
				n++;
			if (n == events->names.nr)
				return word_refuse(&word, events, image, err);
		}
	}
	return 0;
}

int ftr_sdt_match(const struct ftr_opt_list *given, const char *image, bool opens_libraries,
		  struct ftr_err *err)
{
	struct events events = { .names = { .nr = 0 } };
	int ret = 0;

	if (ftr_sdt_is_asked(given)) {
		ret = events_load(&events, image);
		ret = ret < 0 ? ret : words_match(given, &events, image, err);
	}
	events_fini(&events);
	return ret == -ENOENT && opens_libraries ? 1 : ret;
}

int ftr_sdt_list(const char *image, struct ftr_strbuf *text)
{
	struct events events = { .names = { .nr = 0 } };
	int ret = events_load(&events, image);

	for (size_t i = 0; ret == 0 && i < events.names.nr; i++)
		ftr_strbuf_printf(text, "%s\n", events.names.v[i]);
	events_fini(&events);
	return ret;
}
