/* SPDX-License-Identifier: MIT */
/*
 * Writing a data directory in the uftrace format, version 4.
 *
 * Each file is readable at every moment: task.txt grows by whole lines, TID.dat by whole records,
 * and info is replaced as a whole, so a directory whose writer was killed can be read up to there.
 */
#ifndef FTR_FORMAT_UFTRACE_WRITE_H
#define FTR_FORMAT_UFTRACE_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/object/symtab.h"
#include "utils/proto/record.h"
#include "utils/trace/info.h"

#define FTR_UFTRACE_VERSION 4
#define FTR_UFTRACE_HEADER_BYTES 40

struct ftr_uftrace_dir;
struct iovec;

/* One line of a sid-*.map file: a module's mappings merged, or [stack]. */
struct ftr_uftrace_map {
	uint64_t start;
	uint64_t end;		/* exclusive */
	char prot[5];		/* "r-xp" */
	const char *path;
	const char *build_id;	/* hex, "" = none */
};

/*
 * Create the directory.  An earlier trace of this name is kept as NAME.old (and the one that was
 * there is removed); a directory that is no trace is refused with -EEXIST.
 */
int  ftr_uftrace_dir_open(struct ftr_uftrace_dir **out, const char *path, struct ftr_err *err);
void ftr_uftrace_dir_close(struct ftr_uftrace_dir *dir);
int  ftr_uftrace_dir_fd(const struct ftr_uftrace_dir *dir);

/*
 * All of @bytes, however often it takes, at the file's end, or none: part of a line or a record
 * would spoil what comes after it.  0 or -errno.
 */
int ftr_uftrace_write_all(int fd, const char *bytes, size_t len);

/*
 * Write or replace the info file: the header and every section whose bit is set in info->info_mask.
 */
int ftr_uftrace_dir_info(struct ftr_uftrace_dir *dir, const struct ftr_info *info,
			 struct ftr_err *err);

/* sid-SID.map. */
int ftr_uftrace_dir_map(struct ftr_uftrace_dir *dir, const char *sid,
			const struct ftr_uftrace_map *maps, size_t nr, struct ftr_err *err);

/* The lines of task.txt. */
int ftr_uftrace_dir_session(struct ftr_uftrace_dir *dir, uint64_t time_ns, int32_t pid,
			    const char *sid, const char *exename);
int ftr_uftrace_dir_task(struct ftr_uftrace_dir *dir, uint64_t time_ns, int32_t tid, int32_t pid);
int ftr_uftrace_dir_fork(struct ftr_uftrace_dir *dir, uint64_t time_ns, int32_t pid, int32_t ppid);
int ftr_uftrace_dir_dlopen(struct ftr_uftrace_dir *dir, uint64_t time_ns, int32_t tid,
			   const char *sid, uint64_t base, const char *path);

/* A line of events.txt; @name is "provider:event".  Or several, which are finished here. */
int ftr_uftrace_dir_event(struct ftr_uftrace_dir *dir, uint32_t id, const char *name);
void ftr_uftrace_event_line(struct ftr_strbuf *lines, uint32_t id, const char *name);
int ftr_uftrace_dir_events(struct ftr_uftrace_dir *dir, struct ftr_strbuf *lines);

/* A line of extern.dat: a message that readers show at its time.  @text is one line. */
int ftr_uftrace_dir_message(struct ftr_uftrace_dir *dir, uint64_t time_ns, const char *text);

/* NAME.sym of a module; a clash of base names is resolved as the format says. */
int ftr_uftrace_dir_symbols(struct ftr_uftrace_dir *dir, const struct ftr_symtab *tab,
			    struct ftr_err *err);

/*
 * NAME.dbg of the module at @path, with @build_id (nullable): @text, lines of functions and
 * enumerations.  @is_again: in the place of the one that it has, if there is one.
 */
int ftr_uftrace_dir_debug(struct ftr_uftrace_dir *dir, const char *path, const char *build_id,
			  bool is_again,
			  const struct ftr_strbuf *text);

/* default.opts: options that readers put before their own, as words of a file of options. */
int ftr_uftrace_dir_options(struct ftr_uftrace_dir *dir, const char *opts, struct ftr_err *err);

/*
 * TID.dat, or with @is_aside TID.event, for appending: a descriptor (owned by the caller), or
 * -errno.
 */
int ftr_uftrace_dat_open(const struct ftr_uftrace_dir *dir, int32_t tid, bool is_aside);
/* The same packed (pack_file.h), for writing at offsets. */
int ftr_uftrace_packed_open(const struct ftr_uftrace_dir *dir, int32_t tid, bool is_aside);
/* A file of another name, empty: a descriptor (owned by the caller), or -errno. */
int ftr_uftrace_file_create(const struct ftr_uftrace_dir *dir, const char *name);
/*
 * Append the @len bytes of @nr whole records.  Returns how many of them are in the file now; fewer
 * than @nr only with *code != 0, and then none of this call when any of them has a payload.
 */
size_t ftr_uftrace_dat_append(int fd, const void *bytes, size_t len, size_t nr, int *code);

/* perf-cpuN.dat for appending: a descriptor (owned by the caller), or -errno. */
int ftr_uftrace_perf_open(const struct ftr_uftrace_dir *dir, unsigned cpu);
/*
 * Append the bytes of @parts, whole perf records together.  0, or -errno and the file is as it was.
 */
int ftr_uftrace_perf_append(int fd, const struct iovec *parts, unsigned nr);

/*
 * Have nothing at @path: a trace there becomes PATH.old, and what was that is removed.  What a
 * recorder left that was killed before it made info is removed.  0; -EEXIST: what is there is no
 * trace; or -errno, all described.
 */
int ftr_uftrace_dir_make_room(const char *path, struct ftr_err *err);
/* Remove a data directory and all it holds; what is no data directory is refused with -ENOTDIR. */
int ftr_uftrace_dir_remove(const char *path, struct ftr_err *err);

#endif /* FTR_FORMAT_UFTRACE_WRITE_H */
