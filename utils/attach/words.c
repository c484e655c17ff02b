/* SPDX-License-Identifier: MIT */
/* See words.h. */
#include "utils/attach/words.h"

#include <stdlib.h>

#include "arch/remote.h"

#define CHUNK_WORDS 8192u
#define SCAN_MAX UINT64_C(0x4000000)	/* memory that has a stack may be larger */
#define STACKS_MAX 16u

/* What is still to be shown. */
struct stacks {
	uint64_t sp[STACKS_MAX];
	unsigned nr, shown;
};

static bool is_known(const struct stacks *stacks, const struct ftr_image *image, uint64_t sp)
{
	const struct ftr_vma *vma = ftr_image_at(image, sp);
	unsigned i;

	for (i = 0; vma != NULL && i < stacks->nr; i++) {
		if (stacks->sp[i] >= vma->low && stacks->sp[i] <= sp)
			return true;
	}
	return vma == NULL;		/* it only looks like a handler's frame */
}

static void stack_add(struct stacks *stacks, const struct ftr_image *image, uint64_t sp)
{
	if (stacks->nr < STACKS_MAX && !is_known(stacks, image, sp))
		stacks->sp[stacks->nr++] = sp;
}

static void handler_show(const struct ftr_words *words, struct stacks *stacks, uint64_t at,
			 const uint64_t *frame)
{
	stack_add(stacks, words->image, frame[FTR_ARCH_HANDLER_SP]);
	if (words->interrupted != NULL)
		words->interrupted(words->arg, at, frame[FTR_ARCH_HANDLER_IP]);
}

static void chunk_show(const struct ftr_words *words, struct stacks *stacks, uint64_t at,
		       const uint64_t *chunk, size_t nr, size_t new_nr)
{
	uint64_t mark = FTR_ARCH_HANDLER_MARK_VALUE;
	size_t i;

	if (mark == 0)
		mark = words->comeback;
	for (i = 0; words->take != NULL && i < new_nr; i++)
		words->take(words->arg, chunk[i]);
	for (i = 0; mark != 0 && i + FTR_ARCH_HANDLER_WORDS <= nr; i++) {
		if (chunk[i + FTR_ARCH_HANDLER_MARK] == mark)
			handler_show(words, stacks, at + i * sizeof(*chunk), &chunk[i]);
	}
}

/* Chunks overlap, as a handler's frame may lie over their edge. */
static bool stack_show(const struct ftr_words *words, struct stacks *stacks, uint64_t sp,
		       uint64_t *chunk)
{
	const struct ftr_vma *vma = ftr_image_at(words->image, sp);
	uint64_t at = sp & ~UINT64_C(7), end;

	if (vma == NULL)
		return false;
	if (at - vma->low >= sizeof(at))
		at -= sizeof(at);
	end = vma->high - at < SCAN_MAX ? vma->high : at + SCAN_MAX;
	while (at < end) {
		size_t nr = (end - at) / sizeof(*chunk), new_nr;

		nr = nr < CHUNK_WORDS ? nr : CHUNK_WORDS;
		new_nr = at + nr * sizeof(*chunk) == end ? nr : nr - FTR_ARCH_HANDLER_WORDS + 1;
		if (!ftr_memory_read(words->image->pid, at, chunk, nr * sizeof(*chunk)))
			return false;
		chunk_show(words, stacks, at, chunk, nr, new_nr);
		at += new_nr * sizeof(*chunk);
	}
	return true;
}

bool ftr_words_show(const struct ftr_words *words, uint64_t sp)
{
	struct stacks stacks = { .sp = { sp }, .nr = 1 };
	uint64_t *chunk = malloc(CHUNK_WORDS * sizeof(*chunk));
	bool ret = chunk != NULL;

	while (ret && stacks.shown < stacks.nr)
		ret = stack_show(words, &stacks, stacks.sp[stacks.shown++], chunk);
	free(chunk);
	return ret;
}
