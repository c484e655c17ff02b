/* SPDX-License-Identifier: MIT */
/* The name closest to a mistyped one. */
#ifndef FTR_BASE_CLOSEST_H
#define FTR_BASE_CLOSEST_H

#define FTR_CLOSEST_NAME_BYTES 40	/* longer ones are no typing mistakes of each other */

struct ftr_closest {
	char name[FTR_CLOSEST_NAME_BYTES + 1];	/* the best so far; "" = none is near */
	unsigned distance;		/* letters to change, add, drop or swap */
	char question[FTR_CLOSEST_NAME_BYTES + 24];
};

/* Consider @name for @word; start from zeros. */
void ftr_closest_try(struct ftr_closest *closest, const char *word, const char *name);

/* How a message ends that knows it: "; did you mean --flat?" with @prefix "--", else @otherwise. */
const char *ftr_closest_ask(struct ftr_closest *closest, const char *prefix,
			    const char *otherwise);

#endif /* FTR_BASE_CLOSEST_H */
