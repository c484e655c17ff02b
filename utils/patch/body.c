/* SPDX-License-Identifier: MIT */
/* See body.h. */
#include "utils/patch/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ftr_patch_body_fix(struct ftr_patch_body *body, uint32_t at, enum ftr_plain_fix kind)
{
	if (ftr_vec_push(&body->fixes, at << FTR_PLAIN_FIX_BITS | kind) < 0)
		body->ret = -ENOMEM;
}

void ftr_patch_body_write(struct ftr_patch_body *body, uint64_t addr, const uint8_t *original,
			  struct ftr_plain_write write)
{
	write.offset = (uint32_t)(addr - body->base);
	memcpy(write.original, original, write.bytes);
	if (ftr_vec_push(&body->writes, write) < 0)
		body->ret = -ENOMEM;
}

uint32_t ftr_patch_body_place(const struct ftr_patch_body *body)
{
	const struct ftr_arch_plain *plain = body->plain;
	uint32_t start = (uint32_t)body->code.nr + plain->head_start;

	return (start + plain->head_align - 1) / plain->head_align * plain->head_align -
	       plain->head_start;
}

void ftr_patch_body_fill(struct ftr_patch_body *body, uint32_t end)
{
	if (ftr_vec_reserve(&body->code, end) < 0) {
		body->ret = -ENOMEM;
		return;
	}
	memset(body->code.v + body->code.nr, body->plain->trap, end - body->code.nr);
	body->code.nr = end;
}

uint32_t ftr_patch_body_code(struct ftr_patch_body *body, const struct ftr_moved *moved)
{
	uint32_t at = (uint32_t)body->code.nr;

	ftr_patch_body_fill(body, at + moved->code_bytes);
	if (body->ret < 0)
		return 0;
	memcpy(body->code.v + at, moved->code, moved->code_bytes);
	for (unsigned i = 0; i < moved->fix_nr; i++)
		ftr_patch_body_fix(body, at + moved->fixes[i].at, moved->fixes[i].kind);
	return at;
}

static uint32_t undo_of(const struct ftr_patch_body *body, struct ftr_landing landing)
{
	return body->plain->landing_undo == NULL || landing.bytes == 0 ? 0 :
	       body->plain->landing_undo(landing.code, landing.bytes);
}

uint32_t ftr_patch_body_again(const struct ftr_patch_body *body, struct ftr_landing landing)
{
	return undo_of(body, landing) != 0 ? landing.bytes : 0;
}

uint32_t ftr_patch_body_head(struct ftr_patch_body *body, uint64_t addr, struct ftr_landing landing,
			     const struct ftr_moved *moved)
{
	uint32_t undo = undo_of(body, landing), again = ftr_patch_body_again(body, landing);
	const struct ftr_arch_plain *plain = body->plain;
	uint32_t head = ftr_patch_body_place(body);
	uint32_t distance = (uint32_t)(addr - body->base) - (head + plain->head_start);

	ftr_patch_body_fill(body, head + plain->head_bytes + again);
	if (body->ret < 0)
		return 0;
	memcpy(body->code.v + head, plain->head, plain->head_bytes);
	if (undo != 0)
		memcpy(body->code.v + head + plain->head_undo, &undo, sizeof(undo));
	if (again != 0)
		memcpy(body->code.v + head + plain->head_bytes, landing.code, again);
	memcpy(body->code.v + head, &distance, sizeof(distance));
	ftr_patch_body_fix(body, head, FTR_PLAIN_RELATIVE);
	ftr_patch_body_fix(body, head + plain->head_hook, FTR_PLAIN_HOOK);
	ftr_patch_body_code(body, moved);
	return head + plain->head_start;
}

static int by_place(const void *left, const void *right)
{
	const struct ftr_plain_write *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void ftr_patch_body_end(struct ftr_patch_body *body)
{
	if (body->writes.nr > 0)
		qsort(body->writes.v, body->writes.nr, sizeof(body->writes.v[0]), by_place);
}

void ftr_patch_body_fini(struct ftr_patch_body *body)
{
	ftr_vec_fini(&body->writes);
	ftr_vec_fini(&body->fixes);
	ftr_vec_fini(&body->code);
}

static uint32_t jump_nr(const struct ftr_patch_body *body)
{
	uint32_t nr = 0;

	while (nr < body->writes.nr &&
	       (body->writes.v[nr].kind & FTR_PLAIN_KIND_MASK) == FTR_PLAIN_JUMP)
		nr++;
	return nr;
}

void ftr_patch_body_put(const struct ftr_patch_body *body, uint32_t reach, uint32_t flags,
			struct ftr_strbuf *section)
{
	struct ftr_plain_table head = {
		.base = body->base,
		.reach = reach,
		.write_nr = (uint32_t)body->writes.nr,
		.jump_nr = jump_nr(body),
		.fix_nr = (uint32_t)body->fixes.nr,
		.code_bytes = (uint32_t)body->code.nr,
		.flags = flags,
	};

	if (body->writes.nr == 0 || body->code.nr > FTR_PLAIN_CODE_MAX)
		return;
	ftr_strbuf_put(section, &head, sizeof(head));
	ftr_strbuf_put(section, body->writes.v, body->writes.nr * sizeof(body->writes.v[0]));
	ftr_strbuf_put(section, body->fixes.v, body->fixes.nr * sizeof(body->fixes.v[0]));
	ftr_strbuf_put(section, body->code.v, body->code.nr);
}
