/* SPDX-License-Identifier: MIT */
/* What a process has mapped, with the symbols of its files; and its memory. */
#ifndef FTR_ATTACH_IMAGE_H
#define FTR_ATTACH_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"

struct ftr_vma {
	uint64_t low, high;
	uint64_t offset;	/* in the file */
	char prot[5];
	char *path;		/* (owned) a file, "[stack]" and the like, or "" */
};

struct ftr_image {
	int32_t pid;
	FTR_VEC(struct ftr_vma) vmas;	/* in order of address */
};

int  ftr_image_load(struct ftr_image *image, int32_t pid, struct ftr_err *err);
void ftr_image_fini(struct ftr_image *image);

/* Is just the same mapped? */
bool ftr_image_is_same(const struct ftr_image *one, const struct ftr_image *other);
/* ... as the process has now? */
bool ftr_image_is_now(const struct ftr_image *image);

/* The mapping that @addr lies in; NULL = none. */
const struct ftr_vma *ftr_image_at(const struct ftr_image *image, uint64_t addr);

/* The path of the first mapped file whose last part begins with one of @names (NULL at the end). */
const char *ftr_image_find(const struct ftr_image *image, const char *const *names);

/* Call @fn for each function that the mapped file @path defines, by each of its names. */
typedef void (*ftr_image_symbol_fn)(void *arg, const char *name, uint64_t addr, uint64_t bytes);
int ftr_image_symbols(const struct ftr_image *image, const char *path, ftr_image_symbol_fn fn,
		      void *arg, struct ftr_err *err);

/* Where the file begins that is mapped from @path: parts of it may be mapped elsewhere, too. */
bool ftr_image_start(const struct ftr_image *image, const char *path, uint64_t *start);

/* Is a file mapped that was @path, where there is another one now, or none? */
bool ftr_image_has_deleted(const struct ftr_image *image, const char *path);

/* Where the function @name is in the file @path, from its beginning; 0 = it has none. */
uint64_t ftr_file_symbol(const char *path, const char *name);

/* Where the function @name of the mapped file @path is; 0 = it has none. */
uint64_t ftr_image_symbol(const struct ftr_image *image, const char *path, const char *name);

/* Where the program @pid begins, as the kernel has told it; 0 = not known. */
uint64_t ftr_process_entry(int32_t pid);

/* All of it, or false. */
bool ftr_memory_read(int32_t pid, uint64_t addr, void *to, size_t bytes);
bool ftr_memory_write(int32_t pid, uint64_t addr, const void *from, size_t bytes);

#endif /* FTR_ATTACH_IMAGE_H */
