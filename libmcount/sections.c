/* SPDX-License-Identifier: MIT */
/* See sections.h.  Called inside hooks, so without libc. */
#include "libmcount/sections.h"

#include <sys/mman.h>

#include "utils/base/rt/sys.h"

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
		mem = ftr_sys_map(0, bytes, PROT_READ, MAP_SHARED, fd, 0);
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

bool ftr_sections_any_switch(const struct ftr_sections *sections, uint32_t flags)
{
	const struct ftr_switch *one;
	uint32_t bytes = 0, i;

	one = ftr_sections_find(sections, FTR_SECTION_SWITCHES, &bytes);
	for (i = 0; i < bytes / sizeof(*one); i++) {
		if ((one[i].value & flags) != 0)
			return true;
	}
	return false;
}

bool ftr_sections_are_equal(const struct ftr_sections *one, const struct ftr_sections *other)
{
	uint32_t i;

	if (one->total_bytes != other->total_bytes)
		return false;
	for (i = 0; i < one->total_bytes; i++) {
		if (((const char *)one)[i] != ((const char *)other)[i])
			return false;
	}
	return true;
}

void ftr_sections_publish(const struct ftr_sections *sections)
{
	atomic_store_explicit(&ftr_state.image_sections, sections, memory_order_release);
}
