/* SPDX-License-Identifier: MIT */
/* What the recorder knows of traced processes, tried on children of the test. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/record/process.h"

#define PID_NONE 0x3fffffff	/* above every pid_max */

static struct ftr_processes processes;

static int start(void **state)
{
	processes = (struct ftr_processes){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	return processes.epoll_fd < 0;
}

static int stop(void **state)
{
	ftr_processes_fini(&processes);
	close(processes.epoll_fd);
	return 0;
}

/* A child that waits to be ended with that status, by closing *gate. */
static pid_t child_start(int status, int *gate)
{
	int fds[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[1]);
		(void)!read(fds[0], &c, 1);
		_exit(status);
	}
	close(fds[0]);
	*gate = fds[1];
	return pid;
}

/* Let it end, and leave it a zombie. */
static void child_end(pid_t pid, int gate)
{
	siginfo_t info;

	close(gate);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void test_list(void **state)
{
	struct ftr_process *own;

	assert_null(ftr_process_find(&processes, getpid()));
	own = ftr_process_get(&processes, getpid(), 17);
	assert_non_null(own);
	assert_ptr_equal(ftr_process_get(&processes, getpid(), 18), own);
	assert_int_equal(own->own_pid, 17);
	assert_ptr_equal(ftr_process_find(&processes, getpid()), own);
	assert_ptr_equal(ftr_process_find_own(&processes, 17), own);
	assert_null(ftr_process_find_own(&processes, 18));
	assert_string_equal(own->image.sid, "");
	assert_false(ftr_process_has_ended(own));
	assert_false(ftr_process_is_gone(own));
	ftr_process_remove(&processes, own);
	assert_null(ftr_process_find(&processes, getpid()));
}

static void test_end_is_seen(void **state)
{
	struct epoll_event event;
	struct ftr_process *process;
	int gate, status = -1;
	pid_t pid = child_start(7, &gate);

	process = ftr_process_get(&processes, pid, pid);
	assert_non_null(process);
	assert_int_equal(epoll_wait(processes.epoll_fd, &event, 1, 0), 0);
	assert_false(ftr_process_has_ended(process));
	child_end(pid, gate);
	assert_int_equal(epoll_wait(processes.epoll_fd, &event, 1, 10000), 1);
	assert_true(event.data.u64 == (FTR_PROCESS_EPOLL_TAG | (uint32_t)pid));
	assert_true(ftr_process_has_ended(process));
	assert_false(ftr_process_is_gone(process));		/* its parent has not waited */
	assert_true(ftr_process_status(process, &status));	/* by its zombie */
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(ftr_process_is_gone(process));
	assert_null(ftr_process_find_unwatched(&processes));
}

static void test_killed(void **state)
{
	struct ftr_process *process;
	int gate, status = -1;
	pid_t pid = child_start(0, &gate);

	process = ftr_process_get(&processes, pid, pid);
	kill(pid, SIGKILL);
	child_end(pid, gate);
	assert_true(ftr_process_status(process, &status));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A kernel without descriptors of processes: a zombie has ended. */
static void test_end_is_seen_without_descriptor(void **state)
{
	struct ftr_process *process;
	int gate;
	pid_t pid = child_start(7, &gate);

	process = ftr_process_get(&processes, pid, pid);
	close(process->pidfd);
	process->pidfd = -1;
	assert_false(ftr_process_has_ended(process));
	assert_null(ftr_process_find_unwatched(&processes));
	child_end(pid, gate);
	assert_true(ftr_process_has_ended(process));
	assert_false(ftr_process_is_gone(process));
	assert_ptr_equal(ftr_process_find_unwatched(&processes), process);
	waitpid(pid, NULL, 0);
	assert_true(ftr_process_has_ended(process));
}

/* One that was gone before the recorder came to look: no descriptor says when it ends. */
static void test_unwatched(void **state)
{
	struct ftr_process *process = ftr_process_get(&processes, PID_NONE, 3);
	int status;

	assert_non_null(process);
	assert_int_equal(process->pidfd, -1);
	assert_true(ftr_process_has_ended(process));
	assert_false(ftr_process_status(process, &status));
	assert_ptr_equal(ftr_process_find_unwatched(&processes), process);
	ftr_process_remove(&processes, process);
	assert_null(ftr_process_find_unwatched(&processes));
}

static void test_parents(void **state)
{
	int gate;
	pid_t pid = child_start(0, &gate);

	assert_int_equal(ftr_process_parent(pid), getpid());
	assert_int_equal(ftr_process_parent(getpid()), getppid());
	assert_int_equal(ftr_process_parent(PID_NONE), 0);
	child_end(pid, gate);
	assert_int_equal(ftr_process_parent(pid), getpid());	/* a zombie has one, too */
	waitpid(pid, NULL, 0);
	assert_int_equal(ftr_process_parent(pid), 0);
}

static void test_threads(void **state)
{
	assert_int_equal(ftr_process_thread(getpid(), getpid()), getpid());
	assert_int_equal(ftr_process_thread(getpid(), PID_NONE), 0);
	assert_int_equal(ftr_process_thread(PID_NONE, 1), 0);
}

/* In a namespace of its own a process is 1, and is found by that. */
static void test_pid_namespace(void **state)
{
	struct ftr_process *process;
	int fds[2], status;
	pid_t inner = 0, outer = -1;

	assert_int_equal(pipe(fds), 0);
	outer = fork();
	if (outer == 0) {
		if (unshare(CLONE_NEWPID) < 0)
			_exit(77);
		inner = fork();
		if (inner == 0)
			pause();
		(void)!write(fds[1], &inner, sizeof(inner));
		_exit(waitpid(inner, NULL, 0) != inner);
	}
	close(fds[1]);
	if (read(fds[0], &inner, sizeof(inner)) != sizeof(inner)) {
		waitpid(outer, &status, 0);
		close(fds[0]);
		skip();		/* not permitted */
	}
	close(fds[0]);
	assert_int_equal(ftr_process_thread(inner, 1), inner);
	assert_int_equal(ftr_process_thread(inner, inner), 0);
	assert_int_equal(ftr_process_parent(inner), outer);
	process = ftr_process_get(&processes, inner, 1);
	assert_ptr_equal(ftr_process_find_own(&processes, 1), process);
	kill(inner, SIGKILL);
	waitpid(outer, &status, 0);
	assert_true(ftr_process_has_ended(process));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_list), TEST(test_end_is_seen), TEST(test_killed), TEST(test_unwatched),
		TEST(test_end_is_seen_without_descriptor),
		TEST(test_parents), TEST(test_threads), TEST(test_pid_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
