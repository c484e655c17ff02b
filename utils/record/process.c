/* SPDX-License-Identifier: MIT */
/* The traced processes. */
#include "utils/record/process.h"

#include "utils/base/bits.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void ftr_processes_fini(struct ftr_processes *processes)
{
	while (processes->all.nr > 0)
		ftr_process_remove(processes, processes->all.v[0]);
	ftr_vec_fini(&processes->all);
}

struct ftr_process *ftr_process_find(const struct ftr_processes *processes, int32_t pid)
{
	size_t i;

	for (i = 0; i < processes->all.nr; i++) {
		if (processes->all.v[i]->pid == pid)
			return processes->all.v[i];
	}
	return NULL;
}

struct ftr_process *ftr_process_find_own(const struct ftr_processes *processes, int32_t own_pid)
{
	size_t i;

	for (i = 0; i < processes->all.nr; i++) {
		if (processes->all.v[i]->own_pid == own_pid)
			return processes->all.v[i];
	}
	return NULL;
}

static void process_watch(const struct ftr_processes *processes, struct ftr_process *process)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.u64 = FTR_PROCESS_EPOLL_TAG | (uint32_t)process->pid,
	};

	process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	process->is_gone = process->pidfd < 0 && errno == ESRCH;
	if (process->pidfd >= 0)
		epoll_ctl(processes->epoll_fd, EPOLL_CTL_ADD, process->pidfd, &event);
}

struct ftr_process *ftr_process_get(struct ftr_processes *processes, int32_t pid, int32_t own_pid)
{
	struct ftr_process *process = ftr_process_find(processes, pid);

	assert(pid > 0);
	if (process != NULL)
		return process;
	process = calloc(1, sizeof(*process));
	if (process == NULL || ftr_vec_push(&processes->all, process) < 0) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	process->own_pid = own_pid;
	process_watch(processes, process);
	return process;
}

struct ftr_process *ftr_process_find_unwatched(const struct ftr_processes *processes)
{
	size_t i;

	for (i = 0; i < processes->all.nr; i++) {
		if (processes->all.v[i]->pidfd < 0 && ftr_process_has_ended(processes->all.v[i]))
			return processes->all.v[i];
	}
	return NULL;
}

/* The value of "Key:" in a status file as text; false when there is none. */
static bool status_value(const char *path, const char *key, char *value, size_t bytes)
{
	size_t key_len = strlen(key);
	bool is_found = false;
	char line[256];
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return false;
	while (!is_found && fgets(line, sizeof(line), file) != NULL) {
		is_found = strncmp(line, key, key_len) == 0 && line[key_len] == ':';
		if (is_found)
			snprintf(value, bytes, "%s", line + key_len + 1);
	}
	fclose(file);
	return is_found;
}

bool ftr_process_is_gone(const struct ftr_process *process)
{
	return process->is_gone || (kill(process->pid, 0) < 0 && errno == ESRCH);
}

/* Its first thread has ended, and there is no other: it waits for its parent. */
static bool is_zombie(int32_t pid)
{
	char path[64], value[128];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return status_value(path, "State", value, sizeof(value)) && strchr(value, 'Z') != NULL &&
	       status_value(path, "Threads", value, sizeof(value)) && atoi(value) <= 1;
}

bool ftr_process_has_ended(const struct ftr_process *process)
{
	struct pollfd poll_fd = { .fd = process->pidfd, .events = POLLIN };

	if (process->pidfd < 0)		/* Linux before 5.3 has none */
		return ftr_process_is_gone(process) || is_zombie(process->pid);
	return poll(&poll_fd, 1, 0) > 0;
}

/* Linux 6.15, <linux/pidfd.h>: available once the parent has waited. */
struct exit_info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t  exit_code;
};
#define EXIT_INFO_MASK FTR_BIT(3)			/* PIDFD_INFO_EXIT */
#define EXIT_INFO_GET  _IOWR(0xff, 11, struct exit_info)	/* PIDFD_GET_INFO */

static bool status_when_reaped(int pidfd, int *wait_status)
{
	struct exit_info info = { .mask = EXIT_INFO_MASK };

	if (ioctl(pidfd, EXIT_INFO_GET, &info) < 0 || (info.mask & EXIT_INFO_MASK) == 0)
		return false;
	*wait_status = info.exit_code;
	return true;
}

/* The last field of the stat file, the 50th from the state, while the parent has not waited. */
static bool status_of_zombie(const struct ftr_process *process, int *wait_status)
{
	char path[64], line[1024] = "", *last, *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", process->pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	(void)!fgets(line, sizeof(line), file);
	fclose(file);
	state = strrchr(line, ')');
	last = strrchr(line, ' ');
	if (state == NULL || state[2] != 'Z' || last == NULL ||
	    syscall(SYS_pidfd_send_signal, process->pidfd, 0, NULL, 0) < 0)
		return false;		/* another process has the number by now */
	*wait_status = atoi(last + 1);
	return true;
}

bool ftr_process_status(const struct ftr_process *process, int *wait_status)
{
	if (process->pidfd < 0)
		return false;
	return status_of_zombie(process, wait_status) ||
	       status_when_reaped(process->pidfd, wait_status);
}

void ftr_process_remove(struct ftr_processes *processes, struct ftr_process *process)
{
	size_t i;

	for (i = 0; i < processes->all.nr && processes->all.v[i] != process; i++)
		;
	assert(i < processes->all.nr);
	processes->all.v[i] = processes->all.v[--processes->all.nr];
	if (process->pidfd >= 0)
		close(process->pidfd);
	free(process);
}

int32_t ftr_process_parent(int32_t pid)
{
	char path[64], value[128];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return status_value(path, "PPid", value, sizeof(value)) ? atoi(value) : 0;
}

/* NSpid lists the thread's number in each namespace, the innermost last. */
static bool thread_is(int32_t pid, int32_t tid, int32_t own_tid)
{
	char path[64], value[128], *last, *rest;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (!status_value(path, "NSpid", value, sizeof(value)))
		return false;
	value[strcspn(value, "\n")] = '\0';
	last = strrchr(value, '\t');
	return strtol(last != NULL ? last + 1 : value, &rest, 10) == own_tid;
}

int32_t ftr_process_thread(int32_t pid, int32_t own_tid)
{
	struct dirent *entry;
	int32_t found = 0;
	char path[64];
	DIR *dir;

	if (thread_is(pid, own_tid, own_tid))
		return own_tid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (dir == NULL)
		return 0;
	while (found == 0 && (entry = readdir(dir)) != NULL) {
		int32_t tid = atoi(entry->d_name);

		if (tid > 0 && thread_is(pid, tid, own_tid))
			found = tid;
	}
	closedir(dir);
	return found;
}

struct numbers {
	FTR_VEC(int32_t) v;
};

/* The numbers among the names of @path.  -errno: of what cannot be read, too. */
static int numbers_read(struct numbers *numbers, const char *path)
{
	struct dirent *entry;
	int ret = 0;
	DIR *dir = opendir(path);

	if (dir == NULL)
		return -errno;
	while (ret == 0 && (entry = readdir(dir)) != NULL) {
		int32_t number = atoi(entry->d_name);

		if (number > 0)
			ret = ftr_vec_push(&numbers->v, number);
	}
	closedir(dir);
	return ret;
}

static int32_t *numbers_take(struct numbers *numbers, int ret, size_t *nr)
{
	if (ret < 0)
		ftr_vec_fini(&numbers->v);
	*nr = ret < 0 ? 0 : numbers->v.nr;
	return ret < 0 ? NULL : numbers->v.v;
}

int32_t *ftr_process_threads(int32_t pid, size_t *nr)
{
	struct numbers found = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return numbers_take(&found, numbers_read(&found, path), nr);
}

/* Those of @all, with these parents, that come from what is found already. */
static int descendants_add(struct numbers *found, const struct numbers *all, const int32_t *parents)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < found->v.nr; i++) {
		for (size_t k = 0; ret == 0 && k < all->v.nr; k++)
			if (parents[k] == found->v.v[i])
				ret = ftr_vec_push(&found->v, all->v.v[k]);
	}
	return ret;
}

int32_t *ftr_process_tree(int32_t pid, size_t *nr)
{
	struct numbers all = { 0 }, found = { 0 };
	int ret = numbers_read(&all, "/proc");
	int32_t *parents = calloc(all.v.nr + 1, sizeof(*parents));

	if (parents == NULL)
		ret = -ENOMEM;
	for (size_t i = 0; ret == 0 && i < all.v.nr; i++)
		parents[i] = ftr_process_parent(all.v.v[i]);
	if (ret == 0)
		ret = ftr_vec_push(&found.v, pid);
	if (ret == 0)
		ret = descendants_add(&found, &all, parents);
	free(parents);
	ftr_vec_fini(&all.v);
	return numbers_take(&found, ret, nr);
}
