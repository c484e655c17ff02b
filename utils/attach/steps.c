/* SPDX-License-Identifier: MIT */
/* See steps.h. */
#include "utils/attach/steps.h"

#include <libunwind-ptrace.h>
#include <stdlib.h>
#include <string.h>

#include "arch/remote.h"
#include "arch/task_regs.h"
#include "utils/attach/stubs.h"

#define LOOKS_MAX UINT64_C(1000000)	/* at frames of shadow stacks, of one thread */

struct ftr_steps_known {
	unw_addr_space_t all;
	unw_addr_space_t behind;	/* ... of stubs: with accessors of ours */
	bool ends_at_stubs;		/* which takes it long */
};

/* What a frame has in its registers, as far as that is known. */
struct regs {
	unw_word_t v[UNW_REG_LAST + 1];
	bool is_known[UNW_REG_LAST + 1];
};

struct ftr_steps {
	const struct ftr_places *places;
	void *upt;			/* (owned) libunwind's, of the thread */
	unw_cursor_t cursor;
	bool is_lost;
	uint64_t looks;			/* that are left */
	uint64_t stub_sp;		/* of the last stub */
	struct regs behind;		/* ... the caller's */
};

/*
 * libunwind's own accessors find their way by their argument, and so does what they call: that goes
 * to the other space.
 */
static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need,
			  void *arg)
{
	const struct ftr_steps *steps = arg;

	return _UPT_find_proc_info(steps->places->steps->all, ip, info, need, steps->upt);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	const struct ftr_steps *steps = arg;

	_UPT_put_unwind_info(steps->places->steps->all, info, steps->upt);
}

static int get_dyn_info_list_addr(unw_addr_space_t as, unw_word_t *addr, void *arg)
{
	const struct ftr_steps *steps = arg;

	return _UPT_get_dyn_info_list_addr(steps->places->steps->all, addr, steps->upt);
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *word, int is_write,
		      void *arg)
{
	const struct ftr_steps *steps = arg;

	return is_write ? -UNW_EINVAL :
			  _UPT_access_mem(steps->places->steps->all, addr, word, 0, steps->upt);
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int is_write,
		      void *arg)
{
	const struct ftr_steps *steps = arg;

	if (is_write || reg < 0 || reg > UNW_REG_LAST || !steps->behind.is_known[reg])
		return -UNW_EBADREG;
	*value = steps->behind.v[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int is_write,
			void *arg)
{
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t addr, char *name, size_t bytes,
			 unw_word_t *offset, void *arg)
{
	return -UNW_ENOINFO;
}

struct ftr_steps_known *ftr_steps_known_new(void)
{
	unw_accessors_t behind = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr, .access_mem = access_mem,
		.access_reg = access_reg, .access_fpreg = access_fpreg, .resume = resume,
		.get_proc_name = get_proc_name,
	};
	struct ftr_steps_known *known = calloc(1, sizeof(*known));

	if (known == NULL)
		return NULL;
	known->all = unw_create_addr_space(&_UPT_accessors, 0);
	known->behind = unw_create_addr_space(&behind, 0);
	if (known->all == NULL || known->behind == NULL) {
		ftr_steps_known_free(known);
		return NULL;
	}
	unw_set_caching_policy(known->all, UNW_CACHE_GLOBAL);
	unw_set_caching_policy(known->behind, UNW_CACHE_GLOBAL);
	return known;
}

void ftr_steps_known_free(struct ftr_steps_known *known)
{
	if (known == NULL)
		return;
	if (known->all != NULL)
		unw_destroy_addr_space(known->all);
	if (known->behind != NULL)
		unw_destroy_addr_space(known->behind);
	free(known);
}

void ftr_steps_known_forget(struct ftr_steps_known *known)
{
	unw_flush_cache(known->all, 0, 0);
	unw_flush_cache(known->behind, 0, 0);
}

struct ftr_steps *ftr_steps_new(const struct ftr_places *places, pid_t tid)
{
	struct ftr_steps *steps = calloc(1, sizeof(*steps));

	if (steps == NULL)
		return NULL;
	steps->places = places;
	steps->looks = LOOKS_MAX;
	steps->upt = places->steps != NULL ? _UPT_create(tid) : NULL;
	if (steps->upt == NULL) {
		free(steps);
		return NULL;
	}
	steps->is_lost = unw_init_remote(&steps->cursor, places->steps->all, steps->upt) < 0;
	return steps;
}

void ftr_steps_free(struct ftr_steps *steps)
{
	if (steps == NULL)
		return;
	_UPT_destroy(steps->upt);
	free(steps);
}

static bool position_get(unw_cursor_t *cursor, uint64_t *ip, uint64_t *sp)
{
	unw_word_t words[2];

	if (unw_get_reg(cursor, UNW_REG_IP, &words[0]) < 0 ||
	    unw_get_reg(cursor, UNW_REG_SP, &words[1]) < 0)
		return false;
	*ip = words[0];
	*sp = words[1];
	return true;
}

bool ftr_steps_position(struct ftr_steps *steps, uint64_t *ip, uint64_t *sp)
{
	return !steps->is_lost && position_get(&steps->cursor, ip, sp);
}

/* libunwind may not say so where call frame information is all that it needs. */
bool ftr_steps_is_handler(struct ftr_steps *steps)
{
	uint64_t ip, sp;

	if (steps->is_lost)
		return false;
	return unw_is_signal_frame(&steps->cursor) > 0 ||
	       (steps->places->comeback != 0 && position_get(&steps->cursor, &ip, &sp) &&
		ip == steps->places->comeback);
}

/* libunwind answers with one byte where it has nothing. */
static bool range_get(unw_cursor_t *cursor, struct ftr_place_range *range)
{
	unw_proc_info_t info;

	if (unw_get_proc_info(cursor, &info) < 0 || info.end_ip - info.start_ip <= 1)
		return false;
	*range = (struct ftr_place_range){ info.start_ip, info.end_ip };
	return true;
}

bool ftr_steps_range(struct ftr_steps *steps, struct ftr_place_range *range)
{
	return !steps->is_lost && range_get(&steps->cursor, range);
}

/* In a stub: *@stub says which. */
static bool is_at_stub(const struct ftr_steps *steps, unw_cursor_t *cursor, struct ftr_stub *stub)
{
	struct ftr_place_range range;

	stub->pid = steps->places->image->pid;
	if (!position_get(cursor, &stub->ip, &stub->sp))
		return false;
	stub->ip = ftr_arch_address(stub->ip);
	if (!ftr_place_is_ours(steps->places, stub->ip) || !range_get(cursor, &range) ||
	    !ftr_stubs_are(steps->places, &range))
		return false;
	stub->stubs = range.low;
	return true;
}

static bool is_code(const struct ftr_steps *steps, uint64_t addr)
{
	const struct ftr_vma *vma = ftr_image_at(steps->places->image, addr);

	return vma != NULL && strchr(vma->prot, 'x') != NULL;
}

/*
 * As the frame of @stub is empty, its caller has what it has, but for where it is: that is the
 * call, as the stub's own information says of the register of the return address, too, where there
 * is one; or the end of a handler.
 */
static int begin_behind(struct ftr_steps *steps, unw_cursor_t *cursor, const struct ftr_stub *stub)
{
	struct regs regs;
	uint64_t address = 0;
	int reg;

	if (stub->sp != steps->stub_sp)
		address = ftr_stub_returns_to(stub, &steps->looks);
	steps->is_lost = address == 0 || !is_code(steps, address);
	if (steps->is_lost)
		return -1;
	steps->places->steps->ends_at_stubs = true;
	for (reg = 0; reg <= UNW_REG_LAST; reg++)
		regs.is_known[reg] = unw_get_reg(cursor, reg, &regs.v[reg]) == 0;
	regs.v[FTR_ARCH_REG_PC] = address == steps->places->comeback ? address : address - 1;
	regs.v[UNW_TDEP_IP] = regs.v[FTR_ARCH_REG_PC];
	regs.is_known[FTR_ARCH_REG_PC] = true;
	regs.is_known[UNW_TDEP_IP] = true;
	steps->behind = regs;
	steps->stub_sp = stub->sp;
	steps->is_lost =
		unw_init_remote(&steps->cursor, steps->places->steps->behind, steps) < 0;
	return steps->is_lost ? -1 : 1;
}

int ftr_steps_next(struct ftr_steps *steps)
{
	unw_cursor_t before = steps->cursor;
	struct ftr_stub stub;
	int ret = 0;

	if (steps->is_lost)
		return -1;
	if (!steps->places->steps->ends_at_stubs || !is_at_stub(steps, &before, &stub)) {
		ret = unw_step(&steps->cursor);
		if (ret != 0 || !is_at_stub(steps, &before, &stub))
			return ret > 0 ? 1 : ret < 0 ? -1 : 0;
	}
	return begin_behind(steps, &before, &stub);
}
