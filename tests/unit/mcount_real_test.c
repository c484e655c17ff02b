/* SPDX-License-Identifier: MIT */
/* What stands behind an interposed function: the same as dlsym(RTLD_NEXT) finds. */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libmcount/plt_bind.h"
#include "libmcount/state.h"

struct ftr_state ftr_state;

void *ftr_plt_map_of(const void *addr)
{
	void *map = NULL;
	Dl_info info;

	return dladdr1(addr, &info, &map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

/* The program's own: what is behind it is libc's. */
void *reallocarray(void *memory, size_t nr, size_t bytes)
{
	return realloc(memory, nr * bytes);
}

static void assert_same(const char *name)
{
	void *wanted = dlsym(RTLD_NEXT, name), *found = ftr_real_find(name);

	if (found != wanted)
		fail_msg("%s: %p, dlsym says %p", name, found, wanted);
}

static void test_as_dlsym(void **state)
{
	static const char *const names[] = {
		"malloc", "free", "posix_memalign", "reallocarray", "system", "clone",
		"memcpy", "strlen", "strchr", "gettimeofday", "time",	/* indirect functions */
		"realpath", "regexec", "posix_spawn", "pthread_cond_wait", "glob", "exp", "pow",
		"dlopen", "__tls_get_addr", "_dl_find_object",
		"mcount", "__errno_location", "environ_that_is_not", "errno",
	};

	assert_non_null(dlsym(RTLD_NEXT, "reallocarray"));
	assert_ptr_not_equal(ftr_real_find("reallocarray"), (void *)reallocarray);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], "errno") == 0)
			assert_null(ftr_real_find(names[i]));	/* a variable of each thread */
		else
			assert_same(names[i]);
	}
}

static void test_every_real(void **state)
{
	ftr_state.real = (struct ftr_real){ 0 };
	ftr_real_start();
#define FTR_REAL(name) \
	assert_non_null(ftr_state.real.name); \
	assert_ptr_equal(ftr_state.real.name, dlsym(RTLD_NEXT, #name));
#include "libmcount/reals.def"
#undef FTR_REAL
}

/* Each library finds what comes after it. */
static void test_after_a_library(void **state)
{
	struct link_map *libc = ftr_plt_map_of((void *)gnu_get_libc_version);

	assert_non_null(libc);
	assert_null(ftr_real_after(libc->l_ld, "malloc"));
	assert_ptr_equal(ftr_real_after(&ftr_state, "malloc"), ftr_real_find("malloc"));
	assert_null(ftr_real_after((void *)0x10, "malloc"));	/* in no library */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_dlsym),
		cmocka_unit_test(test_every_real),
		cmocka_unit_test(test_after_a_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
