/* SPDX-License-Identifier: MIT */
/* The name closest to a mistyped one. */
#ifndef FTR_BASE_CLOSEST_H
#define FTR_BASE_CLOSEST_H

struct ftr_closest {
	const char *name;	/* (borrowed) the best so far; NULL = none is near */
	unsigned distance;	/* letters to change, add, drop or swap */
};

/* Consider @name for @word; start from zeros. */
void ftr_closest_try(struct ftr_closest *closest, const char *word, const char *name);

#endif /* FTR_BASE_CLOSEST_H */
