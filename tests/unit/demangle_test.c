/* SPDX-License-Identifier: MIT */
/* Names as people read them; the simple C++ ones are those that uftrace prints. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "utils/object/demangle.h"

static const struct name_case {
	const char *mangled;
	const char *simple;
} simple_cases[] = {
	{ "main", "main" },
	{ "", "" },
	{ "_", "_" },
	{ "_Z", "_Z" },
	{ "_ZN", "_ZN" },
	{ "_Zfoo", "_Zfoo" },
	{ "_D", "_D" },
	{ "_R", "_R" },
	{ "_start", "_start" },
	{ "foo.constprop.0", "foo.constprop.0" },
	{ "_Z3fooi.constprop.0", "foo" },
	{ "_Z3fooi.isra.0.cold", "foo" },
	{ "_ZThn8_N1B1fEv", "B::f" },
	{ "_ZTv0_n24_N1B1fEv", "B::f" },
	{ "_ZN2ns3FooIdE3getEv", "ns::Foo::get" },
	{ "_ZNK2ns3FooIiEltERKS1_", "ns::Foo::operator<" },
	{ "_ZN2ns3FooIiEC1Ei", "ns::Foo::Foo" },
	{ "_ZN2ns3FooIiED0Ev", "ns::Foo::~Foo" },
	{ "_ZN2ns3FooIiEcvSt6vectorIiSaIiEEEv", "ns::Foo::operator(cast)" },
	{ "_ZN3FoodaEPv", "Foo::operator delete[]" },
	{ "_ZN3FoonwEm", "Foo::operator new" },
	{ "_ZN3FooixEi", "Foo::operator[]" },
	{ "_ZZ4mainENKUliE0_clEi", "main::$_1::operator()" },
	{ "_ZZL3lociENKUlT_E0_clIdEEDaS_", "loc::$_1::operator()" },
	{ "_ZZZN3FooC1EvENKUlvE_clEvENKUliE_clEi", "Foo::Foo::$_0::operator()::$_0::operator()" },
	{ "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo" },
	{ "_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector::size" },
	{ "_ZNSolsEi", "std::basic_ostream::operator<<" },
	{ "_ZNSaIcEC1Ev", "std::allocator::allocator" },
	{ "_ZN3Foo1fB5cxx11Ev", "Foo::f::cxx11" },
	{ "_Zli2_xy", "operator\"\"" },
	{ "_ZN3FooUt_1fEv", "Foo::f" },
	{ "_ZTW3foo", "TLS_wrap::foo" },
	{ "_GLOBAL__sub_I__Z3foov", "_GLOBAL__sub_I_foo" },
	{ "_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main" },
	{ "_ZTV3Foo", "vtable for Foo" },
	{ "_ZN4core3fmt9Formatter9write_fmt17h0123456789abcdefE",
	  "core::fmt::Formatter::write_fmt" },
	{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
	{ "_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of" },
	{ "_RNvXs0_Cs1_3fooINtB5_3BarhENtB5_5Trait1f", "<foo::Bar<u8> as foo::Trait>::f" },
	{ "_D4main3fooFiZv", "main.foo" },
	{ "_D4main__T3barTiZQhFiZi", "main.bar.bar" },
};

static void expect(const char *mangled, enum ftr_demangle style, const char *text)
{
	char *name = ftr_demangle(mangled, style);

	assert_non_null(name);
	assert_string_equal(name, text);
	free(name);
}

static void simple_names(void **state)
{
	for (size_t i = 0; i < sizeof(simple_cases) / sizeof(simple_cases[0]); i++)
		expect(simple_cases[i].mangled, FTR_DEMANGLE_SIMPLE, simple_cases[i].simple);
}

static void full_names(void **state)
{
	expect("main", FTR_DEMANGLE_FULL, "main");
	expect("_Z", FTR_DEMANGLE_FULL, "_Z");
	expect("_ZN2ns3FooIiEC1Ei", FTR_DEMANGLE_FULL, "ns::Foo<int>::Foo(int)");
	expect("_ZNK2ns3FooIdE3getEv", FTR_DEMANGLE_FULL, "ns::Foo<double>::get() const");
	expect("_ZN12_GLOBAL__N_13fooEv", FTR_DEMANGLE_FULL, "(anonymous namespace)::foo()");
	expect("_RINvNtC3std3mem8align_ofjdE", FTR_DEMANGLE_FULL,
	       "std::mem::align_of::<usize, f64>");
	expect("_D4main3fooFiZv", FTR_DEMANGLE_FULL, "main.foo(int)");
}

static void mangled_names(void **state)
{
	for (size_t i = 0; i < sizeof(simple_cases) / sizeof(simple_cases[0]); i++)
		expect(simple_cases[i].mangled, FTR_DEMANGLE_NO, simple_cases[i].mangled);
}

static void cut_names_are_survived(void **state)
{
	char name[200];

	for (size_t i = 0; i < sizeof(simple_cases) / sizeof(simple_cases[0]); i++) {
		for (size_t len = 0; len < strlen(simple_cases[i].mangled); len++) {
			memcpy(name, simple_cases[i].mangled, len);
			name[len] = '\0';
			free(ftr_demangle(name, FTR_DEMANGLE_SIMPLE));
			free(ftr_demangle(name, FTR_DEMANGLE_FULL));
		}
	}
}

/* Nested or long beyond reason: any answer, in bounded time and stack. */
static void absurd_names_are_survived(void **state)
{
	static const char *const parts[] = { "N", "1a", "I", "P", "S_", "UlvE_", "ZN1aEE", "Dp" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t part_len = strlen(parts[i]);
		char *name = malloc(3 + 20000 * part_len + 1);
		char *text;

		assert_non_null(name);
		strcpy(name, "_ZN");
		for (size_t k = 0; k < 20000; k++)
			memcpy(name + 3 + k * part_len, parts[i], part_len);
		name[3 + 20000 * part_len] = '\0';
		text = ftr_demangle(name, FTR_DEMANGLE_SIMPLE);
		assert_non_null(text);
		free(text);
		name[1] = 'R';
		free(ftr_demangle(name, FTR_DEMANGLE_SIMPLE));
		name[1] = 'D';
		free(ftr_demangle(name, FTR_DEMANGLE_SIMPLE));
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple_names),
		cmocka_unit_test(full_names),
		cmocka_unit_test(mangled_names),
		cmocka_unit_test(cut_names_are_survived),
		cmocka_unit_test(absurd_names_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
