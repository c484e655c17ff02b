/* SPDX-License-Identifier: MIT */
/* The table of architectures. */
#include "arch/arch.h"

#include "arch/rt.h"
#include "arch/syscalls.h"

#define FTR_ARCH(name) extern const struct ftr_arch ftr_arch_##name;
#include "arch/arches.def"
#undef FTR_ARCH

static const struct ftr_arch *const arches[] = {
#define FTR_ARCH(name) &ftr_arch_##name,
#include "arch/arches.def"
#undef FTR_ARCH
};

extern const struct ftr_abi FTR_ARCH_HOST_ABIS[];

const struct ftr_arch *const ftr_arch_host = &FTR_ARCH_HOST;
const struct ftr_abi *const ftr_abis = FTR_ARCH_HOST_ABIS;

const struct ftr_arch *ftr_arch_next(size_t *pos)
{
	return *pos < sizeof(arches) / sizeof(arches[0]) ? arches[(*pos)++] : NULL;
}

const struct ftr_arch *ftr_arch_find(unsigned elf_machine, unsigned elf_class)
{
	const struct ftr_arch *arch;
	size_t pos = 0;

	while ((arch = ftr_arch_next(&pos)) != NULL &&
	       (arch->elf_machine != elf_machine || arch->elf_class != elf_class))
		;
	return arch;
}
