/* SPDX-License-Identifier: MIT */
/* The table of architectures, and how the host's code uses the GOT. */
#include "tests/unit/unit.h"

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/syscalls.h"

static void the_host_is_listed(void **state)
{
	assert_ptr_equal(ftr_arch_find(ftr_arch_host->elf_machine, ftr_arch_host->elf_class),
			 ftr_arch_host);
	if (!ftr_arch_host->has_runtime)
		skip();
	assert_non_null(ftr_arch_host->next_got_use);
	assert_non_null(ftr_arch_host->callconv);
	assert_ptr_equal(ftr_arch_host->abis, ftr_abis);	/* empty where none is observed */
}

static void members_are_told_apart(void **state)
{
	const struct ftr_arch *arch;
	size_t pos = 0, nr = 0;

	for (; (arch = ftr_arch_next(&pos)) != NULL; nr++) {
		assert_non_null(arch->name);
		assert_non_null(arch->title);
		assert_int_equal(arch->elf_data, ELFDATA2LSB);
		assert_ptr_equal(ftr_arch_find(arch->elf_machine, arch->elf_class), arch);
	}
	assert_true(nr >= 2);
	assert_null(ftr_arch_find(EM_NONE, ELFCLASS64));
	assert_null(ftr_arch_find(EM_X86_64, ELFCLASS32));	/* x32 */
}

static void words_put(uint8_t *code, const uint32_t *words, size_t nr)
{
	for (size_t i = 0; i < 4 * nr; i++)
		code[i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
}

static void rooms_of_aarch64(void **state)
{
	static const struct {
		unsigned room, landing;
		uint32_t size;
		uint32_t words[3];
	} rooms[] = {
		{ 8, 0, 12, { 0xd503201f, 0xd503201f, 0xd503201f } },
		{ 8, 0, 8, { 0xd503201f, 0xd503201f, 0xd65f03c0 } },
		{ 0, 0, 7, { 0xd503201f, 0xd503201f, 0xd65f03c0 } },
		{ 0, 0, 12, { 0xd503201f, 0xd65f03c0, 0xd503201f } },
		{ 0, 4, 12, { 0xd503245f, 0xd503201f, 0xd503201f } },	/* bti c */
		{ 0, 0, 12, { 0x14000008, 0xd503201f, 0xd503201f } },	/* XRay's */
	};
	const struct ftr_arch_patch *patch = ftr_arch_find(EM_AARCH64, ELFCLASS64)->patch;
	uint8_t code[12];
	size_t i;

	for (i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		words_put(code, rooms[i].words, 3);
		if (patch->room(code, rooms[i].size) != rooms[i].room ||
		    patch->landing_bytes(code, rooms[i].size) != rooms[i].landing)
			fail_msg("room %zu", i);
	}
}

/* PLT slots with and without bti, and what only looks like one. */
static void got_uses_of_aarch64(void **state)
{
	static const uint32_t words[] = {
		0xb0000090, 0xf947c611, 0x913e2210, 0xd61f0220,	/* adrp x16, ldr x17, add, br */
		0xd503245f, 0xb0000090, 0xf947ca11, 0x913e4210, 0xd61f0220, 0xd503201f,
		0xb0000080, 0xf947c600,				/* adrp x0, ldr x0 */
		0xb0000090, 0xf947c611, 0xd65f03c0,		/* no branch */
	};
	const struct ftr_arch *arch = ftr_arch_find(EM_AARCH64, ELFCLASS64);
	const uint64_t page = 0x1000 + 0x11000;
	uint8_t bytes[sizeof(words)];
	const struct ftr_code code = { .bytes = bytes, .size = sizeof(bytes), .addr = 0x1000 };
	struct ftr_got_use use;
	size_t pos = 0;

	words_put(bytes, words, sizeof(words) / sizeof(words[0]));
	assert_true(arch->next_got_use(&code, page, page + 0xfff, &pos, &use));
	assert_int_equal(use.at, 0);
	assert_int_equal(use.bytes, 16);
	assert_int_equal(use.entry, page + 0xf88);
	assert_true(use.is_jump && use.is_slot && !use.is_call);
	assert_true(arch->next_got_use(&code, page, page + 0xfff, &pos, &use));
	assert_int_equal(use.at, 16);
	assert_int_equal(use.bytes, 20);
	assert_int_equal(use.entry, page + 0xf90);
	assert_false(arch->next_got_use(&code, page, page + 0xfff, &pos, &use));
}

/* What compilers leave at entries, and what only looks like it. */
static void rooms_of_x86_64(void **state)
{
	static const struct room {
		unsigned room;
		uint32_t size;
		uint8_t code[16];
	} rooms[] = {
		{ 5, 5, { 0x90, 0x90, 0x90, 0x90, 0x90 } },
		{ 0, 4, { 0x90, 0x90, 0x90, 0x90, 0x90 } },
		{ 0, 16, { 0x90, 0x90, 0x90, 0x90, 0x55, 0x90 } },
		{ 5, 16, { 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55 } },
		{ 5, 16, { 0x0f, 0x1f, 0x44, 0x00, 0x08, 0x55 } },
		{ 0, 4, { 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
		{ 8, 16, { 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0, 0xc3 } },
		{ 10, 16, { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0xc3 } },
		{ 9, 16, { 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0xc3 } },
		{ 7, 16, { 0x66, 0x90, 0x66, 0x90, 0x0f, 0x1f, 0x00, 0xc3 } },
		{ 7, 16, { 0x0f, 0x1f, 0x05, 1, 2, 3, 4, 0xc3 } },
		{ 8, 16, { 0x0f, 0x1f, 0x04, 0x25, 1, 2, 3, 4, 0xc3 } },
		{ 0, 16, { 0x0f, 0x1f, 0x48, 0x90, 0x90, 0x90 } },	/* /1: reserved */
		{ 0, 16, { 0xf3, 0x90, 0x90, 0x90, 0x90, 0x90 } },	/* pause */
		{ 0, 16, { 0xe8, 0, 0, 0, 0, 0xc3 } },
		{ 11, 16, { 0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0, 0xc3 } },
		{ 0, 16, { 0xeb, 8, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0, 0xc3 } },
		{ 0, 8, { 0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0, 0xc3 } },
	};
	const struct ftr_arch_patch *patch = ftr_arch_find(EM_X86_64, ELFCLASS64)->patch;
	size_t i;

	for (i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		if (patch->room(rooms[i].code, rooms[i].size) != rooms[i].room)
			fail_msg("room %zu", i);
	}
}

static void before_a_room(void **state)
{
	static const uint8_t code[] = { 0x41, 0x52, 0xf3, 0x0f, 0x1e, 0xfa, 0x55 };
	const struct ftr_arch_patch *patch = ftr_arch_find(EM_X86_64, ELFCLASS64)->patch;

	assert_int_equal(patch->landing_bytes(code + 2, 4), 4);
	assert_int_equal(patch->landing_bytes(code + 2, 3), 0);
	assert_int_equal(patch->landing_bytes(code, 7), 0);
	assert_true(patch->is_entry(code, 0));
	assert_true(patch->is_entry(code, 2));
	assert_true(patch->is_entry(code, 6));
	assert_true(patch->is_entry(code + 2, 4));
	assert_false(patch->is_entry(code, 7));
	assert_false(patch->is_entry(code, 1));
	assert_false(patch->is_entry(code, 5));
}

static void got_uses_of_x86_64(void **state)
{
	static const uint8_t bytes[] = {
		0xf2, 0xff, 0x25, 0xf9, 0x0f, 0, 0,	/* bnd jmp -> 0x2000 */
		0xff, 0x15, 0xf3, 0x0f, 0, 0,			/* call -> 0x2000 */
		0x48, 0x8b, 0x05, 0xf4, 0x0f, 0, 0,		/* mov -> 0x2008 */
		0x48, 0x83, 0x3d, 0xe4, 0x0f, 0, 0, 0,		/* cmp $0: a constant behind it */
		0xff, 0x25, 0, 0, 0,				/* cut off */
	};
	const struct ftr_arch *arch = ftr_arch_find(EM_X86_64, ELFCLASS64);
	const struct ftr_code code = { .bytes = bytes, .size = sizeof(bytes), .addr = 0x1000 };
	struct ftr_got_use use;
	size_t pos = 0;

	assert_true(arch->next_got_use(&code, 0x2000, 0x2008, &pos, &use));
	assert_int_equal(use.at, 1);
	assert_int_equal(use.bytes, 6);
	assert_int_equal(use.entry, 0x2000);
	assert_true(use.is_jump && !use.is_call);
	assert_true(arch->next_got_use(&code, 0x2000, 0x2008, &pos, &use));
	assert_int_equal(use.at, 7);
	assert_int_equal(use.entry, 0x2000);
	assert_true(use.is_call && !use.is_jump);
	assert_true(arch->next_got_use(&code, 0x2000, 0x2008, &pos, &use));
	assert_int_equal(use.entry, 0x2008);
	assert_false(use.is_call || use.is_jump);
	assert_false(arch->next_got_use(&code, 0x2000, 0x2007, &pos, &use));
}

static void got_uses_of_i386(void **state)
{
	static const uint8_t bytes[] = {
		0xff, 0xa3, 0x10, 0, 0, 0,			/* jmp *0x10(%ebx) -> 0x3010 */
		0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0,		/* push, jmp */
		0xf3, 0x0f, 0x1e, 0xfb,				/* endbr32 */
		0xff, 0x25, 0x14, 0x30, 0, 0,			/* jmp *0x3014 */
		0xff, 0xa3, 0xf0, 0xff, 0xff, 0xff,		/* -> 0x2ff0: none of the GOT's */
		0xff, 0xa3, 0, 0, 0,				/* cut off */
	};
	const struct ftr_arch *arch = ftr_arch_find(EM_386, ELFCLASS32);
	struct ftr_code code = {
		.bytes = bytes, .size = sizeof(bytes), .addr = 0x1000, .got = 0x3000,
		.is_plt = true,
	};
	struct ftr_got_use use;
	size_t pos = 0;

	assert_true(arch->next_got_use(&code, 0x300c, 0x3020, &pos, &use));
	assert_int_equal(use.at, 0);
	assert_int_equal(use.entry, 0x3010);
	assert_true(use.is_jump && !use.is_slot);
	assert_true(arch->next_got_use(&code, 0x300c, 0x3020, &pos, &use));
	assert_int_equal(use.at, 20);
	assert_int_equal(use.entry, 0x3014);
	assert_false(arch->next_got_use(&code, 0x300c, 0x3020, &pos, &use));
	code.is_plt = false;	/* other code is full of what looks like that */
	pos = 0;
	assert_false(arch->next_got_use(&code, 0x300c, 0x3020, &pos, &use));
}

static void rooms_of_i386(void **state)
{
	static const uint8_t nops[] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
	static const uint8_t chain[] = { 0x51, 0xf3, 0x0f, 0x1e, 0xfb };
	static const uint8_t other[] = { 0x55, 0x89, 0xe5 };
	const struct ftr_arch *arch = ftr_arch_find(EM_386, ELFCLASS32);

	assert_int_equal(arch->patch->room(nops, sizeof(nops)), 5);
	assert_int_equal(arch->patch->room(nops, 4), 0);
	assert_int_equal(arch->patch->landing_bytes(chain + 1, 4), 4);
	assert_true(arch->patch->is_entry(chain, sizeof(chain)));
	assert_false(arch->patch->is_entry(other, sizeof(other)));
	assert_ptr_equal(ftr_arch_find(EM_X86_64, ELFCLASS64)->beside, arch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_host_is_listed),
		cmocka_unit_test(members_are_told_apart),
		cmocka_unit_test(rooms_of_aarch64),
		cmocka_unit_test(got_uses_of_aarch64),
		cmocka_unit_test(rooms_of_x86_64),
		cmocka_unit_test(before_a_room),
		cmocka_unit_test(got_uses_of_x86_64),
		cmocka_unit_test(got_uses_of_i386),
		cmocka_unit_test(rooms_of_i386),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
