/* SPDX-License-Identifier: MIT */
/*
 * tracefs, and in it an instance: ring buffers and switches of the kernel's tracing that are ours
 * alone.  Others that trace at the same time are not disturbed.  doc/adr/0044.
 *
 * Files are named relative to a directory's descriptor, so that tracefs need not be mounted
 * anywhere.
 */
#ifndef FTR_RECORD_TRACEFS_H
#define FTR_RECORD_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"

/*
 * The top directory of tracefs, where it is mounted, else of a mount that is in no tree and ends
 * with its descriptor (owned by the caller).  -errno, described with the remedy.
 */
int ftr_tracefs_open(struct ftr_err *err);

/* Read or write a whole file below @dir.  0 or -errno. */
int ftr_tracefs_read(int dir, const char *path, struct ftr_strbuf *text);
int ftr_tracefs_write(int dir, const char *path, const char *text);
/* Is @word one of those in the file? */
bool ftr_tracefs_has_word(int dir, const char *path, const char *word);

struct ftr_tracefs_instance {
	int top;		/* (owned) of tracefs; -1 = not open */
	int dir;		/* (owned) of the instance; -1 = not made */
	char path[64];		/* "instances/ftr.PID.START[.DEPTH]" */
};

#define FTR_TRACEFS_INSTANCE_NONE { .top = -1, .dir = -1 }
#define FTR_TRACEFS_GRAPH_DEPTH "max_graph_depth"	/* of tracefs, for all instances */

/*
 * Make an instance that records nothing yet, and remove those of recorders that were killed.
 * @changes_depth: the caller is going to write FTR_TRACEFS_GRAPH_DEPTH, which is put back at the
 * end, or by the next recorder.  0, or -errno described with the remedy.
 */
int ftr_tracefs_instance_open(struct ftr_tracefs_instance *instance, bool changes_depth,
			      struct ftr_err *err);
/* Remove it with all that it was told to do. */
void ftr_tracefs_instance_close(struct ftr_tracefs_instance *instance);

#endif /* FTR_RECORD_TRACEFS_H */
