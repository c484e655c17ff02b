/* SPDX-License-Identifier: MIT */
/* Packed files: what is found in them, whole or damaged, and how it is shown to several readers. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_file.h"
#include "utils/format/uftrace/read_packed.h"
#include "utils/proto/record.h"

#define BYTES	   (FTR_MIB(2) + 1234)
#define THREADS_NR 3
#define START_NS   UINT64_C(5000000000)

struct made {
	uint8_t *bytes;		/* (owned) BYTES of them */
	uint8_t *file;		/* (owned) packed */
	size_t size;
	struct ftr_packer *packer;
};

static uint32_t random_next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static void records_make(uint8_t *to, size_t nr)
{
	uint64_t seed = 3;

	for (size_t i = 0; i + 16 <= nr; i += 16) {
		ftr_put_u64(to + i, START_NS + i * 10 + random_next(&seed) % 100, false);
		ftr_put_u64(to + i + 8,
			    ftr_record_word(i % 32 == 0 ? FTR_RECORD_ENTRY : FTR_RECORD_EXIT, 0,
					    0x1000 + random_next(&seed) % 7), false);
	}
}

/* As a recorder writes it: pieces of any size, and blocks that end early now and then. */
static void file_make(struct made *made)
{
	int fd = memfd_create("packed", MFD_CLOEXEC);
	struct ftr_pack_writer writer;
	uint64_t seed = 5;

	assert_true(fd >= 0);
	assert_int_equal(ftr_pack_writer_init(&writer, fd), 0);
	for (size_t at = 0; at < BYTES;) {
		size_t nr = random_next(&seed) % 150000;

		nr = nr < BYTES - at ? nr : BYTES - at;
		assert_int_equal(ftr_pack_writer_put(&writer, made->packer, made->bytes + at, nr,
						     nr / 16), 0);
		at += nr;
		if (random_next(&seed) % 8 == 0)
			assert_int_equal(ftr_pack_writer_flush(&writer, made->packer), 0);
	}
	assert_int_equal(ftr_pack_writer_flush(&writer, made->packer), 0);
	assert_int_equal(writer.at, BYTES);
	assert_int_equal(writer.lost_records, 0);
	assert_int_equal(ftr_pack_writer_index(&writer), 0);
	made->size = (size_t)lseek(fd, 0, SEEK_END);
	made->file = malloc(made->size);
	assert_non_null(made->file);
	assert_int_equal(pread(fd, made->file, made->size, 0), (ssize_t)made->size);
	ftr_pack_writer_fini(&writer);
	close(fd);
}

static int make(void **state)
{
	struct made *made = calloc(1, sizeof(*made));

	made->bytes = calloc(1, BYTES);
	made->packer = ftr_packer_new(FTR_PACK_SMALL);
	records_make(made->bytes, BYTES);
	file_make(made);
	*state = made;
	return 0;
}

static int unmake(void **state)
{
	struct made *made = *state;

	free(made->bytes);
	free(made->file);
	ftr_packer_free(made->packer);
	free(made);
	return 0;
}

static void all_is_found(void **state)
{
	struct made *made = *state;
	struct ftr_pack_blocks blocks = { 0 };
	struct ftr_pack_damage damage;
	uint8_t *back = malloc(FTR_PACK_BLOCK_BYTES);
	uint64_t at = 0;

	/* With the index, and without it. */
	for (size_t size = made->size; size + 1 >= made->size; size--) {
		at = blocks.nr = 0;
		assert_int_equal(ftr_pack_blocks_list(&blocks, made->file, size, &damage), 0);
		assert_int_equal(damage.has_no_index, size != made->size);
		assert_int_equal(damage.cut_bytes != 0, size != made->size);
		assert_int_equal(damage.bytes, 0);
		for (size_t i = 0; i < blocks.nr; i++) {
			const struct ftr_pack_block *block = &blocks.v[i];

			assert_int_equal(block->at, at);
			assert_int_equal(ftr_packer_unpack(made->packer,
							   made->file + block->file_at,
							   block->packed_bytes, back,
							   block->bytes), 0);
			assert_memory_equal(back, made->bytes + at, block->bytes);
			at += block->bytes;
			if (at % 16 == 0 && i + 1 < blocks.nr)
				assert_int_equal(blocks.v[i + 1].first_ns,
						 ftr_get_u64(made->bytes + at, false));
		}
		assert_int_equal(at, BYTES);
	}
	ftr_vec_fini(&blocks);
	free(back);
}

/* Cut anywhere, as by a recorder that is killed: what is whole is there, nothing is damaged. */
static void cut_is_no_damage(void **state)
{
	struct made *made = *state;
	struct ftr_pack_blocks all = { 0 }, blocks = { 0 };
	struct ftr_pack_damage damage;

	assert_int_equal(ftr_pack_blocks_list(&all, made->file, made->size, &damage), 0);
	for (size_t size = 0, step; size < made->size; size += step) {
		size_t whole = 0;

		/* Bytes of packed records are alike. */
		step = size < 100 || size + 1000 > made->size ? 1 : 97;
		while (whole < all.nr && all.v[whole].file_at + all.v[whole].packed_bytes <= size)
			whole++;
		blocks.nr = 0;
		assert_int_equal(ftr_pack_blocks_list(&blocks, made->file, size, &damage), 0);
		assert_int_equal(blocks.nr, whole);
		assert_true(damage.has_no_index);
		assert_int_equal(damage.bytes, 0);
	}
	ftr_vec_fini(&all);
	ftr_vec_fini(&blocks);
}

/* Blocks wait until they are many bytes; of those that the disk has no room for nothing is left. */
static void blocks_wait(void **state)
{
	struct made *made = *state;
	int fd = memfd_create("packed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ftr_pack_writer writer;
	struct ftr_pack_blocks blocks = { 0 };
	struct ftr_pack_damage damage;
	size_t nr = FTR_KIB(128), size;
	uint8_t *file;

	assert_int_equal(ftr_pack_writer_init(&writer, fd), 0);
	size = (size_t)lseek(fd, 0, SEEK_END);
	assert_int_equal(ftr_pack_writer_put(&writer, made->packer, made->bytes, nr, nr / 16), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), size);
	assert_true(ftr_pack_writer_held(&writer) > 0);
	assert_int_equal(ftr_pack_writer_flush(&writer, made->packer), 0);
	assert_int_equal(ftr_pack_writer_held(&writer), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), writer.file_at);
	size = writer.file_at;
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(ftr_pack_writer_put(&writer, made->packer, made->bytes, nr,
						     nr / 16), 0);
	assert_true(ftr_pack_writer_flush(&writer, made->packer) < 0);
	assert_int_equal(writer.lost_records, 2 * nr / 16);
	assert_int_equal(writer.file_at, size);
	assert_int_equal(writer.at, nr);
	assert_int_equal(lseek(fd, 0, SEEK_END), size);
	file = malloc(size);
	assert_int_equal(pread(fd, file, size, 0), (ssize_t)size);
	assert_int_equal(ftr_pack_blocks_list(&blocks, file, size, &damage), 0);
	assert_int_equal(blocks.nr, 1);
	assert_int_equal(blocks.v[0].bytes, nr);
	ftr_vec_fini(&blocks);
	free(file);
	ftr_pack_writer_fini(&writer);
	close(fd);
}

/* Whatever is left of a file, no block lies outside of it. */
static void damage_is_bounded(void **state)
{
	struct made *made = *state;
	struct ftr_pack_blocks blocks = { 0 };
	struct ftr_pack_damage damage;
	uint64_t seed = 11;
	size_t found = 0;

	for (unsigned i = 0; i < 3000; i++) {
		size_t size = i % 3 == 0 ? random_next(&seed) % made->size : made->size;
		uint8_t *file = malloc(size + 1);	/* of this size: a sanitizer looks */
		uint64_t at = 0;

		memcpy(file, made->file, size);
		for (unsigned j = 0; j < i % 5 && size > 0; j++)
			file[random_next(&seed) % size] ^= (uint8_t)(1u << random_next(&seed) % 8);
		if (i % 7 == 0 && size > 64)	/* the index */
			ftr_put_u32(file + size - 4 * (1 + random_next(&seed) % 16),
				    random_next(&seed), false);
		blocks.nr = 0;
		if (ftr_pack_blocks_list(&blocks, file, size, &damage) < 0)
			blocks.nr = 0;
		for (size_t j = 0; j < blocks.nr; j++) {
			const struct ftr_pack_block *block = &blocks.v[j];

			assert_true(block->bytes > 0 && block->bytes <= FTR_PACK_BLOCK_BYTES);
			assert_true(block->file_at <= size &&
				    block->packed_bytes <= size - block->file_at);
			assert_int_equal(block->at, at);
			at += block->bytes;
		}
		found += blocks.nr;
		free(file);
	}
	assert_true(found > 3000);
	ftr_vec_fini(&blocks);
}

struct reader {
	struct made *made;
	struct uft_packed *packed;
	const uint8_t *data;
	uint64_t seed;
	unsigned wrong_nr;
};

/* Forwards, with jumps; what was pinned before stays until it is passed. */
static void *read_some(void *arg)
{
	struct reader *self = arg;
	struct uft_pins pins = { .packed = self->packed };
	size_t at = 0;

	for (unsigned i = 0; i < 400; i++) {
		size_t nr = random_next(&self->seed) % 200000;

		if (random_next(&self->seed) % 8 == 0)
			at = random_next(&self->seed) % BYTES;
		if (random_next(&self->seed) % 16 == 0)
			uft_pins_release(&pins);
		nr = nr < BYTES - at ? nr : BYTES - at;
		self->wrong_nr += uft_pins_need(&pins, at, at + nr) != 0 ||
				  memcmp(self->data + at, self->made->bytes + at, nr) != 0;
		at = at + nr == BYTES ? 0 : at + nr;
		uft_pins_pass(&pins, at);
	}
	uft_pins_release(&pins);
	return NULL;
}

static void readers_share_it(void **state)
{
	struct made *made = *state;
	struct reader readers[THREADS_NR];
	pthread_t threads[THREADS_NR];
	struct uft_packed *packed;
	struct ftr_diag diag = { 0 };
	unsigned cut_nr = 0;
	struct ftr_istream in;
	struct ftr_err err;

	ftr_istream_from_memory(&in, "1.dat.pack", made->file, made->size);
	assert_int_equal(uft_packed_open(&packed, &in, "1.dat", &diag, &cut_nr, &err), 0);
	assert_string_equal(in.name, "1.dat");
	assert_int_equal(in.size, BYTES);
	for (unsigned i = 0; i < THREADS_NR; i++) {
		readers[i] = (struct reader){ made, packed, in.data, i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, read_some, &readers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS_NR; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(readers[i].wrong_nr, 0);
	}
	assert_int_equal(diag.nr, 0);
	assert_int_equal(cut_nr, 0);
	ftr_istream_close(&in);
	uft_packed_close(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_found),
		cmocka_unit_test(blocks_wait),
		cmocka_unit_test(cut_is_no_damage),
		cmocka_unit_test(damage_is_bounded),
		cmocka_unit_test(readers_share_it),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
