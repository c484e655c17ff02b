/* SPDX-License-Identifier: MIT */
/*
 * The environment of a new image: what the program hands on is kept; LD_PRELOAD and FTR_CHANNEL are
 * added to it, so that the image is traced, too.
 */
#ifndef FTR_LIBMCOUNT_ENVIRON_H
#define FTR_LIBMCOUNT_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>

#define FTR_PRELOAD_MAX   8192 /* bytes of a merged LD_PRELOAD; a longer one is handed on as it is \
				*/
#define FTR_ENVIRON_EXTRA 3	/* strings that may be added, with the NULL at the end */

typedef char *const *ftr_strings;

/* What was found in an environment. */
struct ftr_environ {
	size_t nr;
	size_t preload;			/* index of LD_PRELOAD, or nr */
	size_t channel;			/* index of FTR_CHANNEL, or nr */
};

struct ftr_environ ftr_environ_look(ftr_strings envp);	/* NULL is empty */

/* Fill @out, room for env->nr + FTR_ENVIRON_EXTRA strings; @buf has FTR_PRELOAD_MAX bytes. */
void ftr_environ_merge(ftr_strings envp, const struct ftr_environ *env, char **out, char *buf);

/* Is all that a new image needs in @envp already? */
bool ftr_environ_is_whole(ftr_strings envp);

#endif /* FTR_LIBMCOUNT_ENVIRON_H */
