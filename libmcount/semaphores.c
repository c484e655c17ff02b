/* SPDX-License-Identifier: MIT */
/* See semaphores.h. */
#include "libmcount/semaphores.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/own_call.h"

static uint64_t list_bytes(void)
{
	return FTR_SEMAPHORES_MAX * sizeof(struct ftr_semaphore);
}

static long memory_open(void)
{
	return ftr_sys6(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0, 0,
			FTR_OWN_CALL);
}

static bool count_read(long fd, uintptr_t at, uint16_t *count)
{
	return ftr_sys_read_at(fd, count, sizeof(*count), at) == sizeof(*count);
}

static void count_add(long fd, uintptr_t at, int nr)
{
	uint16_t count;

	if (!count_read(fd, at, &count) || (nr < 0 && count == 0))
		return;
	count = (uint16_t)(count + nr);
	ftr_sys_write_at(fd, &count, sizeof(count), at);
}

static struct ftr_semaphore *noted(uintptr_t at)
{
	uint32_t i;

	for (i = 0; i < ftr_state.semaphore_nr; i++) {
		if (ftr_state.semaphores[i].at == at)
			return &ftr_state.semaphores[i];
	}
	return NULL;
}

static bool note(uintptr_t at)
{
	long mem;

	if (ftr_state.semaphores == NULL) {
		mem = ftr_sys_map(0, list_bytes(), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (ftr_sys_map_failed(mem))
			return false;
		ftr_state.semaphores = (struct ftr_semaphore *)mem;
	}
	if (ftr_state.semaphore_nr == FTR_SEMAPHORES_MAX)
		return false;
	ftr_state.semaphores[ftr_state.semaphore_nr++] = (struct ftr_semaphore){ .at = at };
	return true;
}

/* What was raised, and is not 0, is ours still: the library has been shown again. */
static void raise_one(long fd, uintptr_t at)
{
	struct ftr_semaphore *known = noted(at);
	uint16_t count;

	if (!count_read(fd, at, &count) || (known != NULL && !known->is_doubted))
		return;
	if (known != NULL)
		known->is_doubted = false;
	if ((known != NULL && count != 0) ||
	    (known == NULL && ftr_state.attached != 0 && !note(at)))
		return;
	count_add(fd, at, 1);
}

void ftr_semaphores_raise(uintptr_t base, const uint32_t *offsets, uint32_t nr)
{
	long fd = nr == 0 ? -1 : memory_open();
	uint32_t i;

	for (i = 0; i < nr && fd >= 0; i++)
		raise_one(fd, base + offsets[i]);
	if (fd >= 0)
		ftr_sys_close_own((int)fd);
}

void ftr_semaphores_doubt(uintptr_t low, uintptr_t bytes)
{
	uint32_t i;

	for (i = 0; i < ftr_state.semaphore_nr; i++) {
		if (ftr_state.semaphores[i].at - low < bytes)
			ftr_state.semaphores[i].is_doubted = true;
	}
}

static bool is_data(const struct dl_phdr_info *info, uintptr_t at)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_X) == 0 &&
		    at - (info->dlpi_addr + phdr->p_vaddr) < phdr->p_memsz)
			return true;
	}
	return false;
}

static int module_lower(struct dl_phdr_info *info, size_t size, void *arg)
{
	const long *fd = arg;
	uint32_t i;

	for (i = 0; i < ftr_state.semaphore_nr; i++) {
		const struct ftr_semaphore *semaphore = &ftr_state.semaphores[i];

		if (!semaphore->is_doubted && is_data(info, semaphore->at))
			count_add(*fd, semaphore->at, -1);
	}
	return 0;
}

void ftr_semaphores_lower(void)
{
	long fd = ftr_state.semaphore_nr == 0 ? -1 : memory_open();

	if (fd >= 0) {
		dl_iterate_phdr(module_lower, &fd);
		ftr_sys_close_own((int)fd);
	}
	if (ftr_state.semaphores != NULL)
		ftr_sys2(SYS_munmap, ftr_state.semaphores, list_bytes());
	ftr_state.semaphores = NULL;
	ftr_state.semaphore_nr = 0;
}
