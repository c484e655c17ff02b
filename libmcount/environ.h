/* SPDX-License-Identifier: MIT */
/*
 * The variables that start the runtime (utils/proto/environ.h): the program does not see them, and
 * new images get them.
 */
#ifndef FTR_LIBMCOUNT_ENVIRON_H
#define FTR_LIBMCOUNT_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef char *const *ftr_strings;

/*
 * Keep our variables, and take them out of @envp: the array that the kernel made, with the
 * auxiliary vector behind it.  Called once, before libc knows of it.
 */
void ftr_environ_start(char **envp);

/*
 * The same variables in a program that is attached to, which has none of them: made in memory of
 * our own.  Without memory, or where a list cannot name libmcount.so, new images run untraced.
 */
void ftr_environ_start_late(void);
void ftr_environ_end_late(void);

/* Can the calling process, which may be another user's by now or in a chroot, load the runtime? */
bool ftr_environ_has_runtime(void);

/* New images inherit a filter that forbids what has its FTR_SECCOMP_BIT() in @blocked (TOLD). */
void ftr_environ_block(uint32_t blocked);
/*
 * What an image is told so by the @len bytes of FTR_CHANNEL's value @channel; returns how many of
 * these are the channel's name.
 */
size_t ftr_environ_told(const char *channel, size_t len, uint32_t *blocked);

/*
 * What a new image gets for @envp (NULL is empty), in memory of our own (scratch.h); @envp itself
 * where nothing is to be added, where it cannot be read, so that exec will fail, or where there is
 * no memory: then the recorder warns, and the image runs untraced.  @loads: what the recorder says
 * of it (FTR_CHANNEL_LOADS and more; 0: nothing).  To be released when exec fails, or when
 * posix_spawn is done.
 */
ftr_strings ftr_environ_new(ftr_strings envp, uint64_t loads);
void ftr_environ_free(ftr_strings merged, ftr_strings envp);

#endif /* FTR_LIBMCOUNT_ENVIRON_H */
