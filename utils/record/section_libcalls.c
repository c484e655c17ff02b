/* SPDX-License-Identifier: MIT */
/* Library calls: which are hooked, and how (utils/proto/plt.h), read from the ELF file. */
#include <errno.h>
#include <string.h>

#include "utils/base/vec.h"
#include "utils/format/uftrace/write.h"
#include "utils/object/elf.h"
#include "utils/object/elf_file.h"
#include "utils/object/plt.h"
#include "utils/proto/plt.h"
#include "utils/record/choice.h"
#include "utils/record/libcalls.h"
#include "utils/record/patch_choice.h"
#include "utils/record/sections.h"

struct libcalls_values {
	bool no_libcall;
	bool nest_libcall;
	bool force;
};

#define ROW(name_, letter_, help_, member_) \
	FTR_OPTION(name_, letter_, NULL, help_, ftr_opt_flag, struct libcalls_values, member_)

static const struct ftr_option libcalls_options[] = {
	ROW("force", 0, "Record the library calls of a program that is not instrumented", force),
	ROW("nest-libcall", 'l',
	    "Also record the library calls that libraries make (implies --force)", nest_libcall),
	ROW("no-libcall", 0, "Do not record calls of library functions", no_libcall),
	{ 0 }
};

/* Functions that are not like others. */
static const struct special {
	const char *name;
	bool is_skipped;
	uint32_t flags;
} specials[] = {
	/* return twice, or remember where they were called from */
	{ "setjmp", false, FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_SETJMP },
	{ "_setjmp", false, FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_SETJMP },
	{ "sigsetjmp", false, FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_SETJMP },
	{ "__sigsetjmp", false, FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_SETJMP },
	/* end calls without their exits; uftrace knows no _longjmp */
	{ "longjmp", false, FTR_PLT_LONGJMP },
	{ "siglongjmp", false, FTR_PLT_LONGJMP },
	{ "__longjmp_chk", false, FTR_PLT_LONGJMP },
	{ "savectx", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "getcontext", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "_Ux86_64_getcontext", false, FTR_PLT_RETURN_UNTOUCHED }, /* libunwind's unw_getcontext */
	/* go on on another stack, or prepare it; those of Boost.Context, too */
	{ "swapcontext", false, FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_SWITCH },
	{ "setcontext", false, FTR_PLT_SWITCH },
	{ "make_fcontext", false, FTR_PLT_SWITCH },
	{ "jump_fcontext", false, FTR_PLT_SWITCH },
	{ "ontop_fcontext", false, FTR_PLT_SWITCH },
	{ "vfork", false, FTR_PLT_WRAPPED },
	{ "__vfork", false, FTR_PLT_WRAPPED },
	/* choose by their caller's module */
	{ "dlopen", false, FTR_PLT_WRAPPED },
	{ "dlmopen", false, FTR_PLT_WRAPPED },
	{ "dlsym", false, FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_LOOK_FIRST },
	{ "dlvsym", false, FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_LOOK_FIRST },
	{ "__cxa_atexit", false, FTR_PLT_AFTER_MONSTARTUP },
	{ "__cxa_begin_catch", false, FTR_PLT_LANDED },
	{ "_Unwind_Resume", false, FTR_PLT_LANDED },
	/* not calls of the program, or not by the rules of calls */
	{ "mcount", true, 0 },
	{ "_mcount", true, 0 },
	{ "__fentry__", true, 0 },
	{ "__cyg_profile_func_enter", true, 0 },
	{ "__cyg_profile_func_exit", true, 0 },
	{ "__gmon_start__", true, 0 },
	{ "__monstartup", true, 0 },
	{ "_mcleanup", true, 0 },
	{ "__libc_start_main", true, 0 },
	{ "__cxa_finalize", true, 0 },
	{ "__tls_get_addr", true, 0 },
	{ "_ITM_deregisterTMCloneTable", true, 0 },
	{ "_ITM_registerTMCloneTable", true, 0 },
};

static const struct special *special_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		if (strcmp(specials[i].name, name) == 0)
			return &specials[i];
	}
	return NULL;
}

struct table {
	FTR_VEC(struct ftr_plt_slot) slots;
	struct ftr_strbuf strings;
};

static uint32_t string_add(struct table *table, const char *s)
{
	uint32_t offset = (uint32_t)table->strings.len;

	if (s[0] == '\0')
		return 0;
	ftr_strbuf_put(&table->strings, s, strlen(s) + 1);
	return offset;
}

/*
 * An entry whose value is read as well stays as it is: a function's address must not depend on
 * whether it is traced.
 */
static int slot_add(struct table *table, const struct ftr_plt_entry *entry, uint32_t allowed)
{
	const struct special *special = special_find(entry->name);
	struct ftr_plt_slot slot = {
		.got = entry->got, .plt = entry->plt, .unbound = entry->unbound,
		.flags = special != NULL ? special->flags & allowed : 0,
	};

	if (entry->is_shared || (special != NULL && special->is_skipped))
		return 0;
	slot.name = string_add(table, entry->name);
	slot.version = string_add(table, entry->version);
	return ftr_vec_push(&table->slots, slot);
}

static void table_put(const struct table *table, struct ftr_strbuf *body)
{
	size_t slots_bytes = table->slots.nr * sizeof(table->slots.v[0]);
	struct ftr_plt_table head = {
		.slot_nr = (uint32_t)table->slots.nr,
		.strings_offset = (uint32_t)(sizeof(head) + slots_bytes),
	};

	if (table->slots.nr == 0)
		return;
	ftr_strbuf_put(body, &head, sizeof(head));
	ftr_strbuf_put(body, table->slots.v, slots_bytes);
	ftr_strbuf_put(body, table->strings.s, table->strings.len);
}

/* Where calls push no arguments, whatever an exception has left is lower than what lands. */
static uint32_t flags_of(const struct ftr_elf_file *file)
{
	return file->ehdr.e_machine == EM_386 ? UINT32_MAX : ~(uint32_t)FTR_PLT_LANDED;
}

/* A file that cannot be read has no calls. */
static int libcalls_make(const struct ftr_section_module *module, const void *values,
			 struct ftr_strbuf *body)
{
	struct table table = { 0 };
	struct ftr_elf_file file;
	struct ftr_plt plt = { 0 };
	int ret = 0;
	size_t i;

	ftr_strbuf_init(&table.strings);
	ftr_strbuf_putc(&table.strings, '\0');		/* offset 0: "" */
	if (ftr_elf_file_open(&file, module->path, NULL) == 0)
		ret = ftr_plt_load(&plt, &file);
	for (i = 0; ret == 0 && i < plt.entries.nr; i++)
		ret = slot_add(&table, &plt.entries.v[i], flags_of(&file));
	ftr_plt_fini(&plt);
	ftr_elf_file_close(&file);
	if (table.strings.failed)
		ret = -ENOMEM;
	if (ret == 0)
		table_put(&table, body);
	ftr_vec_fini(&table.slots);
	ftr_strbuf_fini(&table.strings);
	return ret;
}

/* No options, no values: what is recorded unasked. */
static struct libcalls_values values_of(const void *values)
{
	return values != NULL ? *(const struct libcalls_values *)values :
				(struct libcalls_values){ 0 };
}

static bool libcalls_take_any(const void *values)
{
	return values_of(values).force || values_of(values).nest_libcall;
}

static uint32_t libcalls_flags(const struct ftr_recording *recording, const void *values)
{
	if (values_of(values).no_libcall)
		return FTR_SWITCH_OFF;
	return values_of(values).nest_libcall ? FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES :
						FTR_SWITCH_ON;
}

static bool libcalls_are_wanted(const struct ftr_section_module *module, const void *values)
{
	if (values_of(values).no_libcall)
		return false;
	if (module->is_image)
		return module->elf->hooks != 0 || libcalls_take_any(values) ||
		       ftr_patch_is_asked(ftr_patch_values_get(module));
	return values_of(values).nest_libcall && !ftr_section_is_base_library(module->path);
}

static int libcalls_choose(struct ftr_record_choice *choice, struct ftr_rules *rules,
			   const void *values, struct ftr_err *err)
{
	choice->no_libcalls = values_of(values).no_libcall;
	return 0;
}

extern const struct ftr_section_maker ftr_section_maker_libcalls;

void ftr_libcalls_imply(struct ftr_option_values *given)
{
	struct libcalls_values *values;

	/* within *given, which is the caller's to change */
	values = (struct libcalls_values *)ftr_section_values(given, &ftr_section_maker_libcalls);
	values->force = true;
}

const struct ftr_section_maker ftr_section_maker_libcalls = {
	.name	      = "libcalls",
	.kind	      = FTR_SECTION_LIBCALLS,
	.probe	      = "plt",
	.options      = libcalls_options,
	.values_bytes = sizeof(struct libcalls_values),
	.choose	      = libcalls_choose,
	.takes_any    = libcalls_take_any,
	.flags	      = libcalls_flags,
	.is_wanted    = libcalls_are_wanted,
	.has_records  = true,
	.feature      = FTR_FEATURE_PLTHOOK,
	.make	      = libcalls_make,
};
