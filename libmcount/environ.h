/* SPDX-License-Identifier: MIT */
/*
 * The environment of a new image: what the program hands on is kept; LD_PRELOAD and FTR_CHANNEL are
 * added to it, so that the image is traced, too.
 */
#ifndef FTR_LIBMCOUNT_ENVIRON_H
#define FTR_LIBMCOUNT_ENVIRON_H

typedef char *const *ftr_strings;

/*
 * What a new image gets for @envp (NULL is empty), in memory of our own (scratch.h); @envp itself
 * where nothing is to be added, or there is no memory: then the recorder warns, and the image runs
 * untraced.  To be released when exec fails, or when posix_spawn is done.
 */
ftr_strings ftr_environ_new(ftr_strings envp);
void ftr_environ_free(ftr_strings merged, ftr_strings envp);

#endif /* FTR_LIBMCOUNT_ENVIRON_H */
