/* SPDX-License-Identifier: MIT */
/*
 * What a build is made of: from the records of its processes to files, who read and made them,
 * translations.
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
#include "utils/format/etrace/etrace.h"

typedef FTR_VEC(uint32_t) ftr_build_ids;

struct ftr_build_file {
	const char *path;		/* absolute, resolved; "pipe:3" for a pipe */
	ftr_build_ids readers;		/* processes, each once */
	ftr_build_ids writers;
	bool is_pipe;
	bool is_run;			/* started as a program */
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
	const struct ftr_etrace_record *exec;	/* (nullable) the last program it became */
	uint64_t start_ns, end_ns;	/* end 0 = not known */
	int	 status;		/* as a shell gives it: 128+n for a signal */
	bool	 has_own_exec;		/* exec is not its parent's */
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
};

/* Borrows the records of @log.  0 or -ENOMEM. */
int  ftr_build_load(struct ftr_build *build, const struct ftr_etrace_log *log);
void ftr_build_fini(struct ftr_build *build);

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
