/* SPDX-License-Identifier: MIT */
/* record --merge: what trace-cmd recorded meanwhile. */
#ifndef FTR_CMDS_RECORD_MERGE_H
#define FTR_CMDS_RECORD_MERGE_H

/* Copy the trace.dat @path into the data directory @dir; failures are warned about. */
void ftr_record_merge(const char *path, const char *dir);

#endif /* FTR_CMDS_RECORD_MERGE_H */
