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
	assert_non_null(ftr_arch_host->next_got_use);
	assert_ptr_equal(ftr_arch_host->abis, ftr_abis);
	assert_non_null(ftr_abis[0].name);
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

/* The smallest member: looked at by name, never traced. */
static void a_member_may_have_a_name_alone(void **state)
{
	const struct ftr_arch *arm = ftr_arch_find(EM_AARCH64, ELFCLASS64);

	assert_string_equal(arm->name, "aarch64");
	assert_null(arm->abis);
	assert_null(arm->next_got_use);
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
	const struct ftr_code code = { bytes, sizeof(bytes), 0x1000 };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_host_is_listed),
		cmocka_unit_test(members_are_told_apart),
		cmocka_unit_test(a_member_may_have_a_name_alone),
		cmocka_unit_test(got_uses_of_x86_64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
