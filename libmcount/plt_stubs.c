/* SPDX-License-Identifier: MIT */
/*
 * The first stubs are in the library.  For more, a block of its file is mapped again with a page of
 * data behind it, which the block's code refers to relative to itself.
 */
#include "libmcount/plt_stubs.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "libmcount/hook.h"
#include "libmcount/invariant.h"
#include "utils/base/rt/sys.h"

#define PAGE 4096ul

extern const char ftr_plt_stubs[] FTR_HIDDEN;
extern const char ftr_plt_block[] FTR_HIDDEN;
extern const char ftr_plt_block_common[] FTR_HIDDEN;

/* The page behind a block, as the block's code reads it. */
struct block_data {
	uint64_t first;			/* number of the block's first stub */
	uintptr_t common;		/* where its stubs lead */
};

bool ftr_plt_stubs_start(struct ftr_plt_stubs *stubs, uint32_t nr)
{
	uint32_t max = nr < FTR_PLT_STUB_MAX ? nr : FTR_PLT_STUB_MAX;
	long mem = ftr_sys6(SYS_mmap, 0, (max + 1ul) * sizeof(struct ftr_plt_call),
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (ftr_sys_map_failed(mem))
		return false;
	stubs->calls = (struct ftr_plt_call *)mem;
	stubs->call_max = max;
	return true;
}

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
static bool has_block(int fd, uint64_t offset)
{
	struct stat st;

	return ftr_sys2(SYS_fstat, fd, &st) == 0 &&
	       (uint64_t)st.st_size >= offset + FTR_PLT_BLOCK_BYTES;
}

/*
 * Map the pattern once more over the start of @mem; it must be the same file that we were loaded
 * from.
 */
static bool pattern_map(uintptr_t mem)
{
	struct place place = { .addr = (uintptr_t)ftr_plt_block };
	long fd, ret = -1;
	Dl_info info;

	if (dladdr(ftr_plt_block, &info) == 0)
		return false;
	dl_iterate_phdr(place_find, &place);
	if (!place.is_known)
		return false;
	fd = ftr_sys_open_own(info.dli_fname);
	if (fd < 0)
		return false;
	if (has_block((int)fd, place.offset))
		ret = ftr_sys6(SYS_mmap, mem, FTR_PLT_BLOCK_BYTES, PROT_READ | PROT_EXEC,
			       MAP_PRIVATE | MAP_FIXED, fd, place.offset);
	ftr_sys_close_own(fd);
	return !ftr_sys_map_failed(ret) &&
	       memcmp((const void *)mem, ftr_plt_block, FTR_PLT_BLOCK_BYTES) == 0;
}

static bool block_new(struct ftr_plt_stubs *stubs)
{
	struct block_data *data;
	long mem;

	if (stubs->block_nr == FTR_PLT_BLOCK_NR)
		return false;
	mem = ftr_sys6(SYS_mmap, 0, FTR_PLT_BLOCK_BYTES + PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(mem))
		return false;
	if (!pattern_map((uintptr_t)mem)) {
		ftr_sys2(SYS_munmap, mem, FTR_PLT_BLOCK_BYTES + PAGE);
		return false;
	}
	data = (struct block_data *)(mem + FTR_PLT_BLOCK_BYTES);
	data->first = FTR_PLT_STUB_NR + (uint64_t)stubs->block_nr * FTR_PLT_BLOCK_STUB_NR;
	data->common = (uintptr_t)ftr_plt_block_common;
	ftr_sys3(SYS_mprotect, data, PAGE, PROT_READ);
	stubs->blocks[stubs->block_nr++] = (uintptr_t)mem;
	return true;
}

static uint32_t stubs_there(const struct ftr_plt_stubs *stubs)
{
	return FTR_PLT_STUB_NR + stubs->block_nr * FTR_PLT_BLOCK_STUB_NR;
}

uint32_t ftr_plt_stubs_take(struct ftr_plt_stubs *stubs, uint32_t nr, uint32_t *first)
{
	uint32_t end;

	*first = stubs->call_nr;
	if (nr > stubs->call_max - stubs->call_nr)
		nr = stubs->call_max - stubs->call_nr;
	end = stubs->call_nr + nr;
	while (stubs_there(stubs) < end && block_new(stubs))
		;
	if (stubs_there(stubs) < end)
		nr = stubs_there(stubs) - stubs->call_nr;
	stubs->call_nr += nr;
	return nr;
}

uintptr_t ftr_plt_stub(const struct ftr_plt_stubs *stubs, uint32_t n)
{
	uint32_t in_blocks = n - FTR_PLT_STUB_NR;

	if (!FTR_INVARIANT(n < stubs->call_nr))
		return 0;
	if (n < FTR_PLT_STUB_NR)
		return (uintptr_t)ftr_plt_stubs + (uint64_t)n * FTR_PLT_STUB_BYTES;
	return stubs->blocks[in_blocks / FTR_PLT_BLOCK_STUB_NR] +
	       (uint64_t)(in_blocks % FTR_PLT_BLOCK_STUB_NR) * FTR_PLT_STUB_BYTES;
}
