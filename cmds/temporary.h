/* SPDX-License-Identifier: MIT */
/* Data directories that do not outlive their command. */
#ifndef FTR_CMDS_TEMPORARY_H
#define FTR_CMDS_TEMPORARY_H

/* "$TMPDIR/ftr-WHAT-XXXXXX", made (owned, by free); NULL after reporting the failure. */
char *ftr_temporary_make(const char *what);
/* With all that was recorded into it; releases the name. */
void ftr_temporary_remove(char *dir);

/* From now on a signal interrupts, but does not end us before the directory is removed. */
void ftr_signals_outlive(void);

#endif /* FTR_CMDS_TEMPORARY_H */
