/* SPDX-License-Identifier: MIT */
/* The list of probes with members made here: the smallest there can be, and one that counts. */
#include "tests/unit/unit.h"

#include <unistd.h>

#include "libmcount/libraries.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "utils/record/sections.h"

static struct {
	unsigned starts, programs, libraries, library_starts, updates;
} seen;

void ftr_libraries_start(void)
{
	seen.library_starts++;
}

extern const struct ftr_probe ftr_probe_null, ftr_probe_witness;
const struct ftr_probe ftr_probe_null = { .name = "null" };

static void witness_start(const struct ftr_sections *sections)
{
	assert_int_not_equal(ftr_sections_switch(sections, "witness"), 0);
	assert_int_equal(seen.programs, 0);
	seen.starts++;
}

static void witness_module(const struct ftr_loaded *module, const struct ftr_sections *sections)
{
	assert_int_equal(seen.starts, 1);
	if (module->is_program) {
		assert_true(module->is_lasting);
		assert_non_null(module->dynamic);
		seen.programs++;
	} else {
		seen.libraries++;
	}
}

static void witness_update(uintptr_t low, const struct ftr_sections *sections)
{
	assert_int_equal(low, 0);
	assert_int_equal(seen.programs, seen.starts);	/* after these, if it is on */
	seen.updates++;
}

const struct ftr_probe ftr_probe_witness = {
	.name = "witness",
	.start = witness_start,
	.module = witness_module,
	.update = witness_update,
};

static const struct ftr_sections *switched(uint32_t null, uint32_t witness)
{
	const struct ftr_switch switches[] = { { "null", null }, { "witness", witness } };
	int fd = ftr_sections_memfd(&(struct ftr_sections_part){ FTR_SECTION_SWITCHES, switches,
								 sizeof(switches) }, 1, 0);

	seen = (__typeof__(seen)){ 0 };
	return ftr_sections_map(fd);
}

static void test_list(void **state)
{
	unsigned pos = 0;

	assert_ptr_equal(ftr_probe_next(&pos), &ftr_probe_null);
	assert_ptr_equal(ftr_probe_next(&pos), &ftr_probe_witness);
	assert_null(ftr_probe_next(&pos));
	assert_null(ftr_probe_next(&pos));
}

static void test_off(void **state)
{
	ftr_probes_start(NULL);
	ftr_probes_start(switched(FTR_SWITCH_OFF, FTR_SWITCH_OFF));
	ftr_probes_start(switched(FTR_SWITCH_ON, FTR_SWITCH_OFF));
	assert_int_equal(seen.updates, 1);
	assert_int_equal(seen.starts + seen.programs + seen.library_starts, 0);
}

static void test_on(void **state)
{
	ftr_probes_start(switched(FTR_SWITCH_OFF, FTR_SWITCH_ON));
	assert_int_equal(seen.starts, 1);
	assert_int_equal(seen.programs, 1);
	assert_int_equal(seen.library_starts, 0);
	assert_int_equal(seen.updates, 1);
}

static void test_libraries(void **state)
{
	const struct ftr_sections *both = switched(FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES,
						   FTR_SWITCH_ON);
	const struct ftr_loaded library = { .is_lasting = true };

	ftr_probes_start(both);
	assert_int_equal(seen.library_starts, 1);
	ftr_probes_module(&library, both);
	assert_int_equal(seen.libraries, 1);
	ftr_probes_module(&library, NULL);	/* the recorder has nothing for that one */
	assert_int_equal(seen.libraries, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_on),
		cmocka_unit_test(test_libraries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
