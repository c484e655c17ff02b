/* SPDX-License-Identifier: MIT */
/* ftr --help, ftr COMMAND --help, ftr --version. */
#ifndef FTR_CMDS_HELP_H
#define FTR_CMDS_HELP_H

struct ftr_cmd;

/* Each writes to standard output and returns an exit status. */
int ftr_help_print(void);
int ftr_help_print_command(const struct ftr_cmd *cmd);
int ftr_version_print(void);

#endif /* FTR_CMDS_HELP_H */
