/* SPDX-License-Identifier: MIT */
/* Files of which the recorder has said before what becomes of them: utils/proto/tried.h. */
#ifndef FTR_LIBMCOUNT_TRIED_H
#define FTR_LIBMCOUNT_TRIED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The file @path, seen from the directory @dir (AT_FDCWD: the working directory), is about to be
 * run; an empty @path: the file @dir.  With @dirs, the first of that name in these (PATH).  True:
 * the recorder need not be asked, and its reply's base would be *@loads, as there is no such file
 * or it is one of those.  The program's errno is left alone.
 */
bool ftr_tried_look(int dir, const char *path, const char *dirs, uint64_t *loads)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_TRIED_H */
