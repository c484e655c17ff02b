/* SPDX-License-Identifier: MIT */
/* What a build is made of, as lists and a tree of processes. */
#ifndef FTR_VIEW_BUILD_H
#define FTR_VIEW_BUILD_H

#include "utils/base/err.h"

struct ftr_build;
struct ftr_ostream;

/* All files that are not temporary, by path, with r, w, x and the processes that wrote them. */
void ftr_build_print_files(const struct ftr_build *build, struct ftr_ostream *out);
void ftr_build_print_processes(const struct ftr_build *build, struct ftr_ostream *out);

/* The files that @path was made from, or that were made from it.  -ENOENT: not touched; -ENOMEM. */
int ftr_build_print_inputs(const struct ftr_build *build, const char *path,
			   struct ftr_ostream *out, struct ftr_err *err);
int ftr_build_print_outputs(const struct ftr_build *build, const char *path,
			    struct ftr_ostream *out, struct ftr_err *err);

/* The files below @dir that the build did not touch, but for .git and @data.  0 or -errno. */
int ftr_build_print_unused(const struct ftr_build *build, const char *dir, const char *data,
			   struct ftr_ostream *out, struct ftr_err *err);

#endif /* FTR_VIEW_BUILD_H */
