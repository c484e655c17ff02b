/* SPDX-License-Identifier: MIT */
/*
 * The modules of a process, from /proc/PID/maps: one range a file, from its first to its last
 * mapping.
 */
#ifndef FTR_RECORD_MAPS_H
#define FTR_RECORD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"

struct ftr_maps_range {
	uint64_t start;
	uint64_t end;		/* exclusive */
	char prot[5];		/* the executable mapping's, else the first's */
	char *path;		/* (owned) a file, or "[stack]" */
};

struct ftr_maps {
	FTR_VEC(struct ftr_maps_range) ranges;	/* in order of address */
	bool is_emulated;		/* the process is (utils/record/emulated.h) */
};

/*
 * Parse the text of a maps file.  Anonymous memory and [names] but [stack] are left out, and so are
 * files that are not mapped executable anywhere; lines that cannot be parsed are skipped.  0 or
 * -ENOMEM.
 */
int  ftr_maps_parse(struct ftr_maps *maps, const char *text, size_t len);
int  ftr_maps_load(struct ftr_maps *maps, int32_t pid, struct ftr_err *err);
/* Of an emulated process: addresses as it sees them, where the runtime is at @runtime. */
void ftr_maps_rebase(struct ftr_maps *maps, uint64_t runtime);

void ftr_maps_fini(struct ftr_maps *maps);

#endif /* FTR_RECORD_MAPS_H */
