/* SPDX-License-Identifier: MIT */
/*
 * The recorder's replies to every kind of message, and what they leave in the data directory.  The
 * sender is the test itself, or made up; at the end a real program with libmcount.so.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmcount/sections.h"
#include "tests/unit/object_util.h"
#include "tests/unit/section_util.h"
#include "utils/record/perf_ring.h"
#include "utils/record/recorder_state.h"

#define USER_ELSE 12345u
#define PID_NONE 0x3fffffff	/* above every pid_max */

static char warnings[4096];

static void warn(void *arg, const char *text)
{
	size_t len = strlen(warnings);

	snprintf(warnings + len, sizeof(warnings) - len, "%s\n", text);
}

static struct ftr_diag diag = { .warn = warn };
static struct ftr_program program;
static struct ftr_recorder_result result;
static struct ftr_recorder_options options;
static struct section_options sections;
static struct ftr_recorder recorder;
static struct ftr_recorder_reply reply;

static int start(void **state)
{
	struct ftr_err err = { 0 };

	warnings[0] = '\0';
	diag.nr = 0;
	memset(&recorder, 0, sizeof(recorder));
	memset(&result, 0, sizeof(result));
	sections = (struct section_options){ 0 };
	section_options_add(&sections, "--force");
	options = (struct ftr_recorder_options){
		.dir = "d",
		.program = &program,
		.runtime = "libmcount.so",
		.clock = ftr_clock_find("mono"),
		.ring_bytes = 65536,
		.stack_max = 1024,
		.sections = &sections.given,
		.thread_nr = 1,
		.cmdline = "test",
		.version = "test",
		.diag = &diag,
	};
	recorder.options = &options;
	recorder.result = &result;
	recorder.signal_fd = -1;
	recorder.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	recorder.processes.epoll_fd = recorder.epoll_fd;
	return ftr_recorder_open(&recorder, &err);
}

static int stop(void **state)
{
	ftr_collectors_close(&recorder.collectors);
	ftr_modules_fini(&recorder.modules);
	ftr_recorder_close(&recorder);
	return 0;
}

static void message(uint32_t type, const char *path)
{
	recorder.request = (struct ftr_channel_request){
		.message = {
			.magic = FTR_CHANNEL_MAGIC, .type = type, .pid = getpid(), .tid = getpid(),
			.path_bytes = (uint32_t)strlen(path),
		},
		.sock = -1, .pid = getpid(), .uid = geteuid(),
	};
	snprintf(recorder.request.path, sizeof(recorder.request.path), "%s", path);
}

/* What recorder.request is answered with; true = it is not refused. */
static bool answered(void)
{
	ftr_recorder_answer(&recorder, &reply);
	ftr_recorder_answered(&recorder, &reply, true);
	return reply.refusal.code == 0;
}

static bool answered_to(uint32_t type, const char *path)
{
	message(type, path);
	return answered();
}

/* How often it says @text. */
static unsigned line_nr(const char *file, const char *text)
{
	size_t len;
	char *content = object_read(file, &len), *at = content;
	unsigned nr = 0;

	while ((at = memmem(at, len - (size_t)(at - content), text, strlen(text))) != NULL) {
		at++;
		nr++;
	}
	free(content);
	return nr;
}

static bool has_line(const char *file, const char *text)
{
	return line_nr(file, text) != 0;
}

static const struct ftr_sections *sections_in(unsigned fd)
{
	return reply.fd_nr > fd ? ftr_sections_map(dup(reply.fds[fd])) : NULL;
}

static void test_session(void **state)
{
	char exe[PATH_MAX] = "";
	const struct ftr_process *process;
	uint32_t bytes;

	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_true(answered_to(FTR_CHANNEL_SESSION, "/not/what/it/is"));
	assert_int_equal(reply.base, FTR_CHANNEL_ATTACH_NOW);
	assert_int_not_equal(reply.time, 0);
	assert_int_equal(reply.fd_nr, 2);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, reply.fds[0], 0),
			 MAP_FAILED);		/* the control block is only for reading */
	assert_non_null(ftr_sections_find(sections_in(1), FTR_SECTION_LIBCALLS, &bytes));
	assert_int_equal(ftr_sections_switch(sections_in(1), "plt"), FTR_SWITCH_ON);
	assert_int_equal(ftr_sections_switch(sections_in(1), "name"), FTR_SWITCH_OFF);
	process = ftr_process_find(&recorder.processes, getpid());
	assert_non_null(process);
	assert_int_equal(strlen(process->image.sid), 16);
	assert_int_equal(result.sessions, 1);
	assert_true(has_line("d/task.txt", exe));
	assert_true(has_line("d/task.txt", process->image.sid));
	assert_int_equal(atomic_load(&recorder.control.map->answered), 1);
}

static void test_session_with_task(void **state)
{
	char line[64];

	assert_true(answered_to(FTR_CHANNEL_SESSION | FTR_CHANNEL_WITH_TASK, ""));
	assert_int_equal(reply.base & ~(~UINT64_C(0) << FTR_CHANNEL_RING_SHIFT),
			 FTR_CHANNEL_ATTACH_NOW);
	assert_int_not_equal(reply.base >> FTR_CHANNEL_RING_SHIFT, 0);
	assert_int_equal(reply.fd_nr, 3);
	assert_int_equal(reply.tid, getpid());
	snprintf(line, sizeof(line), "tid=%d pid=%d\n", getpid(), getpid());
	assert_int_equal(line_nr("d/task.txt", line), 1);
	sections = (struct section_options){ 0 };	/* nothing will be recorded */
	assert_true(answered_to(FTR_CHANNEL_SESSION | FTR_CHANNEL_WITH_TASK, ""));
	assert_int_equal(reply.base, 0);
	assert_int_equal(line_nr("d/task.txt", line), 1);
}

static void test_session_options(void **state)
{
	sections = (struct section_options){ 0 };	/* the test is not instrumented */
	assert_true(answered_to(FTR_CHANNEL_SESSION, ""));
	assert_int_equal(reply.base, 0);
	assert_int_equal(reply.fd_nr, 1);
	ftr_recorder_switch(&recorder, "name", FTR_SWITCH_ON);
	assert_true(answered_to(FTR_CHANNEL_SESSION, ""));
	assert_int_equal(reply.fd_nr, 2);	/* not as from the start */
	assert_int_equal(sections_in(1)->generation, 1);
}

static void test_session_of_none(void **state)
{
	message(FTR_CHANNEL_SESSION, "/bin/true");
	recorder.request.pid = PID_NONE;	/* gone before the recorder could look */
	assert_false(answered());
	assert_string_equal(warnings, "");
	assert_int_equal(result.sessions, 0);
}

static void test_task(void **state)
{
	char line[64];
	uint64_t ring;

	assert_true(answered_to(FTR_CHANNEL_SESSION, ""));
	assert_true(answered_to(FTR_CHANNEL_TASK, ""));
	assert_int_equal(reply.fd_nr, 1);
	assert_int_equal(reply.tid, getpid());
	ring = reply.base;
	assert_int_not_equal(ring, 0);
	snprintf(line, sizeof(line), "tid=%d pid=%d\n", getpid(), getpid());
	assert_true(has_line("d/task.txt", line));
	message(FTR_CHANNEL_TASK, "");
	recorder.request.message.base = ring;	/* another task goes on in it */
	assert_true(answered());
	assert_int_equal(reply.fd_nr, 0);
	assert_int_equal(reply.base, ring);
	recorder.request.message.base = ring + 1;
	assert_false(answered());
	assert_true(strstr(warnings, "is not traced") != NULL);
	recorder.request.message.base = 0;
	recorder.request.message.pid++;		/* in a namespace where it has another number */
	recorder.request.message.tid = PID_NONE;
	assert_false(answered());
	assert_string_equal(reply.refusal.text, "no such thread in this PID namespace");
}

/* It did not wait for its ring: that is worth a warning if it lives. */
static void test_task_gave_up(void **state)
{
	assert_true(answered_to(FTR_CHANNEL_SESSION, ""));
	message(FTR_CHANNEL_TASK, "");
	ftr_recorder_answer(&recorder, &reply);
	ftr_recorder_answered(&recorder, &reply, false);
	assert_true(strstr(warnings, "timed out waiting") != NULL);
}

static void test_forked_child(void **state)
{
	char line[64];
	pid_t pid;

	assert_true(answered_to(FTR_CHANNEL_SESSION, ""));
	pid = fork();
	if (pid == 0)
		pause();
	message(FTR_CHANNEL_TASK, "");
	recorder.request.pid = recorder.request.message.pid = recorder.request.message.tid = pid;
	recorder.request.message.parent_pid = getpid();
	assert_true(answered());
	snprintf(line, sizeof(line), "pid=%d ppid=%d\n", pid, getpid());
	assert_true(has_line("d/task.txt", line));
	assert_string_equal(ftr_process_find(&recorder.processes, pid)->image.sid,
			    ftr_process_find(&recorder.processes, getpid())->image.sid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_module(void **state)
{
	assert_false(answered_to(FTR_CHANNEL_MODULE, "/lib/early.so"));
	assert_string_equal(reply.refusal.text, "no session");
	assert_true(answered_to(FTR_CHANNEL_SESSION, ""));
	message(FTR_CHANNEL_MODULE, "/lib/late.so");
	recorder.request.message.base = 0xabc000;
	assert_true(answered());
	assert_int_equal(reply.fd_nr, 0);
	assert_true(has_line("d/task.txt", "base=abc000 libname=\"/lib/late.so\"\n"));
	assert_true(answered_to(FTR_CHANNEL_MODULE | FTR_CHANNEL_KNOWN, "/lib/known.so"));
	assert_false(has_line("d/task.txt", "known.so"));
	assert_true(answered_to(FTR_CHANNEL_MODULE, "/lib/\"quoted\n.so"));
	assert_false(has_line("d/task.txt", "quoted"));
}

static void test_module_of_image(void **state)
{
	assert_true(answered_to(FTR_CHANNEL_SESSION, ""));
	ftr_recorder_switch(&recorder, "name", FTR_SWITCH_ON);
	assert_int_equal(atomic_load(&recorder.control.map->generation), 1);
	assert_true(answered_to(FTR_CHANNEL_MODULE | FTR_CHANNEL_KNOWN, ""));
	assert_int_equal(reply.fd_nr, 1);
	assert_int_equal(sections_in(0)->generation, 1);
	assert_int_equal(ftr_sections_switch(sections_in(0), "name"), FTR_SWITCH_ON);
}

static void test_module_nested(void **state)
{
	static const char text[] = "#include <stdio.h>\nint f(int x) { return putchar(x); }\n";
	uint32_t bytes;

	object_write("n.c", text, sizeof(text) - 1);
	object_run(TEST_CC " -fPIC -shared n.c -o libnest.so && ln -sf libnest.so link.so && "
		   "cp libnest.so libflat.so");
	assert_true(answered_to(FTR_CHANNEL_MODULE | FTR_CHANNEL_KNOWN, "libflat.so"));
	assert_int_equal(reply.fd_nr, 0);	/* without --nest-libcall */
	section_options_add(&sections, "--nest-libcall");
	assert_true(answered_to(FTR_CHANNEL_MODULE | FTR_CHANNEL_KNOWN, "link.so"));
	assert_non_null(ftr_sections_find(sections_in(0), FTR_SECTION_LIBCALLS, &bytes));
	assert_int_equal(access("d/libnest.so.sym", R_OK), 0);
	assert_true(answered_to(FTR_CHANNEL_MODULE | FTR_CHANNEL_KNOWN, "/x/libc.so.6"));
	assert_int_equal(reply.fd_nr, 0);
	assert_true(answered_to(FTR_CHANNEL_MODULE | FTR_CHANNEL_KNOWN, "missing.so"));
}

/* The library of a process in a chroot is the one in there. */
static void test_module_in_chroot(void **state)
{
	static const char text[] = "#include <stdio.h>\nint f(int x) { return putchar(x); }\n";
	uint32_t bytes;
	int fds[2];
	pid_t pid;
	char c;

	object_write("n.c", text, sizeof(text) - 1);
	object_run("mkdir -p jail && " TEST_CC " -fPIC -shared n.c -o jail/libjail.so");
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		if (chroot("jail") < 0)
			_exit(77);
		(void)!write(fds[1], "", 1);
		pause();
	}
	close(fds[1]);
	if (read(fds[0], &c, 1) != 1) {
		waitpid(pid, NULL, 0);
		close(fds[0]);
		skip();			/* not permitted */
	}
	close(fds[0]);
	section_options_add(&sections, "--nest-libcall");
	message(FTR_CHANNEL_MODULE | FTR_CHANNEL_KNOWN, "/libjail.so");
	assert_true(answered());
	assert_null(ftr_sections_find(sections_in(0), FTR_SECTION_LIBCALLS, &bytes));
	message(FTR_CHANNEL_MODULE | FTR_CHANNEL_KNOWN, "/libjail.so");
	recorder.request.pid = pid;
	assert_true(answered());
	assert_non_null(ftr_sections_find(sections_in(0), FTR_SECTION_LIBCALLS, &bytes));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_warn(void **state)
{
	assert_true(answered_to(FTR_CHANNEL_WARN, "is \033[31mred\nand more"));
	assert_true(answered_to(FTR_CHANNEL_WARN, "is \033[31mred\nand more"));
	assert_true(strstr(warnings, "is ?[31mred?and more\n") != NULL);
	assert_int_equal(diag.nr, 1);		/* once on the terminal */
	assert_true(has_line("d/extern.dat", "is ?[31mred?and more"));
}

static void test_exec(void **state)
{
	static const char text[] = "void _start(void) { for (;;); }\n";
	char dir[PATH_MAX / 2];

	object_write("s.c", text, sizeof(text) - 1);
	object_run(TEST_CC " -static -nostdlib s.c -o static-program");
	assert_true(answered_to(FTR_CHANNEL_EXEC, "/bin/sh"));
	assert_int_equal(reply.base, FTR_CHANNEL_LOADS | FTR_CHANNEL_HOST);
	assert_true(answered_to(FTR_CHANNEL_EXEC, "/no/such/program"));
	assert_int_equal(reply.base, 0);
	assert_true(answered_to(FTR_CHANNEL_EXEC, ""));
	assert_string_equal(warnings, "");
	assert_true(answered_to(FTR_CHANNEL_EXEC, "./static-program"));
	assert_int_equal(reply.base, 0);
	assert_true(strstr(warnings, "runs untraced: ") != NULL);
	assert_int_equal(diag.nr, 1);
	assert_non_null(getcwd(dir, sizeof(dir)));
	message(FTR_CHANNEL_EXEC, "static-program");	/* looked for along PATH */
	recorder.request.message.path_bytes = (uint32_t)(15 + strlen(dir));
	strcpy(recorder.request.path + 15, dir);
	assert_true(answered());
	assert_int_equal(line_nr("d/extern.dat", "runs untraced"), 2);
}

static void test_leave(void **state)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), FTR_CHANNEL_DIR "%s", recorder.channel.name);
	assert_int_equal(stat(path, &st), -1);
	assert_true(answered_to(FTR_CHANNEL_LEAVE, ""));
	assert_true(answered_to(FTR_CHANNEL_LEAVE, ""));
	assert_int_equal(stat(path, &st), 0);
}

static void test_name(void **state)
{
	char comm[32] = "";
	FILE *file = fopen("/proc/self/comm", "re");

	assert_non_null(fgets(comm, sizeof(comm), file));
	fclose(file);
	comm[strcspn(comm, "\n")] = '\0';
	assert_true(answered_to(FTR_CHANNEL_NAME, ""));
	assert_int_equal(access("d/perf-cpu0.dat", F_OK), -1);	/* not asked for */
	options.events = FTR_PERF_NAME;
	ftr_recorder_names_start(&recorder);
	assert_true(answered_to(FTR_CHANNEL_NAME, ""));
	assert_true(has_line("d/perf-cpu0.dat", comm));
	message(FTR_CHANNEL_NAME, "");
	recorder.request.message.pid++;
	recorder.request.message.tid = PID_NONE;	/* no such thread: nothing to store */
	assert_true(answered());
}

static void test_unknown(void **state)
{
	static const uint32_t types[] = { 0, FTR_CHANNEL_TYPES, 77, FTR_CHANNEL_OK,
					  FTR_CHANNEL_REFUSED, 0x10000, 0xfffffff0 };
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		assert_false(answered_to(types[i], ""));
		assert_string_equal(reply.refusal.text, "unknown message");
	}
}

/* Others' processes get nothing, unless they are the program's. */
static void test_foreign(void **state)
{
	uint32_t type;
	pid_t pid;

	for (type = 0; type <= FTR_CHANNEL_TYPES; type++) {
		message(type, "text");
		recorder.request.uid = USER_ELSE;
		recorder.request.pid = 1;
		assert_false(answered());
		assert_string_equal(reply.refusal.text, "not a process of this recording");
		assert_int_equal(reply.fd_nr, 0);
	}
	assert_string_equal(warnings, "");
	assert_int_equal(recorder.processes.all.nr, 0);
	assert_true(answered_to(FTR_CHANNEL_SESSION, ""));
	pid = fork();
	if (pid == 0)
		pause();
	message(FTR_CHANNEL_NAME, "");
	recorder.request.uid = USER_ELSE;		/* set-uid, say */
	recorder.request.pid = pid;
	assert_true(answered());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_by_child(void **state)
{
	pid_t pid = fork();

	if (pid == 0)
		pause();
	message(FTR_CHANNEL_SESSION | FTR_CHANNEL_BY_CHILD, "");
	recorder.request.pid = pid;
	assert_true(answered());
	assert_non_null(ftr_process_find(&recorder.processes, getpid()));
	assert_null(ftr_process_find(&recorder.processes, pid));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A program with the runtime, which the test answers. */
static const char traced[] =
	"#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdio.h>\n"
	"static void named(void) { pthread_setname_np(pthread_self(), \"other\"); }\n"
	"int main(void) { while (getchar() == '1') { named(); putchar('2'); fflush(stdout); }\n"
	"	return 0; }\n";

static unsigned counts[FTR_CHANNEL_TYPES];

static void requests_answer(void)
{
	while (ftr_channel_next(&recorder.channel, &recorder.request)) {
		uint32_t type = recorder.request.message.type & ~FTR_CHANNEL_FLAGS;

		counts[type < FTR_CHANNEL_TYPES ? type : 0]++;
		ftr_recorder_answer(&recorder, &reply);
		if (reply.refusal.code != 0)
			ftr_channel_refuse(&recorder.request, reply.refusal.text);
		else
			ftr_channel_reply(&recorder.request, reply.base, reply.time, reply.fds,
					  reply.fd_nr);
		ftr_recorder_answered(&recorder, &reply, true);
	}
}

/* Start it; its standard input and output are *to and *from. */
static pid_t traced_start(int *to, int *from)
{
	int in[2], out[2];
	pid_t pid;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		setenv("LD_PRELOAD", getenv("FTR_TEST_RUNTIME"), 1);
		setenv(FTR_CHANNEL_ENV, recorder.channel.name, 1);
		execl("./traced", "traced", NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	*to = in[1];
	*from = out[0];
	return pid;
}

/* Have it name its thread, and answer what it asks meanwhile. */
static void traced_name(int to, int from)
{
	unsigned tries;
	char c = 0;

	assert_int_equal(write(to, "1", 1), 1);
	for (tries = 0; tries < 3000 && read(from, &c, 1) != 1; tries++) {
		requests_answer();
		ftr_channel_wait(&recorder.channel, from, 10000000);
	}
	assert_int_equal(c, '2');
}

/* A start takes one message; what is switched on later takes effect in the running program. */
static void test_traced_program(void **state)
{
	int to, from, status;
	pid_t pid;

	if (getenv("FTR_TEST_RUNTIME") == NULL)
		skip();
	object_write("traced.c", traced, sizeof(traced) - 1);
	object_run(TEST_CC " -pg traced.c -o traced -pthread");
	memset(counts, 0, sizeof(counts));
	pid = traced_start(&to, &from);
	traced_name(to, from);
	assert_int_equal(counts[FTR_CHANNEL_SESSION], 1);
	assert_int_equal(counts[FTR_CHANNEL_TASK], 0);
	assert_int_equal(counts[FTR_CHANNEL_MODULE], 0);
	assert_int_equal(counts[FTR_CHANNEL_NAME], 0);
	ftr_recorder_switch(&recorder, "name", FTR_SWITCH_ON);
	traced_name(to, from);
	traced_name(to, from);
	assert_int_equal(counts[FTR_CHANNEL_MODULE], 1);
	assert_int_equal(counts[FTR_CHANNEL_NAME], 2);
	ftr_recorder_switch(&recorder, "name", FTR_SWITCH_OFF);
	traced_name(to, from);
	assert_int_equal(counts[FTR_CHANNEL_MODULE], 2);
	assert_int_equal(counts[FTR_CHANNEL_NAME], 2);
	close(to);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(counts[FTR_CHANNEL_SESSION] + counts[FTR_CHANNEL_TASK], 1);
	close(from);
}

static int group_start(void **state)
{
	const char *build = getenv("builddir");
	char path[PATH_MAX], *runtime = realpath(build != NULL ? build : ".", path);
	struct ftr_err err = { 0 };

	if (runtime != NULL) {
		strncat(path, "/libmcount.so", sizeof(path) - strlen(path) - 1);
		if (access(path, R_OK) == 0)
			setenv("FTR_TEST_RUNTIME", path, 1);
	}
	return object_dir_setup(state) != 0 || ftr_program_find_any(&program, "sh", &err) < 0;
}

static int group_end(void **state)
{
	ftr_program_fini(&program);
	return object_dir_teardown(state);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_session), TEST(test_session_with_task),
		TEST(test_session_options), TEST(test_session_of_none),
		TEST(test_task), TEST(test_task_gave_up), TEST(test_forked_child),
		TEST(test_module), TEST(test_module_of_image), TEST(test_module_nested),
		TEST(test_module_in_chroot),
		TEST(test_warn), TEST(test_exec), TEST(test_leave), TEST(test_name),
		TEST(test_unknown), TEST(test_foreign), TEST(test_by_child),
		TEST(test_traced_program),
	};

	return cmocka_run_group_tests(tests, group_start, group_end);
}
