/* SPDX-License-Identifier: MIT */
/* The list of makers of sections, and the memfd that holds what they made. */
#include "utils/record/sections.h"
#include "utils/format/uftrace/write.h"
#include "utils/object/elf.h"
#include "utils/object/symtab.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FTR_SECTION_MAKER(name) extern const struct ftr_section_maker ftr_section_maker_##name;
#include "utils/record/sections.def"
#undef FTR_SECTION_MAKER

static const struct ftr_section_maker *const makers[] = {
#define FTR_SECTION_MAKER(name) &ftr_section_maker_##name,
#include "utils/record/sections.def"
#undef FTR_SECTION_MAKER
};

#define MAKERS (sizeof(makers) / sizeof(makers[0]))
static_assert(MAKERS <= FTR_SECTIONS_MAX, "they fit into one memfd");

const struct ftr_section_maker *ftr_section_maker_next(size_t *pos)
{
	return *pos < MAKERS ? makers[(*pos)++] : NULL;
}

bool ftr_section_options(size_t *pos, struct ftr_option_set *set)
{
	const struct ftr_section_maker *maker = ftr_section_maker_next(pos);

	if (maker == NULL)
		return false;
	*set = (struct ftr_option_set){ maker->name, maker->options, maker->values_bytes,
					maker->defaults };
	return true;
}

const void *ftr_section_values(const struct ftr_option_values *given,
			       const struct ftr_section_maker *maker)
{
	return ftr_option_values_get(given, ftr_section_options, maker->name);
}

uint32_t ftr_section_switch(const struct ftr_section_module *module, const char *probe)
{
	size_t i;

	for (i = 0; i < module->switch_nr; i++) {
		if (strncmp(module->switches[i].name, probe, FTR_SWITCH_NAME_BYTES) == 0)
			return module->switches[i].value;
	}
	return FTR_SWITCH_OFF;
}

bool ftr_section_is_base_library(const char *path)
{
	static const char *const names[] = {
		"ld-linux", "ld-2.", "libc.so", "libc-2.", "libpthread", "libgcc_s.", "libmcount",
		"libasan.", "libhwasan.", "liblsan.", "libtsan.", "libubsan.", "libclang_rt.",
	};
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

bool ftr_section_sees_calls(const struct ftr_section_module *module)
{
	return module->elf->hooks != 0 ||
	       (ftr_section_switch(module, "plt") & FTR_SWITCH_LIBRARIES) != 0;
}

int ftr_sections_choose(struct ftr_record_choice *choice, struct ftr_rules *rules,
			const struct ftr_option_values *given, struct ftr_err *err)
{
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < MAKERS; i++) {
		if (makers[i]->choose != NULL)
			ret = makers[i]->choose(choice, rules,
						ftr_section_values(given, makers[i]), err);
	}
	return ret;
}

int ftr_sections_check(const struct ftr_record_choice *choice, struct ftr_err *err)
{
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < MAKERS; i++) {
		if (makers[i]->check != NULL)
			ret = makers[i]->check(choice, err);
	}
	return ret;
}

int ftr_sections_info(struct ftr_info *info, const struct ftr_record_choice *choice,
		      struct ftr_arena *arena)
{
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < MAKERS; i++) {
		if (makers[i]->info != NULL)
			ret = makers[i]->info(info, choice, arena);
	}
	return ret;
}

void ftr_sections_store(const struct ftr_section_module *module, const struct ftr_symtab *tab,
			bool is_again, struct ftr_uftrace_dir *dir)
{
	struct ftr_strbuf text;
	size_t i;

	ftr_strbuf_init(&text);
	for (i = 0; i < MAKERS; i++) {
		if (makers[i]->debug != NULL)
			makers[i]->debug(module, tab, &text);
	}
	if (text.len > 0 && !text.failed)
		ftr_uftrace_dir_debug(dir, tab->path, tab->build_id, is_again, &text);
	ftr_strbuf_fini(&text);
}

bool ftr_sections_take_any(const struct ftr_option_values *given)
{
	size_t i;

	for (i = 0; i < MAKERS; i++) {
		if (makers[i]->takes_any != NULL &&
		    makers[i]->takes_any(ftr_section_values(given, makers[i])))
			return true;
	}
	return false;
}

bool ftr_sections_name_all(const struct ftr_option_values *given)
{
	size_t i;

	for (i = 0; i < MAKERS; i++) {
		if (makers[i]->names_all != NULL &&
		    makers[i]->names_all(ftr_section_values(given, makers[i])))
			return true;
	}
	return false;
}

static bool is_wanted(const struct ftr_section_maker *maker,
		      const struct ftr_section_module *module,
		      const struct ftr_option_values *given)
{
	return maker->is_wanted != NULL &&
	       maker->is_wanted(module, ftr_section_values(given, maker));
}

uint32_t ftr_sections_library_hooks(const struct ftr_section_module *module,
				    const struct ftr_option_values *given)
{
	uint32_t hooks = 0;
	size_t i;

	for (i = 0; i < MAKERS; i++) {
		if (makers[i]->library_hooks != NULL)
			hooks |= makers[i]->library_hooks(module,
							  ftr_section_values(given, makers[i]));
	}
	return hooks;
}

bool ftr_sections_record(const struct ftr_section_module *module,
			 const struct ftr_option_values *given)
{
	size_t i;

	for (i = 0; i < MAKERS; i++) {
		if (makers[i]->has_records && is_wanted(makers[i], module, given))
			return true;
	}
	return false;
}

bool ftr_sections_are_wanted(const struct ftr_section_module *module,
			     const struct ftr_option_values *given)
{
	size_t i;

	for (i = 0; i < MAKERS; i++) {
		if (is_wanted(makers[i], module, given))
			return true;
	}
	return false;
}

bool ftr_sections_are_slow(const struct ftr_section_module *module,
			   const struct ftr_option_values *given)
{
	size_t i;

	for (i = 0; i < MAKERS; i++) {
		if (makers[i]->is_slow && is_wanted(makers[i], module, given))
			return true;
	}
	return false;
}

static size_t aligned(size_t bytes)
{
	return (bytes + FTR_SECTIONS_ALIGN - 1) & ~(size_t)(FTR_SECTIONS_ALIGN - 1);
}

/* A write to memory is whole or fails; what lies between the parts stays zero. */
static bool write_at(int fd, const void *bytes, size_t len, size_t offset)
{
	return len == 0 || pwrite(fd, bytes, len, (off_t)offset) == (ssize_t)len;
}

static bool parts_write(int fd, const struct ftr_sections_part *parts, unsigned nr,
			uint32_t generation)
{
	struct ftr_sections head = { .magic = FTR_SECTIONS_MAGIC, .generation = generation };
	struct ftr_section table[FTR_SECTIONS_MAX];
	size_t end = sizeof(head) + nr * sizeof(table[0]);
	unsigned i;

	for (i = 0; i < nr; i++) {
		if (parts[i].len == 0)
			continue;
		assert(parts[i].bytes != NULL);
		table[head.section_nr++] = (struct ftr_section){
			.kind = parts[i].kind,
			.offset = (uint32_t)end,
			.bytes = (uint32_t)parts[i].len,
		};
		if (!write_at(fd, parts[i].bytes, parts[i].len, end))
			return false;
		end = aligned(end + parts[i].len);
	}
	head.total_bytes = (uint32_t)end;
	return end <= UINT32_MAX && ftruncate(fd, (off_t)end) == 0 &&
	       write_at(fd, &head, sizeof(head), 0) &&
	       write_at(fd, table, head.section_nr * sizeof(table[0]), sizeof(head));
}

int ftr_sections_memfd(const struct ftr_sections_part *parts, unsigned nr, uint32_t generation)
{
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
	int fd = memfd_create("ftr-sections", MFD_CLOEXEC | MFD_ALLOW_SEALING), code;

	assert(nr <= FTR_SECTIONS_MAX);
	if (fd < 0)
		return -errno;
	errno = EFBIG;
	if (parts_write(fd, parts, nr, generation) && fcntl(fd, F_ADD_SEALS, seals) == 0)
		return fd;
	code = errno;
	close(fd);
	return -code;
}

static int body_make(const struct ftr_section_maker *maker,
		     const struct ftr_section_module *module,
		     const struct ftr_option_values *given, struct ftr_strbuf *body)
{
	int ret = 0;

	if (maker->make != NULL &&
	    (maker->is_wanted == NULL || is_wanted(maker, module, given)))
		ret = maker->make(module, ftr_section_values(given, maker), body);
	return body->failed ? -ENOMEM : ret;
}

int ftr_sections_make(const struct ftr_section_module *module,
		      const struct ftr_option_values *given, uint32_t generation)
{
	struct ftr_sections_part parts[MAKERS];
	struct ftr_strbuf bodies[MAKERS];
	int ret = 0;
	size_t i;

	for (i = 0; i < MAKERS; i++)
		ftr_strbuf_init(&bodies[i]);
	for (i = 0; ret == 0 && i < MAKERS; i++) {
		ret = body_make(makers[i], module, given, &bodies[i]);
		parts[i] = (struct ftr_sections_part){ makers[i]->kind, bodies[i].s,
						       bodies[i].len };
	}
	if (ret == 0)
		ret = ftr_sections_memfd(parts, MAKERS, generation);
	for (i = 0; i < MAKERS; i++)
		ftr_strbuf_fini(&bodies[i]);
	return ret;
}
