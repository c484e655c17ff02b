/* SPDX-License-Identifier: MIT */
/* See emulated.h.  Of the file's head alone: it is asked for each image while the program waits. */
#include "utils/record/emulated.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"

/* Of an ELF file with its program headers: linkers put them behind it. */
#define HEAD_BYTES 1024

/* What is asked of it. */
struct head {
	unsigned machine;		/* EM_NONE: it is none, or cannot be read */
	bool has_interp;
};

static bool has_interp(int fd, const Elf64_Ehdr *ehdr, const char *text, size_t len)
{
	Elf64_Phdr phdr;

	for (unsigned i = 0; i < ehdr->e_phnum; i++) {
		uint64_t at = ehdr->e_phoff + (uint64_t)i * ehdr->e_phentsize;

		if (at < len && sizeof(phdr) <= len - at)
			memcpy(&phdr, text + at, sizeof(phdr));
		else if (pread(fd, &phdr, sizeof(phdr), (off_t)at) != sizeof(phdr))
			break;
		if (phdr.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static struct head head_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct head head = { .machine = EM_NONE };
	char text[HEAD_BYTES];
	Elf64_Ehdr ehdr = { 0 };
	ssize_t len;

	if (fd < 0)
		return head;
	len = pread(fd, text, sizeof(text), 0);
	if (len > 0)
		memcpy(&ehdr, text, (size_t)len < sizeof(ehdr) ? (size_t)len : sizeof(ehdr));
	if (len >= (ssize_t)(offsetof(Elf64_Ehdr, e_machine) + sizeof(ehdr.e_machine)) &&
	    memcmp(ehdr.e_ident, ELFMAG, SELFMAG) == 0)
		head.machine = ehdr.e_machine;
	if (len >= (ssize_t)sizeof(ehdr) && ehdr.e_ident[EI_CLASS] == ELFCLASS64)
		head.has_interp = has_interp(fd, &ehdr, text, (size_t)len);
	close(fd);
	return head;
}

static bool is_beside(unsigned machine)
{
	return ftr_arch_host->beside != NULL && machine == ftr_arch_host->beside->elf_machine;
}

/* Does a process map a file of the machine beside? */
static bool maps_beside(int32_t pid)
{
	char name[64], *line = NULL, *path;
	size_t room = 0;
	bool is_found = false;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	file = fopen(name, "re");
	while (file != NULL && !is_found && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		path = strchr(line, '/');
		is_found = path != NULL && is_beside(head_of(path).machine);
	}
	free(line);
	if (file != NULL)
		fclose(file);
	return is_found;
}

/*
 * A program of the machine beside is emulated when the kernel runs a static one of this: what is
 * loaded into a process by a dynamic linker is its emulator's doing.
 */
bool ftr_process_is_emulated(int32_t pid)
{
	struct head head;
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	head = head_of(link);
	if (head.machine == EM_NONE || is_beside(head.machine))
		return false;
	if (head.machine != ftr_arch_host->elf_machine)
		return true;
	return ftr_arch_host->beside != NULL && !head.has_interp && maps_beside(pid);
}

bool ftr_is_emulated_file(const char *path, const char *emulator)
{
	struct head head = head_of(path);

	return strcmp(path, emulator) != 0 &&
	       (head.machine == ftr_arch_host->elf_machine || is_beside(head.machine));
}
