/* SPDX-License-Identifier: MIT */
/* Stubs for hooked entries of global offset tables, and what each of them stands for. */
#ifndef FTR_LIBMCOUNT_PLT_STUBS_H
#define FTR_LIBMCOUNT_PLT_STUBS_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_PLT_STUB_NR 8192		/* in the library: arch/ISA/plt.S */
#define FTR_PLT_STUB_BYTES 16
#define FTR_PLT_BLOCK_STUB_NR 4094	/* in each further block */
#define FTR_PLT_BLOCK_BYTES 65536
#define FTR_PLT_BLOCK_NR 63
#define FTR_PLT_STUB_MAX (FTR_PLT_STUB_NR + FTR_PLT_BLOCK_NR * FTR_PLT_BLOCK_STUB_NR)

/* A hooked entry. */
struct ftr_plt_call {
	uintptr_t target;
	uintptr_t addr;			/* recorded for it */
	uint32_t flags;			/* FTR_PLT_* of proto/plt.h */
};

/* One caller at a time: at the start, then under the dynamic linker's lock. */
struct ftr_plt_stubs {
	struct ftr_plt_call *calls;	/* by stub; room for call_max */
	uint32_t call_max;
	uint32_t call_nr;		/* handed out */
	uint32_t block_nr;
	uintptr_t blocks[FTR_PLT_BLOCK_NR];
};

/* Make room for @nr calls at most; false when there is no memory. */
bool ftr_plt_stubs_start(struct ftr_plt_stubs *stubs, uint32_t nr)
	__attribute__((visibility("hidden")));

/*
 * Hand out up to @nr stubs in a row, from *@first on; the number, fewer when there is no room, no
 * memory, or the library's file cannot be mapped again.
 */
uint32_t ftr_plt_stubs_take(struct ftr_plt_stubs *stubs, uint32_t nr, uint32_t *first)
	__attribute__((visibility("hidden")));

/* The address of stub @n, which must have been handed out; else 0. */
uintptr_t ftr_plt_stub(const struct ftr_plt_stubs *stubs, uint32_t n)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PLT_STUBS_H */
