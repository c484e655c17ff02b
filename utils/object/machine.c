/* SPDX-License-Identifier: MIT */
/* See machine.h. */
#include "utils/object/machine.h"

#include <string.h>

#include "utils/base/bits.h"
#include "utils/object/code_range.h"

/* How programs have them made: the Java Native Interface, 5; .NET's hosting interface. */
static const char *const makers[] = { "JNI_CreateJavaVM", "coreclr_initialize" };

static bool has_maker(const struct ftr_elf_file *file)
{
	struct ftr_elf_dynamic symbols;
	const char *name;
	GElf_Sym sym;

	ftr_elf_dynamic_init(&symbols, file);
	while ((name = ftr_elf_dynamic_next(&symbols, &sym)) != NULL) {
		for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
			if (sym.st_shndx != SHN_UNDEF && strcmp(name, makers[i]) == 0)
				return true;
		}
	}
	return false;
}

/* V8's has 1.5 MB; tables of OpenSSL, which look like it, 150 KB. */
#define MACHINE_BYTES FTR_KIB(512)

static bool has_gap(const struct ftr_code_ranges *ranges, const GElf_Shdr *shdr)
{
	uint64_t covered = shdr->sh_addr, end = shdr->sh_addr + shdr->sh_size;

	for (size_t i = 0; i < ranges->ranges.nr; i++) {
		const struct ftr_code_range *range = &ranges->ranges.v[i];

		if (range->addr >= end)
			break;
		if (range->addr > covered && range->addr - covered >= MACHINE_BYTES)
			return true;
		if (range->addr >= shdr->sh_addr && range->addr + range->bytes > covered)
			covered = range->addr + range->bytes;
	}
	return end > covered && end - covered >= MACHINE_BYTES;
}

static bool has_code(const struct ftr_elf_file *file)
{
	struct ftr_code_ranges ranges = { 0 };
	bool is_found = false, may_be;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	may_be = ftr_code_ranges_load(&ranges, file) == 0 && ranges.ranges.nr > 0;
	while (may_be && !is_found && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &shdr) != NULL && (shdr.sh_flags & SHF_EXECINSTR) != 0 &&
		    shdr.sh_size >= MACHINE_BYTES)
			is_found = has_gap(&ranges, &shdr);
	}
	ftr_code_ranges_fini(&ranges);
	return is_found;
}

bool ftr_elf_has_machine(const struct ftr_elf_file *file)
{
	return has_maker(file) || has_code(file);
}
