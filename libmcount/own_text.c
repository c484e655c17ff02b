/* SPDX-License-Identifier: MIT */
/* Code of libmcount.so mapped a second time. */
#include "libmcount/own_text.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "utils/base/rt/sys.h"

/* Where a file keeps what is at an address. */
struct place {
	uintptr_t addr;
	uint64_t offset;
	bool is_known;
};

static int place_find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *place = arg;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t in_segment = place->addr - (info->dlpi_addr + phdr->p_vaddr);

		if (phdr->p_type == PT_LOAD && in_segment < phdr->p_filesz) {
			place->offset = phdr->p_offset + in_segment;
			place->is_known = true;
			return 1;
		}
	}
	return 0;
}

/* Reading behind the end of a mapped file would end the program. */
static bool has_bytes(int fd, uint64_t end)
{
	struct stat st;

	return ftr_sys2(FTR_ARCH_SYS_FSTAT, fd, &st) == 0 && (uint64_t)st.st_size >= end;
}

bool ftr_own_text_map(uintptr_t mem, const char *text, uint32_t bytes)
{
	struct place place = { .addr = (uintptr_t)text };
	long fd, ret = -1;
	Dl_info info;

	if (dladdr(text, &info) == 0)
		return false;
	dl_iterate_phdr(place_find, &place);
	if (!place.is_known)
		return false;
	fd = ftr_sys_open_own(info.dli_fname);
	if (fd < 0)
		return false;
	if (has_bytes((int)fd, place.offset + bytes))
		ret = ftr_sys_map(mem, bytes, PROT_READ | PROT_EXEC,
			       MAP_PRIVATE | MAP_FIXED, fd, place.offset);
	ftr_sys_close_own(fd);
	return !ftr_sys_map_failed(ret) && memcmp((const void *)mem, text, bytes) == 0;
}
