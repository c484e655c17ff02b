/* SPDX-License-Identifier: MIT */
/* The ELF files mapped in traced processes. */
#include "utils/record/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/object/symtab.h"
#include "utils/record/plt_table.h"

#define INLINE_BYTES_MAX (512u << 10) /* what is read in less time than a process takes to start \
				       */

static struct ftr_module_file *file_find(const struct ftr_modules *modules, const char *path)
{
	size_t i;

	for (i = 0; i < modules->files.nr; i++) {
		if (strcmp(modules->files.v[i]->path, path) == 0)
			return modules->files.v[i];
	}
	return NULL;
}

static void file_free(struct ftr_module_file *file)
{
	if (file->plt_fd >= 0)
		close(file->plt_fd);
	free(file->path);
	free(file);
}

static struct ftr_module_file *file_add(struct ftr_modules *modules, const char *path)
{
	struct ftr_module_file *file = calloc(1, sizeof(*file));
	struct stat st;

	if (file == NULL)
		return NULL;
	file->plt_fd = -1;
	file->path = strdup(path);
	if (file->path == NULL || ftr_vec_push(&modules->files, file) < 0) {
		file_free(file);
		return NULL;
	}
	if (stat(path, &st) == 0)
		file->size_bytes = (uint64_t)st.st_size;
	file->is_readable = ftr_elf_info_load(&file->elf, path, NULL) == 0;
	file->is_wanted = file->is_readable && file->elf.hooks != 0;
	return file;
}

static struct ftr_module_file *file_get(struct ftr_modules *modules, const char *path)
{
	struct ftr_module_file *file = file_find(modules, path);

	return file != NULL ? file : file_add(modules, path);
}

const struct ftr_module_file *ftr_modules_get(struct ftr_modules *modules, const char *path)
{
	return file_get(modules, path);
}

int ftr_modules_plt_fd(struct ftr_modules *modules, const char *path)
{
	struct ftr_module_file *file = file_get(modules, path);
	struct ftr_plt_table_maker maker;

	if (file == NULL)
		return -1;
	if (!file->has_plt) {
		ftr_plt_table_init(&maker);
		if (ftr_plt_table_add(&maker, path) == 0)
			file->plt_fd = ftr_plt_table_memfd(&maker);
		ftr_plt_table_fini(&maker);
		file->has_plt = true;
	}
	return file->plt_fd;
}

const char *ftr_modules_add(struct ftr_modules *modules, const char *path, bool is_wanted)
{
	struct ftr_module_file *file = file_get(modules, path);

	if (file == NULL || !file->is_readable)
		return "";
	file->is_wanted |= is_wanted;
	return file->elf.build_id;
}

static void store_one(const struct ftr_module_file *file, struct ftr_uftrace_dir *dir)
{
	struct ftr_symtab tab;

	ftr_symtab_init(&tab);
	if (ftr_symtab_load_elf(&tab, file->path, NULL) == 0) {
		if (tab.path == NULL)
			tab.path = file->path;
		if (tab.build_id == NULL && file->elf.build_id[0] != '\0')
			tab.build_id = file->elf.build_id;
		ftr_uftrace_dir_symbols(dir, &tab, NULL);
	}
	ftr_symtab_fini(&tab);
}

static bool is_due(const struct ftr_module_file *file)
{
	return file->is_wanted && !file->is_stored;
}

static void store_due(const struct ftr_modules *modules, struct ftr_uftrace_dir *dir)
{
	size_t i;

	for (i = 0; i < modules->files.nr; i++) {
		if (is_due(modules->files.v[i]))
			store_one(modules->files.v[i], dir);
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
}
