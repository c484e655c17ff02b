/* SPDX-License-Identifier: MIT */
/* The ELF files mapped in traced processes. */
#include "utils/record/modules.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/object/symtab.h"

#define INLINE_BYTES_MAX FTR_KIB(512) /* read in less time than a process takes to start */

/* A library that is built again while the program runs has its path, but not its contents. */
static bool is_file(const struct ftr_module_file *file, const struct stat *st)
{
	return file->device == st->st_dev && file->inode == st->st_ino &&
	       file->size_bytes == (uint64_t)st->st_size &&
	       file->changed.tv_sec == st->st_mtim.tv_sec &&
	       file->changed.tv_nsec == st->st_mtim.tv_nsec;
}

/* The newest of that path; one that is gone stays what it was. */
static struct ftr_module_file *file_find(const struct ftr_modules *modules, const char *path)
{
	struct ftr_module_file *file = NULL;
	struct stat st;
	size_t i;

	for (i = modules->files.nr; i-- > 0 && file == NULL;) {
		if (strcmp(modules->files.v[i]->path, path) == 0)
			file = modules->files.v[i];
	}
	if (file == NULL || file->turn == modules->turn)
		return file;
	if (stat(path, &st) == 0 && !is_file(file, &st))
		return NULL;
	file->turn = modules->turn;
	return file;
}

void ftr_modules_look_again(struct ftr_modules *modules)
{
	modules->turn++;
}

static void file_free(struct ftr_module_file *file)
{
	size_t i;

	for (i = 0; i < FTR_MODULE_ROLES; i++) {
		if (file->sections[i].fd >= 0)
			close(file->sections[i].fd);
	}
	free(file->path);
	free(file);
}

static struct ftr_module_file *file_add(struct ftr_modules *modules, const char *path)
{
	struct ftr_module_file *file = calloc(1, sizeof(*file));
	struct stat st;
	size_t i;

	if (file == NULL)
		return NULL;
	for (i = 0; i < FTR_MODULE_ROLES; i++)
		file->sections[i].fd = -1;
	file->turn = modules->turn;
	file->path = strdup(path);
	if (file->path == NULL || ftr_vec_push(&modules->files, file) < 0) {
		file_free(file);
		return NULL;
	}
	if (stat(path, &st) == 0) {
		file->size_bytes = (uint64_t)st.st_size;
		file->device = st.st_dev;
		file->inode = st.st_ino;
		file->changed = st.st_mtim;
	}
	file->is_readable = ftr_elf_info_load(&file->elf, path, NULL) == 0;
	file->is_wanted = file->is_readable && file->elf.hooks != 0;
	return file;
}

static struct ftr_module_file *file_get(struct ftr_modules *modules, const char *path)
{
	struct ftr_module_file *file = file_find(modules, path);

	return file != NULL ? file : file_add(modules, path);
}

/* Sections that were made say what is true no more, of images that run or those to come. */
void ftr_modules_renew(struct ftr_modules *modules)
{
	size_t i, role;

	if (modules->is_in_use) {
		modules->generation++;
		return;
	}
	for (i = 0; i < modules->files.nr; i++) {
		for (role = 0; role < FTR_MODULE_ROLES; role++)
			modules->files.v[i]->sections[role].are_made = false;
	}
}

int ftr_modules_switch(struct ftr_modules *modules, const char *probe, uint32_t value)
{
	struct ftr_switch new = { .value = value };
	size_t len = strlen(probe), i;

	assert(len <= sizeof(new.name));
	memcpy(new.name, probe, len);
	for (i = 0; i < modules->switches.nr; i++) {
		if (memcmp(modules->switches.v[i].name, new.name, sizeof(new.name)) == 0)
			break;
	}
	if (i < modules->switches.nr)
		modules->switches.v[i] = new;
	else if (ftr_vec_push(&modules->switches, new) < 0)
		return -ENOMEM;
	ftr_modules_renew(modules);
	return 0;
}

void ftr_modules_trace(struct ftr_modules *modules, bool is_on)
{
	modules->tracing.nr++;
	modules->tracing.is_off = !is_on;
	ftr_modules_renew(modules);
}

static struct ftr_section_module section_module(struct ftr_modules *modules,
						const struct ftr_module_file *file, bool is_image)
{
	return (struct ftr_section_module){
		.path = file->path,
		.elf = &file->elf,
		.is_image = is_image,
		.loaded_hooks = file->loaded_hooks,
		.notes = &modules->notes,
		.given = modules->options,
		.patch_values = modules->patch_values,
		.switches = modules->switches.v,
		.switch_nr = modules->switches.nr,
		.choice = modules->choice,
		.events = &modules->events,
		.tracing = modules->tracing,
	};
}

/* The hooks of libraries that matter to the program image @file, and are not known to be there. */
static uint32_t hooks_asked(struct ftr_modules *modules, const struct ftr_module_file *file)
{
	struct ftr_section_module module = section_module(modules, file, true);

	return ftr_sections_library_hooks(&module, modules->options) & ~file->loaded_hooks;
}

bool ftr_modules_asks_libraries(struct ftr_modules *modules, const char *path)
{
	const struct ftr_module_file *file = file_get(modules, path);

	return file != NULL && hooks_asked(modules, file) != 0;
}

void ftr_modules_loads(struct ftr_modules *modules, const char *path, const char *library)
{
	struct ftr_module_file *file = file_get(modules, path);
	const struct ftr_module_file *loaded = file_get(modules, library);
	uint32_t hooks = file != NULL ? hooks_asked(modules, file) : 0;

	if (hooks == 0 || loaded == NULL || (loaded->elf.hooks & hooks) == 0)
		return;
	file->loaded_hooks |= loaded->elf.hooks & hooks;
	file->sections[true].are_made = false;
}

/* An image that runs may have sections that are out of date: what replaces them is news. */
static int sections_make(struct ftr_modules *modules, const struct ftr_module_file *file,
			 bool is_image)
{
	struct ftr_section_module module = section_module(modules, file, is_image);

	if (!(is_image && modules->generation != 0) &&
	    !ftr_sections_are_wanted(&module, modules->options))
		return -1;
	return ftr_sections_make(&module, modules->options, modules->generation);
}

void ftr_modules_prepare(struct ftr_modules *modules, const char *path, bool is_image)
{
	const struct ftr_module_file *file = file_get(modules, path);
	struct ftr_section_module module;

	if (file == NULL)
		return;
	module = section_module(modules, file, is_image);
	if (ftr_sections_are_slow(&module, modules->options))
		(void)ftr_modules_sections_fd(modules, path, is_image);
}

int ftr_modules_sections_fd(struct ftr_modules *modules, const char *path, bool is_image)
{
	struct ftr_module_file *file = file_get(modules, path);
	struct ftr_module_sections *sections;

	if (file == NULL)
		return -1;
	sections = &file->sections[is_image];
	if (sections->are_made && sections->generation == modules->generation)
		return sections->fd;
	if (sections->fd >= 0)
		close(sections->fd);
	*sections = (struct ftr_module_sections){
		.fd = sections_make(modules, file, is_image),
		.generation = modules->generation,
		.are_made = true,
	};
	return sections->fd;
}

bool ftr_modules_has_sites(struct ftr_modules *modules, const char *path)
{
	const struct ftr_module_file *file = file_get(modules, path);

	return file != NULL && (file->elf.hooks & FTR_ELF_HOOK_SITES) != 0;
}

bool ftr_modules_is_traced(struct ftr_modules *modules, const char *path)
{
	const struct ftr_module_file *file = file_get(modules, path);
	struct ftr_section_module module;

	if (file == NULL)
		return false;
	module = section_module(modules, file, true);
	return file->elf.hooks != 0 || ftr_sections_record(&module, modules->options);
}

const char *ftr_modules_add(struct ftr_modules *modules, const char *path, bool is_wanted)
{
	struct ftr_module_file *file = file_get(modules, path);

	if (file == NULL || !file->is_readable)
		return "";
	file->is_wanted |= is_wanted || ftr_sections_name_all(modules->options);
	return file->elf.build_id;
}

static void symtab_name(struct ftr_symtab *tab, const struct ftr_module_file *file)
{
	if (tab->path == NULL)
		tab->path = file->path;
	if (tab->build_id == NULL && file->elf.build_id[0] != '\0')
		tab->build_id = file->elf.build_id;
}

static void store_one(struct ftr_modules *modules, const struct ftr_module_file *file,
		      struct ftr_uftrace_dir *dir)
{
	struct ftr_section_module module = section_module(modules, file, false);
	struct ftr_symtab tab;

	ftr_symtab_init(&tab);
	if (ftr_symtab_load_elf(&tab, file->path, NULL) == 0) {
		symtab_name(&tab, file);
		ftr_uftrace_dir_symbols(dir, &tab, NULL);
		ftr_sections_store(&module, &tab, false, dir);
	}
	ftr_symtab_fini(&tab);
}

static bool is_due(const struct ftr_module_file *file)
{
	return file->is_wanted && !file->is_stored;
}

static void store_due(struct ftr_modules *modules, struct ftr_uftrace_dir *dir)
{
	size_t i;

	for (i = 0; i < modules->files.nr; i++) {
		if (is_due(modules->files.v[i]))
			store_one(modules, modules->files.v[i], dir);
	}
}

static uint64_t due_bytes(const struct ftr_modules *modules)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < modules->files.nr; i++) {
		if (is_due(modules->files.v[i]))
			bytes += modules->files.v[i]->size_bytes;
	}
	return bytes;
}

void ftr_modules_store(struct ftr_modules *modules, struct ftr_uftrace_dir *dir)
{
	pid_t pid = -1;
	size_t i;

	ftr_named_events_store(&modules->events, dir);
	if (due_bytes(modules) > INLINE_BYTES_MAX)
		pid = fork();
	if (pid <= 0)
		store_due(modules, dir);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)ftr_vec_push(&modules->helpers, pid);
	for (i = 0; i < modules->files.nr; i++)
		modules->files.v[i]->is_stored = modules->files.v[i]->is_wanted;
}

/* Those at work write what is out of date: it is not to be the last. */
static void helpers_wait(const struct ftr_modules *modules)
{
	for (size_t i = 0; i < modules->helpers.nr; i++) {
		siginfo_t info;

		while (waitid(P_PID, (id_t)modules->helpers.v[i], &info, WEXITED | WNOWAIT) < 0 &&
		       errno == EINTR)
			;
	}
}

/* A file that another one took the place of at its path is not there to be read. */
static bool is_retold(const struct ftr_modules *modules, const struct ftr_module_file *file)
{
	return file->is_stored && file_find(modules, file->path) == file;
}

static void retell_one(struct ftr_modules *modules, const struct ftr_module_file *file,
		       struct ftr_uftrace_dir *dir)
{
	struct ftr_section_module module = section_module(modules, file, false);
	struct ftr_symtab tab;

	ftr_symtab_init(&tab);
	if (ftr_symtab_load_elf(&tab, file->path, NULL) == 0) {
		symtab_name(&tab, file);
		ftr_sections_store(&module, &tab, true, dir);
	}
	ftr_symtab_fini(&tab);
}

void ftr_modules_retell(struct ftr_modules *modules, struct ftr_uftrace_dir *dir)
{
	uint64_t bytes = 0;
	pid_t pid = -1;

	for (size_t i = 0; i < modules->files.nr; i++) {
		if (is_retold(modules, modules->files.v[i]))
			bytes += modules->files.v[i]->size_bytes;
	}
	if (bytes > INLINE_BYTES_MAX || modules->helpers.nr > 0)
		pid = fork();
	if (pid <= 0) {
		helpers_wait(modules);
		for (size_t i = 0; i < modules->files.nr; i++) {
			if (is_retold(modules, modules->files.v[i]))
				retell_one(modules, modules->files.v[i], dir);
		}
	}
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)ftr_vec_push(&modules->helpers, pid);
}

void ftr_modules_fini(struct ftr_modules *modules)
{
	size_t i;

	for (i = 0; i < modules->helpers.nr; i++) {
		while (waitpid(modules->helpers.v[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
	ftr_vec_fini(&modules->helpers);
	for (i = 0; i < modules->files.nr; i++)
		file_free(modules->files.v[i]);
	ftr_vec_fini(&modules->files);
	ftr_vec_fini(&modules->switches);
	ftr_strbuf_fini(&modules->notes);
	ftr_named_events_fini(&modules->events);
}
