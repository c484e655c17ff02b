/* SPDX-License-Identifier: MIT */
/* XXH64 is what others compute. */
#include "tests/unit/unit.h"

#include <string.h>

#include "utils/base/xxh64.h"

static void known_texts(void **state)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} cases[] = {
		{ "", UINT64_C(0xef46db3751d8e999) },
		{ "a", UINT64_C(0xd24ec4f1a98c6e5b) },
		{ "abc", UINT64_C(0x44bc2cf5ad770999) },
		{ "xxhash", UINT64_C(0x32dd38952c4bc720) },
		{ "Nobody inspects the spammish repetition", UINT64_C(0xfbcea83c8a378bf1) },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(ftr_xxh64(cases[i].text, strlen(cases[i].text)) == cases[i].hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
