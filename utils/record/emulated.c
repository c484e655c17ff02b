/* SPDX-License-Identifier: MIT */
/* See emulated.h.  Of the file's head alone: it is asked for each image while the program waits. */
#include "utils/record/emulated.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"

/* The machine of an ELF file; EM_NONE: it is none, or cannot be read. */
static unsigned machine_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf64_Ehdr head;
	ssize_t len;

	if (fd < 0)
		return EM_NONE;
	len = pread(fd, &head, sizeof(head), 0);
	close(fd);
	if (len < (ssize_t)(offsetof(Elf64_Ehdr, e_machine) + sizeof(head.e_machine)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return EM_NONE;
	return head.e_machine;
}

bool ftr_process_is_emulated(int32_t pid)
{
	char link[64];
	unsigned machine;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	machine = machine_of(link);
	return machine != EM_NONE && machine != ftr_arch_host->elf_machine;
}

bool ftr_is_own_elf(const char *path)
{
	return machine_of(path) == ftr_arch_host->elf_machine;
}
