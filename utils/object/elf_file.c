/* SPDX-License-Identifier: MIT */
/* Opening ELF files and finding their sections, through libelf. */
#include "utils/object/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "utils/base/istream.h"

#define PAGE_BYTES 4096

static uint64_t first_mapping(Elf *elf)
{
	uint64_t lowest = UINT64_MAX;
	GElf_Phdr phdr;
	size_t nr = 0;

	if (elf_getphdrnum(elf, &nr) < 0)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		if (gelf_getphdr(elf, (int)i, &phdr) == NULL)
			break;
		if (phdr.p_type == PT_LOAD && phdr.p_vaddr < lowest)
			lowest = phdr.p_vaddr;
	}
	return lowest == UINT64_MAX ? 0 : lowest & ~(uint64_t)(PAGE_BYTES - 1);
}

static void build_id_format(Elf *elf, char *text)
{
	static const char digits[] = "0123456789abcdef";
	const void *note = NULL;
	ssize_t len = dwelf_elf_gnu_build_id(elf, &note);
	const unsigned char *bytes = note;

	for (ssize_t i = 0; i < len && i < (FTR_BUILD_ID_CHARS - 1) / 2; i++) {
		*text++ = digits[bytes[i] / 16];
		*text++ = digits[bytes[i] % 16];
	}
	*text = '\0';
}

int ftr_elf_file_open(struct ftr_elf_file *file, const char *path, struct ftr_err *err)
{
	*file = (struct ftr_elf_file){ .fd = -1 };
	file->fd = ftr_regular_open(AT_FDCWD, path);
	if (file->fd < 0 && file->fd != -ENODEV)
		return ftr_err_set(err, -file->fd, "%s: %s", path, strerror(-file->fd));
	if (file->fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
		file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (file->elf == NULL || elf_kind(file->elf) != ELF_K_ELF ||
	    gelf_getehdr(file->elf, &file->ehdr) == NULL) {
		ftr_elf_file_close(file);
		return ftr_err_set(err, ENOEXEC, "%s: not an ELF file, or damaged", path);
	}
	file->base = first_mapping(file->elf);
	build_id_format(file->elf, file->build_id);
	return 0;
}

void ftr_elf_file_close(struct ftr_elf_file *file)
{
	if (file->elf != NULL)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	file->elf = NULL;
	file->fd = -1;
}

const struct ftr_callconv *ftr_elf_file_callconv(const struct ftr_elf_file *file)
{
	const struct ftr_arch *arch = ftr_arch_find(file->ehdr.e_machine,
						    file->ehdr.e_ident[EI_CLASS]);

	return arch != NULL ? arch->callconv : NULL;
}

const char *ftr_elf_section_name(const struct ftr_elf_file *file, const GElf_Shdr *shdr)
{
	const char *name = NULL;
	size_t strings;

	if (elf_getshdrstrndx(file->elf, &strings) == 0)
		name = elf_strptr(file->elf, strings, shdr->sh_name);
	return name == NULL ? "" : name;
}

Elf_Scn *ftr_elf_section_find(const struct ftr_elf_file *file, uint32_t type, const char *name,
			      GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, shdr) == NULL)
			continue;
		if (type != SHT_NULL && shdr->sh_type != type)
			continue;
		if (name == NULL || strcmp(ftr_elf_section_name(file, shdr), name) == 0)
			return scn;
	}
	return NULL;
}

Elf_Data *ftr_elf_section_data(Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data;

	if (scn == NULL || shdr->sh_type == SHT_NOBITS || (shdr->sh_flags & SHF_COMPRESSED) != 0)
		return NULL;
	data = elf_getdata(scn, NULL);
	return data == NULL || data->d_buf == NULL || data->d_size == 0 ? NULL : data;
}

Elf_Data *ftr_elf_section_strings(const struct ftr_elf_file *file, const GElf_Shdr *shdr)
{
	Elf_Scn *scn = elf_getscn(file->elf, shdr->sh_link);
	GElf_Shdr strings;

	if (scn == NULL || gelf_getshdr(scn, &strings) == NULL)
		return NULL;
	return ftr_elf_section_data(scn, &strings);
}

const char *ftr_elf_string(const Elf_Data *strings, uint64_t offset)
{
	const char *s;

	if (offset >= strings->d_size)
		return NULL;
	s = (const char *)strings->d_buf + offset;
	return memchr(s, '\0', strings->d_size - offset) == NULL ? NULL : s;
}

void ftr_elf_dynamic_init(struct ftr_elf_dynamic *self, const struct ftr_elf_file *file)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = ftr_elf_section_find(file, SHT_DYNSYM, NULL, &shdr);

	*self = (struct ftr_elf_dynamic){ .next = 1 };
	self->symbols = ftr_elf_section_data(scn, &shdr);
	if (self->symbols != NULL)
		self->strings = ftr_elf_section_strings(file, &shdr);
}

const char *ftr_elf_dynamic_next(struct ftr_elf_dynamic *self, GElf_Sym *symbol)
{
	const char *name = NULL;

	while (name == NULL && self->strings != NULL &&
	       gelf_getsym(self->symbols, self->next++, symbol) != NULL)
		name = ftr_elf_string(self->strings, symbol->st_name);
	return name;
}
