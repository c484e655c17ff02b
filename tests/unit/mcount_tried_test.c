/* SPDX-License-Identifier: MIT */
/* Which files are run without asking the recorder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmcount/state.h"
#include "libmcount/tried.h"
#include "utils/proto/channel.h"

#define HOST (FTR_CHANNEL_LOADS | FTR_CHANNEL_HOST)
#define BESIDE (FTR_CHANNEL_LOADS | FTR_CHANNEL_BESIDE)

static struct ftr_control control;
static char top[] = "/tmp/ftr-tried.XXXXXX";

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void publish(const char *path, uint32_t machine)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	control.tried[control.tried_nr] = (struct ftr_tried_file){
		.device = st.st_dev, .inode = st.st_ino, .size_bytes = (uint64_t)st.st_size,
		.changed_s = (uint64_t)st.st_ctim.tv_sec,
		.changed_ns = (uint32_t)st.st_ctim.tv_nsec, .machine = machine,
	};
	atomic_fetch_add(&control.tried_nr, 1);
}

static int set_up(void **state)
{
	memset(&ftr_state, 0, sizeof(ftr_state));
	memset(&ftr_self, 0, sizeof(ftr_self));
	memset(&control, 0, sizeof(control));
	ftr_state.control = &control;
	strcpy(strrchr(top, '.'), ".XXXXXX");
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(mkdir("bin", 0755), 0);
	put("known", "one");
	put("bin/other", "other");
	put("unknown", "not one");
	publish("known", FTR_CHANNEL_HOST);
	publish("bin/other", FTR_CHANNEL_BESIDE);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

/* The reply to be, or that it has to be asked for. */
#define ASK UINT64_MAX
static uint64_t look(int dir, const char *path, const char *dirs)
{
	uint64_t loads = 77;

	errno = 5;
	if (!ftr_tried_look(dir, path, dirs, &loads))
		loads = ASK;
	assert_int_equal(errno, 5);
	return loads;
}

static void assert_found(const char *path, uint64_t expected)
{
	assert_int_equal(look(AT_FDCWD, path, NULL), expected);
}

static void test_found(void **state)
{
	char path[64];
	int fd, dir;

	snprintf(path, sizeof(path), "%s/known", top);
	assert_found(path, HOST);
	assert_found("./known", HOST);
	assert_found("bin/../bin/other", BESIDE);
	assert_int_equal(symlink("../known", "bin/link"), 0);
	assert_found("bin/link", HOST);
	assert_found("unknown", ASK);
	assert_found("bin", ASK);
	fd = open("bin/other", O_PATH | O_CLOEXEC);
	dir = open("bin", O_RDONLY | O_CLOEXEC);
	assert_int_equal(look(fd, "", NULL), BESIDE);
	assert_int_equal(look(dir, "other", NULL), BESIDE);
	assert_int_equal(look(dir, "known", NULL), 0);
	assert_int_equal(look(dir, "", NULL), ASK);
	close(fd);
	close(dir);
	assert_int_equal(look(fd, "", NULL), ASK);
	assert_int_equal(chdir("bin"), 0);
	assert_found("./other", BESIDE);
	assert_found("./known", 0);
}

/* exec fails; anything else that is odd is for the recorder to tell. */
static void test_not_there(void **state)
{
	assert_found("nowhere/known", 0);
	assert_found("", 0);
	assert_found("known/known", ASK);
	assert_int_equal(look(AT_FDCWD, "nowhere", "bin:."), ASK);
}

static void test_along_path(void **state)
{
	char room[300];

	assert_int_equal(look(AT_FDCWD, "other", "bin"), BESIDE);
	assert_int_equal(look(AT_FDCWD, "other", "nowhere:bin:/usr/bin"), BESIDE);
	assert_int_equal(look(AT_FDCWD, "known", "nowhere::bin"), HOST);
	assert_int_equal(look(AT_FDCWD, "known", ""), HOST);
	assert_int_equal(look(AT_FDCWD, "known", "bin:"), HOST);
	assert_int_equal(look(AT_FDCWD, "known", "unknown:."), ASK);
	put("bin/known", "another");
	assert_int_equal(look(AT_FDCWD, "known", "bin:."), ASK);
	memset(room, 'a', sizeof(room));
	snprintf(room + 290, 10, ":bin");
	assert_int_equal(look(AT_FDCWD, "other", room), ASK);
	assert_int_equal(look(AT_FDCWD, room, "bin"), ASK);
	memset(room, '/', sizeof(room));
	strcpy(room + 250, "known");	/* from 2 on, with "./", as much as there is room for */
	assert_int_equal(look(AT_FDCWD, room + 1, "."), ASK);
	assert_int_equal(look(AT_FDCWD, room + 2, "."), HOST);
}

/* Whatever is done to a file after it was tried. */
static void test_changed(void **state)
{
	struct ftr_tried_file *file = &control.tried[0];

	assert_found("known", HOST);
	file->changed_ns++;
	assert_found("known", ASK);
	file->changed_ns--, file->changed_s--;
	assert_found("known", ASK);
	file->changed_s++, file->size_bytes++;
	assert_found("known", ASK);
	file->size_bytes--, file->device++;
	assert_found("known", ASK);
	file->device--;
	assert_found("known", HOST);
	usleep(20000);
	assert_int_equal(chmod("known", 04755), 0);
	assert_found("known", ASK);
	usleep(20000);
	assert_int_equal(rename("unknown", "bin/other"), 0);
	assert_found("bin/other", ASK);
}

/* What is not counted yet is not read, and no more than there is room for. */
static void test_numbers(void **state)
{
	uint32_t i;

	control.tried_nr = 1;
	assert_found("bin/other", ASK);
	control.tried_nr = UINT32_MAX;
	assert_found("unknown", ASK);
	control.tried_nr = 2;
	for (i = 2; i < FTR_TRIED_MAX - 1; i++)
		publish("known", 0);
	publish("unknown", FTR_CHANNEL_HOST);
	assert_int_equal(control.tried_nr, FTR_TRIED_MAX);
	assert_found("unknown", HOST);
}

static void test_not_where_asking_is_needed(void **state)
{
	static char late;

	ftr_state.asks_exec = true;
	assert_found("known", ASK);
	ftr_state.asks_exec = false;
	ftr_state.late = (void *)&late;
	assert_found("known", ASK);
	ftr_state.late = NULL;
	atomic_store(&ftr_state.blocked, FTR_SECCOMP_BIT(FTR_SECCOMP_LOOK));
	assert_found("known", ASK);
	assert_found("nowhere", ASK);
	atomic_store(&ftr_state.blocked, FTR_SECCOMP_BIT(FTR_SECCOMP_TRACING));
	assert_found("known", ASK);
	atomic_store(&ftr_state.blocked, FTR_SECCOMP_BIT(FTR_SECCOMP_HELPER));
	assert_found("known", HOST);
	ftr_self.is_refused = true;		/* the nursery cannot keep its name */
	assert_found("known", ASK);
	assert_found("nowhere", 0);
	ftr_self.is_refused = false;
	ftr_self.is_silent = true;
	assert_found("known", ASK);
	ftr_self.is_silent = false;
	ftr_state.control = NULL;
	assert_found("known", ASK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_not_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_along_path, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_not_where_asking_is_needed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
