/* SPDX-License-Identifier: MIT */
/* FXT reader: texts, providers, and tables that remember what their slots held. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/fxt/read.h"

struct fxt_text *fxt_text_get(struct fxt_reader *r, const char *s, size_t len)
{
	const struct ftr_str *str = ftr_strpool_get(&r->pool, s, len);
	struct fxt_text *text;

	if (str != NULL && str->id < r->texts.nr)
		return r->texts.v[str->id];
	text = str == NULL ? NULL : ftr_arena_alloc(&r->trace->arena, sizeof(*text));
	if (text == NULL || ftr_vec_push(&r->texts, text) < 0) {
		r->is_failed = true;
		return NULL;
	}
	text->str = str;
	return text;
}

/* Assigning what a slot holds already needs no entry in its history. */
static int slot_assign(const struct fxt_reader *r, struct fxt_slot *slot, uint64_t offset,
		       void *value)
{
	size_t nr = slot->history.nr;

	if (nr > 0 && slot->history.v[nr - 1].value == value)
		return 0;
	if (!r->keeps_history)
		slot->history.nr = 0;
	return ftr_vec_push(&slot->history, ((struct fxt_assigned){ offset, value }));
}

void *fxt_slot_find_slow(struct fxt_slot *slot, uint64_t offset)
{
	size_t low = 0, high = slot->history.nr;

	while (low < high) {		/* the first one that is not before @offset */
		size_t middle = low + (high - low) / 2;

		if (slot->history.v[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	slot->hint = low - 1;
	return slot->history.v[low - 1].value;
}

/* Of those that this walk has met. */
static struct fxt_provider *provider_find(const struct fxt_reader *r, uint32_t id)
{
	for (size_t i = r->provider_met_nr; i-- > 0;) {
		if (r->providers.v[i]->id == id)
			return r->providers.v[i];
	}
	return NULL;
}

/*
 * One that the walk meets for the first time; later walks meet those of the first in the same
 * order.
 */
static struct fxt_provider *provider_meet(struct fxt_reader *r, uint32_t id, bool is_ours)
{
	struct fxt_provider *provider;

	if (r->provider_met_nr < r->providers.nr)
		return r->providers.v[r->provider_met_nr++];
	if (r->providers.nr == FXT_PROVIDERS_MAX)
		return r->providers.v[FXT_PROVIDERS_MAX - 1];
	provider = calloc(1, sizeof(*provider));
	if (provider == NULL || ftr_vec_push(&r->providers, provider) < 0) {
		free(provider);
		r->is_failed = true;
		return NULL;
	}
	provider->id = id;
	provider->ticks_per_s = FXT_TICKS_PER_S;
	provider->is_ours = is_ours;
	r->provider_met_nr = r->providers.nr;
	return provider;
}

static int section_begin(struct fxt_reader *r, uint64_t offset, struct fxt_provider *provider)
{
	if (provider == NULL)
		return -ENOMEM;
	r->provider = provider;
	if (r->sections.nr > 0 && r->sections.v[r->sections.nr - 1].provider == provider)
		return 0;
	if (!r->keeps_history)
		r->sections.nr = 0;
	return ftr_vec_push(&r->sections, ((struct fxt_section){ offset, provider }));
}

static void provider_forget(struct fxt_provider *provider)
{
	for (size_t i = 0; i < provider->strings.nr; i++)
		provider->strings.v[i].history.nr = 0;
	for (size_t i = 0; i <= FXT_THREAD_MAX; i++)
		provider->threads[i].history.nr = 0;
}

int fxt_walk_begin(struct fxt_reader *r, bool keeps_history)
{
	for (size_t i = 0; i < r->providers.nr; i++)
		provider_forget(r->providers.v[i]);
	r->keeps_history = keeps_history;
	r->provider_met_nr = 0;
	r->sections.nr = 0;
	r->section_hint = 0;
	r->kept_from = 0;
	return section_begin(r, 0, provider_meet(r, 0, false));	/* before any is named */
}

static bool name_is_ours(const struct fxt_reader *r, const struct fxt_record_at *at)
{
	size_t len = strlen(FXT_CATEGORY);

	return fxt_provider_name_len(at->header) == len && at->bytes >= 16 &&
	       memcmp(r->in.data + at->offset + 8, FXT_CATEGORY, len) == 0;
}

static int provider_take(struct fxt_reader *r, const struct fxt_record_at *at)
{
	uint32_t id = (uint32_t)fxt_provider_id(at->header);
	struct fxt_provider *provider;

	switch (fxt_metadata_type(at->header)) {
	case FXT_PROVIDER_INFO:		/* begins with empty tables */
		return section_begin(r, at->offset, provider_meet(r, id, name_is_ours(r, at)));
	case FXT_PROVIDER_SECTION:
		provider = provider_find(r, id);
		return section_begin(r, at->offset,
				     provider != NULL ? provider : provider_meet(r, id, false));
	default:
		return 0;
	}
}

static int string_take(struct fxt_reader *r, const struct fxt_record_at *at)
{
	struct fxt_provider *provider = r->provider;
	size_t index = fxt_string_index(at->header);
	size_t len = fxt_string_len(at->header);
	struct fxt_text *text;

	if (index == 0 || len > at->bytes - 8)
		return -EBADMSG;
	if (ftr_vec_reach(&provider->strings, index) < 0)
		return -ENOMEM;
	text = fxt_text_get(r, (const char *)r->in.data + at->offset + 8, len);
	if (text == NULL)
		return -ENOMEM;
	return slot_assign(r, &provider->strings.v[index], at->offset, text);
}

static int thread_take(struct fxt_reader *r, const struct fxt_record_at *at)
{
	size_t index = fxt_thread_index(at->header);
	struct ftr_task *task;

	if (index == 0 || at->bytes < 24)
		return -EBADMSG;
	task = fxt_task_of(r, fxt_word(r, at->offset + 8), fxt_word(r, at->offset + 16));
	return task == NULL ? -ENOMEM :
			      slot_assign(r, &r->provider->threads[index], at->offset, task);
}

int fxt_table_take(struct fxt_reader *r, const struct fxt_record_at *at)
{
	switch (fxt_record_type(at->header)) {
	case FXT_METADATA:
		return provider_take(r, at);
	case FXT_STRING:
		return string_take(r, at);
	case FXT_THREAD:
		return thread_take(r, at);
	default:
		return 0;
	}
}

struct fxt_provider *fxt_provider_at(struct fxt_reader *r, uint64_t offset)
{
	const struct fxt_section *sections = r->sections.v;
	size_t i = r->section_hint;
	size_t low = 0, high = r->sections.nr;

	if (sections[i].offset <= offset &&
	    (i + 1 == r->sections.nr || sections[i + 1].offset > offset))
		return sections[i].provider;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (sections[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	r->section_hint = low;
	return sections[low].provider;
}

static void provider_free(struct fxt_provider *provider)
{
	for (size_t i = 0; i < provider->strings.nr; i++)
		ftr_vec_fini(&provider->strings.v[i].history);
	for (size_t i = 0; i <= FXT_THREAD_MAX; i++)
		ftr_vec_fini(&provider->threads[i].history);
	ftr_vec_fini(&provider->strings);
	free(provider);
}

void fxt_tables_fini(struct fxt_reader *r)
{
	for (size_t i = 0; i < r->providers.nr; i++)
		provider_free(r->providers.v[i]);
	ftr_vec_fini(&r->providers);
	ftr_vec_fini(&r->sections);
	ftr_vec_fini(&r->texts);
	ftr_sorter_free(r->order);
	ftr_vec_fini(&r->places);
	ftr_strpool_fini(&r->pool);
	fxt_tasks_fini(r);
	ftr_hashmap_fini(&r->process_names);
	ftr_hashmap_fini(&r->specs);
	ftr_hashmap_fini(&r->points);
	ftr_hashmap_fini(&r->symbols);
	ftr_strbuf_fini(&r->info);
	ftr_strbuf_fini(&r->enum_lines);
	ftr_strbuf_fini(&r->shape_lines);
	ftr_strbuf_fini(&r->stack_lines);
	ftr_strbuf_fini(&r->symbol_lines);
	ftr_strbuf_fini(&r->task_lines);
	ftr_strbuf_fini(&r->syscall_lines);
	ftr_etrace_log_fini(&r->syscalls);
}
