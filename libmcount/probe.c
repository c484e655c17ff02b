/* SPDX-License-Identifier: MIT */
/* The list of probes, and what is done with it. */
#include "libmcount/probe.h"

#include <stddef.h>
#include <sys/mman.h>

#include "libmcount/libraries.h"
#include "libmcount/probe_plt.h"
#include "libmcount/sections.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define PAGE_MASK (~4095ul)

#define FTR_PROBE(name) \
	extern const struct ftr_probe ftr_probe_##name __attribute__((visibility("hidden")));
#include "libmcount/probes.def"
#undef FTR_PROBE

static const struct ftr_probe *const probes[] = {
#define FTR_PROBE(name) &ftr_probe_##name,
#include "libmcount/probes.def"
#undef FTR_PROBE
};

const struct ftr_probe *ftr_probe_next(unsigned *pos)
{
	return *pos < sizeof(probes) / sizeof(probes[0]) ? probes[(*pos)++] : NULL;
}

static void dynamic_read(struct ftr_loaded *module, const ElfW(Dyn) *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMBOLIC ||
		    (dyn->d_tag == DT_FLAGS && (dyn->d_un.d_val & DF_SYMBOLIC) != 0))
			module->is_symbolic = true;
	}
}

void ftr_loaded_read(struct ftr_loaded *module, const struct dl_phdr_info *info)
{
	int i;

	module->base = info->dlpi_addr;
	module->name = info->dlpi_name;
	module->text = UINTPTR_MAX;
	module->text_end = 0;
	module->relro = module->relro_end = 0;
	module->is_symbolic = false;
	module->dynamic = NULL;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t start = module->base + phdr->p_vaddr;

		if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_X) != 0) {
			module->text = start < module->text ? start : module->text;
			if (start + phdr->p_memsz > module->text_end)
				module->text_end = start + phdr->p_memsz;
		} else if (phdr->p_type == PT_GNU_RELRO) {
			module->relro = start & PAGE_MASK;
			module->relro_end = (start + phdr->p_memsz) & PAGE_MASK;
		} else if (phdr->p_type == PT_DYNAMIC) {
			module->dynamic = (const ElfW(Dyn) *)start;
			dynamic_read(module, module->dynamic);
		}
	}
}

bool ftr_loaded_open(const struct ftr_loaded *module)
{
	return module->relro >= module->relro_end ||
	       ftr_sys3(SYS_mprotect, module->relro, module->relro_end - module->relro,
			PROT_READ | PROT_WRITE) == 0;
}

void ftr_loaded_close(const struct ftr_loaded *module)
{
	if (module->relro < module->relro_end)
		ftr_sys3(SYS_mprotect, module->relro, module->relro_end - module->relro, PROT_READ);
}

void ftr_probes_module(const struct ftr_loaded *module, const struct ftr_sections *sections)
{
	const struct ftr_probe *probe;
	unsigned pos = 0;

	while ((probe = ftr_probe_next(&pos)) != NULL) {
		if (probe->module != NULL &&
		    (ftr_sections_switch(sections, probe->name) & FTR_SWITCH_ON) != 0)
			probe->module(module, sections);
	}
}

void ftr_probes_update(uintptr_t low, const struct ftr_sections *sections)
{
	const struct ftr_probe *probe;
	unsigned pos = 0;

	while ((probe = ftr_probe_next(&pos)) != NULL) {
		if (probe->update != NULL)
			probe->update(low, sections);
	}
}

static int program_read(struct dl_phdr_info *info, size_t size, void *arg)
{
	ftr_loaded_read(arg, info);
	return 1;		/* the program comes first */
}

void ftr_probes_start(const struct ftr_sections *sections)
{
	struct ftr_plt_hooked hooked = { 0 };
	struct ftr_loaded program = { .is_program = true, .is_lasting = true, .hooked = &hooked };
	const struct ftr_probe *probe;
	uint32_t any = 0;
	unsigned pos = 0;

	if (sections == NULL)
		return;
	while ((probe = ftr_probe_next(&pos)) != NULL) {
		uint32_t value = ftr_sections_switch(sections, probe->name);

		if (probe->start != NULL && (value & FTR_SWITCH_ON) != 0)
			probe->start(sections);
		any |= value;
	}
	dl_iterate_phdr(program_read, &program);
	ftr_probes_module(&program, sections);
	ftr_probes_update(0, sections);
	if ((any & FTR_SWITCH_LIBRARIES) != 0)
		ftr_libraries_start();
}
