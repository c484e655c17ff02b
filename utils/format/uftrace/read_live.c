/* SPDX-License-Identifier: MIT */
/*
 * A directory that is being recorded, as one source of all tasks (doc/adr/0086): in rounds, each of
 * which has what came since the last one, in order of time.  First it is looked how long the data
 * are and then what explains them, which the recorder writes before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/format/uftrace/pack_file.h"
#include "utils/format/uftrace/read_data.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/trace/merge.h"

#define LOOK_NS		20000000
#define MAP_BYTES_MIN	FTR_MIB(1)
#define DONE_BYTES_MIN	FTR_MIB(4)	/* that were read, before their room is given back */
#define WAIT_ROUNDS	100		/* for the map of a session: a recorder may be killed */
#define CONTEXTS	FTR_BIT(16)	/* of a session: changes of its map that are told apart */

/* A file that grows. */
struct live_file {
	struct ftr_istream *in;		/* (borrowed) data and size are kept up to date */
	int fd;				/* (owned) */
	void *map;			/* (owned, nullable) */
	size_t map_bytes;
	size_t done;			/* bytes whose room was given back */
};

/* TID.dat or TID.event. */
struct live_data {
	struct live_file file;
	struct uft_data *source;	/* (owned) */
	const uint8_t *base;		/* where the file lay when source was there */
	size_t seen;			/* bytes in the last round */
};

/* perf-cpuN.dat or sample-cpuN.dat */
struct live_perf {
	struct live_file file;
	struct ftr_istream in;
	size_t pos;
	uint16_t cpu_nr;
	char *name;			/* (owned) */
};

struct live_task {
	struct uft_task *task;
	struct live_data own, aside;
};

struct uft_live {
	struct uft_reader *reader;
	FTR_VEC(struct live_task *) tasks;	/* (owned) as the reader's */
	FTR_VEC(struct live_perf *) perfs;	/* (owned) */
	size_t text_pos;			/* in task.txt */
	size_t session_nr;			/* that tasks know */
	struct ftr_source *round;		/* (owned, nullable) */
	bool is_final;				/* the recording has ended */
	unsigned waited_nr;			/* rounds, for what the data need */
	bool is_refusal_said;			/* of a file that cannot be opened */
};

struct live_source {
	struct ftr_source base;
	struct uft_live *live;
};

/* A task's source in one round, which does not end with it. */
struct live_part {
	struct ftr_source base;
	struct ftr_source *inner;	/* (borrowed) */
};

/* The recorder holds a lock on its directory. */
bool uft_live_is_recorded(const struct uft_reader *reader)
{
	int dir_fd = ftr_dir_fd(reader->dir), fd;
	bool is_held;

	if (dir_fd < 0)
		return false;
	fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is_held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (fd >= 0)
		close(fd);
	return is_held;
}

/* ---- files ---- */

static void file_open(struct uft_live *live, struct live_file *file, const char *name,
		      struct ftr_istream *in)
{
	int flags = live->reader->trace->wants_consuming ? O_RDWR : O_RDONLY;

	file->in = in;
	file->fd = openat(ftr_dir_fd(live->reader->dir), name,
			  flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file->fd >= 0 && in->name == NULL)
		in->name = strdup(name);
	if (file->fd >= 0 || errno == ENOENT || live->is_refusal_said)
		return;
	live->is_refusal_said = true;
	ftr_diag_warn(live->reader->trace->diag, "%s: %s: what it holds is missing here%s", name,
		      strerror(errno), errno == EMFILE ? "; raise ulimit -n" : "");
}

static int file_map(struct live_file *file, size_t size)
{
	size_t bytes = file->map_bytes == 0 ? MAP_BYTES_MIN : file->map_bytes;
	void *map;

	while (bytes < size)
		bytes *= 2;
	map = file->map == NULL ?
		      mmap(NULL, bytes, PROT_READ, MAP_SHARED, file->fd, 0) :
		      mremap(file->map, file->map_bytes, bytes, MREMAP_MAYMOVE);
	if (map == MAP_FAILED)
		return -ENOMEM;
	file->map = map;
	file->map_bytes = bytes;
	return 0;
}

/* Take what was appended.  0 or -ENOMEM. */
static int file_grow(struct live_file *file)
{
	struct stat st;
	size_t size;

	if (file->fd < 0 || fstat(file->fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (size_t)st.st_size <= file->in->size)
		return 0;
	size = (size_t)st.st_size;
	if (size > file->map_bytes && file_map(file, size) < 0)
		return -ENOMEM;
	file->in->data = file->map;
	file->in->size = size;
	return 0;
}

/* What was read to @pos is not needed again. */
static void file_done(struct live_file *file, size_t pos)
{
	size_t to = pos / FTR_KIB(64) * FTR_KIB(64);

	if (to < file->done + DONE_BYTES_MIN)
		return;
	madvise((uint8_t *)file->map + file->done, to - file->done, MADV_DONTNEED);
	fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)file->done,
		  (off_t)(to - file->done));	/* refused where it is open for reading alone */
	file->done = to;
}

static void file_close(struct live_file *file)
{
	if (file->map != NULL)
		munmap(file->map, file->map_bytes);
	if (file->fd >= 0)
		close(file->fd);
	if (file->in != NULL) {
		free(file->in->name);
		*file->in = (struct ftr_istream){ 0 };
	}
}

/* ---- tasks ---- */

typedef struct ftr_source *live_source_fn(struct uft_reader *reader, struct uft_task *task,
					  struct ftr_diag *diag);

/* 0 or -ENOMEM. */
static int data_grow(struct uft_live *live, struct live_task *task, struct live_data *data)
{
	bool is_aside = data == &task->aside;
	live_source_fn *create = is_aside ? uft_aside_source : uft_data_source;
	char name[32];

	if (data->file.fd < 0) {
		snprintf(name, sizeof(name),
			 is_aside ? FTR_UFTRACE_EVENT_NAME : FTR_UFTRACE_DAT_NAME,
			 task->task->task->tid);
		file_open(live, &data->file, name, is_aside ? &task->task->aside : &task->task->in);
	}
	if (file_grow(&data->file) < 0)
		return -ENOMEM;
	if (data->source == NULL && data->file.in->size >= UFT_RECORD_BYTES &&
	    task->task->first_ns == 0)
		uft_first_ns_note(live->reader, task->task, data->file.in);
	if (data->source == NULL && (data->file.in->size >= UFT_RECORD_BYTES || !is_aside)) {
		data->source = (struct uft_data *)create(live->reader, task->task,
							 live->reader->trace->diag);
		if (data->source == NULL)
			return -ENOMEM;
		data->source->is_started = true; /* without what a child was forked in */
		data->base = data->file.in->data;
	}
	return 0;
}

static struct live_task *task_new(struct uft_live *live, struct uft_task *task)
{
	struct live_task *own = calloc(1, sizeof(*own));

	if (own == NULL || ftr_vec_push(&live->tasks, own) < 0) {
		free(own);
		return NULL;
	}
	own->task = task;
	own->own.file.fd = own->aside.file.fd = -1;
	return own;
}

static int tasks_grow(struct uft_live *live)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < live->reader->tasks.nr; i++) {
		struct live_task *task = i < live->tasks.nr ? live->tasks.v[i] :
				task_new(live, live->reader->tasks.v[i]);

		ret = task == NULL ? -ENOMEM : data_grow(live, task, &task->own);
		if (ret == 0)
			ret = data_grow(live, task, &task->aside);
	}
	return ret;
}

/* ---- what explains the data ---- */

/* Packed data are not followed. */
static void packed_say(struct uft_live *live, const char *name)
{
	size_t len = strlen(name), end = strlen(FTR_PACK_SUFFIX);

	if (len <= end || strcmp(name + len - end, FTR_PACK_SUFFIX) != 0 || live->is_refusal_said)
		return;
	live->is_refusal_said = true;
	ftr_diag_warn(live->reader->trace->diag, "%s: what is being packed is not shown; wait for "
		      "the recording's end, or record without --pack", name);
}

static int perf_find(struct uft_live *live, const char *name)
{
	struct live_perf *perf;
	uint16_t cpu_nr;

	if (!uft_perf_is_name(name, &cpu_nr))
		return 0;
	for (size_t i = 0; i < live->perfs.nr; i++) {
		if (strcmp(live->perfs.v[i]->name, name) == 0)
			return 0;
	}
	perf = calloc(1, sizeof(*perf));
	if (perf == NULL || ftr_vec_push(&live->perfs, perf) < 0) {
		free(perf);
		return -ENOMEM;
	}
	perf->cpu_nr = cpu_nr;
	perf->name = strdup(name);
	file_open(live, &perf->file, name, &perf->in);
	return perf->name == NULL ? -ENOMEM : 0;
}

static void names_apply(struct uft_reader *reader)
{
	for (size_t i = 0; i < reader->names.nr; i++) {
		const struct uft_name *name = &reader->names.v[i];
		struct ftr_task *task = ftr_trace_task_find(reader->trace, name->tid);

		if (task != NULL && name->text != NULL)
			task->name = name->text;
	}
	reader->names.nr = 0;
}

/* Those that were handed out are dropped. */
static void sides_drop(struct live_task *task)
{
	struct uft_data *source = task->own.source;

	if (source == NULL || source->side_pos < task->task->side.nr)
		return;
	task->task->side.nr = 0;
	task->task->side_more.nr = 0;
	source->side_pos = 0;
}

static int sides_grow(struct uft_live *live)
{
	struct uft_reader *reader = live->reader;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < reader->dir->names.nr; i++) {
		packed_say(live, reader->dir->names.v[i]);
		ret = perf_find(live, reader->dir->names.v[i]);
	}
	for (size_t i = 0; ret == 0 && i < live->perfs.nr; i++) {
		struct live_perf *perf = live->perfs.v[i];

		ret = file_grow(&perf->file);
		if (ret == 0 && perf->in.size > 0)
			ret = uft_perf_more(reader, &perf->in, &perf->pos, perf->cpu_nr);
		file_done(&perf->file, perf->pos);
	}
	names_apply(reader);
	return ret;
}

/* 1: what the data of this round need is still to be written; 0, or -ENOMEM. */
static int texts_grow(struct uft_live *live)
{
	struct uft_reader *reader = live->reader;
	struct ftr_trace *trace = reader->trace;
	bool waits = !live->is_final && live->waited_nr < WAIT_ROUNDS;
	int ret = uft_tasks_more(reader, &live->text_pos, waits);
	bool is_late = ret > 0;

	for (size_t i = live->session_nr; i < trace->sessions.nr; i++)
		trace->sessions.v[i]->context_base = 2 + trace->sessions.v[i]->id * CONTEXTS;
	live->waited_nr = is_late ? live->waited_nr + 1 : 0;
	if (ret >= 0)
		ret = uft_sessions_add(trace, live->session_nr);
	if (ret == 0)
		ret = uft_tasks_link(trace, false);
	live->session_nr = trace->sessions.nr;
	return ret == 0 ? is_late : ret;
}

/* ---- rounds ---- */

static ssize_t part_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	return ftr_source_next(((struct live_part *)source)->inner, evs, err);
}

static void part_free(struct ftr_source *source)
{
	free(source);
}

static const struct ftr_source_ops part_ops = { .next = part_next, .free = part_free };

typedef FTR_VEC(struct ftr_source *) live_parts;

/* Have the source of @data go on, as far as there is more, and in this round. */
static int part_add(struct uft_live *live, live_parts *parts, struct live_data *data, bool has_side)
{
	struct live_part *part;
	size_t pos;

	if (data->source == NULL || (data->seen == data->file.in->size && !has_side &&
				     !live->is_final))
		return 0;
	pos = data->base == NULL ? 0 : (size_t)(data->source->p - data->base);
	data->seen = data->file.in->size;
	uft_data_grow(data->source, pos, live->is_final);
	data->base = data->file.in->data;
	part = calloc(1, sizeof(*part));
	if (part == NULL || ftr_vec_push(parts, &part->base) < 0) {
		free(part);
		return -ENOMEM;
	}
	part->base = (struct ftr_source){ .ops = &part_ops, .task = data->source->data->task };
	part->inner = &data->source->base;
	return 0;
}

static int parts_make(struct uft_live *live, live_parts *parts)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < live->tasks.nr; i++) {
		struct live_task *task = live->tasks.v[i];
		size_t side_pos = task->own.source == NULL ? 0 : task->own.source->side_pos;
		bool has_side = side_pos < task->task->side.nr;

		if (has_side)
			uft_sides_sort(task->task, side_pos);
		ret = part_add(live, parts, &task->own, has_side);
		if (ret == 0)
			ret = part_add(live, parts, &task->aside, false);
	}
	return ret;
}

/* 0 or -ENOMEM; without anything new there is no round. */
static int round_begin(struct uft_live *live)
{
	live_parts parts = { .nr = 0 };
	int ret;

	live->is_final = !uft_live_is_recorded(live->reader);
	ret = ftr_dir_refresh(live->reader->dir) == -ENOMEM ? -ENOMEM : tasks_grow(live);
	if (ret == 0)
		ret = texts_grow(live);
	if (ret == 0)		/* those that are new in the text, whose data come next time */
		ret = sides_grow(live);
	if (ret == 0 && live->is_final)
		ret = tasks_grow(live);
	if (ret == 0)
		ret = parts_make(live, &parts);
	if (ret > 0)
		ret = 0;
	if (ret == 0 && parts.nr > 0) {
		live->round = ftr_merge_new(parts.v, parts.nr, false);
		parts.nr = 0;
		ret = live->round == NULL ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < parts.nr; i++)
		ftr_source_free(parts.v[i]);
	ftr_vec_fini(&parts);
	return ret;
}

static void data_done(struct live_data *data)
{
	if (data->source != NULL && data->file.map != NULL)
		file_done(&data->file, (size_t)(data->source->p - data->base));
}

static void round_end(struct uft_live *live)
{
	ftr_source_free(live->round);
	live->round = NULL;
	for (size_t i = 0; i < live->tasks.nr; i++) {
		sides_drop(live->tasks.v[i]);
		data_done(&live->tasks.v[i]->own);
		data_done(&live->tasks.v[i]->aside);
	}
}

static ssize_t live_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	struct uft_live *live = ((struct live_source *)source)->live;
	ssize_t nr;

	for (;;) {
		if (live->round != NULL) {
			nr = ftr_source_next(live->round, evs, err);
			if (nr != 0)
				return nr;
			round_end(live);
			if (live->is_final)
				return 0;
		} else if (live->is_final) {
			return 0;
		} else {
			nanosleep(&look, NULL);
		}
		if (round_begin(live) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
}

static void live_source_free(struct ftr_source *source)
{
	free(source);
}

static const struct ftr_source_ops live_ops = { .next = live_next, .free = live_source_free };

/* ---- the reader ---- */

static void data_free(struct live_data *data)
{
	if (data->source != NULL)
		ftr_source_free(&data->source->base);
	file_close(&data->file);
}

void uft_live_free(struct uft_live *live)
{
	if (live == NULL)
		return;
	ftr_source_free(live->round);
	for (size_t i = 0; i < live->tasks.nr; i++) {
		data_free(&live->tasks.v[i]->own);
		data_free(&live->tasks.v[i]->aside);
		free(live->tasks.v[i]);
	}
	for (size_t i = 0; i < live->perfs.nr; i++) {
		file_close(&live->perfs.v[i]->file);
		free(live->perfs.v[i]->name);
		free(live->perfs.v[i]);
	}
	ftr_vec_fini(&live->tasks);
	ftr_vec_fini(&live->perfs);
	free(live);
}

int uft_live_load(struct uft_reader *reader, struct ftr_err *err)
{
	struct live_source *source = calloc(1, sizeof(*source));
	int ret = uft_info_load(reader, err);

	reader->live = calloc(1, sizeof(*reader->live));
	if (ret < 0 || source == NULL || reader->live == NULL ||
	    ftr_vec_push(&reader->trace->sources, &source->base) < 0) {
		free(source);
		return ret < 0 ? ret : ftr_err_set(err, ENOMEM, "out of memory");
	}
	source->base.ops = &live_ops;
	source->live = reader->live;
	reader->live->reader = reader;
	reader->trace->is_growing = true;
	reader->trace->is_ordered = true;
	if (uft_specs_load(reader) < 0 || texts_grow(reader->live) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	return 0;
}
