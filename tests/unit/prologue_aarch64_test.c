/* SPDX-License-Identifier: MIT */
/* Where frames of 64-bit Arm end, by prologues as gcc 12 and clang 14 make them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "arch/aarch64/prologue.h"
#include "arch/aarch64/prologues.h"

#define RET 0xd65f03c0u
#define CALL 0x94000000u
#define STRIP 0xd50320ffu	/* xpaclri */
#define MOV_X0_X30 0xaa1e03e0u

static const struct {
	const char *what;
	uint64_t bytes;
	enum ftr_prologue_sign sign;
	uint32_t words[16];	/* up to the call */
} prologues[] = {
	{ "stp [sp, #-32]!", 32, FTR_SIGN_NONE,
	  { RET, 0xa9be7bfd, 0x910003fd, 0xf9000bf3, STRIP, MOV_X0_X30, CALL } },
	{ "nothing between", 16, FTR_SIGN_NONE, { RET, 0xa9bf7bfd, 0x910003fd, CALL } },
	{ "paciasp", 32, FTR_SIGN_A,
	  { RET, 0xd503233f, 0xa9be7bfd, 0x910003fd, STRIP, MOV_X0_X30, CALL } },
	{ "pacibsp behind bti", 32, FTR_SIGN_B,
	  { RET, 0xd503245f, 0xd503237f, 0xa9be7bfd, 0x910003fd, CALL } },
	{ "mov x12, #0x13b0; sub sp, sp, x12", 0x13b0, FTR_SIGN_A,
	  { RET, 0xd503233f, 0xd282760c, 0xcb2c63ff, 0xa9007bfd, 0x910003fd, 0x6d0127e8,
	    0x1e604009, STRIP, MOV_X0_X30, CALL } },
	{ "probes", 0x11180, FTR_SIGN_A,
	  { RET, 0xd503233f, 0xd14043ff, 0xf90203ff, 0xd282300c, 0xcb2c63ff, 0xa9007bfd,
	    0x910003fd, STRIP, MOV_X0_X30, CALL } },
	{ "two constants", 0x4ad80, FTR_SIGN_NONE,
	  { RET, 0xd13603ff, 0xd1412bff, 0xa9007bfd, 0x910003fd, 0xa90153f3, CALL } },
	{ "clang: other registers first, and a large frame below", 32, FTR_SIGN_NONE,
	  { RET, 0x6dbd23e9, 0xa9017bfd, 0x910043fd, 0xf90013fc, 0xd14007ff, 0xd10e43ff,
	    0x1e604028, CALL } },
	{ "clang: the record comes first", 32, FTR_SIGN_NONE,
	  { RET, 0xa9be7bfd, 0xf9000bf3, 0x910003fd, 0xd10303ff, 0x2a0003f3, CALL } },
	{ "behind a function that does not return", 0x1010, FTR_SIGN_NONE,
	  { 0xd10083ff, 0xd4207d00, 0xd282020c, 0xcb2c63ff, 0xa9007bfd, 0x910003fd, CALL } },
	{ "a loop of probes", 0, FTR_SIGN_NONE,
	  { RET, 0xd14043ff, 0xf90203ff, 0x54ffffc1, 0xa9007bfd, 0x910003fd, CALL } },
	{ "many instructions behind it", 32, FTR_SIGN_A,
	  { RET, 0xd503233f, 0xa9be7bfd, 0x910003fd, 0xa90153f3, 0xaa0103f4, 0x2a0003f3, 0x2a0003f5,
	    0x2a0003f6, STRIP, MOV_X0_X30, CALL } },
	{ "no frame pointer", 0, FTR_SIGN_NONE, { RET, 0xa9be7bfd, 0xf9000bf3, CALL } },
	{ "a register of unknown origin", 0, FTR_SIGN_NONE,
	  { RET, 0xf940000c, 0xcb2c63ff, 0xa9007bfd, 0x910003fd, CALL } },
};

static void test_prologues(void **state)
{
	size_t i, nr;

	for (i = 0; i < sizeof(prologues) / sizeof(prologues[0]); i++) {
		uint32_t code[FTR_PROLOGUE_MAX + 32];
		struct ftr_prologue found;

		memset(code, 0, sizeof(code));
		for (nr = 0; prologues[i].words[nr] != CALL; nr++)
			;
		memcpy(code + FTR_PROLOGUE_MAX, prologues[i].words, (nr + 1) * sizeof(uint32_t));
		found = ftr_arch_prologue((uintptr_t)&code[FTR_PROLOGUE_MAX + nr + 1]);
		if (found.bytes != prologues[i].bytes ||
		    (found.bytes != 0 && found.sign != prologues[i].sign))
			fail_msg("%s: %llu bytes, sign %d", prologues[i].what,
				 (unsigned long long)found.bytes, (int)found.sign);
	}
}

/* A page of code, and where the prologue of @nr instructions is called from in it. */
#define PAGE_WORDS 1024
#define CALL_WORD 512
static uint32_t page[PAGE_WORDS] __attribute__((aligned(4096)));
static struct ftr_prologues_entry entries[FTR_PROLOGUES_NR];

static uintptr_t code_put(size_t i, unsigned at)
{
	size_t nr;

	memset(page, 0, sizeof(page));
	for (nr = 0; prologues[i].words[nr] != CALL; nr++)
		;
	memcpy(page + at - nr, prologues[i].words, (nr + 1) * sizeof(uint32_t));
	return (uintptr_t)&page[at + 1];
}

/* What is found is what the code says, or nothing. */
static void assert_true_or_unknown(const char *what, uintptr_t call)
{
	uint64_t said = ftr_prologues_find(entries, call);
	struct ftr_prologue prologue = ftr_arch_prologue(call);

	if (said != 0 && (said & ~(uint64_t)FTR_PROLOGUES_FAR) != ftr_prologues_word(prologue))
		fail_msg("%s: %llx is kept of %llu bytes, sign %d", what, (unsigned long long)said,
			 (unsigned long long)prologue.bytes, (int)prologue.sign);
}

static void test_kept(void **state)
{
	size_t i, nr_kept = 0;

	for (i = 0; i < sizeof(prologues) / sizeof(prologues[0]); i++) {
		uintptr_t call = code_put(i, CALL_WORD);

		memset(entries, 0, sizeof(entries));
		assert_int_equal(ftr_prologues_find(entries, call), 0);
		ftr_prologues_add(entries, call);
		assert_true_or_unknown(prologues[i].what, call);
		nr_kept += ftr_prologues_find(entries, call) != 0;
		if (prologues[i].bytes == 0)
			assert_int_equal(ftr_prologues_find(entries, call), 0);
	}
	assert_int_equal(nr_kept, 11);	/* all that are understood */
}

/* Other code at the place of what was kept: each instruction is exchanged for each that matters. */
static void test_replaced(void **state)
{
	static const uint32_t others[] = { RET, 0, CALL, STRIP, MOV_X0_X30, 0xa9be7bfd, 0xa9bd7bfd,
					   0x910003fd, 0x910043fd, 0xd503233f, 0xd503237f,
					   0xd503201f, 0xd10083ff, 0xd282760c, 0xcb2c63ff };
	size_t i, at, k;

	for (i = 0; i < sizeof(prologues) / sizeof(prologues[0]); i++) {
		uintptr_t call = code_put(i, CALL_WORD);

		memset(entries, 0, sizeof(entries));
		ftr_prologues_add(entries, call);
		for (at = CALL_WORD - FTR_PROLOGUE_MAX; at < CALL_WORD; at++) {
			uint32_t kept = page[at];

			for (k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
				page[at] = others[k];
				assert_true_or_unknown(prologues[i].what, call);
			}
			page[at] = kept;
		}
		for (k = 0; k < sizeof(prologues) / sizeof(prologues[0]); k++)
			assert_true_or_unknown(prologues[k].what, code_put(k, CALL_WORD));
	}
}

/* Not filled yet, as a handler finds it; and where what would be kept begins in another page. */
static void test_not_kept(void **state)
{
	uintptr_t call = code_put(0, CALL_WORD), early;

	memset(entries, 0, sizeof(entries));
	entries[ftr_prologues_index(call)].said = FTR_PROLOGUES_BUSY;
	ftr_prologues_add(entries, call);
	assert_int_equal(ftr_prologues_find(entries, call), 0);
	early = code_put(0, 8);
	ftr_prologues_add(entries, early);
	assert_int_equal(entries[ftr_prologues_index(early)].said, 0);
}

static void test_calls(void **state)
{
	static const uint32_t code[] __attribute__((aligned(4096))) = {
		CALL, RET, 0xd63f0020, 0xd73f0a11, 0xd61f0020,
	};

	assert_false(ftr_arch_is_call((uintptr_t)&code[0]));
	assert_true(ftr_arch_is_call((uintptr_t)&code[1]));
	assert_false(ftr_arch_is_call((uintptr_t)&code[2]));
	assert_true(ftr_arch_is_call((uintptr_t)&code[3]));
	assert_true(ftr_arch_is_call((uintptr_t)&code[4]));
	assert_false(ftr_arch_is_call((uintptr_t)&code[4] + 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prologues),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_not_kept),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
