/* SPDX-License-Identifier: MIT */
/* Scratch directories and commands for the tests of utils/object. */
#include "tests/unit/unit.h"
#include "tests/unit/object_util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int object_dir_setup(void **state)
{
	static char dir[64];

	strcpy(dir, "/tmp/ftr-object-XXXXXX");
	if (mkdtemp(dir) == NULL || chdir(dir) < 0)
		return -1;
	*state = dir;
	return 0;
}

int object_dir_teardown(void **state)
{
	char command[128];

	if (chdir("/") < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -rf '%s'", (const char *)*state);
	return system(command);
}

void object_write(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

char *object_read(const char *path, size_t *len)
{
	FILE *file = fopen(path, "r");
	struct stat st;
	char *bytes;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, file), st.st_size);
	fclose(file);
	*len = (size_t)st.st_size;
	return bytes;
}

void object_run(const char *fmt, ...)
{
	char command[1024];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	assert_in_range(len, 1, sizeof(command) - 1);
	if (system(command) != 0)
		fail_msg("this command failed: %s", command);
}

int object_have(const char *program)
{
	char command[128];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
	return system(command) == 0;
}
