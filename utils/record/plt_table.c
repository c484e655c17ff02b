/* SPDX-License-Identifier: MIT */
/* Which library calls are hooked, and how. */
#include "utils/record/plt_table.h"

#include <errno.h>
#include <string.h>

#include "utils/object/elf_file.h"
#include "utils/object/plt.h"

/* Functions that are not like others. */
static const struct special {
	const char *name;
	bool is_skipped;
	uint32_t flags;
} specials[] = {
	/* return twice, or remember where they were called from */
	{ "setjmp", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "_setjmp", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "sigsetjmp", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "__sigsetjmp", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "savectx", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "getcontext", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "_Ux86_64_getcontext", false, FTR_PLT_RETURN_UNTOUCHED }, /* libunwind's unw_getcontext */
	{ "swapcontext", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "vfork", false, FTR_PLT_WRAPPED },
	{ "__vfork", false, FTR_PLT_WRAPPED },
	/* choose by their caller's module */
	{ "dlopen", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "dlmopen", false, FTR_PLT_RETURN_UNTOUCHED },
	{ "dlsym", false, FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_LOOK_FIRST },
	{ "dlvsym", false, FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_LOOK_FIRST },
	{ "__cxa_atexit", false, FTR_PLT_AFTER_MONSTARTUP },
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

bool ftr_plt_table_is_wanted(const char *path)
{
	static const char *const unwanted[] = {
		"ld-linux", "ld-2.", "libc.so", "libc-2.", "libpthread", "libgcc_s.", "libmcount",
		"libasan.", "libhwasan.", "liblsan.", "libtsan.", "libubsan.", "libclang_rt.",
	};
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	size_t i;

	for (i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++) {
		if (strncmp(name, unwanted[i], strlen(unwanted[i])) == 0)
			return false;
	}
	return true;
}

void ftr_plt_table_init(struct ftr_plt_table_maker *maker)
{
	*maker = (struct ftr_plt_table_maker){ 0 };
	ftr_strbuf_init(&maker->strings);
	ftr_strbuf_putc(&maker->strings, '\0');		/* offset 0: "" */
}

void ftr_plt_table_fini(struct ftr_plt_table_maker *maker)
{
	ftr_vec_fini(&maker->slots);
	ftr_strbuf_fini(&maker->strings);
}

static uint32_t string_add(struct ftr_plt_table_maker *maker, const char *s)
{
	uint32_t offset = (uint32_t)maker->strings.len;

	if (s[0] == '\0')
		return 0;
	ftr_strbuf_put(&maker->strings, s, strlen(s) + 1);
	return offset;
}

/*
 * An entry whose value is read as well stays as it is: a function's address must not depend on
 * whether it is traced.
 */
static int slot_add(struct ftr_plt_table_maker *maker, const struct ftr_plt_entry *entry)
{
	const struct special *special = special_find(entry->name);
	struct ftr_plt_slot slot = {
		.got = entry->got, .plt = entry->plt, .unbound = entry->unbound,
		.flags = special != NULL ? special->flags : 0,
	};

	if (entry->is_shared || (special != NULL && special->is_skipped))
		return 0;
	slot.name = string_add(maker, entry->name);
	slot.version = string_add(maker, entry->version);
	return ftr_vec_push(&maker->slots, slot);
}

int ftr_plt_table_add(struct ftr_plt_table_maker *maker, const char *path)
{
	struct ftr_elf_file file;
	struct ftr_plt plt = { 0 };
	int ret = 0;
	size_t i;

	if (ftr_elf_file_open(&file, path, NULL) == 0)
		ret = ftr_plt_load(&plt, &file);
	for (i = 0; ret == 0 && i < plt.entries.nr; i++)
		ret = slot_add(maker, &plt.entries.v[i]);
	ftr_plt_fini(&plt);
	ftr_elf_file_close(&file);
	return maker->strings.failed ? -ENOMEM : ret;
}

void ftr_plt_table_put(const struct ftr_plt_table_maker *maker, struct ftr_strbuf *body)
{
	size_t slots_bytes = maker->slots.nr * sizeof(maker->slots.v[0]);
	struct ftr_plt_table table = {
		.slot_nr = (uint32_t)maker->slots.nr,
		.strings_offset = (uint32_t)(sizeof(table) + slots_bytes),
	};

	if (maker->slots.nr == 0)
		return;
	ftr_strbuf_put(body, &table, sizeof(table));
	ftr_strbuf_put(body, maker->slots.v, slots_bytes);
	ftr_strbuf_put(body, maker->strings.s, maker->strings.len);
}
