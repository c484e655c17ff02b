/* SPDX-License-Identifier: MIT */
/* See sections.h.  Called inside hooks, so without libc. */
#include "libmcount/sections.h"

#include <sys/mman.h>

#include "libmcount/channel.h"
#include "libmcount/module.h"
#include "utils/base/rt/sys.h"

#define SIG_BLOCK_ALL 0 /* <signal.h> SIG_BLOCK */
#define SIG_RESTORE 2	/* <signal.h> SIG_SETMASK */

static const struct ftr_section *section_at(const struct ftr_sections *sections, uint32_t i)
{
	return (const struct ftr_section *)(sections + 1) + i;
}

static bool is_inside(const struct ftr_sections *sections, const struct ftr_section *section)
{
	return section->offset % FTR_SECTIONS_ALIGN == 0 &&
	       section->offset <= sections->total_bytes &&
	       section->bytes <= sections->total_bytes - section->offset;
}

static bool are_sound(const struct ftr_sections *sections, uint64_t bytes)
{
	uint32_t i;

	if (sections->magic != FTR_SECTIONS_MAGIC || sections->total_bytes != bytes ||
	    sections->section_nr > FTR_SECTIONS_MAX ||
	    sizeof(*sections) + sections->section_nr * sizeof(struct ftr_section) > bytes)
		return false;
	for (i = 0; i < sections->section_nr; i++) {
		if (!is_inside(sections, section_at(sections, i)))
			return false;
	}
	return true;
}

const struct ftr_sections *ftr_sections_map(int fd)
{
	long bytes = ftr_sys3(SYS_lseek, fd, 0, SEEK_END), mem = -1;

	if (bytes >= (long)sizeof(struct ftr_sections))
		mem = ftr_sys6(SYS_mmap, 0, bytes, PROT_READ, MAP_SHARED, fd, 0);
	ftr_sys_close_own(fd);
	if (ftr_sys_map_failed(mem))
		return NULL;
	if (are_sound((const struct ftr_sections *)mem, (uint64_t)bytes))
		return (const struct ftr_sections *)mem;
	ftr_sys2(SYS_munmap, mem, bytes);
	return NULL;
}

void ftr_sections_unmap(const struct ftr_sections *sections)
{
	ftr_sys2(SYS_munmap, sections, sections->total_bytes);
}

const void *ftr_sections_find(const struct ftr_sections *sections, enum ftr_section_kind kind,
			      uint32_t *bytes)
{
	uint32_t i;

	for (i = 0; sections != NULL && i < sections->section_nr; i++) {
		const struct ftr_section *section = section_at(sections, i);

		if (section->kind == kind) {
			*bytes = section->bytes;
			return (const char *)sections + section->offset;
		}
	}
	return NULL;
}

static bool is_named(const struct ftr_switch *one, const char *probe)
{
	uint32_t i;

	for (i = 0; i < FTR_SWITCH_NAME_BYTES && one->name[i] == probe[i]; i++) {
		if (probe[i] == '\0')
			return true;
	}
	return i == FTR_SWITCH_NAME_BYTES && probe[i] == '\0';
}

uint32_t ftr_sections_switch(const struct ftr_sections *sections, const char *probe)
{
	const struct ftr_switch *one;
	uint32_t bytes = 0, i;

	one = ftr_sections_find(sections, FTR_SECTION_SWITCHES, &bytes);
	for (i = 0; i < bytes / sizeof(*one); i++) {
		if (is_named(&one[i], probe))
			return one[i].value;
	}
	return FTR_SWITCH_OFF;
}

void ftr_sections_publish(const struct ftr_sections *sections)
{
	atomic_store_explicit(&ftr_state.image_sections, sections, memory_order_release);
}

/*
 * One thread at a time; the others, and handlers, go on with what there is.  The claim bears the
 * process's number: a child may be forked while another thread of its parent holds it.
 */
static bool refresh_claim(void)
{
	uint32_t pid = (uint32_t)ftr_sys0(SYS_getpid);
	uint32_t owner = atomic_load(&ftr_state.refreshing_pid);

	return owner != pid &&
	       atomic_compare_exchange_strong(&ftr_state.refreshing_pid, &owner, pid);
}

/* Until none is newer.  One that cannot be fetched is not asked for again. */
static void image_refresh(void)
{
	const struct ftr_control *control = ftr_state.control;
	const struct ftr_module_name image = { .is_known = true };
	const struct ftr_sections *sections;
	uint32_t generation;

	do {
		generation = atomic_load(&control->generation);
		if (ftr_module_ask(&image, &sections) == 0)
			ftr_sections_publish(sections);
		atomic_store(&ftr_state.generation, generation);
	} while (atomic_load(&control->generation) != generation && !ftr_recorder_is_gone());
}

/* Signals are blocked: a handler that jumps out of a refresh would never give the claim back. */
void ftr_sections_refresh_slow(void)
{
	uint64_t all = UINT64_MAX, old;

	if (ftr_is_silent() || ftr_recorder_is_gone())
		return;
	ftr_sys4(SYS_rt_sigprocmask, SIG_BLOCK_ALL, &all, &old, sizeof(all));
	if (refresh_claim()) {
		image_refresh();
		atomic_store(&ftr_state.refreshing_pid, 0);
	}
	ftr_sys4(SYS_rt_sigprocmask, SIG_RESTORE, &old, NULL, sizeof(old));
}
