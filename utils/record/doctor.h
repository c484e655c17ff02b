/* SPDX-License-Identifier: MIT */
/*
 * What tracing a program would come to, without tracing it: its modules, what ftr would use in
 * each, and what stands in the way.
 */
#ifndef FTR_RECORD_DOCTOR_H
#define FTR_RECORD_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/object/elf.h"
#include "utils/record/program.h"

/* How calls of a module's functions are recorded. */
enum ftr_doctor_way {
	FTR_DOCTOR_HOOKS,	/* they call a hook */
	FTR_DOCTOR_PREPARED,	/* entries with room are patched */
	FTR_DOCTOR_PLAIN,	/* they are patched as they are */
	FTR_DOCTOR_PLAIN_ASKED,	/* the same, with --patch=.@MODULE */
	FTR_DOCTOR_OUTSIDE,	/* only as library calls of others: never patched */
	FTR_DOCTOR_NONE,	/* not at all */
	FTR_DOCTOR_WAYS,
};

struct ftr_doctor_module {
	char *path;		/* (owned) */
	bool is_program;
	unsigned hooks;		/* FTR_ELF_HOOK_* */
	enum ftr_doctor_way way;
	unsigned functions;	/* that are known of it; of a hook's module, that have symbols */
	unsigned seen;		/* of them, whose calls would be recorded */
	unsigned libcalls;	/* ways out of the program that are hooked */
	bool has_symbols, has_debug_info;
};

/* What an obstacle keeps ftr from. */
enum ftr_doctor_of {
	FTR_DOCTOR_OF_ALL,	/* tracing the program at all */
	FTR_DOCTOR_OF_CALLS,
	FTR_DOCTOR_OF_NAMES,
	FTR_DOCTOR_OF_VALUES,
	FTR_DOCTOR_OF_EVENTS,
	FTR_DOCTOR_OF_KERNEL,
	FTR_DOCTOR_OF_SYSCALLS,
	FTR_DOCTOR_OF_SPEED,
	FTR_DOCTOR_OFS,
};

struct ftr_doctor_obstacle {
	enum ftr_doctor_of of;
	char *text;		/* (owned) what and its remedy, one line */
};

struct ftr_doctor {
	struct ftr_program program;	/* path NULL: it was not found */
	int32_t pid;			/* 0 = of a program that is to be started */
	FTR_VEC(struct ftr_doctor_module) modules;	/* the program's first */
	FTR_VEC(struct ftr_doctor_obstacle) obstacles;
};

const char *ftr_doctor_way_text(enum ftr_doctor_way way);
const char *ftr_doctor_of_text(enum ftr_doctor_of of);

/*
 * Look at the program @name as ftr record would find it, and at the libraries that it is linked
 * with; or at process @pid and what it has mapped.  What stands in the way is no failure.  0,
 * -ENOENT (no such program or process) or -ENOMEM; finish it in any case.
 */
int  ftr_doctor_program(struct ftr_doctor *doctor, const char *name, struct ftr_err *err);
int  ftr_doctor_process(struct ftr_doctor *doctor, int32_t pid, struct ftr_err *err);
void ftr_doctor_fini(struct ftr_doctor *doctor);

/* Add an obstacle.  0 or -ENOMEM. */
int ftr_doctor_add(struct ftr_doctor *doctor, enum ftr_doctor_of of, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Those of the machine and its limits, whatever the program. */
int ftr_doctor_machine(struct ftr_doctor *doctor);
/* What keeps ftr record -p from the process. */
int ftr_doctor_attach(struct ftr_doctor *doctor);

/* Does anything keep the program from being traced? */
bool ftr_doctor_is_blocked(const struct ftr_doctor *doctor);

#endif /* FTR_RECORD_DOCTOR_H */
