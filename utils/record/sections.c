/* SPDX-License-Identifier: MIT */
/* See sections.h. */
#include "utils/record/sections.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

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
