/* SPDX-License-Identifier: MIT */
/* See patch_now.h. */
#include "utils/record/patch_now.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/proto/patch.h"
#include "utils/proto/plain.h"
#include "utils/record/maps.h"
#include "utils/record/modules.h"

#define RULES_MAX 1024			/* as of other rules */

extern const struct ftr_section_maker ftr_section_maker_patch;

/* ---- the choice ---- */

/* 0 or -ENOMEM. */
static int pair_add(struct ftr_patch_now *now, const char *option, const char *text)
{
	char *copy = strdup(text);

	if (copy != NULL && ftr_vec_push(&now->values.given, option) == 0 &&
	    ftr_vec_push(&now->values.given, (const char *)copy) == 0)
		return 0;
	now->values.given.nr -= now->values.given.nr % 2;
	free(copy);
	return -ENOMEM;
}

static const char *option_of(const char *word)
{
	return strcmp(word, FTR_OPTION_PATCH) == 0 ? FTR_OPTION_PATCH : FTR_OPTION_UNPATCH;
}

void ftr_patch_now_init(struct ftr_patch_now *now, const struct ftr_option_values *given)
{
	*now = (struct ftr_patch_now){ .start = ftr_section_values(given,
							     &ftr_section_maker_patch) };
	ftr_patch_now_reset(now);
}

static void values_free(struct ftr_patch_now *now)
{
	for (size_t i = 1; i < now->values.given.nr; i += 2)
		free((char *)now->values.given.v[i]);
	ftr_vec_fini(&now->values.given);
}

void ftr_patch_now_fini(struct ftr_patch_now *now)
{
	values_free(now);
}

/* What is patched without being asked for is asked for: else a first --patch would be all. */
void ftr_patch_now_reset(struct ftr_patch_now *now)
{
	const struct ftr_patch_values *start = now->start;
	bool has_patch = false;

	values_free(now);
	now->values = (struct ftr_patch_values){ .given = { 0 } };
	if (start == NULL)
		return;
	now->values.is_implied = start->is_implied;
	now->values.keeps_returns = start->keeps_returns;
	for (size_t i = 0; i < start->given.nr; i += 2)
		has_patch |= strcmp(start->given.v[i], FTR_OPTION_PATCH) == 0;
	if (!has_patch)
		(void)pair_add(now, FTR_OPTION_PATCH, ".");
	for (size_t i = 0; i < start->given.nr; i += 2)
		(void)pair_add(now, option_of(start->given.v[i]), start->given.v[i + 1]);
}

int ftr_patch_now_add(struct ftr_patch_now *now, const struct ftr_opt_list *pairs,
		      struct ftr_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < pairs->nr; i += 2)
		ret = pair_add(now, option_of(pairs->v[i]), pairs->v[i + 1]);
	return ret < 0 ? ftr_err_set(err, -ret, "out of memory") : 0;
}

/* ---- what can be patched ---- */

/* Was the module planned, which has been there since the start? */
static bool is_planned(const struct ftr_patch_now *now, const char *path, bool is_image,
		       struct ftr_modules *modules)
{
	return ftr_patch_names_module(&now->values, path, is_image) ||
	       ftr_modules_has_sites(modules, path);
}

static bool names(const struct ftr_rule *rule, const char *path, bool is_image)
{
	return rule->module == NULL ? is_image : ftr_rule_names_module(rule, path);
}

static int rule_check(const struct ftr_patch_now *now, const struct ftr_rule *rule,
		      const struct ftr_maps *maps, const char *image, struct ftr_modules *modules,
		      struct ftr_err *err)
{
	for (size_t i = 0; i < maps->ranges.nr; i++) {
		const char *path = maps->ranges.v[i].path;
		bool is_image = strcmp(path, image) == 0;

		if (names(rule, path, is_image) && !is_planned(now, path, is_image, modules))
			return ftr_err_set(err, EINVAL, "%s: what of %s may be patched has to be "
					   "planned when it is loaded, as some of it is with "
					   "--patch=FUNC@LIBRARY of ftr record", rule->text, path);
	}
	return 0;
}

int ftr_patch_now_check(const struct ftr_patch_now *now, const struct ftr_opt_list *pairs,
			int32_t pid, struct ftr_modules *modules, struct ftr_err *err)
{
	struct ftr_maps maps = { .ranges = { 0 } };
	char link[40], image[PATH_MAX] = "";
	struct ftr_rules rules;
	int ret = 0;

	ftr_rules_init(&rules);
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	(void)!readlink(link, image, sizeof(image) - 1);
	if (pairs->nr + now->values.given.nr > 2 * RULES_MAX)
		ret = ftr_err_set(err, E2BIG, "there are %d --patch and --unpatch; begin anew with "
				  "--reset", RULES_MAX);
	for (size_t i = 0; ret == 0 && i < pairs->nr; i += 2)
		ret = ftr_patch_option_check(pairs->v[i + 1], err);
	if (ret == 0)
		ret = ftr_patch_rules_parse(&rules, pairs, err);
	if (ret == 0)
		ret = ftr_maps_load(&maps, pid, err);
	for (size_t i = 0; ret == 0 && i < rules.rules.nr; i++)
		ret = rule_check(now, &rules.rules.v[i], &maps, image, modules, err);
	ftr_maps_fini(&maps);
	ftr_rules_fini(&rules);
	return ret;
}

/* ---- where it is ---- */

/* Modules are mapped from the page of their lowest address on, which offsets count from. */
static int plain_take(struct ftr_patch_chosen *chosen, uint64_t start, const uint8_t *body,
		      uint32_t bytes)
{
	const struct ftr_plain_table *table = (const void *)body;
	const struct ftr_plain_write *writes = (const void *)(table + 1);
	int ret = 0;

	if (bytes < sizeof(*table) ||
	    table->write_nr > (bytes - sizeof(*table)) / sizeof(*writes))
		return 0;
	for (uint32_t i = 0; ret == 0 && i < table->write_nr; i++) {
		if ((writes[i].kind & FTR_PLAIN_LATER) == 0)
			ret = ftr_vec_push(&chosen->addrs, start + writes[i].offset);
	}
	return ret;
}

static int sites_take(struct ftr_patch_chosen *chosen, uint64_t start, const uint8_t *body,
		      uint32_t bytes)
{
	const struct ftr_patch_table *table = (const void *)body;
	const struct ftr_patch_site *sites = (const void *)(table + 1);
	int ret = 0;

	if (bytes < sizeof(*table) || table->site_nr > (bytes - sizeof(*table)) / sizeof(*sites))
		return 0;
	for (uint32_t i = 0; ret == 0 && i < table->site_nr; i++) {
		if (!sites[i].is_later)
			ret = ftr_vec_push(&chosen->addrs, start + sites[i].offset);
	}
	return ret;
}

/* All of it is ours: ftr_sections_memfd. */
static int sections_take(struct ftr_patch_chosen *chosen, uint64_t start, const uint8_t *all)
{
	const struct ftr_sections *head = (const void *)all;
	const struct ftr_section *sections = (const void *)(head + 1);
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < head->section_nr; i++) {
		const uint8_t *body = all + sections[i].offset;

		if (sections[i].kind == FTR_SECTION_PLAIN)
			ret = plain_take(chosen, start, body, sections[i].bytes);
		else if (sections[i].kind == FTR_SECTION_PATCH)
			ret = sites_take(chosen, start, body, sections[i].bytes);
	}
	return ret;
}

static int module_take(struct ftr_patch_chosen *chosen, uint64_t start, int fd)
{
	struct stat st;
	void *all;
	int ret;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < (off_t)sizeof(struct ftr_sections))
		return 0;
	all = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (all == MAP_FAILED)
		return -ENOMEM;
	ret = sections_take(chosen, start, all);
	munmap(all, (size_t)st.st_size);
	return ret;
}

static int addr_compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

int ftr_patch_chosen_load(struct ftr_patch_chosen *chosen, int32_t pid,
			  struct ftr_modules *modules, struct ftr_err *err)
{
	struct ftr_maps maps = { .ranges = { 0 } };
	char link[40], image[PATH_MAX] = "";
	int ret = ftr_maps_load(&maps, pid, err);

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	(void)!readlink(link, image, sizeof(image) - 1);
	if (ret == 0 && ftr_vec_push(&chosen->addrs, UINT64_C(0)) < 0)	/* none is another list */
		ret = -ENOMEM;
	for (size_t i = 0; ret == 0 && i < maps.ranges.nr; i++) {
		const struct ftr_maps_range *range = &maps.ranges.v[i];

		if (range->path[0] == '/')
			ret = module_take(chosen, range->start,
					  ftr_modules_sections_fd(modules, range->path,
								  strcmp(range->path, image) == 0));
	}
	if (ret == 0)
		qsort(chosen->addrs.v, chosen->addrs.nr, sizeof(chosen->addrs.v[0]), addr_compare);
	ftr_maps_fini(&maps);
	return ret == -ENOMEM ? ftr_err_set(err, ENOMEM, "out of memory") : ret;
}
