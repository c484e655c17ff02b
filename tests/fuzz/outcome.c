/* SPDX-License-Identifier: MIT */
/* How inputs that fail are kept, and processes that each try some of them started and counted. */
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#define JOBS_MAX 64u

static struct job {
	pid_t pid; /* 0 = free */
	char name[256];
} jobs[JOBS_MAX];
static unsigned running;
static int passed, failed;

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

static struct job *job_of(pid_t pid)
{
	for (unsigned i = 0; i < JOBS_MAX; i++)
		if (jobs[i].pid == pid)
			return &jobs[i];
	return NULL;
}

/* False: there is none to wait for. */
static bool wait_one(void)
{
	int status;
	pid_t pid = wait(&status);
	struct job *job;

	if (pid <= 0)
		return false;
	job = job_of(pid);
	check(job != NULL);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		passed++;
	} else {
		failed++;
		printf(WIFSIGNALED(status) ? "FAIL: %s: killed by signal %d\n" :
					     "FAIL: %s: exit status %d\n",
		       job->name, WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	job->pid = 0;
	running--;
	return true;
}

static unsigned processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	return (unsigned)CPU_COUNT(&set) < JOBS_MAX ? (unsigned)CPU_COUNT(&set) : JOBS_MAX;
}

void fuzz_start(const char *name, int (*run)(const void *arg), const void *arg)
{
	struct job *job;
	pid_t pid;

	while (running >= processors() && wait_one())
		;
	fflush(NULL);
	pid = fork();
	check(pid >= 0);
	if (pid == 0)
		exit(run(arg));
	running++;
	job = job_of(0);
	check(job != NULL);
	job->pid = pid;
	snprintf(job->name, sizeof(job->name), "%s", name);
}

int fuzz_wait(void)
{
	while (wait_one())
		;
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed > 0 || passed == 0;
}
