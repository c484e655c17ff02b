/* SPDX-License-Identifier: MIT */
/* What new images get in LD_PRELOAD, where there are runtimes for two machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmcount/channel.h"
#include "libmcount/environ.h"

#define TOKEN "LD_PRELOAD=/opt/x86_64/ftr/$PLATFORM/libmcount.so"
#define HOST "LD_PRELOAD=/opt/x86_64/ftr/x86_64/libmcount.so"
#define BESIDE "LD_PRELOAD=/opt/x86_64/ftr/i686/libmcount.so"

uint64_t ftr_channel_send(enum ftr_channel_type type, const char *text, const char *more)
{
	return 0;
}

static char channel[] = "FTR_CHANNEL=ftr-1";

static int set_up(void **state)
{
	memset(&ftr_state, 0, sizeof(ftr_state));
	ftr_state.ours[FTR_OURS_CHANNEL] = channel;
	return 0;
}

/* Of @ours an image of which the recorder says @loads, started with @theirs, gets @expected. */
static void assert_gets(const char *ours, uint64_t loads, char *theirs, const char *expected)
{
	char *given[] = { "A=1", theirs, NULL }, list[256];
	const char *got = NULL;
	ftr_strings made;
	size_t i;

	snprintf(list, sizeof(list), "%s", ours);
	ftr_state.ours[FTR_OURS_PRELOAD] = list;
	made = ftr_environ_new(given, loads);
	for (i = 0; made[i] != NULL; i++) {
		if (strncmp(made[i], "LD_PRELOAD=", strlen("LD_PRELOAD=")) == 0)
			got = made[i];
	}
	assert_string_equal(got, expected);
	assert_string_equal(made[0], "A=1");
	ftr_environ_free(made, given);
}

static void test_linker_chooses(void **state)
{
	const uint64_t answers[] = { 0, FTR_CHANNEL_LOADS | FTR_CHANNEL_HOST,
				     FTR_CHANNEL_LOADS | FTR_CHANNEL_BESIDE };
	size_t i;

	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		assert_gets(TOKEN, answers[i], NULL, TOKEN);
		assert_gets(TOKEN, answers[i], "LD_PRELOAD=/a.so", TOKEN ":/a.so");
	}
	atomic_store(&ftr_state.blocked, FTR_SECCOMP_BIT(FTR_SECCOMP_HELPER));
	assert_gets(TOKEN, FTR_CHANNEL_LOADS | FTR_CHANNEL_BESIDE, NULL, TOKEN);
}

/* Behind a filter, where it would die of that; with what probes preload, and what the user does. */
static void test_exec_names(void **state)
{
	atomic_store(&ftr_state.blocked, FTR_SECCOMP_BIT(FTR_SECCOMP_PLATFORM));
	assert_gets(TOKEN, 0, NULL, HOST);
	assert_gets(TOKEN, FTR_CHANNEL_LOADS, NULL, HOST);
	assert_gets(TOKEN, FTR_CHANNEL_LOADS | FTR_CHANNEL_HOST, NULL, HOST);
	assert_gets(TOKEN, FTR_CHANNEL_LOADS | FTR_CHANNEL_BESIDE, NULL, BESIDE);
	assert_gets(TOKEN ":/b/$PLATFORM/libmcount-sync.so", FTR_CHANNEL_BESIDE,
		    "LD_PRELOAD=/x86_64/a.so", BESIDE ":/b/i686/libmcount-sync.so:/x86_64/a.so");
}

/* What was named is named anew, for the other machine or the same. */
static void test_named_before(void **state)
{
	assert_gets(HOST, FTR_CHANNEL_LOADS | FTR_CHANNEL_HOST, NULL, HOST);
	assert_gets(HOST, 0, NULL, HOST);
	assert_gets(HOST, FTR_CHANNEL_LOADS | FTR_CHANNEL_BESIDE, "LD_PRELOAD=/a.so",
		    BESIDE ":/a.so");
	assert_gets(HOST, 0, HOST ":/a.so", HOST ":/a.so");
}

/* A runtime for one machine: wherever it is, the name stays. */
static void test_one_runtime(void **state)
{
	const char *const name = "LD_PRELOAD=/usr/lib/ftr/libmcount.so";

	atomic_store(&ftr_state.blocked, FTR_SECCOMP_BIT(FTR_SECCOMP_PLATFORM));
	assert_gets(name, 0, NULL, name);
	assert_gets(name, FTR_CHANNEL_LOADS | FTR_CHANNEL_HOST, NULL, name);
}

/* Of each purpose that new images are told of, and of one more later. */
static void test_filters_are_told(void **state)
{
	char entry[64] = "FTR_CHANNEL=ftr-1", *value = strchr(entry, '=') + 1;
	uint32_t told, all = 0;
	unsigned i;

	ftr_state.ours[FTR_OURS_CHANNEL] = entry;
	assert_int_equal(ftr_environ_told(value, strlen(value), &told), strlen("ftr-1"));
	assert_int_equal(told, 0);
	for (i = FTR_SECCOMP_PURPOSES; i-- > 0;) {
		if ((FTR_SECCOMP_BIT(i) & FTR_SECCOMP_TOLD) == 0)
			continue;
		all |= FTR_SECCOMP_BIT(i);
		ftr_environ_block(FTR_SECCOMP_BIT(i));
		assert_int_equal(ftr_environ_told(value, strlen(value), &told), strlen("ftr-1"));
		assert_int_equal(told, all);
	}
	assert_int_equal(all, FTR_SECCOMP_TOLD);
	assert_int_equal(strlen(value), strlen("ftr-1") + 3);
}

static void test_has_runtime(void **state)
{
	char dir[] = "/tmp/ftr-environ.XXXXXX", list[256], file[128];

	assert_non_null(mkdtemp(dir));
	ftr_state.ours[FTR_OURS_PRELOAD] = list;
	snprintf(list, sizeof(list), "LD_PRELOAD=%s/$PLATFORM/libmcount.so:%s/none.so", dir, dir);
	assert_false(ftr_environ_has_runtime());
	snprintf(file, sizeof(file), "%s/x86_64", dir);
	assert_int_equal(mkdir(file, 0700), 0);
	snprintf(file, sizeof(file), "%s/x86_64/libmcount.so", dir);
	fclose(fopen(file, "w"));
	assert_true(ftr_environ_has_runtime());
	snprintf(list, sizeof(list), "LD_PRELOAD=%s", file);
	assert_true(ftr_environ_has_runtime());
	unlink(file);
	assert_false(ftr_environ_has_runtime());
	snprintf(file, sizeof(file), "%s/x86_64", dir);
	rmdir(file);
	rmdir(dir);
	ftr_state.ours[FTR_OURS_PRELOAD] = NULL;
	assert_false(ftr_environ_has_runtime());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_linker_chooses, set_up),
		cmocka_unit_test_setup(test_exec_names, set_up),
		cmocka_unit_test_setup(test_named_before, set_up),
		cmocka_unit_test_setup(test_one_runtime, set_up),
		cmocka_unit_test_setup(test_filters_are_told, set_up),
		cmocka_unit_test_setup(test_has_runtime, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
