/* SPDX-License-Identifier: MIT */
/* Parameters of mangled names: what says nothing is not counted. */
#include "tests/unit/unit.h"

#include "utils/object/param_count.h"

static const struct {
	const char *mangled;
	int nr;
} names[] = {
	{ "_Z1fv", 0 },
	{ "_Z1fi", 1 },
	{ "_Z1gPKcz", 1 },		/* g(char const*, ...) */
	{ "_Z1fz", 0 },			/* f(...) */
	{ "_ZN1T3getEi", 1 },
	{ "_ZNK1T3getEic", 2 },
	{ "_Z4tmplIiET_S0_i", 2 },	/* int tmpl<int>(int, int) */
	{ "_Z1gSt6vectorIiSaIiEESt5arrayIlLm4EESt10unique_ptrIiSt14default_deleteIiEEi", 4 },
	{ "_Z1fPFvicE", 1 },		/* f(void (*)(int, char)) */
	{ "_Z1fDn", 1 },		/* f(decltype(nullptr)) */
	{ "_ZplRK1TS1_", -1 },		/* operator+ */
	{ "_ZZ4mainENKUliE_clEi", -1 },	/* main::{lambda(int)#1}::operator() */
	{ "_ZN12_GLOBAL__N_11fEi", -1 },
	{ "main", -1 },
	{ "_Z", -1 },
	{ "_RNvCs8FuadBBDvY2_3own5total", -1 },
	{ "", -1 },
};

static void params_are_counted(void **state)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int nr = ftr_param_count(names[i].mangled);

		if (nr != names[i].nr)
			fail_msg("%s: %d", names[i].mangled, nr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(params_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
