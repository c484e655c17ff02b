/* SPDX-License-Identifier: MIT */
/* The table of architectures, and how the host's code uses the GOT. */
#include "tests/unit/unit.h"

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/syscalls.h"
#include "arch/x86_64/ticks.h"

static void the_host_is_listed(void **state)
{
	assert_ptr_equal(ftr_arch_find(ftr_arch_host->elf_machine, ftr_arch_host->elf_class),
			 ftr_arch_host);
	if (!ftr_arch_host->has_runtime)
		skip();
	assert_non_null(ftr_arch_host->next_got_use);
	assert_non_null(ftr_arch_host->callconv);
	assert_non_null(ftr_arch_host->ticks_agree);
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

static void ticks_of_x86_64(void **state)
{
	static const char hyperv[] = "hyperv_clocksource_tsc_page\n";
	static uint32_t clocks[2048];	/* pages, as hypervisors lay them out */
	uint8_t *at = (uint8_t *)clocks;

	clocks[0] = 172;		/* the version */
	clocks[6] = 0xf423eb12;
	clocks[7] = 0x000001ff;		/* shift -1, stable */
	clocks[1024] = 1;		/* the sequence */
	clocks[1027] = 0x80000000;
	assert_true(ftr_arch_ticks_are_alike("tsc\n", NULL));
	assert_true(ftr_arch_ticks_are_alike("kvm-clock\n", at));
	assert_true(ftr_arch_ticks_are_alike("xen\n", at));
	assert_true(ftr_arch_ticks_are_alike(hyperv, at));
	assert_false(ftr_arch_ticks_are_alike("hpet\n", at));
	assert_false(ftr_arch_ticks_are_alike("", at));
	clocks[7] = 0x0000feff;		/* all flags but the one */
	clocks[1024] = 0;
	assert_false(ftr_arch_ticks_are_alike("kvm-clock\n", at));
	assert_false(ftr_arch_ticks_are_alike("xen\n", at));
	assert_false(ftr_arch_ticks_are_alike(hyperv, at));
	clocks[7] = 0x000001ff;
	clocks[0] = 0;			/* it was never written */
	assert_false(ftr_arch_ticks_are_alike("kvm-clock\n", at));
	/* No mapping, no page. */
	assert_false(ftr_arch_ticks_are_alike("kvm-clock\n", NULL));
	assert_false(ftr_arch_ticks_are_alike("kvm-clock\n", (const uint8_t *)4096));
	assert_false(ftr_arch_ticks_are_alike(hyperv, (const uint8_t *)4096));
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
		uint32_t words[8];
	} rooms[] = {
		{ 8, 0, 12, { 0xd503201f, 0xd503201f, 0xd503201f } },
		{ 8, 0, 8, { 0xd503201f, 0xd503201f, 0xd65f03c0 } },
		{ 0, 0, 7, { 0xd503201f, 0xd503201f, 0xd65f03c0 } },
		{ 0, 0, 12, { 0xd503201f, 0xd65f03c0, 0xd503201f } },
		{ 0, 4, 12, { 0xd503245f, 0xd503201f, 0xd503201f } },	/* bti c */
		/* XRay's, cut off, and what is none */
		{ 32, 0, 32, { 0x14000008, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f,
			       0xd503201f, 0xd503201f, 0xd503201f } },
		{ 0, 0, 28, { 0x14000008, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f,
			      0xd503201f, 0xd503201f, 0xd503201f } },
		{ 0, 0, 32, { 0x14000008, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f,
			      0xd503201f, 0xd503201f, 0xd65f03c0 } },
	};
	const struct ftr_arch_patch *patch = ftr_arch_find(EM_AARCH64, ELFCLASS64)->patch;
	uint8_t code[32];
	size_t i;

	for (i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		words_put(code, rooms[i].words, 8);
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

/* What got_uses tells of one entry. */
struct told {
	unsigned calls, jumps, others;
	size_t last_at;
};

#define ENTRY_NR 512
#define GOT_PAGE UINT64_C(0x1f000)

static void use_told(void *arg, const struct ftr_code *code, const struct ftr_got_use *use)
{
	struct told *told = arg;

	assert_true(use->entry - GOT_PAGE < 8 * ENTRY_NR && use->entry % 8 == 0);
	told += (use->entry - GOT_PAGE) / 8;
	if (use->is_call)
		told->calls++;
	else if (use->is_jump)
		told->jumps++;
	else
		told->others++;
	told->last_at = use->at;
}

#define ADRP(reg) (0xf00000e0u | (reg))		/* from page 0x0 to 0x1f000 */
#define LDR(to, from, entry) (0xf9400000u | (entry) << 10 | (from) << 5 | (to))
#define BLR(reg) (0xd63f0000u | (reg) << 5)
#define BR(reg) (0xd61f0000u | (reg) << 5)
#define RET 0xd65f03c0u
#define MOV(to, from) (0xaa0003e0u | (from) << 16 | (to))

/* Code without a PLT, from address 0 on: what becomes of entry 1, by ways that compilers take. */
static void got_of_aarch64_by_registers(void **state)
{
	static const struct {
		unsigned calls, jumps, others;
		uint32_t words[10];
	} ways[] = {
		{ 1, 0, 0, { ADRP(1), LDR(1, 1, 1), BLR(1), RET } },
		{ 1, 0, 0, { ADRP(8), LDR(9, 8, 1), MOV(0, 19), BLR(9), RET } },
		{ 0, 1, 0, { ADRP(16), LDR(16, 16, 1), BR(16) } },
		{ 1, 0, 0, { 0xd503201fu, ADRP(3), LDR(3, 3, 1), BLR(3), RET } },
		/* callee-saved, in a loop: blr x20; sub w19, w19, #1; cbnz w19, -8; ldp x19, x20 */
		{ 1, 0, 0, { ADRP(20), LDR(20, 20, 1), BLR(20), 0x51000673u, 0x35ffffd3u,
			     0xa94153f3u, RET } },
		/* is there a function at all? cbz x1, +8 */
		{ 1, 0, 0, { ADRP(1), LDR(1, 1, 1), 0xb4000041u, BLR(1), RET } },
		/* the page is used for two entries */
		{ 1, 0, 0, { ADRP(19), LDR(1, 19, 1), BLR(1), LDR(2, 19, 2), BLR(2),
			     0xf94007f3u, RET } },
		/* an argument, a return value, stored, compared, copied, and on the other way */
		{ 0, 0, 1, { ADRP(1), LDR(1, 1, 1), 0x97ffff00u, RET } },
		{ 0, 0, 1, { ADRP(0), LDR(0, 0, 1), RET } },
		{ 0, 0, 1, { ADRP(1), LDR(1, 1, 1), 0xf9000261u, MOV(1, 2), RET } },
		{ 0, 0, 1, { ADRP(1), LDR(1, 1, 1), 0xeb02003fu, MOV(1, 2), RET } },
		{ 1, 0, 1, { ADRP(9), LDR(9, 9, 1), MOV(20, 9), BLR(9), RET } },
		{ 1, 0, 1, { ADRP(9), LDR(9, 9, 1), 0x34000082u, BLR(9), RET, RET,
			     0xf9000269u, MOV(9, 2), RET } },
		{ 0, 0, 1, { ADRP(3), LDR(3, 3, 1), MOV(0, 3), BR(16) } },
		/* its address is made, the page's is stored */
		{ 0, 0, 1, { ADRP(1), 0x91002021u, RET } },
		{ 0, 0, 1, { ADRP(1), 0xf9000261u, MOV(1, 2), RET } },
		/* other data of the page: ldr w0, str x0, ldr d0 */
		{ 0, 0, 0, { ADRP(1), 0xb9400820u, 0xf9000820u, 0xfd400820u, RET } },
		/* tiny code: ldr x1, GOT_PAGE + 8 */
		{ 1, 0, 0, { 0x580f8041u, BLR(1), RET } },
	};
	const struct ftr_arch *arch = ftr_arch_find(EM_AARCH64, ELFCLASS64);
	struct told told[ENTRY_NR];
	uint8_t bytes[40];
	const struct ftr_code code = { .bytes = bytes, .size = sizeof(bytes) };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		memset(told, 0, sizeof(told));
		words_put(bytes, ways[i].words, 10);
		assert_int_equal(arch->got_uses(&code, GOT_PAGE, GOT_PAGE + 8 * ENTRY_NR - 8,
						use_told, told), 0);
		if (told[1].calls != ways[i].calls || told[1].jumps != ways[i].jumps ||
		    (told[1].others != 0) != (ways[i].others != 0))
			fail_msg("way %zu: %u calls, %u jumps, %u others", i, told[1].calls,
				 told[1].jumps, told[1].others);
	}
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
		cmocka_unit_test(ticks_of_x86_64),
		cmocka_unit_test(rooms_of_aarch64),
		cmocka_unit_test(got_uses_of_aarch64),
		cmocka_unit_test(got_of_aarch64_by_registers),
		cmocka_unit_test(rooms_of_x86_64),
		cmocka_unit_test(before_a_room),
		cmocka_unit_test(got_uses_of_x86_64),
		cmocka_unit_test(got_uses_of_i386),
		cmocka_unit_test(rooms_of_i386),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
