/* SPDX-License-Identifier: MIT */
/* It gets between all calls through a PLT, and goes on behind the frames that it copies. */
#define _GNU_SOURCE
#include <link.h>

unsigned la_version(unsigned version)
{
	return LAV_CURRENT;
}

unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *sym, unsigned index, uintptr_t *from, uintptr_t *to,
		       unsigned *flags, const char *name)
{
	return sym->st_value;
}
#ifdef FRAMES
Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *sym, unsigned index, uintptr_t *from, uintptr_t *to,
				  La_x86_64_regs *regs, unsigned *flags, const char *name,
				  long *bytes)
{
	*bytes = FRAMES;
	return sym->st_value;
}

unsigned la_x86_64_gnu_pltexit(Elf64_Sym *sym, unsigned index, uintptr_t *from, uintptr_t *to,
			       const La_x86_64_regs *in, La_x86_64_retval *out, const char *name)
{
	return 0;
}
#endif
