/* SPDX-License-Identifier: MIT */
/*
 * The first stubs are in the library.  For more, a block of its file is mapped again with a page of
 * data behind it, which the block's code refers to relative to itself.
 */
#include "libmcount/plt_stubs.h"

#include <sys/mman.h>

#include "libmcount/hook.h"
#include "libmcount/invariant.h"
#include "libmcount/own_text.h"
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
	long mem;

	if (stubs->calls != NULL && stubs->call_max >= max)
		return true;	/* of an earlier recording: the program was attached to again */
	mem = ftr_sys_map(0, (max + 1ul) * sizeof(struct ftr_plt_call),
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (ftr_sys_map_failed(mem))
		return false;
	stubs->calls = (struct ftr_plt_call *)mem;
	stubs->call_max = max;
	return true;
}

static bool block_new(struct ftr_plt_stubs *stubs)
{
	struct block_data *data;
	long mem;

	if (stubs->block_nr == FTR_PLT_BLOCK_NR)
		return false;
	mem = ftr_sys_map(0, FTR_PLT_BLOCK_BYTES + PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(mem))
		return false;
	if (!ftr_own_text_map((uintptr_t)mem, ftr_plt_block, FTR_PLT_BLOCK_BYTES)) {
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
