/* SPDX-License-Identifier: MIT */
/* The graph of a build. */
#include "utils/analysis/build.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/strbuf.h"
#include "utils/trace/syscall.h"

#define NO_FILE UINT32_MAX
#define ENDS_MAX 1024		/* of pipes in one process, which each of its children inherits */

/* ---- files ---- */

static bool is_ignored(struct ftr_slice path)
{
	return path.s == NULL || path.len == 0 || path.s[0] != '/' ||
	       ftr_slice_starts(path, "/proc/") || ftr_slice_starts(path, "/dev/") ||
	       ftr_slice_starts(path, "/sys/");
}

/* What the kernel adds to the path of a file that was unlinked. */
static struct ftr_slice without_deleted(struct ftr_slice path)
{
	static const char deleted[] = " (deleted)";
	size_t len = sizeof(deleted) - 1;

	if (path.len > len && memcmp(path.s + path.len - len, deleted, len) == 0)
		path.len -= len;
	return path;
}

static uint32_t file_get(struct ftr_build *build, struct ftr_slice path)
{
	const struct ftr_str *str = ftr_strpool_get(&build->paths, path.s, path.len);

	if (str == NULL)
		return NO_FILE;
	if (str->id == build->files.nr &&
	    ftr_vec_push(&build->files, ((struct ftr_build_file){ .path = str->s })) < 0)
		return NO_FILE;
	return str->id;
}

/* The newest entries are the likely ones: most repetitions are close. */
static int ids_add(ftr_build_ids *ids, uint32_t id)
{
	for (size_t i = ids->nr; i > 0; i--) {
		if (ids->v[i - 1] == id)
			return 0;
	}
	return ftr_vec_push(ids, id);
}

static int use_file(struct ftr_build *build, uint32_t process, uint32_t file, bool is_write)
{
	struct ftr_build_process *who = &build->processes.v[process];
	struct ftr_build_file *what;
	int ret;

	assert(process < build->processes.nr);
	if (file == NO_FILE)
		return -ENOMEM;
	what = &build->files.v[file];
	ret = ids_add(is_write ? &what->writers : &what->readers, process);
	return ret < 0 ? ret : ids_add(is_write ? &who->writes : &who->reads, file);
}

/*
 * Does an interpreter open the file that its first operand names?  What it starts is made from
 * that, too.
 */
static bool is_script(const struct ftr_build_process *who, struct ftr_slice path)
{
	const struct ftr_syscall *image = who->image;
	struct ftr_slice word;
	size_t i = 1;

	if (image == NULL || who->script != NO_FILE)
		return false;
	while (i < image->exec.argc && ftr_slice_starts(image->exec.argv[i], "-"))
		i++;
	if (i >= image->exec.argc)
		return false;
	word = image->exec.argv[i];
	return word.len > 0 && word.len <= path.len &&
	       memcmp(path.s + path.len - word.len, word.s, word.len) == 0;
}

static int apply_open(struct ftr_build *build, uint32_t process,
		      const struct ftr_syscall *call)
{
	int access_mode = (int)call->open.flags & O_ACCMODE;
	struct ftr_slice path = without_deleted(call->open.path);
	uint32_t file;
	int ret = 0;

	if (is_ignored(path) || (call->open.flags & (O_DIRECTORY | O_PATH)) != 0)
		return 0;
	file = file_get(build, path);
	if (access_mode != O_RDONLY)
		ret = use_file(build, process, file, true);
	if (ret == 0 && access_mode != O_WRONLY)
		ret = use_file(build, process, file, false);
	if (ret == 0 && access_mode == O_RDONLY && is_script(&build->processes.v[process], path))
		build->processes.v[process].script = file;
	return ret;
}

/* The new name has the makers of the old one. */
static int apply_rename(struct ftr_build *build, uint32_t process,
			const struct ftr_syscall *call)
{
	uint32_t from, to;
	int ret;

	if (is_ignored(call->rename.from) || is_ignored(call->rename.to))
		return 0;
	from = file_get(build, call->rename.from);
	to = file_get(build, call->rename.to);
	if (from == NO_FILE || to == NO_FILE)
		return -ENOMEM;
	ret = use_file(build, process, to, true);
	for (size_t i = 0; ret == 0 && i < build->files.v[from].writers.nr; i++)
		ret = use_file(build, build->files.v[from].writers.v[i], to, true);
	/* Of a file that was there before the new name is made from the old. */
	return ret < 0 ? ret : use_file(build, process, from, false);
}

/* ---- pipes ---- */

static void pipe_drop(struct ftr_build_process *process, int64_t fd)
{
	for (size_t i = 0; i < process->ends.nr; i++) {
		if (process->ends.v[i].fd == fd)
			process->ends.v[i--] = process->ends.v[--process->ends.nr];
	}
}

static int apply_pipe(struct ftr_build *build, uint32_t process,
		      const struct ftr_syscall *call)
{
	struct ftr_build_process *who = &build->processes.v[process];
	char name[32];
	int len = snprintf(name, sizeof(name), "pipe:%u", build->pipe_nr++);
	uint32_t file = file_get(build, ftr_slice_make(name, (size_t)len));
	struct ftr_build_pipe_end from = { call->pipe.read_fd, file, false };
	struct ftr_build_pipe_end to = { call->pipe.write_fd, file, true };

	if (file == NO_FILE)
		return -ENOMEM;
	build->files.v[file].is_pipe = true;
	pipe_drop(who, call->pipe.read_fd);
	pipe_drop(who, call->pipe.write_fd);
	if (who->ends.nr + 2 > ENDS_MAX)
		return 0;
	if (ftr_vec_push(&who->ends, from) < 0 || ftr_vec_push(&who->ends, to) < 0)
		return -ENOMEM;
	return 0;
}

static int apply_dup(struct ftr_build_process *process, const struct ftr_syscall *call)
{
	if (call->dup.old_fd == call->dup.new_fd)
		return 0;
	pipe_drop(process, call->dup.new_fd);
	for (size_t i = 0; i < process->ends.nr && process->ends.nr < ENDS_MAX; i++) {
		struct ftr_build_pipe_end end = process->ends.v[i];

		if (end.fd != call->dup.old_fd)
			continue;
		end.fd = call->dup.new_fd;
		return ftr_vec_push(&process->ends, end);
	}
	return 0;
}

/* A program reads the pipe that is its standard input, and writes the one that is its output. */
static int pipes_settle(struct ftr_build *build, uint32_t process)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < build->processes.v[process].ends.nr; i++) {
		struct ftr_build_pipe_end end = build->processes.v[process].ends.v[i];

		if ((end.fd == 0 && !end.is_write) || (end.fd == 1 && end.is_write))
			ret = use_file(build, process, end.file, end.is_write);
	}
	return ret;
}

/* ---- translations ---- */

static const char *absolute(struct ftr_build *build, const char *directory, const char *path)
{
	struct ftr_strbuf text;
	char *copy;

	while (path[0] == '.' && path[1] == '/')
		path += 2 + strspn(path + 2, "/");
	ftr_strbuf_init(&text);
	if (path[0] != '/')
		ftr_strbuf_printf(&text, "%s/", strcmp(directory, "/") == 0 ? "" : directory);
	ftr_strbuf_puts(&text, path);
	copy = ftr_arena_strndup(&build->arena, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
	return copy;
}

/* ccache runs a driver, a driver may run another: one translation, that of the outermost. */
static bool is_inner(const struct ftr_build *build, uint32_t process, const char *file,
		     size_t before)
{
	for (uint32_t at = process, steps = 0; steps < 64; steps++) {
		for (size_t i = before; i > 0; i--) {
			const struct ftr_build_translation *t = &build->translations.v[i - 1];

			if (t->process == at && strcmp(t->file, file) == 0)
				return true;
		}
		if (build->processes.v[at].parent == at)
			return false;
		at = build->processes.v[at].parent;
	}
	return false;
}

static const char *output_of(struct ftr_build *build, const struct ftr_compile *compile,
			     size_t source)
{
	const char *path = compile->argv.v[source], *slash = strrchr(path, '/'), *dot;
	bool is_header = ftr_compile_is_header(compile, source);
	size_t len = strlen(path);
	char *name;

	if (compile->output != 0)
		return compile->argv.v[compile->output];
	if (!compile->has_one_step && !is_header)
		return NULL;
	if (!is_header) {	/* else it lies beside the header, with its whole name */
		path = slash != NULL ? slash + 1 : path;
		dot = strrchr(path, '.');
		len = dot != NULL ? (size_t)(dot - path) : strlen(path);
	}
	name = ftr_arena_alloc(&build->arena, len + sizeof(".gch"));
	if (name != NULL)
		sprintf(name, "%.*s%s", (int)len, path, is_header ? ".gch" : ".o");
	return name;
}

static int translation_add(struct ftr_build *build, uint32_t process,
			   const struct ftr_compile *compile, size_t source, const char *directory)
{
	struct ftr_build_translation made = { .process = process, .directory = directory };

	made.file = absolute(build, directory, compile->argv.v[source]);
	made.output = output_of(build, compile, source);
	made.argv = ftr_arena_alloc(&build->arena, compile->argv.nr * sizeof(*made.argv));
	if (made.file == NULL || made.argv == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < compile->argv.nr; i++) {
		if (!ftr_compile_is_other_source(compile, i, source))
			made.argv[made.argc++] = compile->argv.v[i];
	}
	return ftr_vec_push(&build->translations, made);
}

static int apply_translation(struct ftr_build *build, uint32_t process,
			     const struct ftr_syscall *call)
{
	size_t before = build->translations.nr;
	struct ftr_slice cwd = call->exec.cwd;
	struct ftr_compile compile;
	char *directory;
	int ret = 0;

	if (cwd.s == NULL)
		cwd = ftr_slice_make("/", 1);
	directory = ftr_arena_strndup(&build->arena, cwd.s, cwd.len);
	if (directory == NULL)
		return -ENOMEM;
	if (!ftr_compile_parse(&compile, call->exec.argv, call->exec.argc, directory,
			       &build->arena))
		return 0;
	for (size_t i = 0; ret == 0 && i < compile.sources.nr; i++) {
		size_t source = compile.sources.v[i];
		const char *file = absolute(build, directory, compile.argv.v[source]);

		if (file != NULL && !is_inner(build, process, file, before))
			ret = translation_add(build, process, &compile, source, directory);
	}
	ftr_compile_fini(&compile);
	return ret;
}

/* ---- processes ---- */

static uint32_t process_new(struct ftr_build *build, uint64_t upid, uint32_t parent)
{
	uint32_t id = (uint32_t)build->processes.nr;
	struct ftr_build_process made = { .pid = ftr_upid_tid(upid),
					  .parent = parent == NO_FILE ? id : parent,
					  .script = NO_FILE };

	if (ftr_vec_push(&build->processes, made) < 0 ||
	    ftr_hashmap_set(&build->process_by_upid, upid, (void *)(uintptr_t)(id + 1)) < 0)
		return NO_FILE;
	return id;
}

static uint32_t process_get(struct ftr_build *build, uint64_t upid)
{
	void *found = ftr_hashmap_find(&build->process_by_upid, upid);

	return found != NULL ? (uint32_t)(uintptr_t)found - 1 : process_new(build, upid, NO_FILE);
}

static int apply_fork(struct ftr_build *build, uint32_t process,
		      const struct ftr_syscall *call)
{
	const struct ftr_build_process *parent;
	uint32_t child;

	if (ftr_syscall_makes_thread(call))
		return ftr_hashmap_set(&build->process_by_upid, call->fork.child,
				       (void *)(uintptr_t)(process + 1));
	child = process_new(build, call->fork.child, process);
	if (child == NO_FILE)
		return -ENOMEM;
	parent = &build->processes.v[process];
	build->processes.v[child].image = parent->image;
	build->processes.v[child].start_ns = call->end_ns;
	for (size_t i = 0; i < parent->ends.nr; i++) {
		if (ftr_vec_push(&build->processes.v[child].ends, parent->ends.v[i]) < 0)
			return -ENOMEM;
	}
	build->processes.v[child].script = parent->script;
	return parent->script != NO_FILE ? use_file(build, child, parent->script, false) : 0;
}

static int apply_exec(struct ftr_build *build, uint32_t process, const struct ftr_syscall *call)
{
	const struct ftr_slice programs[] = { call->exec.interpreter, call->exec.program };

	for (int i = 0; i < 2; i++) {
		uint32_t file;

		if (is_ignored(programs[i]))
			continue;
		file = file_get(build, programs[i]);
		if (file == NO_FILE)
			return -ENOMEM;
		build->files.v[file].is_run = true;
	}
	build->processes.v[process].image = call;
	build->processes.v[process].has_own_image = true;
	build->processes.v[process].script = NO_FILE;
	return apply_translation(build, process, call);
}

/* Of several threads the last one ends the process. */
static int apply_exit(struct ftr_build *build, uint32_t process,
		      const struct ftr_syscall *call)
{
	struct ftr_build_process *who = &build->processes.v[process];

	who->end_ns = call->end_ns;
	if (who->status == 0)
		who->status = ftr_syscall_exit_status(call);
	return pipes_settle(build, process);
}

/* What it was until now counts: programs close their descriptors before they end. */
static int apply_close(struct ftr_build *build, uint32_t process, int64_t fd)
{
	int ret = fd <= 1 ? pipes_settle(build, process) : 0;

	pipe_drop(&build->processes.v[process], fd);
	return ret;
}

static int apply(struct ftr_build *build, const struct ftr_syscall *call)
{
	uint32_t process = process_get(build, call->upid);

	if (process == NO_FILE)
		return -ENOMEM;
	if (build->processes.v[process].start_ns == 0)
		build->processes.v[process].start_ns = call->start_ns;
	if (call->is_failed)
		return 0;
	switch (call->kind) {
	case FTR_SYSCALL_EXEC:
		return apply_exec(build, process, call);
	case FTR_SYSCALL_FORK:
	case FTR_SYSCALL_CLONE:
		return apply_fork(build, process, call);
	case FTR_SYSCALL_EXIT:
		return apply_exit(build, process, call);
	case FTR_SYSCALL_OPEN:
		pipe_drop(&build->processes.v[process], call->open.fd);
		return apply_open(build, process, call);
	case FTR_SYSCALL_PIPE:
		return apply_pipe(build, process, call);
	case FTR_SYSCALL_RENAME:
	case FTR_SYSCALL_LINK:
		return apply_rename(build, process, call);
	case FTR_SYSCALL_DUP:
		return apply_dup(&build->processes.v[process], call);
	case FTR_SYSCALL_CLOSE:
		return apply_close(build, process, call->close.fd);
	default:
		return 0;
	}
}

/* ---- the sink ---- */

struct build_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_build build;
};

static struct build_sink *build_of(struct ftr_sink *sink)
{
	return (struct build_sink *)sink;
}

static int build_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	const struct ftr_syscall *call = ftr_event_syscall(ev);
	struct ftr_build *build = &build_of(sink)->build;

	if (ev->type != FTR_EVENT_EXIT || call == NULL)
		return 0;
	build->call_nr++;
	return apply(build, call) < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") : 0;
}

/* Made by the build and removed again, as configure scripts and link-time optimisation do. */
static int build_end(struct ftr_sink *sink)
{
	struct ftr_build *build = &build_of(sink)->build;

	for (size_t i = 0; i < build->files.nr; i++) {
		struct ftr_build_file *file = &build->files.v[i];

		file->is_temporary = file->is_pipe ||
				     (file->writers.nr > 0 && access(file->path, F_OK) != 0);
	}
	return 0;
}

static void build_fini(struct ftr_sink *sink)
{
	struct ftr_build *build = &build_of(sink)->build;

	for (size_t i = 0; i < build->files.nr; i++) {
		ftr_vec_fini(&build->files.v[i].readers);
		ftr_vec_fini(&build->files.v[i].writers);
	}
	for (size_t i = 0; i < build->processes.nr; i++) {
		ftr_vec_fini(&build->processes.v[i].reads);
		ftr_vec_fini(&build->processes.v[i].writes);
		ftr_vec_fini(&build->processes.v[i].ends);
	}
	ftr_vec_fini(&build->files);
	ftr_vec_fini(&build->processes);
	ftr_vec_fini(&build->translations);
	ftr_strpool_fini(&build->paths);
	ftr_hashmap_fini(&build->process_by_upid);
	ftr_arena_fini(&build->arena);
}

/* Calls of functions come by the million, and are skipped. */
static const struct ftr_sink_ops build_ops = {
	.size	 = sizeof(struct build_sink),
	.accepts = FTR_BIT(FTR_EVENT_TYPES) - 1,
	.event	 = build_event,
	.end	 = build_end,
	.fini	 = build_fini,
};

struct ftr_sink *ftr_build_new(struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&build_ops, NULL, err);
	struct ftr_build *build;

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	build = &build_of(sink)->build;
	ftr_arena_init(&build->arena);
	ftr_strpool_init(&build->paths);
	ftr_hashmap_init(&build->process_by_upid);
	return sink;
}

const struct ftr_build *ftr_build_get(const struct ftr_sink *sink)
{
	return &((const struct build_sink *)sink)->build;
}

const struct ftr_build_file *ftr_build_find(const struct ftr_build *build, const char *path)
{
	for (size_t i = 0; i < build->files.nr; i++) {
		if (strcmp(build->files.v[i].path, path) == 0)
			return &build->files.v[i];
	}
	return NULL;
}

/* Breadth first over files: against the flow, or with it. */
static int walk(const struct ftr_build *build, const struct ftr_build_file *from, uint8_t *seen,
		bool is_backward)
{
	uint32_t start = (uint32_t)(from - build->files.v);
	ftr_build_ids todo = { 0 };
	int ret = ftr_vec_push(&todo, start);

	assert(start < build->files.nr);
	seen[start] = 1;
	for (size_t at = 0; ret == 0 && at < todo.nr; at++) {
		const struct ftr_build_file *file = &build->files.v[todo.v[at]];
		const ftr_build_ids *through = is_backward ? &file->writers : &file->readers;

		for (size_t i = 0; ret == 0 && i < through->nr; i++) {
			const struct ftr_build_process *process = &build->processes
									   .v[through->v[i]];
			const ftr_build_ids *next = is_backward ? &process->reads :
								  &process->writes;

			for (size_t j = 0; ret == 0 && j < next->nr; j++) {
				if (seen[next->v[j]])
					continue;
				seen[next->v[j]] = 1;
				ret = ftr_vec_push(&todo, next->v[j]);
			}
		}
	}
	ftr_vec_fini(&todo);
	seen[start] = 0;
	return ret;
}

int ftr_build_inputs(const struct ftr_build *build, const struct ftr_build_file *file,
		     uint8_t *seen)
{
	return walk(build, file, seen, true);
}

int ftr_build_outputs(const struct ftr_build *build, const struct ftr_build_file *file,
		      uint8_t *seen)
{
	return walk(build, file, seen, false);
}
