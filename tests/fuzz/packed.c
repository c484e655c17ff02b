/* SPDX-License-Identifier: MIT */
/* See packed.h. */
#include "tests/fuzz/packed.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/packed.h"
#include "utils/base/strbuf.h"
#include "utils/format/dir.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_file.h"

#define BLOCKS_NR 7u

static bool is_of_records(const char *name)
{
	const char *end = name + strspn(name, "0123456789");

	return end != name && (strcmp(end, ".dat") == 0 || strcmp(end, ".event") == 0);
}

static void put_file(struct ftr_strbuf *to, const char *name, int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	char packed[300];

	check(bytes != MAP_FAILED);
	snprintf(packed, sizeof(packed), "%s" FTR_PACK_SUFFIX, name);
	packed_add(to, packed, bytes, size);
	munmap(bytes, size);
}

static void put_packed(struct ftr_strbuf *to, struct ftr_packer *packer, const char *name,
		       const struct ftr_istream *in, uint32_t random)
{
	int fd = memfd_create("packed", MFD_CLOEXEC);
	size_t step = in->size / BLOCKS_NR + 1 + random % 16;
	struct ftr_pack_writer writer;

	check(fd >= 0 && ftr_pack_writer_init(&writer, fd) == 0);
	for (size_t at = 0; at < in->size; at += step) {
		size_t nr = in->size - at < step ? in->size - at : step;

		check(ftr_pack_writer_put(&writer, packer, in->data + at, nr, 0) == 0);
		check(ftr_pack_writer_flush(&writer, packer) == 0);
	}
	check(ftr_pack_writer_index(&writer) == 0);
	put_file(to, name, fd, (size_t)lseek(fd, 0, SEEK_END));
	ftr_pack_writer_fini(&writer);
	close(fd);
}

bool fuzz_packed(const uint8_t *data, size_t size, uint32_t random, struct ftr_strbuf *to)
{
	struct ftr_packer *packer = ftr_packer_new(FTR_PACK_SMALL);
	struct ftr_istream in;
	struct ftr_dir *dir;
	bool is_packed = false;

	check(packer != NULL);
	check(ftr_dir_open_memory(&dir, data, size, NULL) == 0);
	for (size_t i = 0; i < dir->names.nr; i++) {
		const char *name = dir->names.v[i];

		is_packed |= strstr(name, FTR_PACK_SUFFIX) != NULL;
		if (ftr_dir_file(dir, name, &in, NULL) < 0)
			continue;
		if (is_of_records(name) && strlen(name) < 200)
			put_packed(to, packer, name, &in, random);
		else
			packed_add(to, name, in.data, in.size);
		ftr_istream_close(&in);
	}
	ftr_dir_free(dir);
	ftr_packer_free(packer);
	return !is_packed;
}
