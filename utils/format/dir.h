/* SPDX-License-Identifier: MIT */
/* A flat directory of files to read: a real one, or one that lies in memory (tests, fuzzing). */
#ifndef FTR_FORMAT_DIR_H
#define FTR_FORMAT_DIR_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/base/istream.h"
#include "utils/base/vec.h"

struct ftr_dir;

struct ftr_dir_ops {
	int (*file)(struct ftr_dir *dir, const char *name, struct ftr_istream *in,
		    struct ftr_err *err);
	void (*free)(struct ftr_dir *dir);
};

struct ftr_dir {
	const struct ftr_dir_ops *ops;
	FTR_VEC(char *) names;	/* (owned) of its files, sorted */
	struct ftr_diag *diag;	/* (borrowed, nullable) for warnings of the files that are opened */
	bool is_real;		/* paths outside of it may be looked at, too */
};

int ftr_dir_open(struct ftr_dir **out, const char *path, struct ftr_err *err);

/*
 * From borrowed bytes: files one after the other, each a name length (1 byte), the name, the size
 * (4 bytes, little-endian) and the content.  Whatever does not fit any more is cut.
 */
int ftr_dir_open_memory(struct ftr_dir **out, const void *bytes, size_t size, struct ftr_err *err);

/* List files that came since.  0, -ENOMEM, or -errno. */
int ftr_dir_refresh(struct ftr_dir *dir);
/* The descriptor of the directory (borrowed); -1 = it is not real. */
int ftr_dir_fd(const struct ftr_dir *dir);

/* Open the file @name, which must be regular, for reading.  -ENOENT ... */
int ftr_dir_file(struct ftr_dir *dir, const char *name, struct ftr_istream *in,
		 struct ftr_err *err);
bool ftr_dir_has(const struct ftr_dir *dir, const char *name);
void ftr_dir_free(struct ftr_dir *dir);		/* NULL is fine */

#endif /* FTR_FORMAT_DIR_H */
