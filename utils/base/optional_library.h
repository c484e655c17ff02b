/* SPDX-License-Identifier: MIT */
/*
 * Libraries that are loaded when they are needed: the other commands should not wait for them, nor
 * want for one that is not installed.  What is used of one is a struct of pointers, which a list of
 * names stands for:
 *
 *	#define FUNCTIONS(X) X(crc32) X(zlibVersion)
 *	static struct {
 *		FUNCTIONS(FTR_OPTIONAL_MEMBER)		// crc32_of, zlibVersion_of
 *	} zlib;
 *	#define ROW(name) FTR_OPTIONAL_ROW(zlib, name)
 *	static const struct ftr_optional_row rows[] = { FUNCTIONS(ROW) };
 */
#ifndef FTR_BASE_OPTIONAL_LIBRARY_H
#define FTR_BASE_OPTIONAL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct ftr_err;

/* A pointer to what the library has under a name: a function, or a variable. */
struct ftr_optional_row {
	const char *name;
	size_t offset;		/* of the member that gets it */
};

#define FTR_OPTIONAL_MEMBER(name)     __typeof__(&(name)) name##_of;
#define FTR_OPTIONAL_ROW(table, name) { #name, offsetof(__typeof__(table), name##_of) },

struct ftr_optional_library {
	const char *user;	/* of it, in messages: "--serve" */
	const char *name;	/* "libmicrohttpd.so.12" */
	const char *package;	/* that has it */
	bool is_global;		/* libraries that it loads look for names in it */
	const struct ftr_optional_row *rows;
	size_t row_nr;
};

/*
 * Load @library, once and for all, and fill @table.  0, or -ENOENT, described: it, or a name in it,
 * is not there; what is in @table is not to be used then.
 */
int ftr_optional_library_load(const struct ftr_optional_library *library, void *table,
			      struct ftr_err *err);

#endif /* FTR_BASE_OPTIONAL_LIBRARY_H */
