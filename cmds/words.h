/* SPDX-License-Identifier: MIT */
/* Which word of a command line is the command. */
#ifndef FTR_CMDS_WORDS_H
#define FTR_CMDS_WORDS_H

#include <stdbool.h>

#define FTR_WORDS_HELP -1
#define FTR_WORDS_VERSION -2

/*
 * The index of the first word that is neither an option nor an option's argument, @argc when there
 * is none, or FTR_WORDS_HELP or _VERSION when one of these was asked for before it.
 */
int ftr_words_find_operand(int argc, char **argv);

/* Is there something of this name, here or in PATH? */
bool ftr_words_is_program(const char *word);

#endif /* FTR_CMDS_WORDS_H */
