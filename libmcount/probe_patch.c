/* SPDX-License-Identifier: MIT */
/*
 * Patched entries: where the compiler left room at a function's entry, a call of the hook is put,
 * before the function can run.  Compiled-in calls and these come to the same.
 */
#include <string.h>

#include "arch/patch.h"
#include "libmcount/code_write.h"
#include "libmcount/hook.h"
#include "libmcount/patch_near.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "libmcount/state.h"
#include "utils/proto/patch.h"

extern const struct ftr_probe ftr_probe_patch FTR_HIDDEN;

/* The sites of a module, inside its section. */
struct table {
	const struct ftr_patch_site *sites;
	uint32_t site_nr;
	uint32_t flags;
	uintptr_t base;
	struct ftr_patch_targets targets;
};

static bool table_find(struct table *table, const struct ftr_loaded *module,
		       const struct ftr_sections *sections)
{
	uint32_t bytes;
	const struct ftr_patch_table *head = ftr_sections_find(sections, FTR_SECTION_PATCH,
							       &bytes);

	if (head == NULL || bytes < sizeof(*head) || head->site_nr == 0 ||
	    head->site_nr > (bytes - sizeof(*head)) / sizeof(*table->sites))
		return false;
	table->sites = (const struct ftr_patch_site *)(head + 1);
	table->site_nr = head->site_nr;
	table->flags = head->flags;
	table->base = module->base + head->base;
	return true;
}

static uintptr_t site_addr(const struct table *table, uint32_t n)
{
	return table->base + table->sites[n].offset;
}

/* Else it is not the file that the recorder read. */
static bool is_inside(const struct table *table, const struct ftr_loaded *module)
{
	uintptr_t low = site_addr(table, 0), high = site_addr(table, table->site_nr - 1);

	return low <= high && low >= module->text && high < module->text_end;
}

static uintptr_t site_find(const void *table, uint32_t n, uint32_t *bytes)
{
	*bytes = ((const struct table *)table)->sites[n].bytes;
	return site_addr(table, n);
}

/* A call of ours where the recorder saw room; it may have been seen before. */
static bool site_edit(const void *arg, uint32_t n, uint8_t *code)
{
	const struct table *table = arg;
	const struct ftr_patch_site *site = &table->sites[n];
	uintptr_t target = site->kind == FTR_PATCH_PROLOGUE ? table->targets.prologue :
							      table->targets.entry;
	uint8_t call[FTR_ARCH_PATCH_MAX];

	if (site->bytes > sizeof(call) || target == 0)
		return false;
	if (ftr_arch_patch_room(code, site->bytes) == site->bytes) {
		ftr_arch_patch_write(code, site->bytes, site_addr(table, n), target);
		return true;
	}
	ftr_arch_patch_write(call, site->bytes, site_addr(table, n), target);
	return memcmp(call, code, site->bytes) == 0;
}

static bool site_waits(const void *arg, uint32_t n)
{
	return ((const struct table *)arg)->sites[n].is_later;
}

/* Returns why the module is left as it is; NULL = it is patched. */
static const char *module_patch(const struct ftr_loaded *module, struct table *table,
				struct ftr_code_writer *writer)
{
	const char *refusal = ftr_code_refusal(module, table->flags);

	if (refusal != NULL)
		return refusal;
	if (!ftr_patch_near(&ftr_state.patch_near, site_addr(table, 0),
			    site_addr(table, table->site_nr - 1), &table->targets))
		return "no free memory within " FTR_ARCH_PATCH_REACH_TEXT " of them, or "
		       "libmcount.so cannot be opened to map a part of it there";
	writer->is_unused = ftr_code_is_unused(module, table->flags);
	refusal = ftr_code_writer_open(writer);
	if (refusal == NULL)
		ftr_code_write(writer, &(struct ftr_code_places){
			.nr = table->site_nr,
			.table = table,
			.find = site_find,
			.edit = site_edit,
			.waits = site_waits,
			.may_change = (table->flags & FTR_PATCH_MAY_CHANGE) != 0,
		});
	ftr_code_writer_close(writer);
	return refusal;
}

static void patch_module(const struct ftr_loaded *module, const struct ftr_sections *sections)
{
	struct ftr_code_writer writer = { .fd = -1 };
	const char *refusal;
	struct table table;

	if (!table_find(&table, module, sections) || !is_inside(&table, module))
		return;
	refusal = module_patch(module, &table, &writer);
	if (refusal != NULL)
		ftr_code_report(module, table.site_nr, "function", refusal);
	ftr_code_report_left(module, "function", &writer);
}

const struct ftr_probe ftr_probe_patch = {
	.name = "patch",
	.module = patch_module,
};
