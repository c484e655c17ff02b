/* SPDX-License-Identifier: MIT */
/* See plain_patch.h. */
#include "libmcount/plain_patch.h"

#include <string.h>

#include "arch/plain.h"
#include "libmcount/code_write.h"
#include "libmcount/hook.h"
#include "libmcount/plain_code.h"
#include "libmcount/sections.h"
#include "libmcount/state.h"
#include "utils/proto/patch.h"

/* The parts of the body lie inside it? */
static bool plain_read(struct ftr_plain *plain, const struct ftr_plain_table *table,
		       uint64_t bytes)
{
	uint64_t writes, fixes;

	if (table == NULL || bytes < sizeof(*table))
		return false;
	writes = (uint64_t)table->write_nr * sizeof(plain->writes[0]);
	fixes = (uint64_t)table->fix_nr * sizeof(plain->fixes[0]);
	if (table->write_nr == 0 || table->jump_nr > table->write_nr ||
	    table->code_bytes == 0 || table->code_bytes > FTR_PLAIN_CODE_MAX ||
	    sizeof(*table) + writes + fixes + table->code_bytes > bytes)
		return false;
	plain->table = table;
	plain->writes = (const struct ftr_plain_write *)(table + 1);
	plain->fixes = (const uint32_t *)(plain->writes + table->write_nr);
	plain->bytes = (const uint8_t *)(plain->fixes + table->fix_nr);
	return true;
}

static bool plain_find(struct ftr_plain *plain, const struct ftr_loaded *module,
		       const struct ftr_sections *sections)
{
	uint32_t bytes = 0, n;
	const void *body = ftr_sections_find(sections, plain->kind, &bytes);

	if (!plain_read(plain, body, bytes))
		return false;
	plain->base = module->base + plain->table->base;
	plain->slot = module->slot;
	for (n = 0; n < plain->table->write_nr; n++) {	/* else it is another file */
		uintptr_t addr = plain->base + plain->writes[n].offset;

		if (addr < module->text || addr + plain->writes[n].bytes > module->text_end)
			return false;
	}
	return true;
}

/* Work on the writes of one kind. */
struct writes {
	const struct ftr_plain *plain;
	const struct ftr_plain_write *first;
	uint32_t planned, planned_end;	/* of steps, when attached: the jumps in the plan */
};

static uintptr_t write_find(const void *arg, uint32_t n, uint32_t *bytes)
{
	const struct writes *writes = arg;

	*bytes = writes->first[n].bytes;
	return writes->plain->base + writes->first[n].offset;
}

/* Put @patch there, unless it is there or the recorder saw something else. */
static bool put(const struct ftr_plain_write *write, uint8_t *code, const uint8_t *patch)
{
	if (memcmp(code, write->original, write->bytes) == 0)
		memcpy(code, patch, write->bytes);
	return memcmp(code, patch, write->bytes) == 0;
}

static unsigned kind_of(const struct ftr_plain_write *write)
{
	return write->kind & FTR_PLAIN_KIND_MASK;
}

static bool jump_edit(const void *arg, uint32_t n, uint8_t *code)
{
	const struct writes *writes = arg;
	const struct ftr_plain_write *write = &writes->first[n];
	uint8_t patch[FTR_ARCH_PLAIN_JUMP_BYTES];

	if (kind_of(write) != FTR_PLAIN_JUMP || write->bytes != sizeof(patch) ||
	    write->target >= writes->plain->table->code_bytes)
		return false;
	ftr_arch_plain_jump(patch, writes->plain->base + write->offset,
			    writes->plain->code + write->target);
	return put(write, code, patch);
}

static uintptr_t step_target(const struct writes *writes, const struct ftr_plain_write *write)
{
	return writes->plain->base + write->offset + write->bytes +
	       (uintptr_t)(intptr_t)write->step;
}

/* Which of the planned jumps a step leads to. */
static uint32_t step_needs(const void *arg, uint32_t n)
{
	const struct writes *writes = arg;

	return ftr_code_plan_find(&ftr_state.code_plan, writes->planned, writes->planned_end,
				  step_target(writes, &writes->first[n]));
}

/* The jump there, as it is going to be, or as it is: of a module that is shown again, say. */
static const uint8_t *jump_at(const struct writes *writes, uint32_t n, uintptr_t at)
{
	uint32_t planned = step_needs(writes, n);

	return planned != FTR_CODE_NONE ? ftr_state.code_plan.v[planned].new :
					  (const uint8_t *)at;
}

/* Only to a jump that was written. */
static bool step_edit(const void *arg, uint32_t n, uint8_t *code)
{
	const struct writes *writes = arg;
	const struct ftr_plain *plain = writes->plain;
	const struct ftr_plain_write *write = &writes->first[n];
	uintptr_t at = step_target(writes, write);
	const uint8_t *jump = jump_at(writes, n, at);
	uint8_t patch[FTR_PLAIN_STEP_BYTES];

	if (kind_of(write) != FTR_PLAIN_STEP || write->bytes != sizeof(patch) ||
	    ftr_arch_plain_target(jump, at) - plain->code >= plain->table->code_bytes ||
	    !ftr_arch_plain_step(patch, write->step))
		return false;
	return put(write, code, patch);
}

static bool write_waits(const void *arg, uint32_t n)
{
	return (((const struct writes *)arg)->first[n].kind & FTR_PLAIN_LATER) != 0;
}

static void writes_make(struct ftr_code_writer *writer, const struct ftr_plain *plain)
{
	bool may_change = (plain->table->flags & FTR_PATCH_MAY_CHANGE) != 0;
	bool has_functions = plain->kind == FTR_SECTION_PLAIN;
	struct writes jumps = { .plain = plain, .first = plain->writes };
	struct writes steps = {
		.plain = plain,
		.first = plain->writes + plain->table->jump_nr,
		.planned = ftr_state.code_plan.nr,
	};

	ftr_code_write(writer, &(struct ftr_code_places){
		.nr = plain->table->jump_nr,
		.table = &jumps,
		.find = write_find,
		.edit = jump_edit,
		.waits = has_functions ? write_waits : NULL,
		.may_change = may_change,
	});
	steps.planned_end = ftr_state.code_plan.nr;
	ftr_code_write(writer, &(struct ftr_code_places){
		.nr = plain->table->write_nr - plain->table->jump_nr,
		.table = &steps,
		.find = write_find,
		.edit = step_edit,
		.needs = step_needs,
		.waits = has_functions ? write_waits : NULL,
		.may_change = may_change,
	});
}

/* Returns why the module is left as it is; NULL = it is patched. */
static const char *module_patch(const struct ftr_loaded *module, struct ftr_plain *plain,
				struct ftr_code_writer *writer)
{
	const char *refusal = ftr_code_refusal(module, plain->table->flags);

	writer->is_unused = ftr_code_is_unused(module, plain->table->flags);
	if (refusal == NULL)
		refusal = ftr_code_writer_open(writer);
	if (refusal == NULL)
		refusal = ftr_plain_code_map(plain);
	if (refusal == NULL)
		writes_make(writer, plain);
	ftr_code_writer_close(writer);
	return refusal;
}

bool ftr_plain_patch(const struct ftr_loaded *module, const struct ftr_sections *sections,
		     enum ftr_section_kind kind, const char *what)
{
	struct ftr_code_writer writer = { .fd = -1 };
	struct ftr_plain plain = { .kind = kind };
	const char *refusal;

	if (!plain_find(&plain, module, sections))
		return false;
	refusal = module_patch(module, &plain, &writer);
	if (refusal != NULL)
		ftr_code_report(module, plain.table->jump_nr, what, refusal);
	ftr_code_report_left(module, what, &writer);
	return writer.has_written || (refusal == NULL && ftr_state.attached != 0);
}
