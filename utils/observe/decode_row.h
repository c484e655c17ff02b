/* SPDX-License-Identifier: MIT */
/* A row of the table of decode.c, and what rows share. */
#ifndef FTR_OBSERVE_DECODE_ROW_H
#define FTR_OBSERVE_DECODE_ROW_H

#include <fcntl.h>

#include "utils/observe/decode.h"
#include "utils/observe/task.h"

struct ftr_decode_row;
typedef void ftr_decode_begin_fn(struct ftr_decoding *d, const struct ftr_decode_row *row);
typedef void ftr_decode_end_fn(struct ftr_decoding *d, const struct ftr_decode_row *row,
			       int64_t result);

/* One row a call. */
struct ftr_decode_row {
	/* Which argument is the directory (-1: the current one), the path, the flags ... */
	int8_t dirfd, path, dirfd2, path2, flags, mode;
	ftr_decode_begin_fn *begin;	/* (nullable) */
	ftr_decode_end_fn *end;		/* (nullable) */
};

static inline int32_t ftr_decode_int_arg(const struct ftr_tracee *tracee, int index)
{
	return index >= 0 ? (int32_t)tracee->args[index] : 0;
}

static inline int64_t ftr_decode_dirfd_arg(const struct ftr_tracee *tracee, int index)
{
	return index >= 0 ? ftr_decode_int_arg(tracee, index) : AT_FDCWD;
}

static inline struct ftr_slice ftr_decode_slice_of(const struct ftr_strbuf *text)
{
	return ftr_slice_make(ftr_strbuf_str(text), text->len);
}

/* NULL where the text could not be found out: all paths have at least one character. */
static inline struct ftr_slice ftr_decode_path_slice(const struct ftr_strbuf *text)
{
	return text->len > 0 ? ftr_decode_slice_of(text) : (struct ftr_slice){ NULL, 0 };
}

/* observe/decode.c */
void ftr_decode_emit(struct ftr_decoding *d);
/* Another call of the same task, at the time at which the one before ended. */
void ftr_decode_next_call(struct ftr_decoding *d, enum ftr_syscall_kind kind, enum ftr_sysid id);
void ftr_decode_set_failure(struct ftr_decoding *d, int64_t result);
/* Argument @arg into path[@which]. */
int ftr_decode_read_path(struct ftr_decoding *d, unsigned which, int arg);
/* path[@which], absolute, as the program asked for it. */
struct ftr_slice ftr_decode_asked(const struct ftr_tracee *tracee, int64_t dirfd, unsigned which,
				  struct ftr_strbuf *text);

/* observe/decode_file.c */
ftr_decode_begin_fn ftr_decode_open_begin, ftr_decode_creat_begin, ftr_decode_openat2_begin,
	ftr_decode_close_range_begin, ftr_decode_rename_begin, ftr_decode_symlink_begin,
	ftr_decode_mount_begin;
ftr_decode_end_fn ftr_decode_open_end, ftr_decode_close_end, ftr_decode_close_range_end,
	ftr_decode_dup_end, ftr_decode_pipe_end, ftr_decode_rename_end, ftr_decode_symlink_end,
	ftr_decode_mount_end;

#endif /* FTR_OBSERVE_DECODE_ROW_H */
