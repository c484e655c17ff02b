/* SPDX-License-Identifier: MIT */
/* The store that writes a data directory. */
#include "utils/record/store_dir.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "utils/base/strbuf.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/format/uftrace/write_kernel.h"
#include "utils/trace/event_kind.h"

/* A file of a struct ftr_store_task: its descriptor + 1, so that NULL is "not open". */
static int file_get(const void *file)
{
	return (int)(intptr_t)file - 1;
}

static void file_set(void **file, int fd)
{
	*file = (void *)(intptr_t)(fd + 1);
}

static void file_rest(void **file)
{
	if (*file != NULL && file_get(*file) >= 0)
		close(file_get(*file));
	*file = NULL;
}

static struct ftr_store_dir *dir_of(struct ftr_store *store)
{
	return (struct ftr_store_dir *)store;
}

void ftr_store_dir_failed(struct ftr_store_dir *store, const char *what, int code)
{
	if (store->has_failed)
		return;
	store->has_failed = true;
	ftr_diag_warn(store->diag, "%s: %s; further records are lost, the program continues; "
		      "%s and record again", what, strerror(code),
		      code == EFBIG ? "raise ulimit -f" : "free disk space");
}

static void dir_lost(struct ftr_store *base, struct ftr_store_task *task, uint64_t nr,
		     enum ftr_lost_cause cause)
{
	struct ftr_store_dir *store = dir_of(base);

	if (store->is_closed)
		return;
	pthread_mutex_lock(&store->lock);
	store->lost[cause] += nr;
	pthread_mutex_unlock(&store->lock);
}

static void dir_untraced(struct ftr_store *base, const struct ftr_ring_untraced *more)
{
	struct ftr_store_dir *store = dir_of(base);

	if (store->is_closed)
		return;
	pthread_mutex_lock(&store->lock);
	store->untraced.tasks += more->tasks;
	store->untraced.calls += more->calls;
	store->untraced.causes |= more->causes;
	pthread_mutex_unlock(&store->lock);
}

/* The events that only ftr has; that of stacks, or the others. */
static void events_name(struct ftr_store_dir *store, bool is_stack)
{
	const struct ftr_event_kind *kind;
	struct ftr_strbuf lines;
	size_t pos = 0;

	ftr_strbuf_init(&lines);
	while ((kind = ftr_event_kind_next(&pos)) != NULL) {
		if (kind->is_runtime && kind->id != FTR_EVENT_ID_SDT &&
		    kind->id != FTR_EVENT_ID_STACK_PART &&
		    (kind->id == FTR_EVENT_ID_STACK) == is_stack)
			ftr_uftrace_event_line(&lines, kind->id, kind->name);
	}
	ftr_uftrace_dir_events(store->dir, &lines);
}

/*
 * They are named once one occurs: a directory without events.txt says that there are none.  Where
 * ftr:stack is named readers look for coroutines, so it is not named with the others.
 */
static void dir_events(struct ftr_store *base, bool has_stacks)
{
	struct ftr_store_dir *store = dir_of(base);

	pthread_mutex_lock(&store->lock);
	if (!store->has_events)
		events_name(store, false);
	if (has_stacks && !store->has_stacks)
		events_name(store, true);
	store->has_events = true;
	store->has_stacks |= has_stacks;
	pthread_mutex_unlock(&store->lock);
}

/* Of the records of @batch @done are in the file. */
static void count_appended(struct ftr_store_dir *store, const struct ftr_store_task *task,
			   const struct ftr_record_batch *batch, size_t done, int code)
{
	char what[32];

	pthread_mutex_lock(&store->lock);
	store->records += done;
	store->calls += done < batch->call_nr ? done : batch->call_nr;
	store->bytes += done == batch->record_nr ? batch->len : done * sizeof(struct ftr_record);
	if (done < batch->record_nr) {
		snprintf(what, sizeof(what), batch->is_aside ? FTR_UFTRACE_EVENT_NAME :
							       FTR_UFTRACE_DAT_NAME, task->tid);
		ftr_store_dir_failed(store, what, code);
		store->lost[FTR_LOST_DISK] += batch->record_nr - done;
	}
	if (task->last_ns > store->last_ns)
		store->last_ns = task->last_ns;
	pthread_mutex_unlock(&store->lock);
}

/* Records that were counted as written when they were only held. */
static void count_packed(struct ftr_store_dir *store, const struct ftr_store_task *task,
			 const struct ftr_record_batch *batch, const struct ftr_store_packed *done)
{
	pthread_mutex_lock(&store->lock);
	if (batch != NULL) {
		store->records += batch->record_nr;
		store->calls += batch->call_nr;
	}
	store->bytes += done->file_bytes;
	if (done->code != 0) {
		uint64_t lost_calls = done->lost_records / 2;	/* nobody counted which they are */

		ftr_store_dir_failed(store, "packed records", done->code);
		store->lost[FTR_LOST_DISK] += done->lost_records;
		store->records -= done->lost_records;
		store->calls -= lost_calls < store->calls ? lost_calls : store->calls;
	}
	if (task->last_ns > store->last_ns)
		store->last_ns = task->last_ns;
	pthread_mutex_unlock(&store->lock);
}

static void packed_append(struct ftr_store_dir *store, struct ftr_store_task *task, void **file,
			  const struct ftr_record_batch *batch)
{
	struct ftr_store_packed done = { .lost_records = batch->record_nr, .code = ENOMEM };

	if (*file == NULL)
		*file = ftr_store_pack_new(store->dir, task->tid, batch->is_aside);
	if (*file != NULL)
		done = ftr_store_pack_append(&store->packs, *file, store->dir, batch);
	task->last_ns = batch->last_ns;
	count_packed(store, task, batch, &done);
}

static void plain_append(struct ftr_store_dir *store, struct ftr_store_task *task, void **file,
			 const struct ftr_record_batch *batch)
{
	size_t done = 0;
	int code = 0;

	if (*file == NULL)
		file_set(file, ftr_uftrace_dat_open(store->dir, task->tid, batch->is_aside));
	if (file_get(*file) < 0) {
		code = -file_get(*file);
		*file = NULL;
	} else {
		done = ftr_uftrace_dat_append(file_get(*file), batch->bytes, batch->len,
					      batch->record_nr, &code);
	}
	task->last_ns = batch->last_ns;
	count_appended(store, task, batch, done, code);
}

static void dir_append(struct ftr_store *base, struct ftr_store_task *task,
		       const struct ftr_record_batch *batch)
{
	struct ftr_store_dir *store = dir_of(base);
	void **file = batch->is_aside ? &task->aside : &task->file;

	assert(batch->record_nr > 0);
	assert(batch->len >= batch->record_nr * sizeof(struct ftr_record));
	if (store->is_closed)
		return;
	pthread_mutex_lock(&task->lock);
	if (store->is_packed)
		packed_append(store, task, file, batch);
	else
		plain_append(store, task, file, batch);
	pthread_mutex_unlock(&task->lock);
}

static void packed_rest(struct ftr_store_dir *store, struct ftr_store_task *task, void *file)
{
	struct ftr_store_packed done;

	if (file == NULL)
		return;
	done = ftr_store_pack_rest(&store->packs, file, store->dir);
	count_packed(store, task, NULL, &done);
}

static void dir_rest(struct ftr_store *base, struct ftr_store_task *task)
{
	struct ftr_store_dir *store = dir_of(base);

	if (store->is_packed) {
		pthread_mutex_lock(&task->lock);
		packed_rest(store, task, task->file);
		packed_rest(store, task, task->aside);
		pthread_mutex_unlock(&task->lock);
		return;
	}
	file_rest(&task->file);
	file_rest(&task->aside);
}

/* The file of @cpu, opened when it is new; -errno. */
static int cpu_file(struct ftr_store_dir *store, struct ftr_store_cpu_files *files, unsigned cpu,
		    int (*open_file)(const struct ftr_uftrace_dir *dir, unsigned cpu))
{
	while (files->nr <= cpu) {
		if (ftr_vec_push(files, -1) < 0)
			return -ENOMEM;
	}
	if (files->v[cpu] < 0)
		files->v[cpu] = open_file(store->dir, cpu);
	return files->v[cpu];
}

static void cpu_files_close(struct ftr_store_cpu_files *files)
{
	for (size_t i = 0; i < files->nr; i++) {
		if (files->v[i] >= 0)
			close(files->v[i]);
	}
	ftr_vec_fini(files);
}

static bool dir_perf(struct ftr_store *base, unsigned cpu, const struct iovec *parts, unsigned nr)
{
	struct ftr_store_dir *store = dir_of(base);
	char what[32];
	int fd, ret;
	unsigned i;

	if (store->is_closed)
		return true;
	fd = cpu_file(store, &store->perf, cpu, ftr_uftrace_perf_open);
	ret = fd < 0 ? fd : ftr_uftrace_perf_append(fd, parts, nr);
	store->has_perf |= fd >= 0;
	for (i = 0; ret == 0 && i < nr; i++)
		store->bytes += parts[i].iov_len;
	if (ret == 0)
		return true;
	snprintf(what, sizeof(what), "perf-cpu%u.dat", cpu);
	ftr_store_dir_failed(store, what, -ret);
	return false;
}

/* The descriptor of the file, made when it is new; -errno. */
static int extra_file(struct ftr_store_dir *store, const char *name)
{
	struct ftr_store_extra extra = { .fd = -1 };

	for (size_t i = 0; i < store->extras.nr; i++) {
		if (strcmp(store->extras.v[i].name, name) == 0)
			return store->extras.v[i].fd;
	}
	assert(strlen(name) < sizeof(extra.name));
	snprintf(extra.name, sizeof(extra.name), "%s", name);
	extra.fd = ftr_uftrace_file_create(store->dir, name);
	if (extra.fd >= 0 && ftr_vec_push(&store->extras, extra) < 0) {
		close(extra.fd);
		return -ENOMEM;
	}
	return extra.fd;
}

static bool dir_extra(struct ftr_store *base, const char *name, const struct iovec *parts,
		      unsigned nr)
{
	struct ftr_store_dir *store = dir_of(base);
	int fd, ret;

	if (store->is_closed)
		return true;
	pthread_mutex_lock(&store->lock);
	fd = extra_file(store, name);
	ret = fd < 0 ? fd : ftr_uftrace_perf_append(fd, parts, nr);
	for (unsigned i = 0; ret == 0 && i < nr; i++)
		store->bytes += parts[i].iov_len;
	if (ret < 0)
		ftr_store_dir_failed(store, name, -ret);
	pthread_mutex_unlock(&store->lock);
	return ret == 0;
}

/* What nobody keeps. */
static void pipe_empty(int pipe_fd)
{
	char bytes[4096];

	while (read(pipe_fd, bytes, sizeof(bytes)) > 0)
		;
}

static bool dir_kernel(struct ftr_store *base, unsigned cpu, int pipe_fd, size_t bytes)
{
	struct ftr_store_dir *store = dir_of(base);
	char what[32];
	int fd, ret;

	if (store->is_closed) {
		pipe_empty(pipe_fd);
		return true;
	}
	fd = cpu_file(store, &store->kernel, cpu, ftr_uftrace_kernel_open);
	ret = fd < 0 ? fd : ftr_uftrace_kernel_move(fd, pipe_fd, bytes);
	store->has_kernel |= fd >= 0;
	if (ret == 0) {
		store->bytes += bytes;
		return true;
	}
	pipe_empty(pipe_fd);
	snprintf(what, sizeof(what), "kernel-cpu%u.dat", cpu);
	ftr_store_dir_failed(store, what, -ret);
	return false;
}

static int dir_kernel_file(struct ftr_store *base, const char *name, const struct ftr_strbuf *text)
{
	struct ftr_store_dir *store = dir_of(base);
	int ret = ftr_uftrace_kernel_store(store->dir, name, ftr_strbuf_str(text), text->len);

	if (ret < 0)
		ftr_store_dir_failed(store, name, -ret);
	return ret;
}

static const struct ftr_store_ops dir_ops = {
	.append = dir_append,
	.perf	= dir_perf,
	.extra	= dir_extra,
	.kernel = dir_kernel,
	.kernel_file = dir_kernel_file,
	.events = dir_events,
	.lost	= dir_lost,
	.untraced = dir_untraced,
	.rest	= dir_rest,
};

int ftr_store_dir_open(struct ftr_store_dir *store, const char *path, struct ftr_diag *diag,
		       struct ftr_err *err)
{
	memset(store, 0, sizeof(*store));
	store->base.ops = &dir_ops;
	store->diag = diag;
	pthread_mutex_init(&store->lock, NULL);
	ftr_hashmap_init(&store->by_tid);
	ftr_store_packs_init(&store->packs);
	return ftr_uftrace_dir_open(&store->dir, path, err);
}

void ftr_store_dir_settle(struct ftr_store_dir *store)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&store->by_tid, &pos)) != NULL)
		dir_rest(&store->base, slot->value);
}

void ftr_store_dir_close(struct ftr_store_dir *store)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	ftr_store_dir_settle(store);
	while ((slot = ftr_hashmap_next(&store->by_tid, &pos)) != NULL) {
		struct ftr_store_task *task = slot->value;

		if (store->is_packed) {
			ftr_store_pack_end(task->file, store->dir);
			ftr_store_pack_end(task->aside, store->dir);
		}
		free(task);
	}
	ftr_store_packs_fini(&store->packs);
	cpu_files_close(&store->perf);
	cpu_files_close(&store->kernel);
	for (size_t i = 0; i < store->extras.nr; i++)
		close(store->extras.v[i].fd);
	ftr_vec_fini(&store->extras);
	ftr_hashmap_fini(&store->by_tid);
	ftr_vec_fini(&store->tids);
	ftr_uftrace_dir_close(store->dir);
	store->dir = NULL;
}

struct ftr_store_task *ftr_store_dir_task(struct ftr_store_dir *store, int32_t tid, int32_t pid,
					  bool *is_new)
{
	struct ftr_store_task *task = ftr_hashmap_find(&store->by_tid, (uint32_t)tid);

	*is_new = task == NULL;
	if (task != NULL) {
		*is_new = task->pid != pid;	/* a tid that came back as another's */
		task->pid = pid;
		return task;
	}
	task = calloc(1, sizeof(*task));
	if (task == NULL)
		return NULL;
	task->tid = tid;
	task->pid = pid;
	pthread_mutex_init(&task->lock, NULL);
	if (ftr_hashmap_set(&store->by_tid, (uint32_t)tid, task) < 0) {
		free(task);
		return NULL;
	}
	/* A task that is listed has a file, even if it never calls anything. */
	if (store->is_packed)
		task->file = ftr_store_pack_new(store->dir, tid, false);
	else if (!store->has_sums)
		file_set(&task->file, ftr_uftrace_dat_open(store->dir, tid, false));
	return ftr_vec_push(&store->tids, tid) < 0 ? NULL : task;
}
