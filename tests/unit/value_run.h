/* SPDX-License-Identifier: MIT */
/* A program for values in a table of its own, run on registers and memory that are made up. */
#ifndef FTR_TESTS_UNIT_VALUE_RUN_H
#define FTR_TESTS_UNIT_VALUE_RUN_H

#include "tests/unit/unit.h"

#include <string.h>

#include "arch/transaction.h"
#include "arch/values.h"
#include "libmcount/module.h"
#include "libmcount/sections.h"
#include "libmcount/values.h"
#include "libmcount/values_brief.h"
#include "utils/proto/values.h"
#include "utils/record/sections.h"

#define PAGE 4096
#define FUNC 0x5000u
#define BASE 0x400000u
#define WILD 0x10u

static const struct ftr_sections *published;

const struct ftr_sections *ftr_module_sections(uintptr_t addr, uintptr_t *base)
{
	*base = BASE;
	return published;
}

/* A table with one function, whose program for arguments is ops, after an end. */
struct table {
	struct ftr_values head;
	struct ftr_value_op ops[32];
	struct ftr_values_func func;
	struct ftr_values_range range;
};

struct run {
	struct table table;
	struct ftr_regs regs;
	uint64_t stack[8];	/* the first is the slot */
	uint8_t payload[FTR_PAYLOAD_MAX];
	uint32_t bytes, brief_bytes;
	bool is_brief;		/* values_brief.h made something of it */
	uintptr_t result;	/* where the call leaves its value */
	bool is_racing;		/* another thread changes what it leads to */
};

static inline void publish(const struct table *table, size_t bytes)
{
	struct ftr_sections_part part = { FTR_SECTION_VALUES, table, bytes };
	int fd = ftr_sections_memfd(&part, 1, 0);

	assert_true(fd >= 0);
	published = ftr_sections_map(fd);
	assert_non_null(published);
}

static inline void table_fill(struct table *table, const struct ftr_value_op *ops, unsigned nr)
{
	assert_true(nr + 2 <= sizeof(table->ops) / sizeof(table->ops[0]));
	table->head = (struct ftr_values){ .op_nr = 32, .func_nr = 1, .range_nr = 1 };
	memset(table->ops, 0, sizeof(table->ops));
	memcpy(table->ops + 1, ops, nr * sizeof(*ops));
	table->func = (struct ftr_values_func){ .low = FUNC, .high = FUNC + 16, .entry = 1 };
}

/* What is made of it in another way is the same, or nothing. */
static inline void expect_words(const struct run *run, const uint64_t *words, uint32_t bytes)
{
	if (bytes == 0)
		return;
	assert_int_equal(bytes, run->bytes);
	assert_memory_equal(words, run->payload, bytes);
	assert_int_equal(words[bytes / 8] | words[bytes / 8 + 1], 0);
}

static inline void run_briefly(struct run *run, const struct ftr_values_programs *programs,
			       const struct ftr_call *call)
{
	const struct ftr_values_quick *quick = &programs->quick;
	uint64_t words[FTR_VALUES_BRIEF_WORDS];

	run->is_brief = false;
	if (quick->entry == 0)
		return;
	memset(words, 0xdd, sizeof(words));
	expect_words(run, words, ftr_values_run_quick(quick->entry, quick, &run->regs, words));
	if (ftr_brief_is_integers(quick->entry))
		expect_words(run, words, ftr_brief_integers(quick->entry, &run->regs, words));
	memset(words, 0xdd, sizeof(words));
	run->brief_bytes = ftr_values_run_brief(quick->entry, programs, call, words);
	expect_words(run, words, run->brief_bytes);
	run->is_brief = run->brief_bytes != 0;
}

static inline void run_program(struct run *run)
{
	struct ftr_values_programs programs = ftr_values_find(BASE + FUNC + 4);
	struct ftr_call call = { .regs = &run->regs, .slot = (uintptr_t *)run->stack,
				 .func = BASE + FUNC, .result = run->result };

	assert_non_null(programs.entry);
	memset(run->payload, 0xee, sizeof(run->payload));
	run->bytes = ftr_values_run(programs.entry, &programs, &call, run->payload);
	assert_int_equal(run->bytes % 8, 0);
	if (!run->is_racing)
		run_briefly(run, &programs, &call);
}

static inline void run(struct run *run, const struct ftr_value_op *ops, unsigned nr)
{
	table_fill(&run->table, ops, nr);
	publish(&run->table, sizeof(run->table));
	run_program(run);
}

#define RUN(r, ...) \
	run(r, (struct ftr_value_op[]){ __VA_ARGS__ }, \
	    sizeof((struct ftr_value_op[]){ __VA_ARGS__ }) / sizeof(struct ftr_value_op))
#define OP(what_, where_, nr_, bytes_) \
	{ .what = FTR_VALUE_##what_, .where = FTR_VALUE_##where_, .nr = nr_, .bytes = bytes_ }
#define JOINED_OP(what_, where_, nr_, bytes_) \
	{ .what = FTR_VALUE_##what_, .where = FTR_VALUE_##where_, .nr = nr_, .bytes = bytes_, \
	  .flags = FTR_VALUE_JOINED }

static inline void expect_bytes(const struct run *run, const void *bytes, uint32_t nr)
{
	assert_int_equal(run->bytes, nr);
	assert_memory_equal(run->payload, bytes, nr);
}

static inline void expect_text(const struct run *run, const char *text)
{
	size_t len = strlen(text);

	assert_int_equal(run->payload[0], len);
	assert_int_equal(run->payload[1], 0);
	assert_memory_equal(run->payload + 2, text, len);
	assert_int_equal(run->bytes, (2 + len + 7) / 8 * 8);
	for (size_t i = 2 + len; i < run->bytes; i++)
		assert_int_equal(run->payload[i], 0);
}

static inline int start(void **state)
{
	memset(&ftr_state, 0, sizeof(ftr_state));
	memset(&ftr_self, 0, sizeof(ftr_self));
	return 0;
}

/* With what not every processor has. */
static inline int start_transactions(void **state)
{
	start(state);
	ftr_state.has_transactions = ftr_arch_has_transactions();
	return 0;
}

#endif /* FTR_TESTS_UNIT_VALUE_RUN_H */
