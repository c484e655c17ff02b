/* SPDX-License-Identifier: MIT */
/* Can this program be traced?  Asked before it is started, answered in one line. */
#ifndef FTR_RECORD_PROGRAM_H
#define FTR_RECORD_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/object/elf.h"

struct ftr_program {
	char *path;		/* (owned) what execve gets */
	char *image;		/* (owned) the ELF file that runs: of a script, its interpreter */
	bool  is_script;
	bool  gives_rights;	/* to some of those who run it: set-uid, set-gid or capabilities */
	struct ftr_elf_info elf;	/* of the image */
};

/*
 * Look @name up as execvp does, then in the working directory, and check it.  @force: also when
 * nothing in it is instrumented.
 * -ENOENT: no such program.  Others: it is there, but cannot be run (-EACCES, -ENOEXEC) or not be
 * traced (-ENOTSUP); the description says why and what to do.
 */
int  ftr_program_find(struct ftr_program *program, const char *name, bool force,
		      struct ftr_err *err);
/* The same without the question whether it can be traced from inside. */
int  ftr_program_find_any(struct ftr_program *program, const char *name, struct ftr_err *err);

/* The same for the file @path, called @name, that a process of user @uid is about to run anyway. */
int  ftr_program_check(struct ftr_program *program, const char *path, const char *name, uid_t uid,
		       struct ftr_err *err);

void ftr_program_fini(struct ftr_program *program);

/*
 * The runtime to preload for @program, or with @is_nop the one that records nothing:
 * @dir/libmcount/libmcount.so or @dir/libmcount.so when @dir is not NULL, else the one beside our
 * own executable, else the installed one. *out is a new string.
 */
int ftr_program_runtime(const struct ftr_program *program, const char *dir, bool is_nop, char **out,
			struct ftr_err *err);

/* Is it built for the machine that this one runs beside (32-bit x86)? */
bool ftr_program_is_beside(const struct ftr_program *program);

/* Can @program, called @name, which calls no hook, be patched?  -ENOTSUP: no. */
int ftr_program_check_patch(const struct ftr_program *program, const char *name,
			    struct ftr_err *err);

/*
 * Append @preload, libraries in @runtime's directory, as LD_PRELOAD is to have it: where there are
 * two runtimes the dynamic linker chooses, by the name of its platform (doc/adr/0098).  -ENOMEM.
 */
int ftr_program_preload(const char *runtime, const char *preload, struct ftr_strbuf *list);

/* Is there a runtime for @program, called @name, in that?  -ENOTSUP, described: there is none. */
int ftr_program_check_preload(const struct ftr_program *program, const char *name,
			      const char *preload, struct ftr_err *err);

#endif /* FTR_RECORD_PROGRAM_H */
