/* SPDX-License-Identifier: MIT */
/*
 * What a build is made of: from the system calls of its processes to files, the processes that read
 * and wrote them, and translations.
 */
#ifndef FTR_ANALYSIS_BUILD_H
#define FTR_ANALYSIS_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/analysis/compile.h"
#include "utils/base/arena.h"
#include "utils/base/hashmap.h"
#include "utils/base/strpool.h"
#include "utils/base/vec.h"
#include "utils/trace/sink.h"

struct ftr_syscall;

typedef FTR_VEC(uint32_t) ftr_build_ids;

struct ftr_build_file {
	const char *path;		/* absolute, resolved; "pipe:3" for a pipe */
	ftr_build_ids readers;		/* processes, each once */
	ftr_build_ids writers;
	bool is_pipe;
	bool is_run;			/* started as a program */
	bool is_temporary;		/* a pipe; or written, and gone when the events ended */
};

/* An open end of a pipe. */
struct ftr_build_pipe_end {
	int64_t  fd;
	uint32_t file;
	bool	 is_write;
};

struct ftr_build_process {
	int32_t  pid;
	uint32_t parent;		/* itself when not known */
	const struct ftr_syscall *image;	/* (nullable) its last exec, or its parent's */
	uint64_t start_ns, end_ns;	/* end 0 = not known */
	int	 status;		/* as a shell gives it: 128+n for a signal */
	bool	 has_own_image;		/* image is not its parent's */
	uint32_t script;		/* the file it runs, as an interpreter; UINT32_MAX = none */
	ftr_build_ids reads, writes;	/* files, each once */
	FTR_VEC(struct ftr_build_pipe_end) ends;
};

/* One source that one command translates. */
struct ftr_build_translation {
	uint32_t process;
	const char *directory;
	const char *file;		/* absolute */
	const char *output; /* as given, or made up from the source's name; NULL = linked away */
	const char **argv;		/* of @argc, other sources left out */
	size_t argc;
};

struct ftr_build {
	FTR_VEC(struct ftr_build_file) files;
	FTR_VEC(struct ftr_build_process) processes;
	FTR_VEC(struct ftr_build_translation) translations;
	struct ftr_strpool paths;	/* id = index in files */
	struct ftr_hashmap process_by_upid;	/* index + 1 */
	struct ftr_arena arena;
	uint32_t pipe_nr;
	uint64_t call_nr;		/* system calls seen */
};

/* A sink for a stream ordered by time.  NULL = out of memory. */
struct ftr_sink *ftr_build_new(struct ftr_err *err);
/* What it has found; borrows system calls of the trace, lives as long as the sink. */
const struct ftr_build *ftr_build_get(const struct ftr_sink *sink);

/* The file of this absolute path, or NULL. */
const struct ftr_build_file *ftr_build_find(const struct ftr_build *build, const char *path);

/*
 * Everything that went into @file (or that it went into), through processes and pipes: sets a byte
 * in @seen (files.nr of them, zeroed) for each file, @file itself excepted.  0 or -ENOMEM.
 */
int ftr_build_inputs(const struct ftr_build *build, const struct ftr_build_file *file,
		     uint8_t *seen);
int ftr_build_outputs(const struct ftr_build *build, const struct ftr_build_file *file,
		      uint8_t *seen);

#endif /* FTR_ANALYSIS_BUILD_H */
