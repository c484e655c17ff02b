/* SPDX-License-Identifier: MIT */
/*
 * Changing a module's code before it can run, for the probes that do: through /proc/self/mem, as a
 * debugger does.  Its pages stay as they are protected, none is ever writable and executable, and
 * what the kernel forbids leaves them as they were.
 */
#ifndef FTR_LIBMCOUNT_CODE_WRITE_H
#define FTR_LIBMCOUNT_CODE_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/probe.h"

/* What is to be changed, by ascending address. */
struct ftr_code_places {
	uint32_t nr;
	const void *table;
	/* Where place @n is, and its *bytes. */
	uintptr_t (*find)(const void *table, uint32_t n, uint32_t *bytes);
	/* Change the copy of it at @code; false: it holds neither what the file has nor this. */
	bool (*edit)(const void *table, uint32_t n, uint8_t *code);
	/* The index in the plan (code_plan.h) of what it leads to; NULL: none does to any. */
	uint32_t (*needs)(const void *table, uint32_t n);
	/* May it be chosen which of them are changed, and is place @n not now?  NULL: all are. */
	bool (*waits)(const void *table, uint32_t n);
	bool may_change;		/* ... while the program runs: the plan has them */
};

struct ftr_code_writer {
	int fd;				/* /proc/self/mem */
	uint8_t *chunk, *original;	/* mapped; NULL: it is not open */
	uint32_t changed_nr;		/* places that hold something else than in the file */
	uint32_t failed_nr;		/* that the kernel did not let us write */
	bool has_written;
	bool is_unused;			/* attached, but no thread can be in the module yet */
};

/* Returns why it cannot be done; NULL = it can.  Close it in any case. */
const char *ftr_code_writer_open(struct ftr_code_writer *writer)
	__attribute__((visibility("hidden")));
void ftr_code_writer_close(struct ftr_code_writer *writer) __attribute__((visibility("hidden")));

void ftr_code_write(struct ftr_code_writer *writer, const struct ftr_code_places *places)
	__attribute__((visibility("hidden")));

/*
 * Why the code of @module cannot be changed now; NULL = it can.  @flags are FTR_PATCH_* of its
 * section.
 */
const char *ftr_code_refusal(const struct ftr_loaded *module, uint32_t flags)
	__attribute__((visibility("hidden")));
/* May what was attached to be written at once?  The module's constructors have not begun. */
bool ftr_code_is_unused(const struct ftr_loaded *module, uint32_t flags)
	__attribute__((visibility("hidden")));

/* Tell the user that @nr of @what ("function"), unless it is 0, are left as they are. */
void ftr_code_report(const struct ftr_loaded *module, uint32_t nr, const char *what,
		     const char *reason) __attribute__((visibility("hidden")));
/* ... those that were not written. */
void ftr_code_report_left(const struct ftr_loaded *module, const char *what,
			  const struct ftr_code_writer *writer)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_CODE_WRITE_H */
