/* SPDX-License-Identifier: MIT */
/* See changes.h. */
#include "utils/attach/changes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASHES 65536u
#define HASH_SHIFT 48		/* of 64 bits */
#define HASH_UNIT 32u		/* bytes, more than a change has */

static int change_compare(const void *one, const void *other)
{
	uint64_t a = ((const struct ftr_change *)one)->code->addr;
	uint64_t b = ((const struct ftr_change *)other)->code->addr;

	return a < b ? -1 : a > b;
}

static uint32_t hash(uint64_t unit)
{
	return (uint32_t)(unit * UINT64_C(0x9e3779b97f4a7c15) >> HASH_SHIFT);
}

static void near_set(struct ftr_changes *changes, uint64_t addr)
{
	changes->near[hash(addr / HASH_UNIT)] = true;
}

static bool is_near(const struct ftr_changes *changes, uint64_t addr)
{
	return changes->near[hash(addr / HASH_UNIT)];
}

/* The last change that does not begin behind @addr; NULL = there is none. */
static struct ftr_change *change_at(struct ftr_changes *changes, uint64_t addr)
{
	uint32_t low = 0, high = changes->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (changes->v[middle].code->addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &changes->v[low - 1] : NULL;
}

/*
 * Who is at the first byte of a function has done nothing of it yet; who is at that of a jump that
 * another leads to has.
 */
struct ftr_change *ftr_changes_in_midst(struct ftr_changes *changes, uint64_t addr)
{
	struct ftr_change *change;

	if (!is_near(changes, addr))
		return NULL;
	change = change_at(changes, addr);
	if (change == NULL || addr >= change->code->addr + change->code->bytes ||
	    (addr == change->code->addr && !change->is_target))
		return NULL;
	return change;
}

static enum ftr_change_state state_first(const struct ftr_attach_code *code)
{
	if (code->bytes == 0 || code->bytes > FTR_ATTACH_CODE_MAX)
		return FTR_CHANGE_FAILED;
	return code->addr / FTR_CHANGES_PAGE !=
			       (code->addr + code->bytes - 1) / FTR_CHANGES_PAGE ?
		       FTR_CHANGE_CROSSING : FTR_CHANGE_PENDING;
}

static void needs_set(struct ftr_changes *changes, struct ftr_change *change)
{
	uint32_t needs = change->code->needs;
	const struct ftr_change *needed;

	change->needs = FTR_CHANGE_NONE;
	if (needs >= changes->code_nr || changes->codes[needs].is_gone)
		return;
	needed = change_at(changes, changes->codes[needs].addr);
	change->needs = (uint32_t)(needed - changes->v);
	changes->v[change->needs].is_target = true;
}

static int address_compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

static bool is_chosen(const struct ftr_code_choice *choice, const struct ftr_attach_code *code)
{
	bool is_one;

	if (choice->are_all)
		return true;
	if (code->is_fixed)
		return !choice->are_others;
	is_one = choice->chosen == NULL ? !code->is_later :
		 bsearch(&code->addr, choice->chosen, choice->chosen_nr, sizeof(code->addr),
			 address_compare) != NULL;
	return is_one != choice->are_others;
}

static void changes_choose(struct ftr_changes *changes, const struct ftr_code_choice *choice)
{
	for (uint32_t i = 0; i < changes->nr; i++) {
		if (!is_chosen(choice, changes->v[i].code))
			changes->v[i].state = FTR_CHANGE_UNCHOSEN;
	}
}

static void changes_sort(struct ftr_changes *changes)
{
	uint32_t i;

	for (i = 0; i < changes->code_nr; i++) {
		const struct ftr_attach_code *code = &changes->codes[i];

		if (!code->is_gone)
			changes->v[changes->nr++] = (struct ftr_change){
				.code = code, .state = state_first(code) };
	}
	qsort(changes->v, changes->nr, sizeof(changes->v[0]), change_compare);
	for (i = 0; i < changes->nr; i++) {
		const struct ftr_attach_code *code = changes->v[i].code;

		needs_set(changes, &changes->v[i]);
		near_set(changes, code->addr);
		near_set(changes, code->addr + code->bytes - 1u);
	}
}

const uint8_t *ftr_change_wanted(const struct ftr_changes *changes,
				 const struct ftr_change *change)
{
	return changes->is_back ? change->code->old : change->code->new;
}

/* Those that are as they shall be already can stay, whoever stands there. */
static void made_skip(struct ftr_changes *changes)
{
	uint8_t code[FTR_ATTACH_CODE_MAX];
	uint32_t i;

	for (i = 0; i < changes->nr; i++) {
		struct ftr_change *change = &changes->v[i];
		size_t bytes = change->code->bytes;

		if (change->state == FTR_CHANGE_PENDING &&
		    pread(changes->memory_fd, code, bytes, (off_t)change->code->addr) ==
			    (ssize_t)bytes &&
		    memcmp(code, ftr_change_wanted(changes, change), bytes) == 0)
			change->state = FTR_CHANGE_MADE;
	}
}

void ftr_changes_free(struct ftr_changes *changes)
{
	if (changes == NULL)
		return;
	if (changes->memory_fd >= 0)
		close(changes->memory_fd);
	free(changes->codes);
	free(changes->v);
	free(changes->due);
	free(changes->near);
	ftr_vec_fini(&changes->doubted);
	free(changes);
}

struct ftr_changes *ftr_changes_load(const struct ftr_runtime *runtime,
				     const struct ftr_attach *attach,
				     const struct ftr_code_choice *choice)
{
	struct ftr_changes *changes = calloc(1, sizeof(*changes));
	size_t nr = attach->code_nr;
	char path[64];

	if (changes == NULL)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)runtime->image.pid);
	changes->memory_fd = open(path, O_RDWR | O_CLOEXEC);
	changes->codes_at = attach->code;
	changes->code_nr = (uint32_t)nr;
	changes->is_back = choice->is_back;
	changes->codes = calloc(nr, sizeof(*changes->codes));
	changes->v = calloc(nr, sizeof(*changes->v));
	changes->due = calloc(nr, sizeof(*changes->due));
	changes->near = calloc(HASHES, sizeof(*changes->near));
	if (changes->codes == NULL || changes->v == NULL || changes->due == NULL ||
	    changes->near == NULL ||
	    !ftr_memory_read(runtime->image.pid, attach->code, changes->codes,
			     nr * sizeof(*changes->codes))) {
		ftr_changes_free(changes);
		return NULL;
	}
	changes_sort(changes);
	changes_choose(changes, choice);
	made_skip(changes);
	return changes;
}

bool ftr_changes_find_gone(const struct ftr_runtime *runtime, struct ftr_changes *changes)
{
	uint32_t i;

	if (!ftr_memory_read(runtime->image.pid, changes->codes_at, changes->codes,
			     changes->code_nr * sizeof(*changes->codes)))
		return false;
	for (i = 0; i < changes->nr; i++) {
		if (changes->v[i].code->is_gone && changes->v[i].state == FTR_CHANGE_PENDING)
			changes->v[i].state = FTR_CHANGE_GONE;
	}
	return true;
}

static void left_count(struct ftr_attach_code_report *report, const struct ftr_change *change)
{
	report->in_use_nr += change->state == FTR_CHANGE_PENDING && change->is_in_use;
	report->unstopped_nr += change->state == FTR_CHANGE_PENDING && !change->is_in_use;
	report->crossing_nr += change->state == FTR_CHANGE_CROSSING;
	report->changed_nr += change->state == FTR_CHANGE_CHANGED;
	report->failed_nr += change->state == FTR_CHANGE_FAILED;
}

/* A change and one that leads to it are one function's: it is patched when both are made. */
void ftr_changes_count(const struct ftr_changes *changes, struct ftr_attach_code_report *report)
{
	uint32_t i;

	for (i = 0; i < changes->nr; i++) {
		const struct ftr_change *change = &changes->v[i];
		bool leads = change->needs != FTR_CHANGE_NONE;

		if (leads && changes->v[change->needs].state != FTR_CHANGE_MADE)
			continue;
		if (change->state == FTR_CHANGE_GONE || change->state == FTR_CHANGE_UNCHOSEN)
			continue;
		if (change->state != FTR_CHANGE_MADE)
			left_count(report, change);
		if (leads ? change->state != FTR_CHANGE_MADE : change->state == FTR_CHANGE_MADE)
			report->made_nr += leads ? -1u : 1u;
	}
}

bool ftr_changes_are_pending(const struct ftr_changes *changes)
{
	for (uint32_t i = 0; i < changes->nr; i++) {
		if (changes->v[i].state == FTR_CHANGE_PENDING)
			return true;
	}
	return false;
}

unsigned ftr_changes_left_nr(const struct ftr_changes *changes)
{
	unsigned nr = 0;

	for (uint32_t i = 0; i < changes->nr; i++)
		nr += changes->v[i].state == FTR_CHANGE_PENDING && !changes->v[i].is_target;
	return nr;
}

bool ftr_changes_are_left(const struct ftr_changes *changes)
{
	uint32_t i;

	for (i = 0; i < changes->nr; i++) {
		enum ftr_change_state state = changes->v[i].state;

		if (state == FTR_CHANGE_PENDING || state == FTR_CHANGE_FAILED)
			return true;
	}
	return false;
}

