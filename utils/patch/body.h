/* SPDX-License-Identifier: MIT */
/*
 * The body of a section that has code patched (utils/proto/plain.h), while it grows: what is
 * written over the module's code, and the heads and moved instructions that this leads to.
 */
#ifndef FTR_PATCH_BODY_H
#define FTR_PATCH_BODY_H

#include <stdint.h>

#include "arch/arch.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/patch/move.h"
#include "utils/proto/plain.h"

struct ftr_patch_body {
	const struct ftr_arch_plain *plain;
	uint64_t base;			/* of the module */
	FTR_VEC(struct ftr_plain_write) writes;	/* after the end: jumps, then steps, by offset */
	FTR_VEC(uint32_t) fixes;
	FTR_VEC(uint8_t) code;
	int ret;			/* -ENOMEM: something is missing */
};

/* Where the next head goes; its moved instructions follow it. */
uint32_t ftr_patch_body_place(const struct ftr_patch_body *body);

/* A function's landing, which stays where it is. */
struct ftr_landing {
	const uint8_t *code;
	uint32_t bytes;
};

/* Bytes that are done again of it behind the head (landing_undo of arch/arch.h). */
uint32_t ftr_patch_body_again(const struct ftr_patch_body *body, struct ftr_landing landing);

/*
 * Put the head of what was at @addr, as in the file, behind @landing, and then @moved there;
 * answers with where it is jumped to.
 */
uint32_t ftr_patch_body_head(struct ftr_patch_body *body, uint64_t addr, struct ftr_landing landing,
			     const struct ftr_moved *moved);

/* Put @moved, which was moved to where the code ended; answers with where that was. */
uint32_t ftr_patch_body_code(struct ftr_patch_body *body, const struct ftr_moved *moved);

/* Have @write done at @addr, where the file has @original. */
void ftr_patch_body_write(struct ftr_patch_body *body, uint64_t addr, const uint8_t *original,
			  struct ftr_plain_write write);

void ftr_patch_body_fix(struct ftr_patch_body *body, uint32_t at, enum ftr_plain_fix kind);

/* Fill the code up to @end with what ends whoever gets there. */
void ftr_patch_body_fill(struct ftr_patch_body *body, uint32_t end);

/* Nothing more comes. */
void ftr_patch_body_end(struct ftr_patch_body *body);
void ftr_patch_body_fini(struct ftr_patch_body *body);

/* Append it to @section, of a module that is mapped for @reach bytes; if there is anything. */
void ftr_patch_body_put(const struct ftr_patch_body *body, uint32_t reach, uint32_t flags,
			struct ftr_strbuf *section);

#endif /* FTR_PATCH_BODY_H */
