/* SPDX-License-Identifier: MIT */
/* How inputs that fail are kept, and processes that each try some of them counted. */
#include <stdio.h>
#include <sys/wait.h>

#include "tests/fuzz/fuzz.h"

static const uint8_t *input;
static size_t input_bytes;

void fuzz_keep(const uint8_t *data, size_t size)
{
	input = data;
	input_bytes = size;
}

_Noreturn void fuzz_fail(const char *what, const char *file, int line)
{
	const char *path = getenv("FUZZ_KEEP");
	FILE *out = path != NULL ? fopen(path, "wb") : NULL;

	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	if (out != NULL && fwrite(input, 1, input_bytes, out) == input_bytes)
		fclose(out);
	abort();
}

int fuzz_wait(void)
{
	int passed = 0, failed = 0, status;

	while (wait(&status) > 0) {
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			passed++;
		else
			failed++;
		if (WIFSIGNALED(status))
			printf("killed by signal %d\n", WTERMSIG(status));
	}
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed > 0 || passed == 0;
}
