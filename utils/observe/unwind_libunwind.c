/* SPDX-License-Identifier: MIT */
/*
 * See unwind.h.  libunwind asks for words of memory one by one.  Those of the stack come out of a
 * copy, those of unwind information out of what is kept of modules, so that a step needs no system
 * call; what libunwind concluded of an address it keeps itself, for the space.
 */
#include "utils/observe/unwind.h"

#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#include "arch/task_regs.h"
#include "utils/observe/space.h"

#define STACK_PART 4096u	/* most stacks of few calls need no more */
#define STACK_MAX FTR_KIB(256)
#define MADE_AT FTR_BIT64(63)	/* for libunwind; no process has anything there */

/* As libunwind exports it for those who bring their own find_proc_info. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
				       unw_proc_info_t *pi, int need_unwind_info, void *arg);

/* A stack while it is unwound. */
struct unwinding {
	struct ftr_space *space;
	const struct ftr_tracee *tracee;	/* NULL: the copy is all that there is */
	struct user_regs_struct regs;
	uint64_t start;			/* of the copy: the stack pointer */
	size_t len;
	const uint8_t *copy;
	uint8_t *room;			/* (owned by the unwinder) of the copy: STACK_MAX bytes */
	const struct ftr_stack_copy *from;	/* (nullable) that is unwound, not a task */
	struct ftr_unwind_reads *reads;	/* (nullable) */
	const struct ftr_space_entry *made;	/* that is searched, at MADE_AT */
	size_t made_bytes;
};

struct unwinder {
	unw_addr_space_t as;
	uint8_t *copy;
};

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi,
			  int need_unwind_info, void *arg)
{
	struct unwinding *self = arg;
	const struct ftr_space_range *range = ftr_space_find(self->space, ip);
	const struct ftr_space_table *table;
	unw_dyn_info_t info = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };

	if (range == NULL || !range->is_code)
		return -UNW_ENOINFO;
	table = ftr_space_table(range, self->tracee);
	if (table->nr == 0)
		return -UNW_ENOINFO;
	info.start_ip = range->start;
	info.end_ip = range->end;
	self->made = table->made;
	self->made_bytes = table->made != NULL ? table->nr * sizeof(*table->made) : 0;
	info.u.rti.segbase = range->base + table->from;
	info.u.rti.table_data = table->made != NULL ? MADE_AT : range->base + table->entries;
	info.u.rti.table_len = table->nr * sizeof(struct ftr_space_entry) / sizeof(unw_word_t);
	return UNW_OBJ(dwarf_search_unwind_table)(as, ip, &info, pi, need_unwind_info, arg);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
}

static int get_dyn_info_list_addr(unw_addr_space_t as, unw_word_t *addr, void *arg)
{
	return -UNW_ENOINFO;
}

/* So much more of the stack, up to the word at @offset. */
static bool stack_copy(struct unwinding *self, uint64_t offset)
{
	while (self->tracee != NULL && self->len < offset + sizeof(uint64_t) &&
	       self->len < STACK_MAX) {
		size_t part = self->len == 0 ? STACK_PART - self->start % STACK_PART : self->len;
		ssize_t got;

		part = part < STACK_MAX - self->len ? part : STACK_MAX - self->len;
		got = ftr_tracee_read(self->tracee, self->start + self->len, self->room + self->len,
				      part);
		if (got <= 0)
			break;
		self->len += (size_t)got;
	}
	return self->len >= offset + sizeof(uint64_t);
}

static void read_note(struct unwinding *self, uint64_t place, bool is_there, uint64_t value)
{
	struct ftr_unwind_read read = { (uint32_t)place, is_there, value };

	if (self->reads != NULL && ftr_vec_push(&self->reads->all, read) < 0)
		self->reads->has_failed = true;
}

/* What lies in no copy: no other copy of the same place may have more there. */
static int outer_read(struct unwinding *self, uint64_t addr, uint64_t *word)
{
	const struct ftr_stack_copy *from = self->from;
	uint64_t offset = addr - self->start, outer = addr - from->outer;
	bool is_there = from->outer_bytes != NULL && from->outer_len >= sizeof(*word) &&
			outer <= from->outer_len - sizeof(*word);

	if (is_there)
		memcpy(word, from->outer_bytes + outer, sizeof(*word));
	else if (offset >= FTR_UNWIND_OUTER && self->reads != NULL)
		self->reads->has_failed = true;
	read_note(self, is_there ? FTR_UNWIND_OUTER + outer : offset, is_there,
		  is_there ? *word : 0);
	return is_there ? 0 : -UNW_EINVAL;
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *word, int is_write,
		      void *arg)
{
	struct unwinding *self = arg;
	const struct ftr_space_range *range;
	uint64_t offset = addr - self->start;

	if (is_write)
		return -UNW_EINVAL;
	if (offset < STACK_MAX && stack_copy(self, offset)) {
		memcpy(word, self->copy + offset, sizeof(*word));
		read_note(self, offset, true, *word);
		return 0;
	}
	if (addr - MADE_AT < self->made_bytes) {
		memcpy(word, (const char *)self->made + (addr - MADE_AT), sizeof(*word));
		return 0;
	}
	range = ftr_space_find(self->space, addr);
	if (range != NULL && range->is_constant)
		return ftr_space_read(range, self->tracee, addr, word) ? 0 : -UNW_EINVAL;
	if (self->from != NULL)
		return outer_read(self, addr, word);
	return ftr_tracee_read(self->tracee, addr, word, sizeof(*word)) == sizeof(*word) ?
		       0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int is_write,
		      void *arg)
{
	struct unwinding *self = arg;
	const unsigned long long *place = ftr_arch_task_reg(&self->regs, reg);

	if (is_write || place == NULL)
		return -UNW_EBADREG;
	*value = *place;
	read_note(self, FTR_UNWIND_REG + (uint32_t)reg, true, *value);
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

static struct unwinder *unwinder_get(struct ftr_space *space)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr, .access_mem = access_mem,
		.access_reg = access_reg, .access_fpreg = access_fpreg, .resume = resume,
		.get_proc_name = get_proc_name,
	};
	struct unwinder *unwinder = space->unwinder;

	if (unwinder != NULL)
		return unwinder;
	unwinder = calloc(1, sizeof(*unwinder));
	if (unwinder == NULL)
		return NULL;
	unwinder->copy = malloc(STACK_MAX);
	unwinder->as = unw_create_addr_space(&accessors, 0);
	if (unwinder->copy == NULL || unwinder->as == NULL) {
		ftr_unwinder_free(unwinder);
		return NULL;
	}
	unw_set_caching_policy(unwinder->as, UNW_CACHE_GLOBAL);
	space->unwinder = unwinder;
	return unwinder;
}

void ftr_unwinder_free(void *arg)
{
	struct unwinder *unwinder = arg;

	if (unwinder == NULL)
		return;
	if (unwinder->as != NULL)
		unw_destroy_addr_space(unwinder->as);
	free(unwinder->copy);
	free(unwinder);
}

bool ftr_unwind_is_possible(void)
{
	return true;
}

bool ftr_unwind_copy_is_possible(void)
{
	return FTR_ARCH_COPIES_STACKS;
}

static bool is_code(const struct ftr_space *space, uint64_t ip)
{
	const struct ftr_space_range *range = ftr_space_find(space, ip);

	return range != NULL && range->is_code;
}

size_t ftr_unwind(struct ftr_space *space, const struct ftr_tracee *tracee, uint64_t *ips,
		  size_t max, uint64_t *unknown)
{
	struct unwinding self = { .space = space, .tracee = tracee };
	struct unwinder *unwinder = unwinder_get(space);
	unw_cursor_t cursor;
	unw_word_t ip;
	size_t nr = 0;

	*unknown = 0;
	if (unwinder == NULL || !ftr_arch_task_regs(tracee->tid, &self.regs))
		return 0;
	self.copy = self.room = unwinder->copy;
	self.start = ftr_arch_task_sp(&self.regs);
	if (unw_init_remote(&cursor, unwinder->as, &self) < 0)
		return 0;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || ip == 0)
			break;
		if (!is_code(space, ip)) {
			*unknown = ip;
			break;
		}
		ips[nr++] = ip;
	} while (nr < max && unw_step(&cursor) > 0);
	return nr;
}

static bool copy_read(const uint8_t *bytes, size_t len, uint64_t offset, uint64_t *word)
{
	if (bytes == NULL || len < sizeof(*word) || offset > len - sizeof(*word))
		return false;
	memcpy(word, bytes + offset, sizeof(*word));
	return true;
}

bool ftr_unwind_reads_fit(const struct ftr_unwind_read *reads, size_t nr,
			  const struct ftr_stack_copy *copy)
{
	struct unwinding self = { .from = copy };
	size_t i;

	ftr_arch_copied_regs(&self.regs, copy->head);
	for (i = 0; i < nr; i++) {
		uint32_t offset = reads[i].offset;
		uint64_t value = 0;
		bool is_there;

		if (offset >= FTR_UNWIND_REG)
			is_there = access_reg(NULL, (unw_regnum_t)(offset - FTR_UNWIND_REG), &value,
					      false, &self) == 0;
		else if (offset >= FTR_UNWIND_OUTER)
			is_there = copy_read(copy->outer_bytes, copy->outer_len,
					     offset - FTR_UNWIND_OUTER, &value);
		else
			is_there = copy_read(copy->bytes, copy->len, offset, &value);
		if (is_there != reads[i].is_there || value != reads[i].value)
			return false;
	}
	return true;
}

/* What handlers return to, which the kernel knows, too. */
static bool is_trampoline(const struct unwinding *self, uint64_t ip)
{
	const struct ftr_space_range *range = ftr_space_find(self->space, ip);
	uint64_t words[2];

	return range != NULL && range->end - ip >= sizeof(words) &&
	       ftr_space_read(range, self->tracee, ip, &words[0]) &&
	       ftr_space_read(range, self->tracee, ip + sizeof(words[0]), &words[1]) &&
	       memcmp(words, ftr_arch_comeback, sizeof(ftr_arch_comeback)) == 0;
}

/* A handler's caller is what it interrupted: that went on just there, and so does the kernel's. */
static size_t callers_walk(struct unwinding *self, unw_cursor_t *cursor, uint64_t outside,
			   uint64_t *ips, size_t max)
{
	bool is_interrupted = false;
	unw_word_t ip, sp;
	size_t nr = 0;

	do {
		bool is_signal;

		if (unw_get_reg(cursor, UNW_REG_IP, &ip) < 0 || ip == 0 ||
		    unw_get_reg(cursor, UNW_REG_SP, &sp) < 0 || !is_code(self->space, ip))
			break;
		is_signal = is_trampoline(self, ip);
		if (nr > 0 || sp - self->start >= outside - self->start)
			ips[nr++] = is_signal || is_interrupted ? ip : ip - 1;
		is_interrupted = is_signal;
	} while (nr < max && unw_step(cursor) > 0);
	return nr;
}

size_t ftr_unwind_copy(struct ftr_space *space, const struct ftr_stack_copy *copy,
		       struct ftr_unwind_reads *reads, uint64_t *ips, size_t max)
{
	struct unwinding self = {
		.space = space, .start = copy->head->regs[FTR_STACK_SP], .len = copy->len,
		.copy = copy->bytes, .from = copy, .reads = reads,
	};
	struct unwinder *unwinder = unwinder_get(space);
	unw_cursor_t cursor;

	ftr_arch_copied_regs(&self.regs, copy->head);
	if (unwinder == NULL || unw_init_remote(&cursor, unwinder->as, &self) < 0)
		return 0;
	return callers_walk(&self, &cursor, copy->head->outside, ips, max);
}
