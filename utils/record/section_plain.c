/* SPDX-License-Identifier: MIT */
/*
 * Functions that were compiled without room for a call of the hook: with --patch, of programs as
 * they are, and of the libraries that it names (utils/proto/plain.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "utils/object/machine.h"
#include "utils/object/elf.h"
#include "utils/patch/entries.h"
#include "utils/patch/move.h"
#include "utils/proto/patch.h"
#include "utils/record/choice.h"
#include "utils/record/patch_choice.h"
#include "utils/record/sdt_events.h"
#include "utils/record/sections.h"

/* One module at work. */
struct work {
	const struct ftr_section_module *module;
	struct ftr_patch_choice choice;
	struct ftr_elf_file file;
	struct ftr_symtab symbols;
	struct ftr_sdt_places events;	/* which are asked for, and would be moved */
	struct ftr_entries entries;
	unsigned later_nr;		/* of those that are planned: not patched now */
};

static bool may_change(const struct ftr_section_module *module)
{
	return module->choice != NULL && module->choice->may_change;
}

static bool is_chosen(const struct work *work, const struct ftr_function *function)
{
	return ftr_patch_is_chosen(&work->choice, function->symbol, function->addr);
}

static bool is_wanted(void *arg, const struct ftr_function *function)
{
	const struct work *work = arg;

	return (may_change(work->module) || is_chosen(work, function)) &&
	       !ftr_sdt_is_at_entry(&work->events, function->addr);
}

/* The function whose first instructions are at @addr. */
static const struct ftr_function *function_at(const struct work *work, uint64_t addr)
{
	const struct ftr_functions *functions = &work->entries.functions;
	size_t low = 0, high = functions->all.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions->all.v[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &functions->all.v[low - 1] : NULL;
}

static struct ftr_plain_write *jump_find(struct ftr_patch_body *body, size_t jump_nr,
					 uint32_t offset)
{
	size_t low = 0, high = jump_nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (body->writes.v[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < jump_nr && body->writes.v[low].offset == offset ? &body->writes.v[low] : NULL;
}

/* What is planned for a function that is not chosen waits.  A jump in padding is its step's. */
static int later_mark(struct work *work)
{
	struct ftr_patch_body *body = &work->entries.body;
	size_t nr = body->writes.nr, jump_nr = 0, i;
	bool *is_led_to;

	while (jump_nr < nr && body->writes.v[jump_nr].kind == FTR_PLAIN_JUMP)
		jump_nr++;
	is_led_to = calloc(nr + 1, sizeof(*is_led_to));
	if (is_led_to == NULL)
		return -ENOMEM;
	for (i = nr; i-- > 0;) {
		struct ftr_plain_write *write = &body->writes.v[i], *jump = NULL;
		const struct ftr_function *function =
			function_at(work, body->base + write->offset);
		bool waits = function != NULL && !is_chosen(work, function);

		if (is_led_to[i])
			continue;
		if (write->kind == FTR_PLAIN_STEP)
			jump = jump_find(body, jump_nr, write->offset + write->bytes +
								(uint32_t)write->step);
		if (jump != NULL)
			is_led_to[jump - body->writes.v] = true;
		if (jump != NULL && waits)
			jump->kind |= FTR_PLAIN_LATER;
		if (waits)
			write->kind |= FTR_PLAIN_LATER;
		work->later_nr += waits;
	}
	free(is_led_to);
	return 0;
}

static void body_put(const struct work *work, struct ftr_strbuf *body)
{
	const struct ftr_functions *functions = &work->entries.functions;

	ftr_patch_body_put(&work->entries.body, (uint32_t)(functions->high - functions->low),
			   ftr_patch_flags(&work->file) |
				   (may_change(work->module) ? FTR_PATCH_MAY_CHANGE : 0u), body);
}

/* The functions that are left for one reason: by name, but those that are no functions. */
static void note_left(const struct work *work, enum ftr_entry_state state)
{
	const struct ftr_entries *entries = &work->entries;
	struct ftr_strbuf *notes = work->module->notes;
	const char *before = ": ";

	if (entries->counts[state] == 0)
		return;
	ftr_strbuf_printf(notes, "%s: %u left: %s", work->module->path, entries->counts[state],
			  ftr_entry_state_text(state));
	for (size_t i = 0; i < entries->functions.all.nr; i++) {
		const struct ftr_function *function = &entries->functions.all.v[i];

		if (entries->states[i] != state || state == FTR_ENTRY_PART ||
		    state == FTR_ENTRY_UNWANTED)
			continue;
		if (function->symbol != NULL)
			ftr_strbuf_printf(notes, "%s%s", before, function->symbol->name);
		else
			ftr_strbuf_printf(notes, "%s0x%llx", before,
					  (unsigned long long)function->addr);
		before = ", ";
	}
	ftr_strbuf_putc(notes, '\n');
}

static unsigned function_nr(const struct ftr_entries *entries)
{
	unsigned nr = 0;

	for (unsigned state = 0; state < FTR_ENTRY_STATES; state++) {
		if (state != FTR_ENTRY_PART && state != FTR_ENTRY_START)
			nr += entries->counts[state];
	}
	return nr;
}

static void note(const struct work *work)
{
	const struct ftr_entries *entries = &work->entries;
	struct ftr_strbuf *notes = work->module->notes;

	if (notes == NULL)
		return;
	ftr_strbuf_printf(notes, "%s: %u of %u functions patched as they are\n",
			  work->module->path, entries->counts[FTR_ENTRY_PATCHED] - work->later_nr,
			  function_nr(entries));
	for (unsigned state = 0; state < FTR_ENTRY_STATES; state++) {
		if (ftr_entry_state_text(state) != NULL)
			note_left(work, state);
	}
	if (entries->functions.without_frames != 0)
		ftr_strbuf_printf(notes, "%s: %u left: have no call frame information\n",
				  work->module->path, entries->functions.without_frames);
	if (entries->counts[FTR_ENTRY_PATCHED] == work->later_nr && work->module->is_image &&
	    work->module->patch_values == NULL)	/* ftr ctl may ask for none */
		ftr_strbuf_printf(notes, "!%s: none of its functions is patched; %s-v tells "
				  "what was left and why\n", work->module->path,
				  work->choice.is_asked ? "check the argument of --patch, " : "");
}

/* One that looks at return addresses, and would find others. */
static bool is_left_whole(const struct work *work)
{
	if (ftr_patch_values_get(work->module)->keeps_returns ||
	    !ftr_elf_has_machine(&work->file))
		return false;
	if (work->module->notes != NULL)
		ftr_strbuf_printf(work->module->notes, "!%s: nothing is patched: it has a virtual "
				  "machine's code, which may look for its return addresses; use "
				  "--estimate-return\n", work->module->path);
	return true;
}

static int plain_make(const struct ftr_section_module *module, const void *values,
		      struct ftr_strbuf *body)
{
	struct work work = { .module = module };
	int ret;

	if (ftr_patch_is_refused(module) || module->elf->machine != ftr_arch_host->elf_machine)
		return 0;
	if (!ftr_move_is_possible()) {
		if (module->notes != NULL && ftr_arch_host->plain == NULL)
			ftr_strbuf_printf(module->notes, "!%s: not prepared for patching, and on "
					  "%s nothing else is patched; compile it with "
					  "-fpatchable-function-entry=2\n",
					  module->path, ftr_arch_host->title);
		else if (module->notes != NULL)
			ftr_strbuf_printf(module->notes, "!%s: not prepared for patching, and ftr "
					  "was built without a decoder; install libzydis-dev and "
					  "build it again, or compile the program with -pg\n",
					  module->path);
		return 0;
	}
	if (!ftr_patch_names_module(ftr_patch_values_get(module), module->path, module->is_image) ||
	    ftr_elf_file_open(&work.file, module->path, NULL) < 0)
		return 0;
	if (is_left_whole(&work)) {
		ftr_elf_file_close(&work.file);
		return 0;
	}
	ftr_symtab_init(&work.symbols);
	ret = ftr_patch_choice_init(&work.choice, ftr_patch_values_get(module), module->path);
	if (ret == 0 && module->choice != NULL && module->choice->events.nr > 0)
		ret = ftr_sdt_places_load(&work.events, &module->choice->events, &work.file);
	if (ret == 0) {
		ftr_symtab_load_elf(&work.symbols, module->path, NULL);
		ret = ftr_entries_plan(&work.entries, &work.file, &work.symbols, is_wanted, &work);
	}
	if (ret == 0 && may_change(module))
		ret = later_mark(&work);
	if (ret == 0) {
		body_put(&work, body);
		note(&work);
	}
	ftr_entries_fini(&work.entries);
	ftr_sdt_places_fini(&work.events);
	ftr_patch_choice_fini(&work.choice);
	ftr_symtab_fini(&work.symbols);
	ftr_elf_file_close(&work.file);
	return ret;
}

static uint32_t plain_flags(const struct ftr_recording *recording, const void *values)
{
	return FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES;
}

static uint32_t plain_narrow(const struct ftr_section_module *module, const void *values,
			     uint32_t value)
{
	return ftr_patch_is_asked(ftr_patch_values_get(module)) ? value : FTR_SWITCH_OFF;
}

/* What is instrumented or prepared in any way is left to that. */
static bool plain_is_wanted(const struct ftr_section_module *module, const void *values)
{
	const struct ftr_patch_values *given = ftr_patch_values_get(module);

	if (module->elf->hooks != 0 || !ftr_patch_is_asked(given))
		return false;
	return module->is_image ||	/* or its libraries would not be looked at */
	       (ftr_patch_names_module(given, module->path, false) &&
		!ftr_section_is_base_library(module->path));
}

const struct ftr_section_maker ftr_section_maker_plain = {
	.name	     = "plain",
	.kind	     = FTR_SECTION_PLAIN,
	.probe	     = "plain",
	.flags	     = plain_flags,
	.narrow	     = plain_narrow,
	.is_wanted   = plain_is_wanted,
	.has_records = true,
	.is_slow     = true,
	.make	     = plain_make,
};
