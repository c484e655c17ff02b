/* SPDX-License-Identifier: MIT */
/* The ring buffers of an instance of tracefs, on their way to the store. */
#include "utils/record/kernel_pages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/strbuf.h"
#include "utils/record/tracefs.h"

#define BATCH_BYTES FTR_MIB(1)		/* of a CPU at a time, what a pipe may hold */

static int cpu_open(struct ftr_kernel_pages *self, unsigned nr)
{
	struct ftr_kernel_cpu cpu = { .cpu = nr };
	char path[48];

	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", nr);
	cpu.fd = openat(self->dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (cpu.fd < 0)
		return -errno;
	if (ftr_vec_push(&self->cpus, cpu) == 0)
		return 0;
	close(cpu.fd);
	return -ENOMEM;
}

/* All that may ever be on. */
static int cpus_open(struct ftr_kernel_pages *self)
{
	int fd = openat(self->dir, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int ret = dir == NULL ? -errno : 0;
	unsigned nr;

	while (ret == 0 && (entry = readdir(dir)) != NULL) {
		if (sscanf(entry->d_name, "cpu%u", &nr) == 1)
			ret = cpu_open(self, nr);
	}
	if (dir != NULL)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return ret == 0 && self->cpus.nr == 0 ? -ENODEV : ret;
}

static int pipe_open(struct ftr_kernel_pages *self)
{
	int bytes;

	self->page = malloc(self->page_bytes);
	if (self->page == NULL)
		return -ENOMEM;
	if (pipe2(self->pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	(void)fcntl(self->pipe_fds[1], F_SETPIPE_SZ, (int)BATCH_BYTES);
	bytes = fcntl(self->pipe_fds[1], F_GETPIPE_SZ);
	self->batch_bytes = bytes < (int)self->page_bytes ? self->page_bytes : (size_t)bytes;
	return 0;
}

static void batch_store(struct ftr_kernel_pages *self, const struct ftr_kernel_cpu *cpu,
			size_t bytes)
{
	struct ftr_store *store = self->store;

	if (store->ops->kernel(store, cpu->cpu, self->pipe_fds[0], bytes))
		return;
	self->has_failed = true;
	(void)ftr_tracefs_write(self->dir, "tracing_on", "0");
}

/* Full pages go by without being copied.  Returns how many bytes that were. */
static size_t cpu_drain(struct ftr_kernel_pages *self, const struct ftr_kernel_cpu *cpu)
{
	size_t bytes = 0;
	ssize_t n = 1;

	while (n > 0 && bytes < self->buffer_bytes && !self->has_failed) {
		n = splice(cpu->fd, NULL, self->pipe_fds[1], NULL, self->batch_bytes,
			   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
		if (n > 0) {
			bytes += (size_t)n;
			batch_store(self, cpu, (size_t)n);
		}
	}
	return bytes;
}

/* At the end, pages that are not full are read, which copies them. */
static void cpu_drain_rest(struct ftr_kernel_pages *self, const struct ftr_kernel_cpu *cpu)
{
	ssize_t n = 1;

	cpu_drain(self, cpu);
	while (n > 0 && !self->has_failed) {
		n = read(cpu->fd, self->page, self->page_bytes);
		if (n <= 0)
			continue;
		memset(self->page + n, 0, self->page_bytes - (size_t)n);
		n = write(self->pipe_fds[1], self->page, self->page_bytes);
		if (n > 0)
			batch_store(self, cpu, (size_t)n);
	}
}

/* Of per_cpu/cpuN/stats: "entries: 12". */
static uint64_t stats_number(const struct ftr_strbuf *stats, const char *key)
{
	const char *line = strstr(ftr_strbuf_str(stats), key);

	return line == NULL ? 0 : strtoull(line + strlen(key), NULL, 10);
}

/* What found no room, and what is still there because the store keeps no more. */
static void cpu_count_lost(struct ftr_kernel_pages *self, const struct ftr_kernel_cpu *cpu)
{
	struct ftr_store *store = self->store;
	struct ftr_strbuf stats;
	char path[40];
	uint64_t lost;

	ftr_strbuf_init(&stats);
	snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu->cpu);
	if (ftr_tracefs_read(self->dir, path, &stats) == 0) {
		lost = stats_number(&stats, "\noverrun: ") +
		       stats_number(&stats, "\ncommit overrun: ") +
		       stats_number(&stats, "\ndropped events: ");
		if (lost > 0)
			store->ops->lost(store, NULL, lost, FTR_LOST_KERNEL);
		lost = self->has_failed ? stats_number(&stats, "entries: ") : 0;
		if (lost > 0)
			store->ops->lost(store, NULL, lost, FTR_LOST_DISK);
	}
	ftr_strbuf_fini(&stats);
}

int ftr_kernel_pages_open(struct ftr_kernel_pages *self, struct ftr_store *store, int dir,
			  size_t buffer_bytes)
{
	int ret;

	*self = (struct ftr_kernel_pages)FTR_KERNEL_PAGES_NONE;
	self->store = store;
	self->dir = dir;
	self->buffer_bytes = buffer_bytes;
	self->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	ret = cpus_open(self);
	return ret < 0 ? ret : pipe_open(self);
}

void ftr_kernel_pages_close(struct ftr_kernel_pages *self)
{
	for (size_t i = 0; i < self->cpus.nr; i++)
		close(self->cpus.v[i].fd);
	ftr_vec_fini(&self->cpus);
	for (size_t i = 0; i < 2; i++) {
		if (self->pipe_fds[i] >= 0)
			close(self->pipe_fds[i]);
	}
	free(self->page);
	*self = (struct ftr_kernel_pages)FTR_KERNEL_PAGES_NONE;
}

unsigned ftr_kernel_pages_drain(struct ftr_kernel_pages *self)
{
	size_t most = 0;

	for (size_t i = 0; i < self->cpus.nr; i++) {
		size_t bytes = cpu_drain(self, &self->cpus.v[i]);

		most = bytes > most ? bytes : most;
	}
	if (most == 0)
		return 0;
	most = most * 100 / self->buffer_bytes;
	return most > 100 ? 100 : (unsigned)most;
}

void ftr_kernel_pages_end(struct ftr_kernel_pages *self)
{
	for (size_t i = 0; i < self->cpus.nr; i++) {
		cpu_drain_rest(self, &self->cpus.v[i]);
		cpu_count_lost(self, &self->cpus.v[i]);
	}
}
