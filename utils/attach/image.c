/* SPDX-License-Identifier: MIT */
/* See image.h. */
#include "utils/attach/image.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "utils/object/elf_file.h"

#define DELETED " (deleted)"	/* the kernel's, behind the path */

static int vma_add(struct ftr_image *image, const char *line)
{
	struct ftr_vma vma = { 0 };
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &vma.low, &vma.high,
		   vma.prot, &vma.offset, &path) < 4 || path == 0)
		return 0;
	vma.path = strndup(line + path, strcspn(line + path, "\n"));
	if (vma.path == NULL || ftr_vec_push(&image->vmas, vma) < 0) {
		free(vma.path);
		return -ENOMEM;
	}
	return 0;
}

int ftr_image_load(struct ftr_image *image, int32_t pid, struct ftr_err *err)
{
	char name[64], line[PATH_MAX + 128];
	FILE *file;
	int ret = 0;

	*image = (struct ftr_image){ .pid = pid };
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	file = fopen(name, "re");
	if (file == NULL && errno == ENOENT)
		return ftr_err_set(err, ESRCH, "process %d has ended", pid);
	if (file == NULL)
		return ftr_err_set(err, errno, "%s: %s", name, strerror(errno));
	while (ret == 0 && fgets(line, sizeof(line), file) != NULL)
		ret = vma_add(image, line);
	fclose(file);
	if (ret == 0)
		return 0;
	ftr_image_fini(image);
	return ftr_err_set(err, ENOMEM, "%s: out of memory", name);
}

void ftr_image_fini(struct ftr_image *image)
{
	size_t i;

	for (i = 0; i < image->vmas.nr; i++)
		free(image->vmas.v[i].path);
	ftr_vec_fini(&image->vmas);
}

bool ftr_image_is_same(const struct ftr_image *one, const struct ftr_image *other)
{
	size_t i;

	if (one->vmas.nr != other->vmas.nr)
		return false;
	for (i = 0; i < one->vmas.nr; i++) {
		const struct ftr_vma *a = &one->vmas.v[i], *b = &other->vmas.v[i];

		if (a->low != b->low || a->high != b->high || a->offset != b->offset ||
		    strcmp(a->prot, b->prot) != 0 || strcmp(a->path, b->path) != 0)
			return false;
	}
	return true;
}

bool ftr_image_is_now(const struct ftr_image *image)
{
	struct ftr_err ignored = { 0 };
	struct ftr_image now;
	bool ret;

	if (ftr_image_load(&now, image->pid, &ignored) < 0)
		return false;
	ret = ftr_image_is_same(image, &now);
	ftr_image_fini(&now);
	return ret;
}

const struct ftr_vma *ftr_image_at(const struct ftr_image *image, uint64_t addr)
{
	size_t low = 0, high = image->vmas.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->vmas.v[middle].high <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < image->vmas.nr && image->vmas.v[low].low <= addr ? &image->vmas.v[low] : NULL;
}

const char *ftr_image_find(const struct ftr_image *image, const char *const *names)
{
	size_t i, k;

	for (i = 0; i < image->vmas.nr; i++) {
		const char *path = image->vmas.v[i].path, *slash = strrchr(path, '/');

		for (k = 0; slash != NULL && path[0] == '/' && names[k] != NULL; k++) {
			if (strncmp(slash + 1, names[k], strlen(names[k])) == 0)
				return path;
		}
	}
	return NULL;
}

bool ftr_image_start(const struct ftr_image *image, const char *path, uint64_t *start)
{
	size_t i;

	for (i = 0; i < image->vmas.nr; i++) {
		const struct ftr_vma *vma = &image->vmas.v[i];

		if (vma->offset == 0 && strcmp(vma->path, path) == 0) {
			*start = vma->low;
			return true;
		}
	}
	return false;
}

bool ftr_image_has_deleted(const struct ftr_image *image, const char *path)
{
	size_t bytes = strlen(path), i;

	for (i = 0; i < image->vmas.nr; i++) {
		const char *mapped = image->vmas.v[i].path;

		if (strncmp(mapped, path, bytes) == 0 && strcmp(mapped + bytes, DELETED) == 0)
			return true;
	}
	return false;
}

/* Where its symbols are, and what they are counted from. */
struct tables {
	const struct ftr_elf_file *file;
	uint64_t bias;
	ftr_image_symbol_fn fn;
	void *arg;
};

static void table_read(const struct tables *tables, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = ftr_elf_section_data(scn, shdr);
	Elf_Data *strings = ftr_elf_section_strings(tables->file, shdr);
	GElf_Sym symbol;
	int i;

	for (i = 0; data != NULL && strings != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
		const char *name = ftr_elf_string(strings, symbol.st_name);
		int type = GELF_ST_TYPE(symbol.st_info);

		if (name != NULL && symbol.st_shndx != SHN_UNDEF &&
		    (type == STT_FUNC || type == STT_GNU_IFUNC))
			tables->fn(tables->arg, name, tables->bias + symbol.st_value,
				   symbol.st_size);
	}
}

/* @start: where the file begins in memory. */
static int file_read(const char *path, uint64_t start, ftr_image_symbol_fn fn, void *arg,
		     struct ftr_err *err)
{
	struct ftr_elf_file file;
	struct tables tables = { .file = &file, .fn = fn, .arg = arg };
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int ret = ftr_elf_file_open(&file, path, err);

	tables.bias = ret == 0 ? start - file.base : 0;
	while (ret == 0 && (scn = elf_nextscn(file.elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &shdr) != NULL &&
		    (shdr.sh_type == SHT_DYNSYM || shdr.sh_type == SHT_SYMTAB))
			table_read(&tables, scn, &shdr);
	}
	ftr_elf_file_close(&file);
	return ret;
}

int ftr_image_symbols(const struct ftr_image *image, const char *path, ftr_image_symbol_fn fn,
		      void *arg, struct ftr_err *err)
{
	char inside[PATH_MAX + 32];
	uint64_t start;

	if (!ftr_image_start(image, path, &start))
		return ftr_err_set(err, ENOENT, "%s is not mapped from its beginning", path);
	snprintf(inside, sizeof(inside), "/proc/%d/root%s", image->pid, path);
	return file_read(inside, start, fn, arg, err);
}

struct wanted {
	const char *name;
	uint64_t addr;
};

static void symbol_match(void *arg, const char *name, uint64_t addr, uint64_t bytes)
{
	struct wanted *wanted = arg;

	if (wanted->addr == 0 && strcmp(name, wanted->name) == 0)
		wanted->addr = addr;
}

uint64_t ftr_image_symbol(const struct ftr_image *image, const char *path, const char *name)
{
	struct wanted wanted = { .name = name };
	struct ftr_err err = { 0 };

	if (path != NULL)
		ftr_image_symbols(image, path, symbol_match, &wanted, &err);
	return wanted.addr;
}

uint64_t ftr_file_symbol(const char *path, const char *name)
{
	struct wanted wanted = { .name = name };
	struct ftr_err err = { 0 };

	file_read(path, 0, symbol_match, &wanted, &err);
	return wanted.addr;
}

uint64_t ftr_process_entry(int32_t pid)
{
	uint64_t pair[2], ret = 0;
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/auxv", pid);
	file = fopen(name, "re");
	if (file == NULL)
		return 0;
	while (ret == 0 && fread(pair, sizeof(pair), 1, file) == 1 && pair[0] != AT_NULL)
		ret = pair[0] == AT_ENTRY ? pair[1] : 0;
	fclose(file);
	return ret;
}

bool ftr_memory_read(int32_t pid, uint64_t addr, void *to, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)addr, bytes };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

bool ftr_memory_write(int32_t pid, uint64_t addr, const void *from, size_t bytes)
{
	struct iovec local = { (void *)from, bytes }, remote = { (void *)(uintptr_t)addr, bytes };

	return process_vm_writev(pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}
