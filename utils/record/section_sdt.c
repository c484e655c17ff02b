/* SPDX-License-Identifier: MIT */
/*
 * Events that programs and libraries declare, with -E PROVIDER:NAME: the places of their notes are
 * patched (utils/proto/sdt.h).
 */
#include <errno.h>
#include <stdio.h>

#include "arch/arch.h"
#include "utils/object/elf.h"
#include "utils/patch/move.h"
#include "utils/patch/sites.h"
#include "utils/record/choice.h"
#include "utils/record/named_events.h"
#include "utils/record/patch_choice.h"
#include "utils/record/sdt_events.h"
#include "utils/record/sections.h"

#define NAME_BYTES 256
#define SEMAPHORE_ALIGN 4u

struct sdt_values {
	struct ftr_opt_list events;
};

static int check_events(const char *arg, struct ftr_err *err)
{
	return 0;			/* a word that is nobody's is another's to refuse */
}

static const struct ftr_option sdt_options[] = {
	FTR_OPTION("Event", 'E', "EVENT",
		   "Record events that programs and libraries declare (SDT, sys/sdt.h): "
		   "PROVIDER:NAME; * stands for any text; see --list-event", ftr_opt_list,
		   struct sdt_values, events, .check = check_events),
	{ 0 }
};

static const struct ftr_opt_list *events_of(const void *values)
{
	return values == NULL ? NULL : &((const struct sdt_values *)values)->events;
}

static bool is_asked(const void *values)
{
	return values != NULL && ftr_sdt_is_asked(events_of(values));
}

static int sdt_choose(struct ftr_record_choice *choice, struct ftr_rules *rules,
		      const void *values, struct ftr_err *err)
{
	if (!is_asked(values))
		return 0;
	choice->events = *events_of(values);
	if (ftr_move_is_possible())
		return 0;
	if (ftr_arch_host->plain == NULL)
		return ftr_err_set(err, EINVAL, "--Event: events of programs are not recorded on "
				   "%s yet", ftr_arch_host->title);
	return ftr_err_set(err, EINVAL, "--Event: events of programs need a decoder; install "
			   "libzydis-dev and build ftr again");
}

/* One module at work. */
struct work {
	const struct ftr_section_module *module;
	struct ftr_elf_file file;
	struct ftr_symtab symbols;
	struct ftr_sdt_notes notes;
	struct ftr_sites sites;
};

static const char *name_of(const struct ftr_sdt_note *note, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%s:%s", note->provider, note->name);
	return name;
}

static int sites_choose(struct work *work, const struct ftr_opt_list *events)
{
	char name[NAME_BYTES];

	for (size_t i = 0; i < work->notes.v.nr; i++) {
		struct ftr_site site = { .note = &work->notes.v.v[i] };

		if (!ftr_sdt_is_chosen(events, name_of(site.note, name)))
			continue;
		site.id = ftr_named_event(work->module->events, name);
		if (site.id == 0 || ftr_vec_push(&work->sites.v, site) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Those of patched sites, each once, behind the code. */
static void semaphores_put(const struct work *work, struct ftr_strbuf *body)
{
	const struct ftr_sites *sites = &work->sites;

	while (body->len % SEMAPHORE_ALIGN != 0)
		ftr_strbuf_putc(body, '\0');
	for (size_t i = 0; i < sites->v.nr; i++) {
		uint64_t semaphore = sites->v.v[i].note->semaphore;
		uint32_t offset = (uint32_t)(semaphore - work->file.base);
		bool is_new = true;

		for (size_t k = 0; k < i && is_new; k++)
			is_new = sites->v.v[k].state != FTR_SITE_PATCHED ||
				 sites->v.v[k].note->semaphore != semaphore;
		if (semaphore != 0 && is_new && sites->v.v[i].state == FTR_SITE_PATCHED)
			ftr_strbuf_put(body, &offset, sizeof(offset));
	}
}

/* Events that are not recorded for one reason are named: they were asked for. */
static void note_left(const struct work *work, enum ftr_site_state state)
{
	const struct ftr_sites *sites = &work->sites;
	struct ftr_strbuf *notes = work->module->notes;
	char name[NAME_BYTES];
	size_t nr = 0;

	for (size_t i = 0; i < sites->v.nr; i++) {
		if (sites->v.v[i].state != state)
			continue;
		if (nr++ == 0)
			ftr_strbuf_printf(notes, "!%s: events are not recorded, as they %s: ",
					  work->module->path, ftr_site_state_text(state));
		ftr_strbuf_printf(notes, "%s%s at %#llx", nr > 1 ? ", " : "",
				  name_of(sites->v.v[i].note, name),
				  (unsigned long long)sites->v.v[i].note->pc);
	}
	if (nr > 0)
		ftr_strbuf_putc(notes, '\n');
}

static void note(const struct work *work)
{
	for (unsigned state = 0; state < FTR_SITE_STATES && work->module->notes != NULL; state++) {
		if (ftr_site_state_text(state) != NULL)
			note_left(work, state);
	}
}

static void body_put(const struct work *work, struct ftr_strbuf *body)
{
	const struct ftr_functions *functions = &work->sites.functions;

	ftr_patch_body_put(&work->sites.body, (uint32_t)(functions->high - functions->low),
			   ftr_patch_flags(&work->file), body);
	if (body->len > 0)
		semaphores_put(work, body);
}

/* Are functions of the module entered by way of moved instructions, too? */
static bool has_plain_entries(const struct ftr_section_module *module)
{
	const struct ftr_patch_values *given = ftr_patch_values_get(module);

	return module->elf->hooks == 0 && ftr_patch_is_asked(given) &&
	       ftr_patch_names_module(given, module->path, module->is_image);
}

static int sdt_make(const struct ftr_section_module *module, const void *values,
		    struct ftr_strbuf *body)
{
	struct work work = { .module = module, .sites = { .symbols = &work.symbols } };
	int ret;

	work.sites.has_entries = has_plain_entries(module);
	work.sites.has_room_at_entries = module->elf->hooks != 0;
	ftr_symtab_init(&work.symbols);
	ret = ftr_elf_file_open(&work.file, module->path, NULL) < 0 ? 0 :
		ftr_sdt_notes_load(&work.notes, &work.file);
	if (ret == 0 && work.notes.v.nr > 0)
		ret = sites_choose(&work, events_of(values));
	if (ret == 0 && work.sites.v.nr > 0) {
		ftr_symtab_load_elf(&work.symbols, module->path, NULL);
		ret = ftr_sites_plan(&work.sites, &work.file);
		body_put(&work, body);
		note(&work);
	}
	ftr_sites_fini(&work.sites);
	ftr_sdt_notes_fini(&work.notes);
	ftr_symtab_fini(&work.symbols);
	ftr_elf_file_close(&work.file);
	return ret;
}

static uint32_t sdt_flags(const struct ftr_recording *recording, const void *values)
{
	return is_asked(values) ? FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES : FTR_SWITCH_OFF;
}

/* Whatever it declares is found when it is made; the image's is asked for its libraries' sake. */
static bool sdt_is_wanted(const struct ftr_section_module *module, const void *values)
{
	return is_asked(values) && module->elf->machine == ftr_arch_host->elf_machine;
}

const struct ftr_section_maker ftr_section_maker_sdt = {
	.name	      = "sdt",
	.kind	      = FTR_SECTION_SDT,
	.probe	      = "sdt",
	.options      = sdt_options,
	.values_bytes = sizeof(struct sdt_values),
	.choose	      = sdt_choose,
	.flags	      = sdt_flags,
	.is_wanted    = sdt_is_wanted,
	.has_records  = true,
	.is_slow      = true,
	.make	      = sdt_make,
};

bool ftr_sdt_is_given(const struct ftr_option_values *given)
{
	return is_asked(ftr_section_values(given, &ftr_section_maker_sdt));
}
